"""Where and how a question says a relation: its words, their places, and its direction."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, dropwhile, pairwise

from tasks.programs.planner.features import named_share, relation_words
from tasks.programs.planner.topics import SLOT
from tasks.programs.relation_matching import SYNONYM, directions, similarity, spelt_out
from tasks.text.chinese_words import STOP_WORDS, segmenter, tag_of
from tasks.text.english_words import is_base_verb, noun_lemma, verb_forms
from tasks.text.function_words import AUXILIARIES, FUNCTION_WORDS, QUESTION_WORDS
from tasks.text.languages import is_chinese, word_set
from tasks.text.relations.forms import TELLING, form_of
from tasks.text.stems import english_stem
from tasks.text.values.units import chinese_units, english_units

LONGEST_PHRASE = 4  # words of a question that may be a wording; in Chinese, characters
SAID = 0.9  # least similarity of a wording that is the relation's own or a synonym
KIND = "instance of"  # what a question for the members of a class means
_WORD = re.compile(rf"{SLOT}|[\w'’-]+")
_RUN = re.compile(rf"[^{SLOT}\s？?，,。！!]+")
_DOES = re.compile(r"\b(?:did|does)\b", re.I)
_LOWER = re.compile(r"\b[a-z]{2,}\b")
# Words of a question that say nothing about what is asked for.
_LIGHT = word_set(
    "please tell give list find show know come comes came current currently now present today "
    "still exactly"
)
_CHINESE_LIGHT = STOP_WORDS | word_set(
    "请问 知道 告诉 名字 名称 人 东西 地方 位置 时间 年份 日期 列出 一共 总共 目前 现在 当前 分别 "
    "具体 到底 究竟 叫 叫做 称 写 想 属于 位于 所在"
)
# Words that the vocabulary has for one relation, of which at most one is meant.
_APART = tuple(
    map(
        word_set,
        (
            "husband wife 丈夫 妻子",
            "son daughter 儿子 女儿",
            "brother sister 兄弟 姐妹",
            "哥哥 弟弟 姐姐 妹妹",
        ),
    )
)
_ENDS = re.compile(r"(?: (?:of|for|the|an?|is|was|are|were|does|did|do))+\Z")
# What stands before and after a noun, on two lines, where the topic is what it means.
_ASKED_HOLDER = re.compile(
    r"\A\W*of (?:what|which|whom?)\b|\bas (?:(?:its|his|her|their|the|an?) )?\n"
    r"|\n ?(?:of|for|to)(?: (?:what|which|whom?)\b|\W*\Z)",
)
_FILLED = re.compile(
    rf"\bwhose (?:[\w-]+ ){{0,2}}\n|\n *(?:(?:is|was|are|were|include[sd]?|named|called) )? *{SLOT}"
)
_CHINESE_ASKED_HOLDER = re.compile(r"(?:谁|什么|[哪何][^的]{0,4})的\n|[为作]\n")
_CHINESE_FILLED = re.compile(rf"\n *[是为叫] *《? *{SLOT}")
_ASKING = re.compile(r"\b(?:how|where|when) \Z|(?:how|where|when) ")
_AS_NOUN = re.compile(r"\b(?:the|an?|its|his|her|their) \n|['’]s \n|\n of\b")
_BESIDE = re.compile(rf"\bthe \n *[\"“'‘] *{SLOT}")
_CHINESE_BESIDE = re.compile(rf"\n[《“]+ *{SLOT}|{SLOT}[ 》”]*这.\n")
_CHINESE_HELD = re.compile(rf"的\n|{SLOT} *》? *\n *(?:[是叫有为在呢？?]|\Z)")
_ONLY_ASKS = re.compile(
    r"(?:which|what|how many|list|name)(?: (?:all|the|are|there|do you know|exist))*\W*"
    r"|(?:请?列出|有|都|所有|哪|些|几|多少|什么|[座个位部首种条名])*\W*",
    re.I,
)
_UNIT = re.compile(r"(?: in)? ((?:square |cubic )?\S+)\Z")


@dataclass(frozen=True, slots=True)
class Saying:
    """How a question says a relation: how surely, where, and whether in this direction.

    From `SAID` on the words are its own, or a synonym of it; longer phrases say more.
    """

    surely: float = 0.0
    places: frozenset[int] = frozenset()  # of its characters in the plain question
    agrees: bool = True


@lru_cache(maxsize=1 << 10)
def finite(masked: str) -> str:
    """Return a question with the verb after `did` or `does` in the form that relations have."""
    asks = _DOES.search(masked)
    if asks is None:
        return masked
    tag = "VBD" if asks[0].lower() == "did" else "VBZ"

    def inflected(word: re.Match[str]) -> str:
        forms = verb_forms(word[0], tag) if is_base_verb(word[0]) else ()
        return forms[0] if forms else word[0]

    return masked[: asks.end()] + _LOWER.sub(inflected, masked[asks.end() :])


def says(text: str, relation: str) -> bool:
    """Tell whether a text says a relation, by its own words or a synonym."""
    ways = sayings_of(text, spelt_out(relation), inverse=False)
    return max(((way.agrees, way.surely) for way in ways), default=(False, 0.0))[1] >= SAID


def bare(masked: str, slot: str = SLOT) -> str:
    """Return a masked question without its topic."""
    return " ".join(masked.replace(slot, " ").split())


@lru_cache(maxsize=1 << 10)
def plain(masked: str) -> str:
    """Return a masked question in lower case, its verb in the form that relations have."""
    return finite(masked).lower()


@lru_cache(maxsize=1 << 12)
def sayings_of(masked: str, name: str, inverse: bool) -> tuple[Saying, ...]:
    """Return all ways in which a question says a relation, each in other words of it."""
    if inverse and _ONLY_ASKS.fullmatch(bare(masked)):  # for the members of a class
        surely = similarity(KIND, name)
        return (Saying(surely),) if surely >= SAID else ()
    names = (name, without_unit(name))
    found, is_own = [], False
    for phrase, start, places in _phrases(masked):
        alike = max(similarity(phrase, spelling) for spelling in names)
        if TELLING.intersection(phrase.split()).difference(name.split()):
            continue  # not the first, but the last
        if alike == SYNONYM and any(f" {one} " in f" {phrase} " for one in names):
            alike = 1.0  # its own words within a longer name of it: the default value
        if alike >= SAID and not any(_exclude(phrase, one, inverse=inverse) for one in names):
            words = phrase if is_chinese(phrase) else phrase.split()
            way = _leads(masked, phrase, start, names)
            found.append(Saying(alike + 0.01 * len(words), places, way in (None, inverse)))
            is_own |= alike == 1
    longest = [
        one
        for one in found
        if not any(
            (one.places < other.places and not one.surely > 1 >= other.surely)
            or (one.places == other.places and one.surely < other.surely)
            for other in found
        )
        if one.surely > 1 or not is_own
    ]
    if not found and named_share(masked, name) == 1:
        return (Saying(SAID, _places_of(masked, name)),)
    return tuple(longest)


def _places_of(masked: str, name: str) -> frozenset[int]:
    """Return where the words of a relation stand in a question; in Chinese, its characters."""
    text = plain(masked)
    if is_chinese(masked):
        pairs = [a + b for a, b in pairwise(name)] or [name]
        return frozenset(
            place
            for pair in pairs
            for match in re.finditer(re.escape(pair), text)
            for place in range(*match.span())
        )
    words = relation_words(name)
    return frozenset(
        place
        for start, word in tokens_of(masked)
        if english_stem(word) in words
        for place in range(start, start + len(word))
    )


def _exclude(phrase: str, name: str, *, inverse: bool) -> bool:
    """Tell whether two words of one meaning in the vocabulary exclude each other: son, daughter.

    The husband of somebody is a husband, whose wife that is.
    """
    one, other = _ENDS.sub("", phrase), _ENDS.sub("", name)
    return one != other and any(
        one in apart and other in apart for apart in _APART[1 if inverse else 0 :]
    )


def distance(masked: str, saying: Saying) -> int:
    """Return how far the words that say a relation reach from the topic, in characters."""
    topic = plain(masked).find(SLOT)
    return max((abs(place - topic) for place in saying.places), default=0)


def _leads(masked: str, phrase: str, start: int, names: tuple[str, ...]) -> bool | None:
    """Tell whether a phrase leads from the topic against the relation; None if it does not tell.

    A noun leads from what has it, whose the topic is or which is asked for. A verb after which the
    topic stands has it as its object, so that it is read from the other end.
    """
    text = plain(masked)
    core = phrase if is_chinese(phrase) else _core(phrase)
    start = text.find(core, start, start + len(phrase))
    before, after = text[: max(start, 0)], text[start + len(core) :]
    if start < 0 or _ASKING.search(before) or _ASKING.match(core + " "):
        return None
    ways = {way for name in names for way in directions(core, name)}
    if core in names and any(core in apart for apart in _APART):  # not as symmetric as siblings
        ways = {False}
    if is_chinese(phrase):
        fills = _fills(before, after, _CHINESE_ASKED_HOLDER, _CHINESE_FILLED)
        if not fills and not _CHINESE_HELD.search(before + "\n" + after):
            return None
        ways = ways or {False}
    elif _AS_NOUN.search(before + "\n" + after) or (ways and form_of(core).kind == "noun"):
        fills = _fills(before, after, _ASKED_HOLDER, _FILLED)
        ways = ways or {False}
    else:
        ways = {way for name in names for way in directions(phrase, name)}
        fills = SLOT in after and form_of(phrase).kind == "verb"
    return ways.pop() ^ fills if len(ways) == 1 else None


def _core(phrase: str) -> str:
    """Return an English phrase without the words around it that are of no relation's name."""
    words = dropwhile(FUNCTION_WORDS.__contains__, phrase.split())
    return _ENDS.sub("", " ".join(words))


