"""A tiny package with one plug-in of each kind, as another project would write it."""

from pathlib import Path

MODULE = '''"""Reads, extracts, imports and exports a toy's way."""

from almanac import Contents, EngineSettings, Extracted, GraphEntity, GraphTriple, ParsedText


def read_shouts(file):
    """Read a file of lines, each a text."""
    for number, line in enumerate(file.read().decode().splitlines(), 1):
        yield ParsedText(name=str(number), title=f"Shout {number}", text=line)


def read_notes(address):
    """Read a database of notes."""
    for day in ("monday", "friday"):
        yield ParsedText(name=day, title=day, text=f"On {day}, Ada Lovelace met Charles Babbage.")


class Engine:
    name, prompt_sha = "toy", "1"

    def __init__(self, settings: EngineSettings):
        self.speaker = settings.speaker

    def extract(self, passages):
        for passage in passages:
            start = passage["text"].find("Ada Lovelace")
            end = start + len("Ada Lovelace")
            place = {"span_start": start, "span_end": end, "confidence": 0.9}
            name = {"name": "Ada Lovelace", "kind": "person", "span_start": start, "span_end": end}
            triple = {"ordinal": 0, "head": "Ada Lovelace", "head_kind": "person",
                      "relation": "knows", "tail": self.speaker, "tail_kind": "",
                      "value_type": "text", **place}
            yield Extracted(passage["passage_id"], names=[name], triples=[triple])


class Careless(Engine):
    def extract(self, passages):
        yield Extracted(passages[0]["passage_id"], triples=[{"head": "Ada"}])


def read_graph(file):
    """Read lines of three words."""
    yield GraphEntity("Ada", "Ada Lovelace", kind="person", aliases=("Countess",))
    for line in file:
        yield GraphTriple(*line.decode().split())


def write_names(contents: Contents, path):
    """Write the entities' names, a name a line."""
    with path.open("wb") as file:
        contents.write_texts("select concat(name, chr(10)) from entities order by all", file)


def broken(*_):
    raise LookupError("no such toy")
'''
POINTS = """[almanac.readers]
.shout = toy_plug_ins:read_shouts
notes = toy_plug_ins:read_notes
lost = toy_plug_ins:broken
[almanac.engines]
toy = toy_plug_ins:Engine
careless = toy_plug_ins:Careless
broken = toy_plug_ins:broken
[almanac.graph_formats]
words = toy_plug_ins:read_graph
broken = toy_plug_ins:broken
[almanac.exporters]
names = toy_plug_ins:write_names
broken = toy_plug_ins:broken
missing = toy_plug_ins:missing
gone = toy_that_is_gone:write
"""


def install(folder: Path) -> None:
    """Put the package into a folder as an installer does."""
    (folder / "toy_plug_ins.py").write_text(MODULE, encoding="utf-8")
    about = folder / "toy_box-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-box\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS, encoding="utf-8")
