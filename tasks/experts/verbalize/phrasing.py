"""Sentences and questions for the relations of a graph, made from the names of the relations.

A name that is a verb phrase ("discovered", "is located in") becomes the predicate of a sentence;
any other counts as a noun phrase ("date of birth"): "The date of birth of Ada is 1815-12-10."
"built in" is passive, as most verbs take an object. Whether "opened in" is depends on the other
relations of the graph: it is if one of them is "opened by". Relations whose names are not explicit
enough, such as those of ConceptNet, have their own sentences in `phrasings.toml`.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal

from tasks.text.chinese_words import segmenter, tag_of
from tasks.text.english_words import is_adjective, is_plural, verb_forms, verb_lemma
from tasks.text.languages import is_chinese

AnswerKind = Literal["person", "place", "time", "number", "thing"]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAMESPACE = re.compile(r"^.*[/#:](?=[^/#:])")
_SEPARATORS = re.compile(r"[\s_./|+-]+")
_CHINESE_VERB = re.compile(r"^[是为在有由被]|[于在自为是]$")
_SLOT = re.compile(r"\{([htw])\}")
_INTERROGATIVES = {
    "en": {"person": "who"},
    "zh": {"person": "谁", "place": "哪里", "time": "什么时候", "number": "多少"},
}
_ANYTHING = {"en": "what", "zh": "什么"}
# "what was X born in?" asks for a place or a time, with words of their own.
_WITH_PREPOSITION = re.compile(r"\{w\} ((?:is|was|does|did) \{h\} .+) (?:in|on|at)\?")
_ADVERBS = {"place": "Where", "time": "When"}
_YEAR = re.compile(r"(?:[A-Z][a-z]+ )?\d{3,4}(?: BCE?)?|\d{4}s")
_WORD = re.compile("[a-z]{2}")  # no abbreviation, such as ISBN
_VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The sentence patterns of a relation, with {h} for the head and {t} for the tail or tails.

    `one` is for one tail and `many` for several; `inverse` begins with the tail; `question` asks
    for the tails, with {w} for who, what and the like.
    """

    one: str
    many: str
    inverse: str
    question: str

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language of the patterns."""
        return "zh" if is_chinese(self.one) else "en"

    def sentence(self, head: str, tails: Sequence[str]) -> str:
        """Return the sentence for a head and its tails."""
        pattern = self.one if len(tails) == 1 else self.many
        return _filled(pattern, head, listed(tails, self.language))

    def inverse_sentence(self, head: str, tail: str) -> str:
        """Return the sentence that begins with the tail."""
        return _filled(self.inverse, head, tail)

    def ask(self, head: str, *, kind: AnswerKind) -> str:
        """Return the question for the tails of a head, which are of this kind."""
        asked = _WITH_PREPOSITION.fullmatch(self.question)
        if asked and kind in _ADVERBS:
            return f"{_ADVERBS[kind]} {asked[1]}?".replace("{h}", head)
        interrogative = _INTERROGATIVES[self.language].get(kind, _ANYTHING[self.language])
        question = _SLOT.sub(lambda slot: head if slot[1] == "h" else interrogative, self.question)
        if self.question.startswith("{h}"):
            return question
        return question[:1].upper() + question[1:]


class Phrasings:
    """The phrasings of a graph's relations."""

    def __init__(self, relations: Iterable[str]) -> None:
        """Find out from the names of all relations which verbs occur in the passive."""
        self._made: dict[tuple[str, str], Phrasing] = {}
        words = [relation_words(relation).split() for relation in relations]
        self._passive_verbs = {
            verb for parts in words for verb, by in pairwise(parts) if by == "by"
        }

    def of(self, relation: str, language: str) -> Phrasing:
        """Return the phrasing of a relation in a language, which is English unless Chinese.

        Between Chinese names, words of another language that have no Chinese wording stay English.
        """
        made = self._made.get((relation, language))
        if made is None:
            key = "" if " " in relation else _key(relation)  # of an identifier
            fits_chinese = key in _written_down("zh") or not _WORD.search(relation)
            if is_chinese(relation) or (language == "zh" and fits_chinese):
                made = _written_down("zh").get(key) or _chinese(relation)
            else:
                made = _written_down("en").get(key) or self._english(relation_words(relation))
            self._made[relation, language] = made
        return made

    def _english(self, words: str) -> Phrasing:
        verb = self._verb(words)
        if verb is None:
            return _noun(words)
        sentence = f"{{h}} {verb} {{t}}"
        return Phrasing(sentence, sentence, sentence, _question(verb))

    def _verb(self, words: str) -> str | None:
        """Return the words of a relation as a verb phrase; None if they are a noun phrase."""
        parts = words.split()
        first, last = parts[0], parts[-1]
        if first in _lexicon("finite"):
            return words
        if first in _lexicon("prepositions"):
            return f"is {words}"
        with_preposition = len(parts) > 1 and last in _lexicon("prepositions")
        if first in _lexicon("states") and with_preposition:
            return f"is {words}"
        lemma = verb_lemma(first, "VBN")
        past, participle = (first in verb_forms(lemma, tag) for tag in ("VBD", "VBN"))
        if lemma == first and (not with_preposition or last == "of"):  # "cast", but "cast in"
            past = participle = False
        if first.endswith("ed") or past or participle:
            is_pair = len(parts) == 2
            passive = participle and lemma not in _lexicon("intransitive")
            passive = passive and (not past or (is_pair and with_preposition))
            passive = passive or last == "by" or (is_pair and first in self._passive_verbs)
            return f"was {words}" if passive else words
        if not with_preposition:
            return None
        if is_adjective(first):  # "capable of"
            return f"is {words}"
        if last == "of" and len(parts) == 2 and not is_plural(first):  # "member of"
            return f"is {'an' if _VOWEL.match(words) else 'a'} {words}"
        return words  # "belongs to", "consists of"


