"""Questions that compare two things: the value of each is asked for, then the values are compared.

`Which is longer, A or B?` asks how long A is and how long B is; `Are A and B in the same state?`
what state A is in and what state B is in.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.text.chinese_words import STOP_WORDS, segmenter, simplified, tag_of, word_spans_of
from tasks.text.function_words import AUXILIARIES, MODALS, any_of
from tasks.text.names import normalise_name
from tasks.text.question import Question, analyse
from tasks.text.stems import words_of
from tasks.text.values import Value, find_values
from tasks.text.values.value import in_base, order

# For each comparative: whether the larger value wins, and how each value is asked for.
_COMPARATIVES = (
    ("earlier|first|before|sooner|earliest", False, "When"),
    ("older|oldest", False, "When born"),
    ("later|last|after|latest|more recently|newer", True, "When"),
    ("younger|youngest", True, "When born"),
    ("longer|longest", True, "How long"),
    ("shorter|shortest", False, "How long"),
    ("higher|taller|highest|tallest", True, "How high"),
    ("lower|lowest", False, "How high"),
    ("wider|widest", True, "How wide"),
    ("deeper|deepest", True, "How deep"),
    ("heavier|heaviest", True, "How heavy"),
    ("hotter|hottest", True, "How hot"),
    ("colder|coldest", False, "How hot"),
    ("faster|fastest", True, "How fast"),
    ("slower|slowest", False, "How fast"),
    ("larger|bigger|greater|largest|biggest", True, "How large"),
    ("smaller|smallest", False, "How large"),
    ("more|most", True, "How many"),
    ("less|fewer|least|fewest", False, "How many"),
    ("更早|最早|较早|先(?![后生进])", False, "是什么时候"),
    ("更晚|最晚|较晚|(?<![先之以然最])后(?!来)", True, "是什么时候"),
    ("更长|较长|最长", True, "全长多少公里"),
    ("更短|较短|最短", False, "全长多少公里"),
    ("更高|较高|最高", True, "高多少米"),
    ("更低|较低|更矮|最低", False, "高多少米"),
    ("更深|最深", True, "深多少米"),
    ("更重|最重", True, "重多少公斤"),
    ("更大|较大|最大|更多|较多|最多", True, "是多少"),
    ("更小|较小|最小|更少|较少|最少", False, "是多少"),
)
_OPTIONS = re.compile(
    r"^(?P<before>.+?)[,:?]\s*(?P<left>[^,:?]{1,100}?),?\s+or\s+(?P<right>[^,:?]{1,100}?)\s*\?*$",
    re.I | re.S,
)
# Without a comma the first thing begins with a capital: `Which opened first Orr or Tave?`
_UNPARTED = re.compile(
    r"^(?P<before>(?!Is |Are |Was |Were |Do |Does |Did ).+?\b(?-i:[a-z]+)) "
    r"(?P<left>(?-i:[A-Z])[^,:?]{1,100}?) or (?P<right>[^,:?]{1,100}?)\s*\?*$",
    re.I | re.S,
)
# The options stand for who or which is asked: `A和B由哪个部门…` asks for neither.
_CHINESE_OPTIONS = re.compile(
    "^(?P<left>[^，,、]{1,30}?)、(?P<right>[^，,、？?]{1,30}?)"
    "(?P<mark>(?:之?中|相比)?[，,]?(?:其中)?)"
    "(?P<before>(?:(?<=[，,中比]).*[更较].*)?[哪谁](?![些里儿几年天]).*)$"
)
_SAME = re.compile(
    r"^(?P<verb>is|are|was|were|do|does|did|have|has)\s+(?:both\s+)?(?:(?-i:[a-z]+),?\s+){0,3}"
    r"(?P<left>[^,?]{1,100}?),?\s+and\s+(?P<right>[^,?]{1,100}?),?\s+(?:both\s+)?"
    r"(?P<rest>(?:(?-i:[a-z]+)\s+){0,4}?)the\s+same\s+(?P<noun>[a-z]+(?: [a-z]+){0,2})\s*\?*$",
    re.I | re.S,
)
_CHINESE_SAME = re.compile(
    "^(?P<left>[^，,、]{1,30}?)、(?P<right>[^，,？?]{1,30}?)(?:都|均)?"
    "(?:(?P<rest>是|在|属于|来自|位于|出生于|毕业于)(?:同一[个座种家所条门]?|相同的?)(?P<noun>[^吗么？?]{1,12})"
    "|的(?P<quality>[^，,？?]{1,12}?)(?:相同|一样|一致))[吗么]?[？?]*$"
)
_JOINS = ("和", "与", "跟", "、", "还是")
_SINGULAR = {"are": "is", "were": "was", "do": "does", "have": "has"}
_DROPPED = re.compile(r"^(?:which|what|who)\s+(?:of\s+)?(?:the\s+)?(?:two\s+)?", re.I)
_CHINESE_DROPPED = re.compile("(?:的?是)?(?:哪[一个条座位所部家种]*|谁)|相比|[？，?,]")
_OF_EACH = re.compile(
    r"\b(?:has|have|with)\s+(?:the|an?)\s+(?P<noun>[a-z]+)\s+(?:who|that|which)\b"
    r"|\bwhose\s+(?P<whose>[a-z]+)\b",
    re.I,
)
_VERB = re.compile(rf"\b(?P<verb>{any_of(AUXILIARIES - MODALS)})\b\s*", re.I)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.I)


def same_of_each(question: Question) -> tuple[Question, ...]:
    """Return a question for each of two things, if they are asked to have the same value."""
    chinese = question.is_chinese
    text = _with_comma(question.text) if chinese else " ".join(question.text.split())
    match = (_CHINESE_SAME if chinese else _SAME).match(text)
    if not match:
        return ()
    options, rest, noun = (match["left"], match["right"]), match["rest"], match["noun"]
    if chinese:
        ending = f"{rest}哪个{noun}？" if rest else f"的{match['quality']}是什么？"
        return tuple(analyse(option + ending) for option in options)
    verb = _SINGULAR.get(match["verb"].lower(), match["verb"].lower())
    return tuple(
        analyse(" ".join(f"What {noun} {verb} {option} {rest}".split()) + "?") for option in options
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two options, the questions for the value of each, and which value wins.

    Without `parts` the question only offers the options: `Is it A or B?`
    """

    options: tuple[str, str]
    parts: tuple[Question, ...] = ()
    larger: bool = True


