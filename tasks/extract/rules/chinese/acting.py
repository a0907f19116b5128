"""Find the predicate of a Chinese clause, and the verbs in modifiers and adverbials."""

from collections.abc import Iterator

from tasks.extract.rules.chinese.lexicon import (
    AND,
    CLAUSAL,
    COMPLEMENTS,
    COPULAS,
    DEMONSTRATIVES,
    GOVERNING,
    MODALITY_OF_WORD,
    NEGATIONS,
    PLACE_ENDS,
    PREPOSITIONS,
    WHILE,
)
from tasks.extract.rules.chinese.tokens import Token

ASPECT = frozenset("了过着")
LONGEST_RELATIVE = 14  # tokens
SURE = 0.35  # the least probability at which a word is taken for the predicate
LEAST = 0.12  # the same for a verb whose object is a clause
# Tags of words that may be verbs after a modal, a negation or an adverb: 不得|危害, 持续|影响.
ACTING = frozenset(["vn", "n", "a", "an", "ad"])
DETERMINERS = DEMONSTRATIVES | {"各", "某", "其"}
TAKEN_OUT = MODALITY_OF_WORD.keys() | NEGATIONS  # removed before a clause is parsed
# Modal words that only occur before a predicate.
AUXILIARY = frozenset(
    word for word, modality in MODALITY_OF_WORD.items() if modality in ("required", "possible")
) - {"要", "需要", "需"}
MANNER = frozenset(["d", "ad", "vd"])


def while_end(tokens: list[Token], position: int) -> int | None:
    """Return the end of a temporal clause that starts here with a verb (回国后), or None."""
    predicate = predicate_at(tokens)
    if tokens[position].tag != "v":
        return None
    for end in range(position + 1, predicate or 0):
        if tokens[end].tag in ("time", "number", "m"):
            return None  # 服务三年后
        if tokens[end].text in WHILE and tokens[end + 1].text != "的":
            return end + 1
    return None


def described_end(tokens: list[Token], position: int) -> int | None:
    """Return where the noun begins that a clause starting here modifies: 由甲公司制造的|样车.

    Return None if no clause that modifies a noun starts here.
    """
    predicate, described = predicate_at(tokens), None
    led = tokens[position].text in PREPOSITIONS and tokens[position].text not in ("由", "以")
    if predicate is None or led or tokens[position].tag in ("time", "d", "c"):
        return None
    acted = False
    for end in range(position, predicate - 1):
        acted |= tokens[end].tag == "v" or tokens[end].text == "为"
        if acted and tokens[end].text == "的" and tokens[end + 1].nominal:
            if any(token.text in PLACE_ENDS for token in tokens[end + 2 : end + 4]):
                break  # 在发布的报告中
            described = end + 1
            acted = False
        elif described is not None and not acted and tokens[end].text in PREPOSITIONS:
            break
    return described


def predicate_at(tokens: list[Token]) -> int | None:
    """Return the position of the most likely predicate, or None if no word is likely."""
    modal = next((i for i, token in enumerate(tokens) if token.text in AUXILIARY), None)
    if modal is not None and not _is_within(tokens, modal):
        return _after_modal(tokens, modal + 1)
    likely = [
        i
        for i, token in enumerate(tokens)
        if token.leads >= SURE and token.text not in TAKEN_OUT and not _is_described(tokens, i)
    ]
    if not likely:
        return None
    best = max(likely, key=lambda i: tokens[i].leads)
    best = next((i for i in likely if tokens[i].text in CLAUSAL), best)
    completes = tokens[best].text in COMPLEMENTS or best == len(tokens) - 1
    after_verb = best and tokens[best - 1].tag == "v"
    return best - 1 if completes and after_verb else best  # 著|有, 分离|得到


def _is_within(tokens: list[Token], modal: int) -> bool:
    """Return whether a modal is in the object of an earlier verb: 要求…应当, 修复|无法停止的."""
    before, after = tokens[:modal], tokens[modal:]
    described = max((i for i, token in enumerate(before) if token.text == "的"), default=-1)
    acting = [token for token in before[described + 1 :] if token.leads >= LEAST]
    can = MODALITY_OF_WORD[after[0].text] == "possible" and any(t.text == "的" for t in after)
    sure = any(token.leads >= SURE for token in acting)
    return (can and sure) or any(token.text in CLAUSAL for token in acting)


def _after_modal(tokens: list[Token], position: int) -> int | None:
    """Return the position of the predicate after a modal: the next verb, or the likeliest word."""
    after = [i for i in range(position, len(tokens)) if tokens[i].text not in TAKEN_OUT]
    for i in [i for i in after if tokens[i].tag not in MANNER | {"a"}][:1]:
        if tokens[i].tag in ("v", "vn") and tokens[i].text not in PREPOSITIONS:
            return i
    acting = [i for i in after if tokens[i].leads >= (0 if tokens[i].tag == "v" else SURE)]
    acting = [i for i in acting if not _is_described(tokens, i)]
    return max(acting, key=lambda i: tokens[i].leads, default=None)