def relation_words(relation: str) -> str:
    """Return a relation's name as words: without namespace, and with camel and snake case split."""
    bare = _NAMESPACE.sub("", relation)
    words = _SEPARATORS.sub(" ", _CAMEL.sub(" ", bare)).split() or [relation.strip() or "–"]
    if " " not in bare:  # an identifier: only inner capitals, as in "IMDb", mean something
        words = [word.lower() if word[1:].islower() or len(word) == 1 else word for word in words]
    return " ".join(words)


def listed(names: Sequence[str], language: str) -> str:
    """Return names as a coordination: "a, b and c"."""
    if len(names) == 1:
        return names[0]
    if language == "zh":
        return "、".join(names[:-1]) + "和" + names[-1]
    return ", ".join(names[:-1]) + " and " + names[-1]


def _filled(pattern: str, head: str, tail: str) -> str:
    """Return a pattern with its slots filled, ending with a full stop.

    All slots are filled in one pass, so that braces in names have no effect. "on" becomes "in"
    before a year: a relation such as "born on" has dates of every precision.
    """
    if _YEAR.fullmatch(tail):
        pattern = pattern.replace(" on {t}", " in {t}")
    text = _SLOT.sub(lambda slot: head if slot[1] == "h" else tail, pattern)
    if text.endswith((".", "。", "!", "?", "！", "？")):
        return text
    return text + ("。" if is_chinese(pattern) else ".")


def _key(relation: str) -> str:
    return _SEPARATORS.sub("", _NAMESPACE.sub("", relation)).casefold()


@cache
def _data() -> dict[str, dict[str, list[str]]]:
    text = files(__package__).joinpath("phrasings.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _lexicon(kind: str) -> frozenset[str]:
    return frozenset(_data()["words"][kind])


@cache
def _written_down(language: str) -> dict[str, Phrasing]:
    """Return the phrasings in `phrasings.toml`, by the key of their relation."""
    mark = "？" if language == "zh" else "?"
    made = {}
    for relation, (sentence, inverse) in _data()[language].items():
        question = sentence.rstrip("。").replace("{t}", "{w}") + mark
        made[_key(relation)] = Phrasing(sentence, sentence, inverse, question)
    return made


def _noun(words: str) -> Phrasing:
    plural = _plural(words)
    if plural == words:  # "genres" (a plural) or "contains" (a verb): no sentence fits both
        label = f"{{h}} – {words}: {{t}}"
        return Phrasing(label, label, f"{{t}} – {words} of {{h}}", f"{{h}} – {words}: {{w}}?")
    return Phrasing(
        f"The {words} of {{h}} is {{t}}",
        f"The {plural} of {{h}} are {{t}}",
        f"{{t}} is the {words} of {{h}}",
        f"{{w}} is the {words} of {{h}}?",
    )


def _question(verb: str) -> str:
    """Return the question for the object of a verb phrase."""
    auxiliary, _, rest = verb.partition(" ")
    if auxiliary in ("has", "have", "had"):
        return f"what {rest} does {{h}} have?"
    if auxiliary in _lexicon("finite") and rest:
        return f"{{w}} {auxiliary} {{h}} {rest}?"
    did, tag = ("does", "VBZ") if auxiliary.endswith("s") else ("did", "VBD")
    return f"{{w}} {did} {{h}} {verb_lemma(auxiliary, tag)} {rest}".rstrip() + "?"


def _plural(words: str) -> str:
    """Return a noun phrase in the plural; its head noun precedes the first preposition."""
    parts = words.split()
    after = (n for n, word in enumerate(parts) if n and word in _lexicon("prepositions"))
    head = next(after, len(parts)) - 1
    noun = parts[head]
    if noun.endswith("y") and not noun.endswith(("ay", "ey", "oy", "uy")):
        parts[head] = noun[:-1] + "ies"
    elif noun.endswith(("ss", "x", "ch", "sh")) or (noun.endswith("us") and not is_plural(noun)):
        parts[head] = noun + "es"
    elif not noun.endswith("s"):
        parts[head] = noun + "s"
    return " ".join(parts)


def _chinese(relation: str) -> Phrasing:
    words = _SEPARATORS.sub("", _NAMESPACE.sub("", relation)) or relation
    *_, last = segmenter().cut(words)
    if _CHINESE_VERB.search(words) or tag_of(last).startswith("v"):
        sentence = f"{{h}}{words}{{t}}。"
        return Phrasing(sentence, sentence, sentence, f"{{h}}{words}{{w}}？")
    return Phrasing(
        f"{{h}}的{words}是{{t}}。",
        f"{{h}}的{words}有{{t}}。",
        f"{{t}}是{{h}}的{words}。",
        f"{{h}}的{words}是{{w}}？",
    )