def _fills(before: str, after: str, asked: re.Pattern[str], filled: re.Pattern[str]) -> bool:
    """Tell whether the topic is what a noun means, not what has it: `SLOT is the capital of …`."""
    if SLOT in after:
        return bool(filled.search(before + "\n" + after))
    return bool(asked.search(before + "\n" + after))


@lru_cache(maxsize=1 << 10)
def tokens_of(masked: str) -> tuple[tuple[int, str], ...]:
    """Return the words of a plain question, each after its first character."""
    return tuple((match.start(), match[0]) for match in _WORD.finditer(plain(masked)))


@lru_cache(maxsize=1 << 10)
def content_tokens(masked: str) -> tuple[tuple[int, str], ...]:
    """Return the words of a question that say something, each with its place."""
    if not is_chinese(masked):
        return tuple(
            (start, word)
            for start, word in tokens_of(masked)
            if word.strip("'’s") and word != SLOT
            if word.replace("’", "'") not in FUNCTION_WORDS | _LIGHT
        )
    tokens, at = [], 0
    text = plain(masked)
    for word in segmenter().cut(text):
        says = tag_of(word).startswith(("n", "v", "a", "b", "i", "j", "l", "s", "f"))
        if says and word not in _CHINESE_LIGHT and SLOT not in word:
            tokens.append((at, word))
        at += len(word)
    return tuple(tokens)