def _is_described(tokens: list[Token], position: int) -> bool:
    """Return whether its context shows that a word is no predicate: 公司的|发展, 展览|将持续."""
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if position and (tokens[position - 1].text == "的" or tokens[position - 1].text in DETERMINERS):
        return True
    if tokens[position].text == "作为" and any(token.tag == "v" for token in tokens[:position]):
        return True  # 采用软件作为服务器
    if after is None or tokens[position].text in COPULAS or tokens[position].text in CLAUSAL:
        return False
    return after.text in TAKEN_OUT or after.tag == "uv" or (position == 0 and after.tag == "d")


def is_verb(tokens: list[Token], position: int) -> bool:
    """Return whether a token can be the clause's verb."""
    return _is_verb(tokens, position, predicate_at(tokens))


def verb_positions(tokens: list[Token], start: int, end: int) -> Iterator[int]:
    """Yield the positions from `start` up to `end` of tokens that can be the clause's verb."""
    predicate = predicate_at(tokens)
    return (place for place in range(start, end) if _is_verb(tokens, place, predicate))


def has_verb(tokens: list[Token], start: int, end: int) -> bool:
    """Return whether a token from `start` up to `end` can be the clause's verb."""
    return next(verb_positions(tokens, start, end), None) is not None


def _is_verb(tokens: list[Token], position: int, predicate: int | None) -> bool:
    token = tokens[position]
    if predicate is not None and position <= predicate:
        return position == predicate
    if token.text in COPULAS or token.tag == "v":
        # After 的 it is a noun: 中国的发展, 儿童的数量和分布情况.
        listed = (
            position > 1
            and tokens[position - 1].text in AND
            and tokens[position - 2].nominal
            and any(earlier.text == "的" for earlier in tokens[:position])
        )
        owned = position and tokens[position - 1].text == "的"
        return token.text in COPULAS or not (listed or owned)
    if token.tag in ACTING and position and _is_led(tokens, position):
        return True
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if token.tag == "n" and after is not None and after.text == "于":
        return tokens[position + 2 : position + 3] != [] and tokens[position + 2].tag == "time"
    if token.tag == "vn":
        if after is None:
            return not position or tokens[position - 1].text != "的"
        invests = position > 0 and after.tag == "number" and tokens[position - 1].nominal
        return after.text in ASPECT or after.text in ("于", "在") or invests
    return token.tag == "p" and 0 < position == len(tokens) - 1


def _is_led(tokens: list[Token], position: int) -> bool:
    """Return whether the word before a possible noun shows that it is a verb: 不得|危害…."""
    before, after = tokens[position - 1], tokens[position + 1 :]
    if not after or not (after[0].nominal or after[0].tag[0] == "r"):
        return False
    modal = before.text != "将" and before.text in MODALITY_OF_WORD.keys() | NEGATIONS
    adverb = before.tag in MANNER and tokens[position].tag in ("vn", "a")
    return modal or (adverb and not any(later.tag == "v" for later in after))


def relative_end(tokens: list[Token], position: int) -> int | None:
    """Return the position of the 的 that ends a relative clause starting here, or None."""
    start = position
    while start < len(tokens) and (
        tokens[start].tag in ("time", "d") or tokens[start].text in "在由所"
    ):
        start += 1
    if start >= len(tokens) or tokens[start].tag != "v" or tokens[start].text in COPULAS:
        return None
    predicate = predicate_at(tokens)
    after_noun = start > 0 and tokens[start - 1].nominal
    modal = tokens[start].text in MODALITY_OF_WORD and tokens[start].text != "要"
    if (
        modal
        or tokens[start].text in PREPOSITIONS
        or (after_noun and tokens[start].text in GOVERNING)
    ):
        return None
    stop = min(len(tokens) - 1, position + LONGEST_RELATIVE)
    for end in range(start + 1, stop):
        text = tokens[end].text
        if text in ASPECT or text in COPULAS:
            return None
        if text == "的":
            if end > start + 1 and tokens[end - 1].tag in ("a", "d"):
                return None  # 遵循基本的原则
            if predicate is not None and position <= predicate < end:
                return None
            goes_on = tokens[end + 1].nominal and has_verb(tokens, end + 2, len(tokens))
            return end if goes_on else None
    return None


def acts_first(tokens: list[Token], position: int) -> bool:
    """Return whether a verb precedes the predicate, outside any phrase: 在州里|使用坦克进行演习."""
    predicate = predicate_at(tokens)
    if predicate is None or not position < predicate or tokens[position].tag != "v":
        return False
    if position and tokens[position - 1].text == "的":
        return False
    return all(t.text != "的" and t.text not in PLACE_ENDS for t in tokens[position:predicate])


def is_of_name(tokens: list[Token], position: int) -> bool:
    """Return whether a verb is part of a compound noun before a copula or adjective.

    Example: 认证 in 身份|认证|功能是….
    """
    predicate = predicate_at(tokens)
    if predicate is None or position + 1 >= predicate or not tokens[position + 1].nominal:
        return False
    return tokens[predicate].text in COPULAS or tokens[predicate].tag in ("a", "b", "z")


def is_owned(tokens: list[Token], position: int) -> bool:
    """Return whether a verb modifies a noun, between 的 and that noun: 软件的|下载|费用."""
    after = tokens[position + 1 : position + 2]
    before = tokens[position - 1].text if position else ""
    return before == "的" and bool(after) and after[0].tag[0] in "nl"
