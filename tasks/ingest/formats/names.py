"""Uris that are safe to store and print; titles from a text's headings or its file name."""

import hashlib
import re
from html import unescape

from tasks.ingest.blocks import BlockKind, blocks_of
from tasks.ingest.formats.cleaning import clean, clean_line
from tasks.ingest.front_matter import read_front_matter
from tasks.ingest.prose import CHARACTER

# Formats with several records: `file#record` must not be mistaken for a file of that name.
_RECORDS = re.compile(
    r"\.(jsonl?|ndjson|[ct]sv|parquet|xml|mbox|eml|mht(?:ml)?)(\.(gz|bz2))?#", re.IGNORECASE
)
_ESCAPED = re.compile("%(?=[0-9A-Fa-f]{2})")
_LONGEST = 500  # characters of a record's own name
_HASH = re.compile(r"[0-9a-f]{24,128}")
_SUFFIXES = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{0,8}){1,2}$")
_SEARCHED = 20_000  # characters from the start in which a title is looked for
_LONGEST_TITLE = 200
# What programs write if nothing was given: placeholders and file names.
_NOT_GIVEN = re.compile(
    r"[\W_]*((anonymous|unspecified|unknown|untitled|none|null)[\W_]*)?"
    r"|.*\.(docx?|pptx?|xlsx?|pdf|tex|dvi|e?ps|indd|qxd|odt|rtf|wpd|txt|html?|exe|tmp)",
    re.IGNORECASE,
)
# Titles of that kind: the names of programs, and numbers.
_NO_TITLE = re.compile(
    r"(untitled|microsoft word|microsoft powerpoint|document\d*$|title$"
    r"|powerpoint[ -](presentation|präsentation|演示文稿|簡報|プレゼンテーション)"
    r"|(présentation|presentación de|apresentação do|presentazione standard di) powerpoint"
    r"|(slide|folie|diapositiv[aeo]|幻灯片|投影片|スライド) ?\d"
    r"|[\d\W_]+$)",
    re.IGNORECASE,
)


def safe_uri(path: str) -> str:
    """Escape unprintable and invisible characters in a path as `%XX`; distinct paths stay distinct.

    Bytes of a name that are not UTF-8 (surrogates in Python) are escaped in the same way.
    """
    path = _ESCAPED.sub("%25", path)
    if not (path.isascii() and path.isprintable()):
        path = "".join(map(_escape, path))
    return _RECORDS.sub(lambda match: match.group()[:-1] + "%23", path)


def safe_record(name: object) -> str:
    """Return a record's own name made safe for a uri; a long name ends in its hash."""
    uri = safe_uri(str(name).strip())
    if len(uri) <= _LONGEST:
        return uri
    return f"{uri[: _LONGEST - 17]}~{hashlib.sha256(uri.encode()).hexdigest()[:16]}"


def title_of_text(text: str) -> str:
    """Return the title from the front matter, else from the headings, else an empty string.

    The first top heading is the title, or a lower one that opens the text and stands above all.
    """
    start = text[:_SEARCHED]
    front = read_front_matter(start)
    for name in ("title", "subject"):
        if isinstance(front.get(name), str):
            return clean_line(CHARACTER.sub(lambda match: unescape(match[0]), front[name]))
    blocks = [block for block in blocks_of(start) if block.kind is not BlockKind.METADATA]
    headings = [block for block in blocks if block.kind is BlockKind.HEADING and block.lead]
    for heading in headings:
        if heading.level == 1:
            return clean_line(heading.lead)
    opens = bool(headings) and headings[0] is blocks[0]
    alone = opens and all(heading.level > headings[0].level for heading in headings[1:])
    return clean_line(headings[0].lead) if alone else ""


def given(value: str) -> str:
    """Return a file's property without white space around it; "" if a program wrote a default."""
    return "" if _NOT_GIVEN.fullmatch(value := value.strip()) else value


def sensible_title(title: str) -> str:
    """Return a title that a file's properties state; an empty string if no person gave it."""
    title = given(clean_line(title, 2 * _LONGEST_TITLE))
    return "" if len(title) > _LONGEST_TITLE or _NO_TITLE.match(title) else title


def title_of_name(uri: str) -> str:
    """Return a title made from a file's name: `marie-curie.md` becomes `Marie Curie`.

    A name that is a hash gives an empty title, so that the text does not seem to be about it.
    """
    file, _, record = uri.rstrip("/").rpartition("/")[2].partition("#")
    stem = _SUFFIXES.sub("", file) or file
    if _HASH.fullmatch(stem) and not record:
        return ""
    stem = f"{stem} {record}" if record else stem
    words = clean_line(re.sub(r"[_\-+\s]+", " ", stem))
    if words.islower():
        return " ".join(word[:1].upper() + word[1:] for word in words.split())
    return words or "Untitled"


def _escape(character: str) -> str:
    # Decomposed letters stay, since they make a different file name; invisible characters do not.
    if character == " " or (character.isprintable() and clean(character) != ""):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
