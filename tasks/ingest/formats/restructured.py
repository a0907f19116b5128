"""reStructuredText, read with docutils and written as Markdown.

Sphinx's roles and directives are not known to docutils: of a role the words that readers see are
kept, and a directive is a term, its argument, with its body as the definition. No file that a
directive names is opened. docutils' own tables of names are left as they are.
"""

import re
import textwrap
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Directive, Parser, directives, states
from docutils.parsers.rst.directives.admonitions import Note
from docutils.transforms.references import Footnotes

from tasks.ingest.formats.cleaning import clean, decode
from tasks.ingest.formats.markdown import Cell, one_line, table
from tasks.ingest.formats.metadata import described
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import read_whole
from tasks.text.languages import word_set

_CODE_NAMES = word_set(
    "code literal samp file command program kbd option envvar func function class meth method attr "
    "attribute mod exc exception data obj object const setting confval makevar regexp mimetype"
)
_CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_BIBLIOGRAPHIC = word_set(
    "author authors organization contact address version revision status date copyright"
)
_FILLED_IN = word_set("version release today")  # by Sphinx, with what the file does not say
_STYLES = re.compile(r"[a-z0-9 _-]*")
_ABOVE_FIELDS = (nodes.title, nodes.Invisible, nodes.system_message)
_LONGEST_REPLACED = 1_000  # characters that a substitution may stand for
_SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "line_length_limit": 10_000_000,
    "syntax_highlight": "none",
}


def parse_restructured(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the text of a file in reStructuredText as Markdown."""
    yield read_restructured(clean(decode(read_whole(file, limits), limits.charset)))


def read_restructured(text: str) -> ParsedText:
    """Return a document in reStructuredText as Markdown, with its bibliographic fields apart."""
    settings = frontend.get_default_settings(Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    document = utils.new_document("", settings)
    inliner = states.Inliner()
    inliner.interpreted = _interpreted  # of this parser alone
    inliner.implicit_inline = lambda text, _: [nodes.Text(text)]  # addresses are words
    parser = Parser(inliner=inliner)
    parser.state_classes = _STATES
    parser.parse(text, document)
    Footnotes(document).apply()
    metadata = described(list(_bibliographic(document)))
    return ParsedText(text="\n".join(_lines(document, 0)).strip() + "\n", metadata=metadata)


def _bibliographic(node: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the fields below the title that describe the document, and take them out of it."""
    match [child for child in node.children if not isinstance(child, _ABOVE_FIELDS)]:
        case [nodes.section() as section, *_]:
            yield from _bibliographic(section)
        case [nodes.field_list() as fields, *_]:
            for field in list(fields):
                name, value = (part.astext() for part in field.children)
                stated = (name, value.split("\n\n"))
                if name.lower() in _BIBLIOGRAPHIC and described([stated]):  # not a date in words
                    yield stated
                    fields.remove(field)


def _interpreted(rawsource: str, text: str, role: str, lineno: int) -> tuple[list[Any], list[Any]]:
    """Return the words that readers see of any role, as docutils' `Inliner.interpreted` does."""
    name = (role or "").lower()
    words = nodes.unescape(text)
    title = text.rpartition("<")[0] if text.endswith(">") else ""
    if title.strip() and not title.endswith("\x00"):  # as docutils marks an escaped character
        return [nodes.Text(nodes.unescape(title).strip())], []
    if not name or ":" in name or name in _CODE_NAMES:
        words = words.rpartition(".")[2] if words.startswith("~") else words.lstrip("!")
        return [nodes.literal(rawsource, words)], []
    if name == "doc":
        words = re.sub(r"[-_]", " ", words.removesuffix("/index").rpartition("/")[2])
    elif name == "ref":
        words = words.rpartition(":")[2]
    elif name in ("pep", "rfc"):
        words = f"{name.upper()} {words}"
    return [nodes.Text(words)], []


class _Silent(Directive):
    """A directive without words for readers."""

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = {"class": directives.unchanged}  # others are dropped, see `_Lenient`
    has_content = True

    def run(self) -> list[Any]:
        return []

    def body(self) -> list[Any]:
        parent = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, parent, match_titles=True)
        return list(parent.children)

    def inline(self, text: str) -> list[Any]:
        return list(self.state.inline_text(text, self.lineno)[0])


