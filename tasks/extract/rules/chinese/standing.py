"""Determine the polarity, modality and attribution of a Chinese clause.

The words that mark them stand before the verb (不得超过, 将于…举行, 据…报道). They are removed, so
that the remaining words form a plain clause.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.extract.rules.chinese.acting import (
    ACTING,
    AUXILIARY,
    has_verb,
    is_verb,
    predicate_at,
    relative_end,
)
from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import (
    ACCORDING,
    AFTER_TIME,
    AND,
    BELIEVING,
    CONDITIONS,
    COPULAS,
    MODALITY_OF_WORD,
    NEGATIONS,
    SAYING,
    TIME_ENDS,
)
from tasks.extract.rules.chinese.tokens import CLOCK, Token, text_of
from tasks.extract.rules.modality import PLAIN, Standing
from tasks.text.chinese_words import tag_of
from tasks.text.languages import word_set

# Only clauses of these modalities yield triples, which record the modality.
STATED = frozenset(["asserted", "required", "future", "possible", "reported"])
CITING = ACCORDING - {"依照"} | {"据"}
REPORTS = tuple(word_set("报道 介绍 统计 透露 了解 消息 记载 称 估计 数据 预测 说"))
# At the end of a clause, these verbs have the following clauses as their object.
ANNOUNCING = frozenset(["提出", "宣布", "规定", "明确", "要求", "显示", "发现", "决定"])
HEARSAY = frozenset(
    ["据悉", "据报道", "据介绍", "据统计", "据了解", "据称", "据说", "相传", "传说"]
)
THEN = frozenset(["则", "那么", "那", "就", "便"])
ONLY = frozenset(["只", "仅", "仅仅"])
COUNTS = ("m", "number", "r")  # before 只 as a measure: 三只


@dataclass(frozen=True, slots=True)
class Meant:
    """A clause without negations and modal words, these words, and the standing they express."""

    tokens: list[Token]
    words: list[Token]
    standing: Standing


def take_source(tokens: list[Token]) -> tuple[list[Token], list[Token]] | None:
    """Split a clause into the source of a quotation and its content; None if it quotes nobody."""
    if tokens[0].text in HEARSAY:
        return [], tokens[1:]
    if tokens[0].text in CITING and tokens[-1].text.endswith(REPORTS):
        return tokens[1:-1], []
    announces = tokens[-1].text in ANNOUNCING and predicate_at(tokens) == len(tokens) - 1
    if (tokens[-1].text in SAYING or announces) and len(tokens) > 1:
        return tokens[:-1], []
    for position, token in enumerate(tokens):
        if token.text in SAYING or token.text in BELIEVING:
            quoted = tokens[position + 1 :]
            clausal = has_verb(quoted, 1, len(quoted))
            quotes = not quoted or (token.text != "表示" and clausal)
            named = position > 0 and any(t.nominal or t.tag[0] == "r" for t in tokens[:position])
            return (tokens[:position], quoted) if quotes and (named or not quoted) else None
        if is_verb(tokens, position):
            return None
    return None


def is_condition(tokens: list[Token], *, happened: bool = False) -> bool:
    """Return whether a clause states the condition under which the following clauses hold.

    With 当 it gives a time if what follows `happened` (当他回国时，母亲去世了) or it has a date.
    """
    when = happened or any(token.tag == "time" for token in tokens)
    listed = CONDITIONS - {"当"} if when else CONDITIONS
    words = [token.text for token in tokens]
    # 逾期不改正的，处以罚款.
    headless = words[-1] == "的" and not any(word.endswith("是") for word in words)
    return headless or words[-1] == "的话" or any(word in listed for word in words[:4])


def take_standing(tokens: list[Token], around: Standing = PLAIN) -> Meant:
    """Remove negations and modal words; `around` is the standing of the sentence so far."""
    kept: list[Token] = []
    words: list[Token] = []
    negative, modality = False, ""
    predicate, position = predicate_at(tokens), 0
    while position < len(tokens):
        token = tokens[position]
        relative = relative_end(tokens, position)
        if relative is not None:
            kept += tokens[position : relative + 1]
            position = relative + 1
            continue
        if _is_marker(tokens, position):
            words.append(token)
            negative ^= token.text in NEGATIONS
            modality = modality or MODALITY_OF_WORD.get(token.text, "")
            if token.text in AUXILIARY and predicate is not None and position < predicate:
                # Verbs before it are part of the subject: 劳动|保障|部门|应当.
                kept = [replace(t, tag="vn", leads=0) if t.tag == "v" else t for t in kept]
            if token.text.endswith("是"):  # 不是
                kept.append(replace(token, text="是", tag="v", start=token.end - 1))
                position += 1
                break
        elif is_verb(tokens, position):
            if words:  # without the removed word before it, it could be read as a noun
                tag = "v" if token.tag in ACTING else token.tag
                sure = 1.0 if position == predicate else token.leads
                kept, position = [*kept, replace(token, tag=tag, leads=sure)], position + 1
            break
        elif not (token.text in THEN and not kept):
            kept.append(token)
        position += 1
    standing = Standing(
        "negative" if negative else "positive",
        modality if around.modality == "asserted" else around.modality,
        around.attribution,
    )
    if not standing.modality:
        standing = replace(standing, modality="asserted")
    return Meant(kept + tokens[position:], words, standing)


def _is_marker(tokens: list[Token], position: int) -> bool:
    """Return whether a word is a negation, 只 or a modal word of a verb that follows."""
    token, after = tokens[position], tokens[position + 1 :]
    if token.text in ONLY:
        counts = position > 0 and tokens[position - 1].tag in COUNTS
        verb = bool(after) and (is_verb(tokens, position + 1) or _is_marker(tokens, position + 1))
        return verb and not counts
    if token.text.endswith("是") and token.text in NEGATIONS:
        return bool(after)
    if token.text in NEGATIONS or token.text in MODALITY_OF_WORD:
        if token.text in NEGATIONS and [t.text for t in tokens[position + 2 :][:1]] == ["的"]:
            return False  # 不正确的|设置
        handled = after and (after[0].nominal or after[0].tag[0] == "r")
        if token.text == "将" and handled and after[0].tag not in ("time", "i"):
            return False  # 将西红柿洗净
        if token.text == "将" and after and after[0].tag == "v" and _is_handled(tokens, position):
            return False  # 将切好的西红柿装盘
        return has_verb(tokens, position + 1, len(tokens))
    return False


def _is_handled(tokens: list[Token], position: int) -> bool:
    """Return whether a word is followed by a described noun before the predicate."""
    end = predicate_at(tokens) or position
    return any(token.text == "的" for token in tokens[position:end])


def without_time(tokens: list[Token]) -> list[Token]:
    """Return a source without time expressions: 别洛乌索夫29日 gives 别洛乌索夫."""
    while tokens and (
        tokens[-1].tag in ("time", "d", "m")
        or tokens[-1].text in "日就对"
        or tokens[-1].text in SAYING
    ):
        tokens = tokens[:-1]
    while tokens and tokens[0].tag in ("time", "d", "c", "p"):
        tokens = tokens[1:]
    return tokens


LONGEST = 24  # characters of a temporal clause
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
    tokens = tokens[led[0] :] if led and tokens[-1].text in TIME_ENDS | AFTER_TIME else tokens
    text = text_of(tokens)
    if len(text) > LONGEST:
        return ""
    timed = [t.tag == "time" or is_moment(tokens, i) for i, t in enumerate(tokens)]
    words = zip(tokens, timed, strict=True)
    alone = any(timed) and all(
        time or t.text in AFTER_TIME or t.tag in ("p", "d") for t, time in words
    )
    since = tokens[0].text in SINCE and tokens[-1].text in ("开始", "起")
    return text if alone or since or is_when(tokens) or tokens[0].text == "当" else ""


def is_when(phrase: Sequence[Token]) -> bool:
    """Return whether the ending of a phrase shows that it is a time: 30日内, 即位后, 5.0版本中."""
    counts = any(token.tag in ("time", "number", "m") for token in phrase)
    ends = (
        phrase[-1].text in TIME_ENDS
        and len(phrase) > 1
        and (counts or phrase[-1].text not in INSIDE)
    )
    acts = any(token.tag == "v" for token in phrase[:-1])
    version = not acts and VERSION.search(text_of(phrase[-2:]))
    return ends or bool(version and any(map(str.isdigit, text_of(phrase))))
