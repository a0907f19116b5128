"""Layout: the prose of a passage, and the records in its tables and labelled values."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

from tasks.extract.rules.lexicon import GOING_ON
from tasks.ingest.blocks import KEYS, ROWS, Block, BlockKind, stored_blocks
from tasks.ingest.prose import words_of
from tasks.ingest.table_rows import (
    Cell,
    are_counted,
    cells_of,
    has_labels,
    is_one_cell,
    is_subject,
    may_be_subject,
    parts_of_name,
)
from tasks.text.excerpt import ENDS_SENTENCE, Excerpt, ExcerptPart
from tasks.text.languages import HAN_CLASS, word_set
from tasks.text.relations.vocabulary import names_alias

_OPEN_SUBJECT = re.compile(r"(?:\A|[.!?]\s+)((?:[^.!?]* )?(?:you|we|they))\Z", re.IGNORECASE)
# GOING_ON in Chinese.
_GOING_ON_CHINESE = tuple(word_set("是 为 有 于 包括 包含 支持 提供 需要 可以 必须 出现"))
_POINTED_AT = re.compile(r"(?:以下|如下|下列|下面)[^，。；：的]{0,10}\Z")  # 用于|以下用途
_POINTS = re.compile(r"\b(?:following|below|these|this)\b|以下|如下|下列|下面", re.IGNORECASE)
# "LONDON, May 3 (Reuters) – " and "(Dallas, Texas) – " before a report's first sentence of at least
# eight words, with the lines of the headline and letterhead above, which end no sentence.
_PLACED = (
    r"[^\S\n]*(?:[A-Z][A-Z.’'-]{2,}(?: [A-Z][A-Z.’'-]*){0,3}(?:, ?[^\W\d_][\w. ]{0,20}){0,3}"
    r"(?: ?\([\w ./]{2,40}\))?\s?(?:--|[–—-])\s|\([A-Z][\w.’', -]{2,40}\) ?(?:--|[–—-])\s?)"
    r"(?=(?:\S+\s){7})"
)
_DATELINE = re.compile(
    rf"^(?:(?!{_PLACED})[^\n]*(?<![.!?])(?<![.!?][\"'”’)])\n){{0,15}}{_PLACED}", re.MULTILINE
)
# A line that only says where to call or write to.
_ADDRESS = re.compile(
    r"\s*(?:\w+: *)?(?:[\d+(][\d ()+./-]{5,}\d|[\w.+-]+@[\w.-]+)(?: *\(\w+\))?\s*\Z"
)
_EXAMPLE_WORDS = (
    r"(?:(?:worked |real[- ]life )?(?:examples?|scenarios?)(?: (?:\d+|[A-Z]\b))?"
    r"|(?:示例|范例|举例|例子?)[ \d一二三四五六七八九十]*)"
)
_EXAMPLE_LABEL = re.compile(rf"\A{_EXAMPLE_WORDS}\s*(?:[:：]\s*|\n)", re.IGNORECASE)
_EXAMPLE = re.compile(rf"[*_\s]*{_EXAMPLE_WORDS}[*_\s]*(?:[:：][*_\s]*|<br|\n|\Z)", re.IGNORECASE)
# "**Note** The tide ...", "7.1 The tenant ...", "WHEREAS, X ...": no words of their sentences.
_CALLOUT_WORDS = (
    "note|tip|hint|warning|caution|danger|important|attention|info(?:rmation)?|remark|notice"
)
_CALLOUT = re.compile(
    rf"[^\w*_\[]*(?:(?P<mark>\*{{1,3}}|_{{1,3}})(?:{_CALLOUT_WORDS})(?: ?[:.!–—-])?(?P=mark):?"
    rf"|\[!(?:{_CALLOUT_WORDS})\]|(?:{_CALLOUT_WORDS}):)[>\s]+(?=\S)"
    r"|\W*(?-i:WHEREAS|NOW,? THEREFORE|IN WITNESS WHEREOF|WITNESSETH)[,:;]?\s+(?:that\s+)?(?=\S)"
    r"|\W*(?-i:\d{1,3}(?:\.\d{1,3}){2,4}\.?\s+(?=[A-Z])|\d{1,3}\.\d{1,3}\.?\s+(?=(?:The|An?|Each"
    r"|Either|Neither|No|Any|All|If|Where|When|Unless|Subject|Upon|This|These|In|For)\s"
    r"|[A-Z]\w*(?: \w+){0,3} (?:shall|may|must|will)\b))",
    re.IGNORECASE,
)
# "**5. Roads** It was agreed" and "ROADS (5 MINUTES) The mayor": a heading before its sentence.
_HEADING_BEFORE = re.compile(
    r"[\W\d_]*(?:(?<=\*\*)[^*_\n]{1,80}(?<![.!?:,])\*\*"
    r"|[A-Z][A-Z/’'-]{2,}(?:,? (?:[A-Z][A-Z/’'-]*|&)){0,9}(?: \([^()\n]{1,40}\))?)"
    r"\s+(?=(?:The|An?|It|This|These|There|They|He|She|We|All|No|Cllrs?|Mrs?|Ms)\.? \w)"
)
# A line in bold type that serves as a heading.
_LABEL_ALONE = re.compile(
    r"(?:\*\*|__)([^*_\n]{1,80})(?:\*\*|__)[:：]?[ \t]*(?:<br[^\n]*)?(?:\n|\Z)"
)
_SUPPOSING = re.compile(
    r"(?:\A|(?<=[.!?:] ))(?:For (?:example|instance), )?"
    r"(?:[Ss]uppose|[Ii]magine|[Ll]et[’']s (?:say|assume))\b"
    r"|(?:\A|(?<=[。！？]))(?:例如，)?(?:假设|设想)"
)
_SUPPOSED_LEAD = re.compile(
    rf"\A{_EXAMPLE.pattern}\Z"
    r"|\S.*\b(?:if|unless)(?: (?:you|we|it|they|he|she))?\W*\Z"
    r"|\A(?:(?!\b(?:following|below|these|steps?)\b).)+\b(?:if|unless)\b[^,;.!?:]*\W*\Z"
    r"|\b(?:all|any|both|one|either|each) (?:of )?(?:these|the|those|them)\b.*"
    r"\b(?:true|appl(?:y|ies)|met)(?: (?:to|for) [^:.]{1,60})?\W*(?:you|we|they)?\W*\Z"
    r"|\bif\b.*\bmeets? .*\b(?:following|these|below)\b",
    re.IGNORECASE | re.DOTALL,
)
_LETTERED = re.compile(r"\W*\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})\)\s", re.IGNORECASE)  # (a), iv)
_LAST_WORD = re.compile(r"([^\W\d_]+)\W*\Z")
_LEAST_OF_HEADLINE = 2  # longer words; fewer may be just a name
_ASKED = ("?", "？")
_LABELLED = 2  # columns of a table of labels and their values
_SAYS_VALUE = re.compile(r"(?:values?|details?|[数數]?值|[内內]容|[参參][数數])?", re.IGNORECASE)
# The heads of a table that describes a thing, if that is known.
_SAYS_PARAMETER = re.compile(
    r"(?:index|items?|[项項]目)\|(?:parameter|specification)s?", re.IGNORECASE
)
# A row or column that sums up a table.
TOTAL = re.compile(
    r"(?:(?:(?:grand|sub|overall|net)[ -]?)?totals?|sum|average|mean|median|overall"
    r"|[合总總小共累][计計](?:金[额額]|[数數])?|[总總][数數和额額]|平均[值数數]?|汇总|彙總)"
    r"\s*(?:[:：]|[(（].*[)）])?",
    re.IGNORECASE,
)
_SPREAD = re.compile(rf"[{HAN_CLASS}](?:\s+[{HAN_CLASS}])+")
_LONGEST_VALUE = 200
_LONGEST_WORD = 80
_LONGEST_LEAD = 300
_SENTENCE_END = re.compile(r"[.!?]\s*\Z|[。！？]")
NO_VALUE = re.compile(
    r"[\W_]*|[✓✔✗✘❌✅☑✖]\s*\d?|n(?:/|\.\s?)?a\.?|none|null|tb[acd]|x|无|暂无|.*:"
    r"|(?:data |information )?(?:not (?:yet )?(?:available|applicable|known|given|specified|stated"
    r"|provided|reported|recorded|disclosed)|unavailable|unknown)|no (?:data|information|record)"
    r"|to be \w+|待(?:补充|完善|更新|填写|确认|[定续])|未(?:知|定|详|调查|公布|填写|提供|披露)"
    r"|不(?:详|明|适用)|(?:暂?无|没有)(?:数据|资料|信息|记录)"
    # What only points to another place holds no value.
    r"|(?:please )?(?:see|refer to|learn more|read more)\b.*|(?:same )?as (?:above|below)"
    r"|请?(?:参[见阅考看照]|详见|见[上下表图附]|(?:查看)?详情).*",
    re.IGNORECASE,
)
# Words of English clauses, which values do not have; with a capital they are mostly names.
CLAUSE = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|can|will|should|must|may|do|does|you|your|we|us|our"
    r"|they|it|this|these|how|what)\b"
    r"|\A(?:Is|Are|Has|Have|Can|Should|Must|Do|Does|You|Your|We|Our|They|It|This|These|How|What)"
    r" [a-z]"
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SEPARATORS = " \t/,;、，；"
# The label of what the values below it are of.
_NAMING = re.compile(
    r"(?:.+ )?(?:name|title)|product|model|item|project|.*(?:名称?|名字|型号|标题)|产品|车型|项目",
    re.IGNORECASE,
)
_FEWEST_CODES = 3  # different ones of a column
_FEWEST_NAMED = 3  # labelled values in a row of which the first names what the others are of


@dataclass(frozen=True, slots=True)
class Record:
    """A value with its label, and its `subject` if that is known; the span is the value's.

    `is_owned` tells that it may be of the document's subject, and not of a part of the text.
    """

    subject: str
    label: str
    value: str
    start: int
    end: int
    is_owned: bool = True


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of a passage: its prose, with offsets in the passage, and its records.

    `labelled` are values that are sentences of the prose, with their labels, which are not in it;
    `supposed` are the spans of the passage that only give an example or list conditions.
    """

    prose: Excerpt
    records: tuple[Record, ...]
    labelled: tuple[Record, ...]
    supposed: tuple[tuple[int, int], ...]