class _Body(_Silent):
    """A directive whose argument is a condition, a layout or a picture."""

    def run(self) -> list[Any]:
        return self.body()


class _Code(_Silent):
    def run(self) -> list[Any]:
        return [nodes.literal_block("", "\n".join(self.content))]


class _Formula(_Silent):
    def run(self) -> list[Any]:
        formula = one_line(" ".join([*self.arguments, *self.content]))
        return [nodes.paragraph("", f"$$ {formula} $$")]


class _Change(_Silent):
    def run(self) -> list[Any]:
        words = f"{_CHANGES[self.name.lower()]} {''.join(self.arguments)}"
        return [nodes.paragraph("", "", *self.inline(words)), *self.body()]


class _Described(_Silent):
    """Any other directive: its argument is a term, its body the definition."""

    def run(self) -> list[Any]:
        body = self.body()
        if not self.arguments:
            return body
        literal = ":" in self.name or self.name.lower() in _CODE_NAMES
        lines = self.arguments[0].split("\n") if literal else self.arguments
        names = [line.strip() for line in lines]
        words = [[nodes.literal("", name)] if literal else self.inline(name) for name in names]
        terms = [nodes.term("", "", *parts) for parts in words]
        item = nodes.definition_list_item("", *terms, nodes.definition("", *body))
        return [nodes.definition_list("", item)]


class _Class(_Described):
    """Sphinx's class, or a style of docutils, whose names have neither capitals nor signs."""

    def run(self) -> list[Any]:
        return self.body() if _STYLES.fullmatch("".join(self.arguments)) else super().run()


_SILENT = word_set(
    "image toctree contents include literalinclude raw highlight index meta graphviz "
    "plantuml mermaid default-role autosummary sectnum title video youtube iframe "
    "currentmodule module py:module testsetup testcleanup date role"
)
_CODE = word_set("code code-block sourcecode prompt console doctest testcode testoutput")
_DIRECTIVES: dict[str, Any] = {
    **dict.fromkeys(_SILENT, _Silent),
    **dict.fromkeys(_CODE, _Code),
    **dict.fromkeys(_CHANGES, _Change),
    "class": _Class,
    "math": _Formula,
    "figure": _Body,
    "only": _Body,
    "ifconfig": _Body,
    "seealso": Note,
    "todo": Note,
}


class _Lenient:
    """Adds to a state of docutils' parser that any directive and any option is allowed."""

    explicit: Any  # what begins with "..", with the method below
    nested_sm_cache: list[Any] = []  # docutils' own holds machines with its own states

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)  # type: ignore[call-arg]
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def directive(self, match: re.Match[str], **presets: Any) -> Any:
        state: Any = self
        name = match[1].lower()
        known, _ = directives.directive(name, state.memo.language, state.document)
        other = _Silent if presets else _Described  # a substitution stands for words alone
        return state.run_directive(_DIRECTIVES.get(name) or known or other, match, name, presets)

    def parse_extension_options(self, option_spec: Any, datalines: Any) -> Any:
        any_option = _AnyOption(option_spec)
        valid, options = super().parse_extension_options(any_option, datalines)  # type: ignore[misc]
        return 1, {name: options[name] for name in options if name in option_spec} if valid else {}


