"""What a question asks of rows: which have the highest value, how many there are, their sum.

A question is read as a sequence of letters: Q, W or H for what, which or who, # for how many, N for
a noun for rows, A for a column, E for an extreme, S for a sum or mean, T for a word of a title, x
for anything else. Conditions, which are cells and compared values, have none. Few sequences are
understood.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tasks.extract.rules.attributes import SAYS_WHEN, measured
from tasks.extract.rules.layout import Record
from tasks.programs.planner.endings import CLASSIFIER, CUES, SAMPLED, Cue
from tasks.programs.planner.sayings import SAID, content_tokens, finite, sayings_of
from tasks.programs.relation_matching import similarity, spelt_out
from tasks.programs.value_functions import average, compare, to_base, total, value_of
from tasks.text.english_words import is_plural
from tasks.text.languages import HAN, HAN_CLASS, is_chinese, language_of
from tasks.text.names import normalise_name
from tasks.text.question import Question, Span, name_spans, names_apart
from tasks.text.stems import stem
from tasks.text.values import find_values, parse_value

MOST_CONDITIONS = 2
MOST_ADDED = 1_000  # cells
_DATES = "dates"
_EXTREMES: dict[Cue, int] = {"earliest": -1, "least": -1, "latest": 1, "greatest": 1}
_ASKS_NAMES = re.compile("[QW]N(EA?|AE)|[QW]ENA?|H(EA?|AE)|(AEN?|EA?N)[HW]|(AE|EA)WN|NAEW")
_ASKS_VALUES = re.compile("QEAN?|N?(EA|AE)#")
_ASKS_SUM = re.compile("[QW#]?N?S#?AN?[W#]?|#AN?S|N?AS#")
_ASKS_NUMBER = re.compile("Q?S?#NS?|NS?#")
_ASKS_LIST = re.compile("[QW]N|NW")
_LETTERS = (
    ("H", r"\bwho\b|谁"),
    ("#", rf"\bhow (?:many|much)\b|\bnumber of\b|(?:多少|几){CLASSIFIER}?"),
    ("Q", r"\bwhat (?:is|are|was|were)\b"),
    ("W", rf"\b(?:which|what)\b|哪[一几]?(?:{CLASSIFIER}|些)?|什么|列出(?:所有)?"),
    ("S", "总"),
)
_COMMAND = re.compile(r"(?:please )?(?:list|name|show(?: me)?|find|give me)\b", re.I)
_MEASURES = (  # by adjectives, where a question names no column
    ("long|short|[长短]", "length 长度 全长"),
    ("high|low|tall|[高低矮]", "height 高度 海拔"),
    ("larg|big|small|[大小]", "area population 面积 人口"),
    ("heav|light|[重轻]", "weight mass 重量"),
    ("deep|shallow|[深浅]", "depth 深度"),
    ("expensive|cheap|贵", "price cost 价格 售价 单价"),
)
_BEGUN = (
    "open|found|buil|establish|born|birth|complet|launch|releas|publish|year|[建创立]|出生|[发出]版"
)
# How a cell may stand to a value, by the words before or after that.
_ORDERS: Sequence[tuple[re.Pattern[str], tuple[int, ...]]] = [
    (re.compile(rf"(?:{before})\s?[$€£¥]?\s?\n|\n[^\s，,的]{{0,4}}?(?:{after})", re.I), orders)
    for before, after, orders in (
        (r"at least|no (?:less|fewer) than|since|不[低少小短早]于|至少", "及?以[上来]", (1, 0)),
        (r"at most|no more than|up to|不[高多大长晚]于|不超过|至多", "及?以[下内]", (-1, 0)),
        (r"\b(?:over|above|exceed\w*|after)|超过", "[以之]后", (1,)),
        (r"\b(?:under|below|before)|不足|不到", "[以之]前", (-1,)),
        (r"\b(?P<en>\w+) than|(?P<zh>[多高大长晚重早低少小短轻])于", "(?!)", ()),
        (r"\b(?:in|of|with|is|exactly)|[为是有]|\A|,", "(?!)", (0,)),
    )
]
_GENERIC = re.compile(
    r"^(?:total |annual |number of |所[在属]|主要|总)"
    r"|(?: (?:count|name|date|year)|数量?|日期|年份|时间|名称?|单位|[名清]单|统计表?|数据|表)$",
    re.I,
)
_PERSON = re.compile(r"name|person|player|employee|student|author|姓名|[人员者生]\Z", re.I)
_NO_AMOUNT = re.compile(r"\b(?:rank\w*|id|code|phone|zip)\b|[排名编序邮][名次号编]|电话", re.I)
_LIGHT = re.compile("located|situated|based|belongs?|there|number|total|values?|amount|所有|全部")
_BARRED = re.compile(
    r"\b(?:no|not|never|nor|or|each|every|other|only|more|most|than|both|same|if)\b"
    rf"|\d|(?![的是在有了呢和与及且而并中里内共都为请问我这些该其所、])[{HAN_CLASS}]"
)
_DIGITS = re.compile(r"[\d零〇一二两三四五六七八九十百千万亿.,]+")


@dataclass(frozen=True)
class Column:
    """The cells below a head as they stand there; those that say nothing are empty."""

    title: str
    raw: Sequence[str]

    @cached_property
    def head(self) -> str:
        """The title without the unit of the cells."""
        first = [cell for cell in self.raw if cell][:SAMPLED]
        return min((record.label for record in self._measured(first)), key=len, default=self.title)

    @cached_property
    def cells(self) -> list[str]:
        """The cells, numbers with the unit that the title names."""
        return [record.value for record in self._measured(self.raw)]

    def _measured(self, cells: Sequence[str]) -> Iterator[Record]:
        records = [Record("", self.title, cell, 0, 0) for cell in cells]
        return measured(records, "zh" if HAN.search(self.title) else "en")

    @cached_property
    def kind(self) -> str | None:
        """The kind of unit in which the cells compare; None if they do not compare."""
        values = [parse_value(cell, language_of(cell)) for cell in set(self.cells) if cell]
        types = {value.value_type for value in values}
        if types <= {"date", "year"} and ("date" in types or SAYS_WHEN.search(self.head)):
            return _DATES
        kinds = {to_base(1, value.unit)[1] for value in values}
        is_amount = not types & {"date", "text"} and not _NO_AMOUNT.search(self.head)
        return kinds.pop() if len(kinds) == 1 and is_amount else None


@dataclass(frozen=True)
class Rows:
    """Rows with a column for each head, their names in that of the `key`, below some titles."""

    titles: Sequence[str]
    columns: Sequence[Column]
    key: int | None

    @cached_property
    def having(self) -> dict[str, dict[int, set[int]]]:
        """The rows that have a text, alone or in a list, by normalised text and column."""
        having: dict[str, dict[int, set[int]]] = {}
        for number, column in enumerate(self.columns):
            for row, cell in enumerate(column.raw):
                texts = {cell, *re.split("[,;/、，；]", cell)}
                for name in map(normalise_name, texts if any(map(str.isalpha, cell)) else ()):
                    having.setdefault(name, {}).setdefault(number, set()).add(row)
        return having

    @cached_property
    def nouns(self) -> set[str]:
        """What a row is called in general: by the head of the key, or a plural as title."""
        heads = [self.columns[self.key].head] if self.key is not None else []
        plural = [one for one in self.titles if HAN.search(one) or is_plural(one.split(" ")[-1])]
        return {stem(_GENERIC.sub("", one).split(" ")[-1]) for one in (*heads, *plural)} - {""}


def computed(question: Question, rows: Rows) -> Iterator[tuple[list[str], list[int]]]:
    """Yield what a question asks of rows, and the rows that tell it, unless it asks for more."""
    reading = _Reading(question, rows)
    met = reading.conditions
    named = [rows.columns[number] for number in reading.column_places if number not in met]
    adjective = next((word for cue, word in reading.cues.items() if cue in _EXTREMES), "")
    columns = named or reading.measured(adjective)
    parts = [part for _, part in sorted(reading.parts.items()) if part not in met]
    letters = "".join(part if isinstance(part, str) else "A" for part in parts)
    letters = re.sub("T+(?=N)|(?<=[NA])T+$", "", letters)  # a title that names the rows
    kept = sorted(set(range(len(rows.columns[0].cells))).intersection(*met.values()))
    key = rows.columns[rows.key] if rows.key is not None else None
    if not kept or len(met) > MOST_CONDITIONS or rows.key in met:
        return
    if _ASKS_NUMBER.fullmatch(letters) and (key is None or len(_once(key, kept)) == len(kept)):
        yield [str(len(kept))], kept
    elif _ASKS_LIST.fullmatch(letters) and met and key:
        yield _once(key, kept), kept
    if len(columns) != 1 or columns[0].kind is None:
        return
    [column] = columns
    kept = [row for row in kept if column.cells[row]]
    if _ASKS_SUM.fullmatch(letters) and column.kind != _DATES and 0 < len(kept) <= MOST_ADDED:
        shown, raw = column.cells[kept[0]], column.raw[kept[0]]
        added = [(column.cells if shown == raw else column.raw)[row] for row in kept]
        number = average(added) if "average" in reading.cues else total(added)
        yield [shown.replace(raw, number or "", 1)], kept
    if "H" in letters and not (key and _PERSON.search(key.head)):
        return
    answering = column if _ASKS_VALUES.fullmatch(letters) else key
    if answering and kept and (answering is column or _ASKS_NAMES.fullmatch(letters)):
        [cue] = _EXTREMES.keys() & reading.cues.keys()
        is_age = cue in ("earliest", "latest") and column.kind != _DATES
        sign = -_EXTREMES[cue] if is_age else _EXTREMES[cue]
        best = max(kept, key=lambda row: sign * (value_of(column.cells[row]) or 0.0))
        kept = [row for row in kept if compare(column.cells[row], column.cells[best]) == 0]
        yield _once(answering, kept), kept


def _once(column: Column, rows: Sequence[int]) -> list[str]:
    return list(dict.fromkeys(column.cells[row] for row in rows))


class _Reading:
    """The letters of a question; commas stand in `left` for all that was read."""

    def __init__(self, question: Question, rows: Rows) -> None:
        self.rows, self.left = rows, finite(question.text)
        self.conditions: dict[int, set[int]] = {}  # the rows that meet them, by column
        self.cues: dict[Cue, str] = {}
        self.titles = {stem(word) for title in rows.titles for word in title.split()}
        self.parts: dict[int, str | int] = {}  # the letter of each, or its column
        self.column_places: dict[int, Span] = {}
        if command := _COMMAND.match(self.left):
            self._take(*command.span(), "W")
        self._read_cells()
        self._read_columns()
        for start, end, _ in find_values(self.left, question.language):
            self._read_value(start, end)
        for cue, words in CUES.items():
            for match in words.finditer(self.left) if cue != "count" else ():
                self.cues[cue] = match[0]
                self._take(*match.span(), "E" if cue in _EXTREMES else "S")
        for letter, pattern in _LETTERS:
            for match in re.finditer(pattern, self.left, re.I):
                self._take(*match.span(), letter)
        self._read_nouns()

    def measured(self, adjective: str) -> list[Column]:
        """Return the columns that an adjective means."""
        names = " ".join(names for how, names in _MEASURES if re.search(how, adjective)).split()
        of_time = any(CUES[cue].search(adjective) for cue in ("earliest", "latest"))
        return [
            column
            for column in self.rows.columns
            if any(similarity(name, column.head.lower()) >= SAID for name in names)
            or (of_time and re.search(_BEGUN, column.head, re.I) and column.kind == _DATES)
        ]

    def _take(self, start: int, end: int, part: str | int = "") -> None:
        self.parts[start] = part
        self.left = self.left[:start] + "," * (end - start) + self.left[end:]

    def _read_cells(self) -> None:
        """Read what cells say, each in one column alone, but no words of titles."""

        def rows_at(span: Span) -> tuple[Span, dict[int, set[int]]] | None:
            name = normalise_name(self.left[slice(*span)])
            rows = self.rows.having.get(name, {})
            is_title = all(stem(word) in self.titles for word in name.split())
            return (span, rows) if len(rows) == 1 and not is_title else None

        for span, rows in names_apart(name_spans(self.left), rows_at):
            [column] = rows
            self.conditions.setdefault(column, set()).update(rows[column])
            self._take(*span)

    def _read_columns(self) -> None:
        """Read the names of columns but the key's; two that are called the same are unclear."""
        ways = [
            (way.surely, len(way.places), number, min(way.places), max(way.places) + 1)
            for number, column in enumerate(self.rows.columns)
            for name in {column.head, _GENERIC.sub("", column.head)}
            if number != self.rows.key and len(name) > 1
            for way in sayings_of(self.left, spelt_out(name), inverse=False)
            if way.surely > SAID and way.places  # not words here and there
        ]
        surest: dict[int, float] = {}
        for surely, _, number, start, end in sorted(ways, reverse=True):
            if "," not in self.left[start:end]:
                surest[start] = surely
                self.column_places[number] = start, end
                self._take(start, end, number)
            elif surest.get(start) == surely and self.parts[start] != number:
                self.parts[start] = "x"

    def _read_value(self, start: int, end: int) -> None:
        """Read a value with which the cells of a column are compared, if it is clear which one."""
        core = _DIGITS.search(self.left, start, end)
        if core is None or self.left[start:end] in self.titles:
            return
        words = self.left[core.start() : end]
        around = f"{self.left[: core.start()]}\n{self.left[core.end() :]}"
        found = ((pattern.search(around), orders) for pattern, orders in _ORDERS)
        how, orders = next(((how, orders) for how, orders in found if how), (None, ()))
        if how is None:
            return
        adjective = ""
        if not orders:
            usual = f"最{how['zh']}" if how["zh"] else how["en"].removesuffix("er") + "est"
            adjective = {"more": "most", "less": "least"}.get(how["en"], usual)
            orders = tuple(sign for cue, sign in _EXTREMES.items() if CUES[cue].search(adjective))
        first, last = min(how.start(), start), max(end, how.end() + len(core[0]) - 1)
        beside = [
            self.rows.columns[number]
            for number, (begin, stop) in self.column_places.items()
            if not re.search(r",|\w{4}", self.left[stop:first] + self.left[last:begin])
        ]
        unit = parse_value(words, language_of(words)).unit
        columns = [
            column
            for column in beside or self.measured(adjective)
            if column.kind or (column.kind == "" and not unit)
            if all(compare(cell, words) is not None for cell in set(column.cells) if cell)
        ]
        if len(columns) == 1:
            number, rows = self.rows.columns.index(columns[0]), enumerate(columns[0].cells)
            kept = {row for row, cell in rows if cell and compare(cell, words) in orders}
            self.conditions[number] = kept & self.conditions.get(number, kept)
            self._take(first, last)

    def _read_nouns(self) -> None:
        """Read the words for rows, and those of titles; what is left says something else."""
        for noun in sorted(self.rows.nouns, key=len, reverse=True):
            for match in re.finditer(re.escape(noun), self.left) if HAN.search(noun) else ():
                self._take(*match.span(), "N")
        for start, word in content_tokens(self.left):
            root = stem(word)
            is_title = root in ("".join(self.titles) if is_chinese(word) else self.titles)
            letter = "N" if root in self.rows.nouns else "T" if is_title else "x"
            self._take(start, start + len(word), "" if _LIGHT.fullmatch(word) else letter)
        for match in _BARRED.finditer(self.left):
            self._take(*match.span(), "x")
