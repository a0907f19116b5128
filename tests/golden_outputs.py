"""What splitter, rules, grounding and derivation made when their versions were last raised.

`python -m tests.golden_outputs --write` stores what they make now. It refuses to store another
output of a known input under the same version: then homes would keep what they have, as if nothing
had changed. `golden/texts.jsonl` has the texts, `golden/journal` the journal of a home with nine
documents and an imported graph, as the release of November 2026 wrote it.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from schemas import EDITION
from schemas.observations import Extraction, SplitPassage
from tasks.extract.by_model.grounding import GROUNDING_VERSION, ground
from tasks.extract.extracted import Extracted
from tasks.extract.rules import RULES_VERSION, RulesEngine
from tasks.graphs.graph import graph_folders
from tasks.ingest.split import SPLITTER_VERSION, split
from tasks.models.prompts import examples, load_prompt
from tasks.models.prompts.replies import merged
from tasks.publish.build import Recipe, build
from tasks.text.languages import language_of
from tasks.version import DERIVATION_VERSION
from warehouse.home import Home

FOLDER = Path(__file__).with_name("golden")
COMMAND = "`python -m tests.golden_outputs --write`"
BUDGETS = (20, 160)  # tokens of a passage
CALCULATED = {"confidence", "kind_scores"}  # their last digits depend on the machine
OF_THE_EDITION = {"edition", "since"}  # columns that name the edition
NOISE = 0.0101  # beyond that, a calculated number has changed
Row = dict[str, Any]
Outputs = dict[str, dict[str, Any]]  # by sentence, passage or table: what is made


@dataclass(frozen=True)
class Golden:
    """A version, where it stands, and the outputs that it stands for."""

    constant: str
    place: str
    version: int
    things: str  # what an output is made of
    made_now: Callable[[], Outputs]

    @property
    def file(self) -> Path:
        """The file with the stored outputs and their version."""
        return FOLDER / f"{self.constant.removesuffix('_VERSION').lower()}.json"

    def objection(self) -> str:
        """Return what is wrong with version or stored outputs, and what to do; empty if nothing."""
        stored = orjson.loads(self.file.read_bytes())
        return compared(self, stored["version"], stored["outputs"], self.made_now())

    def write(self) -> str:
        """Store the outputs of today, unless known ones changed under the same version."""
        outputs = self.made_now()
        if self.file.exists():
            stored = orjson.loads(self.file.read_bytes())
            changed = different(stored["outputs"], outputs)
            if changed and stored["version"] == self.version:
                raise SystemExit(compared(self, self.version, stored["outputs"], outputs))
        lines = [f"{_json(text)}: {_json(output)}" for text, output in sorted(outputs.items())]
        content = f'{{"version": {self.version}, "outputs": {{\n' + ",\n".join(lines) + "\n}}\n"
        self.file.write_text(content, encoding="utf-8")
        return f"{self.file.name}: version {self.version}, {len(outputs)} {self.things}"


def compared(golden: Golden, version: int, stored: Outputs, now: Outputs) -> str:
    """Return the objection to outputs of today, given stored ones of a version."""
    if version != golden.version:
        return (
            f"{golden.constant} is {golden.version}, but {golden.file.name} has the outputs of "
            f"version {version}: run {COMMAND}"
        )
    if changed := different(stored, now):
        shown = "".join(
            f"\n{text}\n  was {stored[text]}\n  is  {now[text]}" for text in changed[:5]
        )
        return (
            f"the output for {len(changed)} {golden.things} changed: raise {golden.constant} "
            f"({golden.place}) and run {COMMAND}{shown}"
        )
    if stored.keys() != now.keys():
        return (
            f"{golden.things} were added to those of {golden.file.name}, or left out: run {COMMAND}"
        )
    return ""


def different(stored: Outputs, now: Outputs) -> list[str]:
    """Return the texts that both have with different outputs."""
    return [text for text in stored if text in now and not _same(stored[text], now[text])]


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    numbers, others = one.get("numbers", []), other.get("numbers", [])
    return (
        {**one, "numbers": 0} == {**other, "numbers": 0}
        and len(numbers) == len(others)
        and all(abs(a - b) < NOISE for a, b in zip(numbers, others, strict=True))
    )


def texts() -> list[Row]:
    """Return the texts: title and text; most are a single sentence."""
    return [orjson.loads(line) for line in (FOLDER / "texts.jsonl").read_bytes().splitlines()]


def passages(budget: int) -> Iterator[Row]:
    """Yield the passages of the texts, with the title as the id of the content."""
    for row in texts():
        language = language_of(row["text"])
        yield from split(row["title"], row["title"], row["text"], language, budget)


def split_now() -> Outputs:
    """Return the passages of each text, at several budgets."""
    outputs: Outputs = {}
    for row in texts():
        language = language_of(row["text"])
        made = {
            str(budget): [
                [p["span_start"], p["span_end"], _digest({**p, "splitter": ""})]
                for p in split("", row["title"], row["text"], language, budget)
            ]
            for budget in BUDGETS
        }
        outputs[_key(row["title"], "", row["text"])] = made
    return outputs


@cache
def extracted_now() -> Outputs:
    """Return what the rules extract from each passage of the texts."""
    rows = list(passages(max(BUDGETS)))
    engine = RulesEngine()
    return {
        _key(row["title"], row["headings"], row["text"]): _shown(extracted)
        for row, extracted in zip(rows, engine.extract(rows), strict=True)
    }


def example_passages(example: Row, language: str) -> list[Row]:
    """Return the passages of the text of a prompt's example, as a refresh gives them to a model."""
    head = dict(line.split(": ", 1) for line in example["values"]["head"].split("\n"))
    title = head.pop("Title")
    metadata = _json({name.lower(): words for name, words in head.items()})
    more = {"metadata": metadata, "document_id": "d", "sensitive": False}
    rows = split("c", title, example["source"], language, max(BUDGETS))
    return [{**row, **more, "place": place} for place, row in enumerate(rows, 1)]