class _AnyOption(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return directives.unchanged


_Lenient.explicit = states.Struct(
    patterns=states.Body.explicit.patterns,
    constructs=[
        (_Lenient.directive if method is states.Body.directive else method, pattern)
        for method, pattern in states.Body.explicit.constructs
    ],
)
_STATES = [type(state.__name__, (_Lenient, state), {}) for state in states.state_classes]


def _lines(node: Any, level: int) -> Iterator[str]:
    """Yield the lines of Markdown for a node of a document that is within `level` sections."""
    match node:
        case nodes.section():
            title, *rest = node.children
            yield from (f"{'#' * min(level + 1, 6)} {_words(title)}", "")
            yield from _all_lines(rest, level + 1)
        case nodes.table():
            caption = "".join(_words(child) for child in node if isinstance(child, nodes.title))
            rows = (row for row in node.findall(nodes.row) if row.parent.parent.parent is node)
            yield from (table(map(_cells, rows), caption), "")
        case nodes.bullet_list() | nodes.enumerated_list():
            numbered = node.get("enumtype") == "arabic"
            for number, item in enumerate(node.children, node.get("start", 1)):
                yield from _hung(f"{number}. " if numbered else "- ", _lines(item, level))
        case nodes.definition_list_item() | nodes.field() | nodes.option_list_item():
            *terms, body = node.children
            if node.children and (body.children or not isinstance(node, nodes.field)):
                marks = [" : " if isinstance(term, nodes.classifier) else "\n" for term in terms]
                words = "".join(chain(*zip(marks, map(_words, terms), strict=True)))
                yield from _defined(words.strip(), body.children, level)
        case nodes.Admonition() | nodes.topic() | nodes.sidebar():
            title = node.next_node(nodes.title)
            if title is not None and title.parent is node:
                rest = [child for child in node.children if child is not title]
                yield from _defined(_words(title), rest, level)
            else:
                yield from _all_lines(node.children, level)
        case nodes.literal_block() | nodes.doctest_block():
            yield from _fenced(node.astext())
        case nodes.system_message():  # what docutils could not read
            for source in node.findall(nodes.literal_block):
                text = source.astext()
                unread = text.partition("\n\n")[2] if text.startswith(".. ") else text
                yield from _fenced(textwrap.dedent(unread))
        case nodes.line_block():
            yield from (*(_words(line) for line in node.findall(nodes.line)), "")
        case nodes.Invisible() | nodes.image():
            return
        case nodes.raw() | nodes.label() | nodes.meta() | nodes.decoration() | nodes.transition():
            return
        case nodes.TextElement() | nodes.Text():
            yield from (*_words(node).split("\n"), "")
        case _:
            yield from _all_lines(node.children, level)


def _all_lines(children: list[Any], level: int) -> Iterator[str]:
    for child in children:
        yield from _lines(child, level)


def _words(node: Any) -> str:
    """Return the words of a paragraph or of a part of one, with Markdown's marks."""
    match node:
        case nodes.Text():
            return str(node.astext())
        case nodes.literal() | nodes.option_group():
            return f"`{node.astext()}`"
        case nodes.image() | nodes.raw() | nodes.system_message():
            return ""
        case nodes.footnote_reference() | nodes.citation_reference():
            return f"[{node.astext()}]" if node.children else ""
        case nodes.substitution_reference():
            return _replaced(node)
        case nodes.reference() if not _is_link(node):
            return str(node.rawsource)
    mark = {nodes.emphasis: "*", nodes.strong: "**"}.get(type(node), "")
    return f"{mark}{''.join(map(_words, node.children))}{mark}"


def _replaced(reference: Any) -> str:
    """Return the words that a substitution stands for, else its name or three dots."""
    document = reference.document
    name = reference["refname"]
    name = document.substitution_names.get(name.lower(), name)
    found = document.substitution_defs.get(name)
    if not found:
        return "…" if name.lower() in _FILLED_IN else str(reference.astext())
    return str(found.astext()[:_LONGEST_REPLACED].strip())


def _is_link(reference: Any) -> bool:
    """Return whether a word with an underscore behind it is a link, not a name in code."""
    name = reference.get("refname")
    return (
        name is None or name in reference.document.nameids or reference.rawsource[:1] in ("`", "|")
    )


def _cells(row: Any) -> Iterator[Cell]:
    is_header = isinstance(row.parent, nodes.thead)
    for entry in row.children:
        words = "\n".join(_all_lines(entry.children, 0))
        yield Cell(words, is_header, entry.get("morecols", 0) + 1, entry.get("morerows", 0) + 1)


def _defined(term: str, body: list[Any], level: int) -> Iterator[str]:
    """Yield a term with its definition; a term without one is a paragraph."""
    inside = list(_all_lines(body, level))
    yield from (term, *_hung(":   ", inside)) if any(inside) else (term, "")


def _hung(mark: str, lines: list[str] | Iterator[str]) -> Iterator[str]:
    """Yield lines behind a mark, as Markdown indents what belongs to an item."""
    first = True
    for line in lines:
        yield (mark if first else " " * len(mark)) + line if line else ""
        first = False


def _fenced(text: str) -> Iterator[str]:
    lines = [line for line in text.strip("\n").split("\n") if not line.startswith("```")]
    if any(lines):
        yield from ("```", *lines, "```", "")
