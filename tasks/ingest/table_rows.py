"""The rows of a table with headers: their cells, and the column or row that names subjects."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tasks.ingest.prose import words_of
from tasks.text.chinese_words import NAME_TAGS, simplified, tag_of
from tasks.text.english_words import is_word
from tasks.text.function_words import ARTICLES, DEMONSTRATIVES, POSSESSIVES, any_of
from tasks.text.languages import language_of
from tasks.text.values import parse_value

Cell = tuple[str, int, int]  # words and span

_BAR = re.compile(r"(?<!\\)\|")
_LETTER = re.compile(r"[^\W\d_]")
_COMMA = re.compile(r"[,，]\s*\S")
_LISTED = re.compile(r"[、;；]\s*\S")
_ACTION = re.compile(  # not "Alexander the Great"
    rf"[A-Z]?[a-z]+ (?:all|{any_of(ARTICLES | DEMONSTRATIVES | POSSESSIVES)}) [a-z]"
)
_NOTE = re.compile(r"\s*[(（][^()（）]*[)）]\s*\Z")
_SAYS_LABEL = re.compile(
    r"property|attribute|field|parameter|属性|字段|指[标標]|[参參][数數]", re.IGNORECASE
)
_SAYS_WHAT = re.compile(r"descriptions?|meaning|notes?|remarks?|说明|描述|含义|备注", re.IGNORECASE)
# Below it stand, beside columns of things, what these are compared in.
_SAYS_ASPECT = re.compile(
    r"metric|criteri(?:on|a)|aspect|feature|spec(?:ification)?s?|[项項]目|[规規]格|特性|功能",
    re.IGNORECASE,
)
_FEWEST_COMPARED = 3  # columns
_MOST_COMPARED = 100  # rows that are read to tell whether columns are compared
_LEAST_ALIKE, _MOST_OF_A_SORT = 3 / 4, 2 / 3  # of the rows of such a table
_LONGEST_SUBJECT = 8  # words of a row's first cell
_LONGEST_ODD_SUBJECT = 16  # words of one among shorter ones
_KEY_COLUMNS = 2  # one of the first columns, but for numbers, names the rows' subjects
_SAYS_NAME = re.compile(r"(?:(?:full|official|common) )?name|姓名|名称|名字", re.IGNORECASE)
_SAY_PARTS = (  # of a person's name
    re.compile(r"(?:first|given)[ _-]?names?|forenames?|name first", re.IGNORECASE),
    re.compile(r"(?:last|family)[ _-]?names?|surnames?|name last", re.IGNORECASE),
)


def cells_of(line: str, offset: int = 0) -> Iterator[Cell]:
    """Yield the cells of a Markdown row with their spans."""
    stripped = line.strip()
    place = line.find(stripped) + stripped.startswith("|")
    end = line.find(stripped) + len(stripped) - stripped.endswith("|")
    for stop in [*(bar.start() for bar in _BAR.finditer(line, place, end)), end]:
        cell = line[place:stop]
        begin = offset + place + len(cell) - len(cell.lstrip())
        yield cell.strip(), begin, begin + len(cell.strip())
        place = stop + 1


def is_one_cell(row: Sequence[Cell]) -> bool:
    """Tell whether a row has words in one cell: it is part of a row, or a note or title."""
    return sum(bool(words) for words, _, _ in row) < 2


def are_counted(rows: Sequence[Sequence[Cell]]) -> bool:
    """Return whether the first column only numbers the rows, or groups of them."""
    numbers = [row[0][0] for row in rows if row[0][0]]
    first = int(numbers[0]) if numbers and re.fullmatch("[1-9][0-9]?", numbers[0]) else 0
    return bool(first) and numbers == [str(first + place) for place in range(len(numbers))]


def is_subject(name: str) -> bool:
    """Return whether a cell may name its row's subject: a few words with a letter, and no list."""
    few = len(name.split()) <= _LONGEST_SUBJECT and not _COMMA.search(name)
    return few and may_be_subject(name)


