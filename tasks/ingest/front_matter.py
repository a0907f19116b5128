"""Read the metadata above a text: front matter in YAML or TOML, or headers as in an e-mail.

Comments that open a text, such as a licence, are front matter without fields.
"""

import re
from textwrap import dedent
from typing import Any

from schemas.errors import AlmanacError

_LONGEST = 16_000  # characters of front matter
_FENCED = re.compile(
    rf"(?:[ \t]*+\n)*+(?P<fence>---|\+\+\+)[ \t]*\n(?P<fields>(?:.{{0,{_LONGEST}}}?\n)?)"
    r"(?:(?P=fence)|\.\.\.)[ \t]*(?=\n|\Z)",
    re.DOTALL,
)
_HEADERS = re.compile(
    r"(?P<fields>(?:[A-Z][A-Za-z-]{1,30}:.*\n(?:[ \t]+\S.*\n){0,50}){2,40})(?=\n)"
)
_COMMENTS = re.compile(
    rf"(?P<all>(?>\s*(?:/\*.{{0,{_LONGEST}}}?\*/|<!--.{{0,{_LONGEST}}}?-->))++)"
    r"[ \t]*(?:\n\s*|\Z)",
    re.DOTALL,
)
_FIELD = re.compile(r"^([^\W\d][\w .-]{0,60}?)[ \t]*[:=](.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
# What lines of YAML begin with: a space, a comment, a list item, a closing bracket or a key.
_YAML_LINE = re.compile(
    r"""[ \t#\]}]|-(?=[ \t\n])|(?:[^\W\d][\w .-]{0,60}?|"[^"\n]{1,60}"|'[^'\n]{1,60}')[ \t]*[:=]"""
)
LABELS = ("label", "labels")  # the fields that decide who sees a document
_NAMES_LABELS = re.compile(r"(?<![\w.-])labels?[\"']?\s*[:：=]", re.IGNORECASE)
# Labels in what is meant as front matter: below another fence, or none that is closed, or without
# one, where "Label: Columbia" would be of a record.
_MEANT = re.compile(
    r"(?:(?:[ \t]*(?:(?:[#%;]|//).*)?\n)*[ \t]*(?:-{3,}|\+{3,}).{0,20}\n(?=.*\S)"
    rf"(?:(?:{_YAML_LINE.pattern}).*\n|\n)*?[^\w\n]*(?i:labels?)"
    r"|\s*(?:[\w.\"'-][^:\n]{0,60}:.*\n){0,40}?[\"']?(?:label|[Ll]abels))[\"']?\s*[:：=]"
)
_DESCRIBES = frozenset({"from", "author", "authors", "title", "subject"})
_BLOCK_MARK = re.compile(r"[>|][+-]?\s")


def front_matter_end(text: str) -> int:
    """Return where front matter, headers and comments above a text end, 0 if it has none."""
    match = _front_matter(text)
    end = match.end() if match else 0
    comments = _COMMENTS.match(text, end)
    return comments.end("all") if comments else end


def read_front_matter(text: str) -> dict[str, Any]:
    """Return the fields above a text, by names in lower case; broken lines are left out."""
    match = _front_matter(text)
    return dict(_fields(match)) if match else {}


def hides_labels(text: str) -> bool:
    """Return whether labels seem to be named above a text in a form that is not surely read."""
    match = _front_matter(text)
    if match is None:
        comments = _COMMENTS.match(text)
        return bool(_MEANT.match(text, comments.end() if comments else 0))
    parsed = _parsed(match) if "fence" in match.re.groupindex else {}
    names = [name for name, _ in _fields(match)]
    once = len({*names}) == len(names) and not getattr(parsed, "repeats", False)
    sure = once and parsed is not None and "<<" not in names
    return not sure and bool(_NAMES_LABELS.search(match["fields"]))


def _fields(match: re.Match[str]) -> list[tuple[str, Any]]:
    """Return the fields by names in lower case, of which some may be alike."""
    fields = _parsed(match) if "fence" in match.re.groupindex else None
    plain = ((name, _plain(value)) for name, value in _FIELD.findall(dedent(match["fields"])))
    return [(str(n).strip().lower(), v) for n, v in (plain if fields is None else fields.items())]


def _front_matter(text: str) -> re.Match[str] | None:
    comments = _COMMENTS.match(text)
    start = comments.end() if comments else 0
    if fenced := _FENCED.match(text, start):
        labelled = any(str(name).lower() in LABELS for name in _parsed(fenced) or ())
        return fenced if labelled or _are_fields(fenced["fence"], fenced["fields"]) else None
    headers = _HEADERS.match(text[: start + _LONGEST], start)
    if headers and _DESCRIBES & {name.lower() for name, _ in _FIELD.findall(headers["fields"])}:
        return headers
    return None


def _are_fields(fence: str, fields: str) -> bool:
    """Return whether a text between two fences is metadata; `---` may also be a rule in prose."""
    if not fields.strip():
        return True
    first, *rest = fields.split("\n")
    lines = [f"{line}\n" for line in (first, *rest) if line.strip()]
    share = sum(bool(_YAML_LINE.match(line)) for line in lines) / len(lines)
    # A quoted value may go on in lines of its own; below a blank line, # may begin a heading.
    stands_there = share > 0.5 if first.strip() else share == 1 and "#" not in fields
    fields = dedent(fields) if first.strip() else fields
    return bool(_FIELD.search(fields)) and (fence == "+++" or stands_there)


def _parsed(fenced: re.Match[str]) -> dict[str, Any] | None:
    """Return the fields parsed as TOML or YAML, None if they cannot be parsed."""
    import tomllib

    from tasks.text.plain_yaml import parse_yaml

    try:
        fence, fields = fenced.group("fence", "fields")
        value = tomllib.loads(fields) if fence == "+++" else parse_yaml(fields.encode(), "it")
    except (AlmanacError, ValueError, RecursionError):  # ValueError: also of very long numbers
        return None
    return value if isinstance(value, dict) else None


def _plain(value: str) -> str:
    """Return a value as one line, without a block mark and surrounding quotes."""
    words = _BLOCK_MARK.sub("", " ".join(value.split()) + " ", count=1)
    return words.strip().strip("\"'")