def lay_out(row: dict[str, Any]) -> Layout:
    """Return the layout of a passage; without stored blocks its text is divided into blocks."""
    blocks = stored_blocks(row)
    text = row["text"]
    pairs = _with_owners(text, _named(text, blocks))
    labelled = tuple(pair for pair in pairs if _SENTENCE_END.search(pair.value))
    stated = [
        *_of_tables(text, blocks, bool(row.get("subject"))),
        *(pair for pair in pairs if pair not in labelled),
    ]
    records = tuple(sorted(stated, key=lambda record: record.start))
    recorded = {record.start for record in records}
    prose = [block for block in blocks if block.kind in _PROSE and block.start not in recorded]
    heading = row.get("headings", "").rsplit(" > ", 1)[-1]
    supposed = tuple(_supposed(text, blocks, heading))
    return Layout(Excerpt.of(_prose(row["text"], prose)), records, labelled, supposed)


def _supposed(text: str, blocks: list[Block], heading: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that only give an example or list conditions.

    An example under a heading or label on its own line extends to the next one; an example after
    "Suppose" or an inline label extends to the end of the paragraph.
    """
    is_open, before = bool(_EXAMPLE.fullmatch(heading)), ""
    for block in blocks:
        words = text[block.start : block.end]
        lettered = block.kind is BlockKind.PROSE and _LETTERED.match(words)
        lead, before = (before, before) if lettered else (block.lead, words)
        label = _LABEL_ALONE.match(words)
        if block.kind is BlockKind.HEADING or label:
            is_open = bool(_EXAMPLE.fullmatch(label[1] if label else lead))
        supposing = _SUPPOSING.search(words)
        if is_open or _EXAMPLE.match(words) or _SUPPOSED_LEAD.search(lead[-_LONGEST_LEAD:]):
            yield block.start, block.end
        elif supposing and block.kind in _PROSE:
            yield block.start + supposing.start(), block.end


_PROSE = {BlockKind.PROSE, BlockKind.ITEM, BlockKind.QUOTATION, BlockKind.PAIR}


def _prose(text: str, blocks: Iterable[Block]) -> Iterator[ExcerptPart]:
    """Yield the words of blocks, separated by blank lines; list items complete their lead."""
    for block in blocks:
        callout = _CALLOUT.match(text, block.start, block.end)
        start = callout.end() if callout else block.start
        heading = _HEADING_BEFORE.match(text, start, block.end)
        # The items below a question are answers to choose from.
        is_option = block.kind is BlockKind.ITEM and block.lead.rstrip().endswith(("?", "？"))
        for first, last in pairwise([start, *([heading.end()] if heading else []), block.end]):
            words = words_of(text[first:last])
            if block.kind is BlockKind.PROSE and words.text:
                words = _without_headlines(words.without(_EXAMPLE_LABEL))
            if not words.text.strip() or is_option:
                continue
            end = ExcerptPart("\n\n", last - 1, stands_there=False)
            if block.kind is BlockKind.ITEM:
                lead = _open_sentence(block.lead)
                if lead and not ENDS_SENTENCE.search(words.text.rstrip().rstrip(";；")):
                    yield ExcerptPart(f"{lead} ", first, stands_there=False)
            yield from words.parts(0, len(words.text), moved=first)
            yield end


def _without_headlines(words: Excerpt) -> Excerpt:
    """Return a paragraph without what is no part of a sentence: dateline, headlines, addresses."""
    stands_apart = len(_DATELINE.findall(words.text)) != 1  # a glossary has several
    words = words if stands_apart else words.without(_DATELINE)
    parts: list[ExcerptPart] = []
    place, lines = 0, words.text.splitlines(keepends=True)
    for line, following in pairwise([*lines, ""]):
        goes_on = following and not (following.lstrip()[:1].isupper() or _ADDRESS.match(following))
        headline = stands_apart and not goes_on and _is_headline(line)
        if not headline:
            parts += words.parts(place, place + len(line))
        stands_apart = headline or bool(ENDS_SENTENCE.search(line))
        place += len(line)
    return Excerpt.of(parts)


def _is_headline(line: str) -> bool:
    """Return whether a line is an address or, without final punctuation, in title case."""
    words = [word.strip("\"'“”‘’()[],") for word in line.split()]
    long = [word for word in words if len(word) > 3 and word[0].isalpha()]
    return bool(_ADDRESS.match(line)) or (
        not ENDS_SENTENCE.search(line)
        and len(long) >= _LEAST_OF_HEADLINE
        and all(word[0].isupper() for word in long)
    )


def _open_sentence(lead: str) -> str:
    """Return the lead of a list if it is a sentence that each item completes, else empty."""
    words = words_of(lead).text.rstrip(" :：")
    if opened := _OPEN_SUBJECT.search(words):
        return opened[1]
    if (pointed := _POINTED_AT.sub("", words)) != words and pointed.endswith(_GOING_ON_CHINESE):
        return pointed
    if _POINTS.search(words):
        return ""
    last = _LAST_WORD.search(words[-_LONGEST_WORD:])
    if words.endswith(_GOING_ON_CHINESE) or (last and last[1].lower() in GOING_ON and " " in words):
        return words
    return ""


def _of_pair(text: str, block: Block) -> Iterator[Record]:
    value = words_of(text[block.start : block.end]).text.strip()
    label = _label(block.lead)
    if _is_label(label) and _is_value(value) and not CLAUSE.search(value):
        yield Record("", label, value, block.start, block.end)


def _named(text: str, blocks: list[Block]) -> list[Record]:
    """Return the labelled values; those in a row with "Name: K2", below it, are of K2."""
    runs = groupby(blocks, key=lambda block: block.kind is BlockKind.PAIR)
    rows = ([p for block in run for p in _of_pair(text, block)] for is_pair, run in runs if is_pair)
    return [pair for row in rows for pair in _with_names(row)]


def _with_names(row: list[Record]) -> Iterator[Record]:
    subject = ""
    for pair in row:
        named = _NAMING.fullmatch(pair.label) and not names_alias(pair.label)
        if named and is_subject(pair.value):
            subject = pair.value
        elif subject and len(row) >= _FEWEST_NAMED:
            pair = replace(pair, subject=subject)
        yield pair


def _with_owners(text: str, pairs: list[Record]) -> list[Record]:
    """Return labelled values with whether they may be of the document's subject.

    A value below a list item is of that item; a label with several values is of several things.
    """
    values = Counter(label for label, _ in {(pair.label, pair.value) for pair in pairs})
    parts = {pair for pair in pairs if text[text.rfind("\n", 0, pair.start) + 1].isspace()}
    parts |= {pair for pair in pairs if values[pair.label] > 1}
    return [replace(pair, is_owned=pair not in parts) for pair in pairs]


def _label(markup: str) -> str:
    """Return the words of a label; Chinese characters that fill a column stand together: 姓 名."""
    words = words_of(markup).text.strip()
    return "".join(words.split()) if _SPREAD.fullmatch(words) else words


def _is_label(label: str) -> bool:
    return len(label.encode()) > 1 and not label.endswith(_ASKED)


def _of_tables(text: str, blocks: list[Block], has_subject: bool) -> Iterator[Record]:
    """Yield the cells of table rows as records, in tables with headers."""
    tables: dict[tuple[str, BlockKind], list[list[Cell]]] = {}
    for block in blocks:
        if block.kind in ROWS:
            cells = list(cells_of(text[block.start : block.end], block.start))
            tables.setdefault((block.lead, block.kind), []).append(cells)
    for (lead, kind), rows in tables.items():
        headers = [_label(header) for header, _, _ in cells_of(lead)]
        rows = [row for row in rows if len(row) <= len(headers) and not is_one_cell(row)]
        if len(headers) == _LABELLED:
            labelled = [record for row in rows for record in _of_labelled_row(*row)]
            is_named = bool(labelled) and _NAMING.fullmatch(labelled[0].label)
            describes = (is_named or has_subject) and _SAYS_PARAMETER.fullmatch("|".join(headers))
            if describes or has_labels(headers) or _SAYS_VALUE.fullmatch(headers[-1]):
                yield from _with_names(labelled) if is_named else labelled
                continue
        if kind is BlockKind.COMPARED:
            for labelling, *cells in rows:
                label = _label(labelling[0])
                for name, cell in zip(headers[1:], cells, strict=False):
                    yield from _of_cell(name, label, cell)
            continue
        if (key := KEYS[kind]) is not None:
            keys = parts_of_name(headers) or [key]
            headers = _telling(headers, rows)
            columns = ({row[n][0] for row in rows if n < len(row)} for n in range(len(headers)))
            codes = [_are_codes(cells - {""}) for cells in columns]
            for row in rows:
                yield from _of_row(headers, row, keys, codes)


def _telling(headers: list[str], rows: list[list[Cell]]) -> list[str]:
    """Return the headers, empty for those that do not tell what stands below.

    One that numbers rows does not, nor does one that stands over columns apart whose cells differ.
    """
    columns = {name: [n for n, other in enumerate(headers) if other == name] for name in headers}
    shared = {
        name
        for name, places in columns.items()
        if places[-1] - places[0] >= len(places)
        and any(len({row[n][0] for n in places if n < len(row)} - {""}) > 1 for row in rows)
    }
    counts = are_counted(rows)
    return [
        "" if name in shared or (counts and not column) else name
        for column, name in enumerate(headers)
    ]


def _of_labelled_row(labelling: Cell, cell: Cell) -> Iterator[Record]:
    """Yield the value of "| Founded | 1890 |" with its label; its subject is the document's."""
    label = _label(labelling[0])
    stated = _of_cell("", label, cell) if _is_label(label) and is_subject(label) else ()
    yield from (record for record in stated if not CLAUSE.search(record.value))


def _are_codes(cells: set[str]) -> bool:
    """Tell whether cells are codes, each of as many capitals: X is one, and NA is Namibia."""
    letters, lengths = "".join(cells), {*map(len, cells)}
    are_capitals = letters.isalpha() and letters.isupper()
    return are_capitals and len(cells) >= _FEWEST_CODES and len(lengths) == 1


def _of_row(
    headers: list[str], cells: list[Cell], keys: list[int], codes: list[bool]
) -> Iterator[Record]:
    """Yield the cells of a row under their headers, one value per line of a cell.

    A row whose subject is a question, or no name, gives none, nor does one of totals.
    """
    names = [words_of(cells[key][0]).text.strip() for key in keys if len(cells) > key]
    subject = " ".join(filter(None, names))
    if subject.endswith(_ASKED) or TOTAL.fullmatch(subject) or not may_be_subject(subject):
        return
    for column, (header, cell) in enumerate(zip(headers, cells, strict=False)):
        if [column] != keys and header:
            yield from _of_cell(subject, header, cell, is_code=codes[column])


def _of_cell(subject: str, label: str, cell: Cell, *, is_code: bool = False) -> Iterator[Record]:
    """Yield the values of a cell, one per line, without the separator before a line break."""
    text, start, _ = cell
    place, lines = start, _LINE_BREAK.split(text)
    for number, line in enumerate(lines, start=1):
        begin = text.index(line, place - start) + start
        stated = line.rstrip() if number == len(lines) else line.rstrip(_SEPARATORS)
        value = words_of(stated).text.strip()
        if (is_code and value) or _is_value(value):
            yield Record(subject, label, value, begin, begin + len(stated))
        place = begin + len(line)


def _is_value(value: str) -> bool:
    return len(value) <= _LONGEST_VALUE and not NO_VALUE.fullmatch(value)