def find_comparison(question: Question) -> Comparison | None:
    """Return the comparison that a question makes; None if it does not name two options."""
    chinese = question.is_chinese
    text = _with_comma(question.text) if chinese else " ".join(question.text.split())
    plain = simplified(text)
    match = (
        _CHINESE_OPTIONS.match(plain) if chinese else _OPTIONS.match(text) or _UNPARTED.match(text)
    )
    if not match or (chinese and not _is_thing(match["right"])):
        return None
    options = text[slice(*match.span("left"))].strip(), text[slice(*match.span("right"))].strip()
    for words, larger, asking in _COMPARATIVES:
        pattern = words if chinese else rf"\b(?:{words})\b"
        if re.search(pattern, match["before"], re.I):
            rest = " ".join(re.sub(pattern, " ", match["before"], flags=re.I).split())
            ask = _ask_in_chinese if chinese else _ask
            parts = (analyse(ask(asking, rest, option)) for option in options)
            return Comparison(options, tuple(parts), larger)
    return None if chinese and not match["mark"] else Comparison(options)


def _is_thing(option: str) -> bool:
    """Return whether Chinese words end as the name of one thing does, not as a clause."""
    *before, last = segmenter().cut(option.strip())
    is_open = last in STOP_WORDS or tag_of(last) in ("v", "p", "c", "d", "f", "uj")
    return not is_open and not any(word in _JOINS for word in before)


def _with_comma(text: str) -> str:
    """Return a Chinese question with a comma instead of the first word that joins two things.

    The words for "and" are also parts of names: 呼和浩特.
    """
    text = text.strip()
    plain = simplified(text)
    joins = sorted(span for span in word_spans_of(text) if plain[slice(*span)] in _JOINS)
    return text[: joins[0][0]] + "、" + text[joins[0][1] :] if joins else text


def winner(comparison: Comparison, answers: Sequence[str]) -> int | None:
    """Return which of two answers has the winning value, 0 or 1; None if they do not compare."""
    values = [_value(answer, part) for answer, part in zip(answers, comparison.parts, strict=True)]
    first, second = (_key(value) for value in values)
    if first is None or second is None or first[0] != second[0] or first[1] == second[1]:
        return None
    return int((second[1] > first[1]) == comparison.larger)


def are_same(first: str, second: str) -> bool:
    """Return whether two answers are the same, or one has all words of the other."""
    left, right = words_of(normalise_name(first)), words_of(normalise_name(second))
    return bool(left and right) and (left <= right or right <= left)


def _value(answer: str, part: Question) -> Value | None:
    dated = part.expected_answer.form == "date"
    values = (value for _, _, value in find_values(answer, part.language))
    return next((value for value in values if value.is_date == dated), None)


def _key(value: Value | None) -> tuple[str, tuple[float, str]] | None:
    """Return the kind or unit of a value, and its size."""
    if value is None:
        return None
    if value.is_date:
        date = (value.date or "").split("/")[0]
        return ("date", order(date)) if date else None
    if value.number is None:
        return None
    number, unit = in_base(value)
    return unit or "", (number, "")


def _ask(asking: str, rest: str, option: str) -> str:
    """Return the question for an option's value, from words such as `When`, `college was founded`.

    `asking` is how the value is asked for, `rest` the words of the question beside the options.
    """
    owned = _OF_EACH.search(rest)
    if owned:  # `Which film has the director who …`, `whose director …`
        option = f"the {owned['noun'] or owned['whose']} of {option}"
        rest = rest[owned.end() :]
    rest = _DROPPED.sub("", rest)
    verb = _VERB.search(rest)
    after = _ARTICLE.sub("", rest[verb.end() :]).strip() if verb else ""
    if asking.startswith("When"):
        word = (
            verb["verb"] if verb and verb["verb"].lower() not in ("has", "have", "had") else "was"
        )
        word, after = ("was", "born") if asking.endswith("born") else (word, after)
        if not (verb or after) and rest:  # `which opened first`
            return f"When {option} {rest}?"
        return f"When {word} {option} {after}".strip() + "?"
    if asking == "How many" and after:
        return f"How many {after} does {option} have?"
    if after:  # `has the larger diameter`
        return f"What is the {after} of {option}?"
    return f"{asking} is {option}?"


def _ask_in_chinese(asking: str, rest: str, option: str) -> str:
    attribute = _CHINESE_DROPPED.sub("", simplified(rest)).replace(" ", "").removesuffix("的")
    return f"{option}{attribute}{asking}？"