def grounded_now() -> Outputs:
    """Return what is stored of the replies in the prompts' examples."""
    outputs: Outputs = {}
    for purpose in ("extract", "extract_triples", "extract_descriptions", "extract_aspects"):
        for language, shown in examples(purpose).items():
            form = load_prompt(purpose, language, vocabulary="").reply
            for example in shown:
                rows = example_passages(example, language)
                reply = merged([form.model_validate(example["reply"])])
                found = ground([(reply, rows)], rows)
                for number, extracted in enumerate(found.extracted):
                    key = _key(rows[0]["title"], purpose, rows[number]["text"])
                    outputs[key] = _shown(extracted)
                    outputs[key]["rejected"] = [[r.form, r.reason] for r in found.rejected]
    return outputs


@cache
def derived_now() -> Outputs:
    """Return the tables of the edition, and the arrays of its graphs, that the journal gives."""
    with TemporaryDirectory() as folder:
        home = Home(Path(folder))
        copytree(FOLDER / "journal", home.journal.folder)
        made_by = home.journal.table(Extraction).slice(0, 1).to_pylist()[0]
        splitter = home.journal.table(SplitPassage)["splitter"][0].as_py()
        recipe = Recipe(made_by["engine"], made_by["prompt_sha"], splitter, None, 0.0)
        edition = build(home, recipe, None, lambda folder: None, lambda *_: None)
        assert edition is not None
        outputs: Outputs = {}
        for row in EDITION:
            rows = [
                {key: value for key, value in one.items() if key not in OF_THE_EDITION}
                for one in edition.table(row).to_pylist()
            ]
            outputs[row.table] = {"rows": len(rows), "everything": _digest(rows)}
        for graph in graph_folders(edition):
            for array in sorted(
                [*graph.glob("*.npy"), graph / "labels.arrow", graph / "graph.json"]
            ):
                sha = hashlib.sha256(array.read_bytes()).hexdigest()[:8]
                outputs[f"graphs/{graph.name}/{array.name}"] = {"everything": sha}
    return outputs


def _shown(extracted: Extracted) -> dict[str, Any]:
    """Return triples to be read, a digest of everything, and the calculated numbers."""
    lists = (extracted.names, *extracted.facts)
    exact = [[{k: v for k, v in row.items() if k not in CALCULATED} for row in f] for f in lists]
    numbers = [
        round(number, 2)
        for rows in lists
        for row in rows
        for number in (row.get("confidence"), *(row.get("kind_scores") or ()))
        if number is not None
    ]
    why = [extracted.sentences, extracted.failed, extracted.empty_because]
    triples = [_triple(row) for row in extracted.triples]
    return {"triples": triples, "everything": _digest([exact, why]), "numbers": numbers}


def _triple(row: Row) -> str:
    marks = {row.get("polarity"), row.get("modality")} - {None, "positive", "asserted"}
    return " | ".join([row["head"], row["relation"], row["tail"], *sorted(marks)])


def _key(*parts: str) -> str:
    return " / ".join(part for part in parts if part)


def _digest(value: Any) -> str:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


GOLDENS = [
    Golden("SPLITTER_VERSION", "tasks/ingest/split.py", SPLITTER_VERSION, "texts", split_now),
    Golden(
        "RULES_VERSION",
        "tasks/extract/rules/__init__.py",
        RULES_VERSION,
        "sentences",
        extracted_now,
    ),
    Golden(
        "GROUNDING_VERSION",
        "tasks/extract/by_model/grounding.py",
        GROUNDING_VERSION,
        "replies",
        grounded_now,
    ),
    Golden("DERIVATION_VERSION", "tasks/version.py", DERIVATION_VERSION, "tables", derived_now),
]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Store the outputs of today.")
    write = parser.parse_args().write
    messages = [golden.write() if write else golden.objection() for golden in GOLDENS]
    print("\n".join(filter(None, messages)) or "Nothing changed.")
    sys.exit(not write and any(messages))
