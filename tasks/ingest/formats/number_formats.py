"""Numbers as spreadsheets display them, by the format codes of ECMA-376, part 1, 18.8.31.

Two things differ from the screen, so that nothing is ambiguous: a date in digits is ISO 8601, and
years have four digits. The names of months and days are English.
"""

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

# The codes that files need not spell out (18.8.30).
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    14: "yyyy-m-d", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-m-d h:mm",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "0.0E+0",
    **dict.fromkeys((5, 6, 42), '"$"#,##0'), **dict.fromkeys((7, 8, 44), '"$"#,##0.00'),
    **dict.fromkeys((37, 38, 41), "#,##0"), **dict.fromkeys((39, 40, 43), "#,##0.00"),
    **dict.fromkeys((27, 30, 36, 50, 57), "yyyy-m-d"),
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[\$(?P<symbol>[^\]-]*)(?:-(?P<place>\w+))?\]'
    r"|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<limit>[<>=]{1,2}-?\d[\d.]*)\]|\[[^\]]*\]"
    r"|(?P<half>AM/PM|A/P)|(?P<general>General|@)|(?P<power>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+|e+)|(?P<mark>[0#?.,])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = ("quoted", "escaped", "other")
_FIELDS = {
    "e": "{0.year}", "y": "{0.year}", "m": "{0.month}", "mm": "{0.month:02}", "mmm": "{0:%b}",
    "mmmm": "{0:%B}", "mmmmm": "{0:%b}", "d": "{0.day}", "dd": "{0.day:02}", "ddd": "{0:%a}",
    "dddd": "{0:%A}", "s": "{0.second}", "ss": "{0.second:02}", "minute": "{0.minute}",
    "minutes": "{0.minute:02}",
}  # fmt: skip
_ENGLISH = ("", "409", "809", "c09", "1009", "1409", "1809")  # locales
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
_SECONDS = {"h": 3_600, "m": 60, "s": 1}
_DAY = 86_400  # seconds
_LONGEST_CODE = 255


