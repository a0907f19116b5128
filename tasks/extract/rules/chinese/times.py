"""Time expressions and temporal clauses: 贞观三年, 后来, 即位以后, 在5.0版本中."""

import re
from collections.abc import Sequence

from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import AFTER_TIME, AND, COPULAS
from tasks.extract.rules.chinese.tokens import CLOCK, Token, text_of
from tasks.text.chinese_words import tag_of
from tasks.text.languages import word_set

LONGEST = 24  # characters of a temporal clause
# The endings of time expressions.
ENDS = word_set(
    "前 后 时 之前 之后 以前 以后 时候 期间 过程中 内 之内 以内 起 以来 之际 之初 时期 年间"
)
SINCE = frozenset(["自", "自从", "从"])
INSIDE = frozenset(["内", "之内", "以内"])  # 职责范围内 is a scope
NO_TIMES = frozenset(["过期", "正在", "去世"])  # the dictionary has them as times
VERSION = re.compile("(?:版本|版)中?$")
SPANS = ("代", "朝", "季", "节")  # as modifiers of a noun, no times: 唐代诗人


def is_moment(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a word is a time expression alone: 后来, 目前, but not 唐代 of 唐代诗人."""
    token, after = tokens[position], tokens[position + 1 : position + 2]
    known = token.tag == "t" or (token.tag == "d" and tag_of(token.text) == "t")
    if (
        not known
        or token.text in NO_TIMES
        or (after and (after[0].text in ("的", "之", *AND) or after[0].text in COPULAS))
    ):
        return False
    return not (after and token.text.endswith(SPANS) and after[0].tag[0] not in "pdr")


def own_time(clause: Clause, moment: str) -> str:
    """Return the time expression of a clause (2021年起, 后来), or that of an earlier clause."""
    tokens = clause.tokens
    places = [i for i, token in enumerate(tokens) if any(token is time for time in clause.times)]
    if not places and clause.times:  # the clause before gives it
        return moment or clause.times[0].text
    before = next((i for i, t in enumerate(tokens) if t.tag == "v"), len(tokens))
    places = places or [i for i in range(before) if is_moment(tokens, i)]
    if places:
        end = places[0] + 1
        while end < len(tokens) and (tokens[end].text in AFTER_TIME or end in places):
            end += 1
        own = text_of(tokens[places[0] : end])
        # 9月16日，活动于下午2时举行; 2019年9月21日，2019年年会举行.
        if own in moment:
            return moment
        return moment + own if CLOCK.match(own) else own
    rest = clause.rest
    return rest[0].text if len(rest) == 1 and rest[0].tag == "time" else ""


def moment_of(tokens: Sequence[Token]) -> str:
    """Return the text of a temporal clause (贞观三年, 即位以后, 在5.0版本中), else an empty one."""
    led = [i for i, t in enumerate(tokens[:-1]) if t.text in SINCE or t.text == "在"]
    tokens = tokens[led[0] :] if led and tokens[-1].text in ENDS | AFTER_TIME else tokens
    text = text_of(tokens)
    if len(text) > LONGEST:
        return ""
    timed = [t.tag == "time" or is_moment(tokens, i) for i, t in enumerate(tokens)]
    words = zip(tokens, timed, strict=True)
    alone = any(timed) and all(
        time or t.text in AFTER_TIME or t.tag in ("p", "d") for t, time in words
    )
    since = tokens[0].text in SINCE and tokens[-1].text in ("开始", "起")
    return text if alone or since or is_when(tokens) else ""


def is_when(phrase: Sequence[Token]) -> bool:
    """Return whether the ending of a phrase shows that it is a time: 30日内, 即位后, 5.0版本中."""
    counts = any(token.tag in ("time", "number", "m") for token in phrase)
    ends = phrase[-1].text in ENDS and len(phrase) > 1 and (counts or phrase[-1].text not in INSIDE)
    acts = any(token.tag == "v" for token in phrase[:-1])
    version = not acts and VERSION.search(text_of(phrase[-2:]))
    return ends or bool(version and any(map(str.isdigit, text_of(phrase))))