@lru_cache(maxsize=1 << 10)
def _phrases(masked: str) -> tuple[tuple[str, int, frozenset[int]], ...]:
    """Return the phrases of a masked question that may be a wording, with their places.

    These are where a phrase begins, and the characters of its words that say something.

    In English each content word is also taken with the interrogative: `where born`.
    """
    if is_chinese(masked):
        return tuple(
            (masked[start : start + length], start, frozenset(range(start, start + length)))
            for run in _RUN.finditer(masked)
            for length in range(1, LONGEST_PHRASE + 1)
            for start in range(run.start(), run.end() - length + 1)
        )
    tokens = tokens_of(masked)
    spans = [
        tokens[start : start + length]
        for length in range(1, LONGEST_PHRASE + 1)
        for start in range(len(tokens) - length + 1)
    ]
    if tokens and tokens[0][1] in ("where", "when", "how"):
        spans += [(tokens[0], token) for token in tokens if token[1] not in FUNCTION_WORDS]
    phrases = []
    for span in spans:
        words = [word for _, word in span]
        content = [word for word in words if word not in FUNCTION_WORDS]
        first = next((at for at, word in enumerate(words) if word in content), 0)
        is_name = SLOT not in words and content and len(set(content)) == len(content)
        if is_name and not AUXILIARIES.intersection(words[first:]):
            places = (
                range(start, start + len(word))
                for start, word in span
                if word in QUESTION_WORDS or word not in FUNCTION_WORDS
            )
            phrases.append((" ".join(words), span[0][0], frozenset(chain(*places))))
    return tuple(dict.fromkeys(phrases))


def is_of_topic(text: str, start: int, word: str) -> bool:
    """Tell whether a noun stands beside the topic, which it describes: `the film "…"`."""
    beside = text[:start] + "\n" + text[start + len(word) :]
    if is_chinese(word):
        return bool(_CHINESE_BESIDE.search(beside))
    return bool(_BESIDE.search(beside)) and bool(noun_lemma(word, known=True))


@lru_cache(maxsize=1 << 12)
def without_unit(name: str) -> str:
    """Return the name of a relation without a unit at its end: `height m` is `height`."""
    unit = _UNIT.search(name)
    if unit and (unit[1] in english_units() or unit[1] in chinese_units()):
        return name[: unit.start()]
    return name