def displayed(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return a number as a format code displays it; empty if it is hidden, or no date.

    Dates are days since 1899-12-30, or since 1904-01-01 (18.17.4.1).
    """
    if code == "General":
        return _general(value)
    sections = _sections(code)
    if any(section.limit for section in sections):
        place = next((n for n, section in enumerate(sections) if section.is_for(value)), -1)
    else:
        place = 1 if value < 0 and len(sections) > 1 else 2 if not value and sections[2:] else 0
        value = abs(value) if place == 1 else value
    section = sections[place]
    return section.date(value, since_1904) if section.fields else section.number(value)


def hides_words(code: str) -> bool:
    """Return whether a format code shows nothing of a text, as `;;;` does."""
    return code.count(";") > 2 and not _sections(code)[-1].tokens


def _general(value: float) -> str:
    """Return a number without a format: whole, or with ten significant digits."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10G}"


@lru_cache(2_048)
def _sections(code: str) -> list["_Section"]:
    parts: list[list[tuple[str, str]]] = [[]]
    for match in _TOKEN.finditer(code[:_LONGEST_CODE]):
        if match["other"] == ";":
            parts.append([])
        elif match["symbol"] is not None:
            parts[-1] += [("quoted", match["symbol"]), ("place", match["place"] or "")]
        elif match.lastgroup:
            parts[-1].append((match.lastgroup, match[match.lastgroup]))
    return [_Section(part) for part in parts]


class _Section:
    """One of the parts of a code: its tokens, each a kind and words, and what follows from them."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.kinds = [kind for kind, _ in tokens]
        self.limit = next((words for kind, words in tokens if kind == "limit"), "")
        self.fields = [
            n for n, kind in enumerate(self.kinds) if kind in ("date", "elapsed", "half")
        ]
        self._name_fields()
        marks = [n for n, (kind, words) in enumerate(tokens) if kind == "mark" and words != ","]
        self._point = next((n for n in marks if tokens[n][1] == "."), len(tokens))
        self._marks = [n for n in marks if n < self._point] or [self._point]
        signs = "".join(words for kind, words in tokens if kind == "mark")
        whole, _, decimals = signs.partition(".")
        self._grouped = "," in whole.rstrip(",")
        self._zeros = whole.count("0")
        self._thousands = len(whole) - len(whole.rstrip(",")) + decimals.count(",")
        self._decimals = decimals.replace(",", "")
        self._percents = tokens.count(("other", "%"))

    def _name_fields(self) -> None:
        """Lower the names of fields; an `m` after hours or before seconds is minutes."""
        names = [self.tokens[place][1].lower() for place in self.fields]
        for place, name, before, after in zip(
            self.fields, names, ["", *names], [*names[1:], ""], strict=False
        ):
            kind, minutes = self.kinds[place], before[:1] == "h" or after[:1] == "s"
            if kind == "date" and name in ("m", "mm") and minutes:
                name = "minutes" if name == "mm" else "minute"
            self.tokens[place] = kind, name

    def is_for(self, value: float) -> bool:
        """Tell whether a value is within the section's limit, if it has one."""
        mark = self.limit.rstrip("0123456789.-")
        bound = float(self.limit.removeprefix(mark) or 0)
        bigger, smaller = value > bound and ">" in mark, value < bound and "<" in mark
        return not mark or bigger or smaller or (value == bound and "=" in mark)

    def number(self, value: float) -> str:
        """Return a number with its digits in the places of the marks."""
        sign = "-" if value < 0 else ""
        if "mark" not in self.kinds:
            return (sign * ("general" in self.kinds) + self._filled({}, abs(value))).strip()
        if "power" in self.kinds:
            places = self._decimals[: self.kinds.index("power") - self._point - 1]
            return f"{value:.{len(places)}E}"
        if ("other", "/") in self.tokens:  # a fraction
            return _general(value)
        scale = 2 * self._percents - 3 * self._thousands
        exact = abs(Decimal(f"{value:.15g}")).scaleb(scale, _EXACT)
        rounded = exact.quantize(Decimal(1).scaleb(-len(self._decimals)), context=_EXACT)
        integer, _, rest = f"{rounded:{',' * self._grouped}f}".partition(".")
        rest = rest.rstrip("0").ljust(len(self._decimals.rstrip("#?")), "0")
        integer = integer if self._grouped else integer.rjust(self._zeros, "0")
        by_mark: dict[int, str] = {}
        if not self._grouped:
            for place in reversed(self._marks[1:]):
                by_mark[place], integer = integer[-1:], integer[:-1]
        by_mark[self._marks[0]] = integer  # the first mark takes all digits that are left
        by_mark[self._point] = by_mark.get(self._point, "") + (rest and f".{rest}")
        return (sign * bool(rounded) + self._filled(by_mark, 0)).strip()

    def _filled(self, by_mark: dict[int, str], value: float) -> str:
        return "".join(
            words
            if kind in _WORDS
            else by_mark.get(n, "")
            if kind != "general"
            else _general(value)
            for n, (kind, words) in enumerate(self.tokens)
        )

    def date(self, value: float, since_1904: bool) -> str:
        """Return a number of days as a date, a time or a duration; empty if it is no date."""
        named = [words for kind, words in self.tokens if kind == "date"]
        of_day = [name for name in named if name[0] in "yed" or not name.strip("m")]
        seconds = round(value * _DAY, 3 if "mark" in self.kinds else None)
        start = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30 + (value < 60))
        if value < 0 or (of_day and value < 1 and not since_1904):
            return ""
        try:
            moment = start + timedelta(seconds=seconds)
        except OverflowError:
            return ""
        if self._is_in_digits(of_day):
            iso = moment.isoformat(" ", "seconds" if {"s", "ss"} & {*named} else "minutes")
            return iso if {"h", "hh"} & {*named} else iso[:10]
        return "".join(
            self._field(place, kind, words, moment, seconds)
            for place, (kind, words) in enumerate(self.tokens)
        ).strip()

    def _field(self, place: int, kind: str, words: str, moment: datetime, seconds: float) -> str:
        if kind == "elapsed":
            return f"{int(seconds // _SECONDS[words[0]]):0{len(words)}}"
        if kind == "half":
            return "AM" if moment.hour < 12 else "PM"
        if kind == "date" and words[0] == "h":
            hour = (moment.hour + 11) % 12 + 1 if "half" in self.kinds else moment.hour
            return f"{hour:0{min(len(words), 2)}}"
        if kind == "date":
            return _FIELDS.get(words, _FIELDS[words[0]]).format(moment)
        if kind == "mark" and words == "." and (digits := self.kinds[place + 1 :].count("mark")):
            return f"{seconds % 1:.{digits}f}"[1:]
        return words if kind in _WORDS or words in (".", ",") else ""

    def _is_in_digits(self, of_day: list[str]) -> bool:
        """Tell whether a date has year, month and day, in digits or in a foreign language."""
        words = "".join(words for kind, words in self.tokens if kind in _WORDS)
        places = [words.lower()[-4:].lstrip("0") for kind, words in self.tokens if kind == "place"]
        named = any(len(name) > 2 and name[0] in "md" for name in of_day)
        whole = {name[0].replace("e", "y") for name in of_day} == set("ymd")
        return whole and (
            any(place not in _ENGLISH for place in places) if named else not words.strip("-/., :T")
        )
