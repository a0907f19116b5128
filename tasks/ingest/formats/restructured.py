"""reStructuredText, as docutils and Sphinx define it, written as Markdown.

Headings, lists, definitions, tables and code keep their structure. Of roles and references only the
words that readers see are kept. Directives that hold text give that text; the others are dropped,
and no file that they name is opened. Every line is read once for each block that it is nested in.
"""

import re
from collections.abc import Iterator

from tasks.ingest.formats.markdown import Cell, table
from tasks.text.languages import word_set

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}")
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|\n]{1,80}\| +)?([\w:.+-]{1,60}?):: *(.*)")
_MARKED = re.compile(r"\.\.(?: +(.*))?$")
_REPLACED = re.compile(r"^\.\. +\|([^|\n]{1,80})\| +replace:: +(\S.*)$", re.MULTILINE)
_TARGET = re.compile(r"^(?:\.\. +_`?([^`:\n]{1,80})`?:|__ )", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[(?:#[\w-]*|\*|\d{1,4}|[\w.-]{1,40})\] +(\S.*)")
_OPTION = re.compile(r":[\w-]{1,40}:")
_FIELD = re.compile(r":((?:[^:\s\\]|\\.)(?:[^:\n\\]|\\.|:(?![ `]|$)){0,80}):(?: +(.*))?$")
_ITEM = re.compile(r"([-*+•]|#\.|\(?(?:\d{1,4}|[A-Za-z])[.)]) +(?=\S)")
_RULES = re.compile(r"={2,}(?: +={2,})+ *$")
_FRAME = re.compile(r"\+(?:[-=]+\+)+ *$")
_CODE = word_set("code code-block sourcecode parsed-literal prompt console doctest testcode")
_WITHOUT_TEXT = word_set(
    "image figure toctree contents include literalinclude raw highlight index meta math graphviz "
    "plantuml mermaid csv-table default-role autosummary sectnum title video youtube iframe "
    "currentmodule module py:module testsetup testcleanup unicode date role"
)
_LITERAL_ROLES = word_set(
    "code literal samp file command program kbd option envvar func class meth attr mod exc data "
    "obj const setting confval makevar regexp mimetype"
)
_DOCUMENTED = word_set("function class method attribute exception object")
_INLINE = re.compile(
    r"``([^`\n][^\n]{0,300}?)``"
    r"|(?::([\w:.+-]{1,60}):)?`([^`\\]{1,400})`(?::([\w:.+-]{1,60}):)?(_{0,2})"
    r"|\|(\w[\w .-]{0,60}\w)\|_?"
    r"|(?<![\w`])(\w[\w.-]{0,60})_(?![\w`])"
)
_ADMONITIONS = word_set(
    "note tip hint important warning caution danger error attention seealso todo"
)
_CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_SHORTEST_LINE = 4  # under a title that is longer
_DEEPEST = 12


def markdown_of(text: str) -> str:
    """Return a document in reStructuredText as Markdown."""
    return _Document(text).markdown


class _Document:
    """A document with what its parts refer to: styles of headings, substitutions and targets."""

    def __init__(self, text: str) -> None:
        """Convert the text; the result is in `markdown`."""
        self.styles: list[tuple[str, bool]] = []
        self.replaced: dict[str, str] = {
            name.lower(): words for name, words in _REPLACED.findall(text)
        }
        self.targets = {name.strip().lower() for name in _TARGET.findall(text)}
        lines = [line.rstrip() for line in text.expandtabs(8).split("\n")]
        self.markdown = "\n".join(self._blocks(lines, 0)).strip() + "\n"

    def _blocks(self, lines: list[str], depth: int) -> Iterator[str]:
        """Yield the lines of Markdown for lines that begin at the left margin."""
        at = 0
        while at < len(lines):
            line = lines[at]
            heading = self._heading(lines, at)
            if not line or depth > _DEEPEST:
                at += 1
            elif heading:
                yield from (heading[0], "")
                at = heading[1]
            elif line.startswith(" "):
                body, at = _indented(lines, at)
                yield from self._blocks(body, depth + 1)
            elif marked := _MARKED.match(line):
                body, end = _indented(lines, at + 1)
                yield from self._explicit(line, marked[1] or "", body, depth)
                at = end
            elif line.startswith("__ ") or _ADORNMENT.fullmatch(line):
                at += 1
            elif _FRAME.match(line) or _RULES.match(line):
                rows, rule = (_framed, _FRAME) if line.startswith("+") else (_ruled, _RULES)
                ends = (i for i in range(at + 1, len(lines)) if not "".join(lines[i : i + 1]))
                end = next((i for i in ends if rule.match(lines[i - 1]) and i - 1 > at), len(lines))
                yield from (self._table(rows(lines[at:end])), "")
                at = end
            elif (item := _ITEM.match(line)) and _ends_item("".join(lines[at + 1 : at + 2])):
                body, at = _indented(lines, at + 1)
                mark = "- " if len(item[1]) == 1 else f"{item[1].strip('(.)#') or 1}. "
                mark = mark if mark.strip("-. ").isdigit() or mark == "- " else "- "
                inside = [line[item.end() :], *body]
                yield from _hung(mark, self._blocks(inside, depth + 1))
            elif field := _FIELD.match(line):
                body, at = _indented(lines, at + 1)
                inside = [*filter(None, [field[2]]), *body]
                if any(inside):
                    yield from self._defined(self._inline(field[1]), inside, depth)
            elif at + 1 < len(lines) and lines[at + 1].startswith(" ") and line[-2:] != "::":
                body, at = _indented(lines, at + 1)
                yield from self._defined(self._inline(line), body, depth)
            else:
                ends = (i for i in range(at, len(lines)) if not lines[i] or lines[i][0] == " ")
                end = next(ends, len(lines))
                words = "\n".join(row.removeprefix("| ") for row in lines[at:end])
                at = end
                if words.startswith(">>> "):
                    yield from _fenced(words.split("\n"))
                    continue
                literal = words.endswith("::")
                if literal:
                    words = words[:-2].rstrip() + (":" if words[-3:-2].strip() else "")
                yield from (*self._inline(words).split("\n"), "")
                if literal:
                    body, at = _indented(lines, at)
                    yield from _fenced(body)

    def _heading(self, lines: list[str], at: int) -> tuple[str, int] | None:
        """Return a heading and the place after it, None if none begins here."""
        over = bool(_ADORNMENT.fullmatch(lines[at])) and at + 2 < len(lines)
        title, under = lines[at + over : at + over + 2] + [""] * (at + over + 2 > len(lines))
        adorned = _ADORNMENT.fullmatch(under)
        if not title.strip() or not adorned or (title.startswith(" ") and not over):
            return None
        short = len(under) < min(len(title.strip()), _SHORTEST_LINE)
        if short or (over and lines[at] != under) or _ADORNMENT.fullmatch(title):
            return None
        style = (adorned[1], over)
        if style not in self.styles:
            self.styles.append(style)
        level = min(self.styles.index(style) + 1, 6)
        return f"{'#' * level} {self._inline(title.strip())}", at + over + 2

    def _explicit(self, line: str, words: str, body: list[str], depth: int) -> Iterator[str]:
        """Yield what a directive or a footnote says; comments and targets say nothing."""
        directive = _DIRECTIVE.match(line)
        if directive is None:
            note = _FOOTNOTE.match(words)
            if note:
                yield from self._blocks([note[1], *body], depth + 1)
            return
        name, argument = directive[1], directive[2]
        start = next((i for i, option in enumerate(body) if not _OPTION.match(option)), len(body))
        options, body = body[:start], body[start:]
        if name in _CODE:
            yield from _fenced(body)
        elif name == "list-table":
            items = list(self._blocks(body, depth + 1))
            header = any(option.startswith(":header-rows: 1") for option in options)
            yield from (table(_listed(items, header=header), self._inline(argument)), "")
        elif name in _WITHOUT_TEXT or line.startswith(".. |"):
            return
        elif name in _ADMONITIONS | _CHANGES.keys() or not argument or any(body[:1]):
            first = f"{_CHANGES.get(name, '')} {argument}".strip()
            yield from self._blocks([*filter(None, [first]), *body], depth + 1)
        else:  # a title, or what is documented
            literal = ":" in name or name in _LITERAL_ROLES | _DOCUMENTED
            term = f"`{argument}`" if literal else self._inline(argument)
            yield from self._defined(term, body, depth)

    def _defined(self, term: str, body: list[str], depth: int) -> Iterator[str]:
        """Yield a term with its definition; a term without one is a paragraph."""
        inside = list(self._blocks(body, depth + 1))
        yield from (term, *_hung(":   ", inside)) if any(inside) else (term, "")

    def _table(self, rows: list[list[Cell]]) -> str:
        return table([[cell._replace(words=self._inline(cell.words)) for cell in r] for r in rows])

    def _inline(self, text: str) -> str:
        """Return words without the marks of roles, references and substitutions."""
        return _INLINE.sub(self._words_of, text).replace("\\ ", "")

    def _words_of(self, match: re.Match[str]) -> str:
        code, before, words, after, reference, name, target = match.groups("")
        if code:
            return f"`{code}`"
        if name:
            return self.replaced.get(name.lower(), name)
        if target:
            return target if target.lower() in self.targets else match[0]
        role = before or after
        title = words.rpartition("<")[0].strip() if words.endswith(">") else ""
        if title:
            return title
        if reference:
            return words
        if not role or ":" in role or role in _LITERAL_ROLES:
            return f"`{words.rpartition('.')[2] if words[0] == '~' else words.lstrip('!')}`"
        if role == "doc":
            return re.sub(r"[-_]", " ", words.removesuffix("/index").rpartition("/")[2])
        if role in ("pep", "rfc"):
            return f"{role.upper()} {words}"
        return words.rpartition(":")[2] if role == "ref" else words


def _indented(lines: list[str], at: int) -> tuple[list[str], int]:
    """Return the indented block that begins at a line, without its indent, and the place after."""
    end = at
    while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
        end += 1
    body = lines[at:end]
    while body and not body[-1]:
        body.pop()
    margin = min((len(line) - len(line.lstrip()) for line in body if line), default=0)
    return [line[margin:] for line in body], end


def _hung(mark: str, lines: list[str] | Iterator[str]) -> Iterator[str]:
    """Yield lines behind a mark, as Markdown indents what belongs to an item."""
    first = True
    for line in lines:
        yield (mark if first else " " * len(mark)) + line if line else ""
        first = False


def _fenced(lines: list[str]) -> Iterator[str]:
    words = "\n".join(line for line in lines if not line.startswith("```")).strip("\n")
    if words:
        yield from ("```", *words.split("\n"), "```", "")


def _listed(items: list[str], *, header: bool) -> Iterator[list[Cell]]:
    """Yield the rows of a table that is written as a list of lists."""
    rows: list[list[str]] = []
    for line in items:
        if line.startswith("- "):
            rows.append([])
        words = line.strip().removeprefix("- ").strip()
        begins = words.startswith("- ") or line.strip().startswith("- ")
        words = words.removeprefix("- ").removesuffix("-").strip()
        if rows and begins:
            rows[-1].append(words)
        elif rows and rows[-1] and words:
            rows[-1][-1] += f" {words}"
    for number, row in enumerate(rows):
        yield [Cell(words, is_header=header and not number) for words in row]


def _framed(lines: list[str]) -> list[list[Cell]]:
    """Return the rows of a table with a frame around each cell."""
    rows: list[list[Cell]] = []
    group: list[list[str]] = []
    for line in lines[1:]:
        if not _FRAME.match(line):
            group.append(re.split(r"(?<!\\)\|", line.strip().strip("|")))
            continue
        width = max(map(len, group), default=0)
        cells = [" ".join(c[i].strip() for c in group if i < len(c)).strip() for i in range(width)]
        if "=" in line:
            rows = [[cell._replace(is_header=True) for cell in row] for row in rows]
        rows.append([Cell(words, is_header="=" in line) for words in cells])
        group = []
    return rows


def _ruled(lines: list[str]) -> list[list[Cell]]:
    """Return the rows of a table whose columns are ruled at the top and at the bottom."""
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    spans = list(zip(starts, [*starts[1:], None], strict=True))
    rules = [place for place, line in enumerate(lines) if _RULES.match(line)]
    heads = rules[1] if len(rules) > 2 else 0
    rows: list[list[Cell]] = []
    for place, line in enumerate(lines):
        cells = [line[a:b].strip() for a, b in spans]
        if place in rules or not line:
            continue
        if cells[0] or not rows:
            rows.append([Cell(words, is_header=place < heads) for words in cells])
        else:
            pairs = zip(rows[-1], cells, strict=True)
            rows[-1] = [c._replace(words=f"{c.words} {words}".strip()) for c, words in pairs]
    return rows


def _ends_item(after: str) -> bool:
    """Return whether the line after one that looks like an item allows that it is one."""
    return not after or after.startswith(" ") or bool(_ITEM.match(after))