def may_be_subject(name: str) -> bool:
    """Return the same for a cell below others that are subjects: it may be long or have commas."""
    few = len(name.split()) <= _LONGEST_ODD_SUBJECT and not _LISTED.search(name)
    return few and bool(_LETTER.search(name))


def parts_of_name(headers: Sequence[str]) -> list[int]:
    """Return the columns of the given name and of the surname that name rows; none without both."""
    found = [[n for n, head in enumerate(headers) if part.fullmatch(head)] for part in _SAY_PARTS]
    return [columns[0] for columns in found] if all(found) else []


def key_column(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> int | None:
    """Return the column whose cells name the subjects of all of a table's rows; None if none does.

    Two thirds of its cells are subjects. It is the first column if two thirds of those differ (if
    more do, where a column before it numbers the rows), else the next if hardly any stands in the
    table twice: dates may be of matches, whose teams are in two columns. That does not tell what
    things do, as in "Reloads the page". A column whose head is "name" comes before; where two hold
    given names and surnames, these are the subjects, and any column will do.
    """
    if parts_of_name(headers):
        return 0
    first = int(are_counted(rows))
    times = Counter(words for row in rows for words, _, _ in row)
    named = [n for n, head in enumerate(headers[: _KEY_COLUMNS + 1]) if _SAYS_NAME.fullmatch(head)]
    for column in (*named, *range(first, first + _KEY_COLUMNS)):
        cells = [row[column][0] for row in rows if len(row) > column]
        if column > first:
            cells = [cell for cell in cells if not _ACTION.match(cell)]
        names = [cell for cell in cells if is_subject(words_of(cell).text.strip())]
        apart = column in (*named, first) and 3 * len({*names}) - 2 * len(names) >= first
        apart |= 10 * sum(times[name] > 1 for name in names) <= len(names)
        if apart and 3 * len(names) >= 2 * len(rows):
            return column
    return None


def has_labels(headers: Sequence[str]) -> bool:
    """Tell whether the first column has labels; "Field | Description" describes what it names."""
    return bool(_SAYS_LABEL.fullmatch(headers[0])) and not _SAYS_WHAT.fullmatch(headers[-1])


def are_compared(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> bool:
    """Return whether columns are the subjects of a table: their heads are no common words.

    They are where the first head says so, or, without one, each row begins with common words, or
    where the cells of a row are of one sort (dates, an amount of the same unit) and rows differ.
    """
    if len(headers) < 2 or any(map(_is_common, headers[1:])):
        return False
    rows = rows[:_MOST_COMPARED]
    if not headers[0]:
        labels = " ".join(row[0][0] for row in rows).lower().split()
        return bool(labels) and all(map(is_word, labels))
    if len(headers) < _FEWEST_COMPARED:
        return False
    if has_labels(headers) or _SAYS_ASPECT.fullmatch(headers[0]):
        return True
    cells = ({words for words, _, _ in row[1:] if words} for row in rows)
    sorts = [set(map(_sort, row)) for row in cells]
    alike = Counter(sort for row in sorts if len(row) == 1 for sort in row)
    differ = len({*alike} - {"text"}) > 1 and max(alike.values()) <= _MOST_OF_A_SORT * len(rows)
    return differ and alike.total() >= _LEAST_ALIKE * len(rows)


def _is_common(head: str) -> bool:
    """Tell whether the head of a column is no name: common words, or a date or number."""
    words = _NOTE.sub("", head)
    tag = "" if words.isascii() else tag_of(simplified(words))
    common = all(map(is_word, words.lower().split())) or (tag and not tag.startswith(NAME_TAGS))
    return bool(common) or parse_value(words, language_of(words)).value_type != "text"


def _sort(words: str) -> str:
    """Return the sort of a cell: its unit, or "number", "date" or "text"."""
    value = parse_value(words_of(words).text.strip(), language_of(words))
    return value.unit or ("number" if value.value_type == "year" else value.value_type)
