"""Whether a text bears the names that a question asks about.

A passage may say of somebody else, in the same words, what is asked of a name; so a text answers
only if it bears one of the names, and nothing answers a question about a name that no text has.
A sentence of the second round must concern a name of the question or of the sentence that led to
it, or else it is about a third thing, which only shares a passage with them. Nor does a sentence
about other years answer a question about one year.
"""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import product

from rapidfuzz.distance import OSA

from schemas.answers import Evidence
from tasks.programs.planner.writer import written_names
from tasks.reader.comparison import find_comparison
from tasks.reader.texts import Source, Text, TextPart
from tasks.retrieval.linked_names import LinkedName
from tasks.text.chinese_words import NAME_TAGS, simplified, tag_of, word_spans_of
from tasks.text.english_words import is_word
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import is_chinese, language_of, word_set
from tasks.text.name_likeness import are_namesakes
from tasks.text.question import Question, content_words
from tasks.text.stems import stems_of, words_of
from tasks.text.values import Value, find_values

_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|hers|they|them|their|theirs)\b", re.I)
_THING = re.compile(r"\bits?\b(?!.*\b(?:to|if|when|that|for)\b)", re.I)
_ENDS_IN_IT = re.compile(r"^(?:who|where|when|what|how (?!do|can|to)\w+)\b.*\bit\W*$", re.I)
_CHINESE_PRONOUN = re.compile("[他她它]们?(?!人)")
_REFERS = re.compile(rf"{_PRONOUN.pattern}|\bits?\b|\AThe (?-i:[a-z])", re.I)
_PERSON = re.compile("he|she|him|her|his|hers|[他她]", re.I)
_THINGS = re.compile("its?|它", re.I)
_NO_NOUN = "|".join(FUNCTION_WORDS)
_OWNER = re.compile(rf"(?:his|hers|its|theirs?|her(?= (?!(?:{_NO_NOUN})\b)\w))\b", re.I)
_CHINESE_SUBJECT = re.compile(
    r"\A[^？?，,]{2,12}?(?=的|是|有|在|多|出生|毕业|获得|创办|建于|[叫谁哪何什几])"
)
_CHINESE_LIFE = re.compile("出生|毕业|畢業|获得|獲得|创办|創辦|叫|[谁誰]")
_LATIN_WORD = r"[A-Za-z0-9]*[A-Z](?:[\w.&+-]*[A-Za-z0-9+])?"
_LATIN_NAME = re.compile(rf"(?a:(?<![\w.]){_LATIN_WORD}(?: {_LATIN_WORD})*)")
_WORD = re.compile(r"\w+(?:-\w+)*")
_TITLES = word_set(
    "mr mrs ms dr prof professor sir ladi lord king queen saint st presid pope princ princess "
    "教授 博士 先生 女士 院士 校长 市长 总统 市 省 县 国 人"
)
_IDENTIFIER = re.compile(r"(?a:(?<!\w)(?:--\w[\w-]*|[\w.]*[^\W_]_[\w.]*\w))|(?<=`)[^`\s]+(?=`)")
_FUNCTION_TAGS = frozenset("cdpruy")  # conjunctions, adverbs, prepositions, pronouns, particles
_ACTORS = frozenset({"person", "organisation", "unknown"})
SHORTEST_CHINESE = 2  # characters of a name
SHORTEST_MISSPELT = 5  # letters


class AskedNames:
    """The names in a question: capitalised or marked; in Chinese tagged as names, too."""

    def __init__(self, question: Question, source: Source) -> None:
        self._source = source
        self._asked = Names(asked_names(question), question.text, source)
        self._led: dict[str, Names] = {}
        self._chooses = find_comparison(question) is not None

    def are_borne_by(self, text: Text) -> bool:
        """Tell whether a text, its title or its headings bear one of the names, or there is none.

        See `Names.are_in`.
        """
        whole = f"{text.words} {text.whole.text if text.whole else ''}"
        return not self._asked.names or self._asked.are_in(whole)

    def are_all_around(self, text: Text, place: Evidence) -> bool:
        """Tell whether a text bears each of the names, or its document has it around a place."""
        words = f"{text.subject} {text.words}"
        missing = [name.names[0].casefold() for name in self._alone if not name.are_in(words)]
        around = f"{place.uri} {self._source.around(place)[0]}".casefold() if missing else ""
        return all(name in around for name in missing)

    def concern(self, text: Text, part: TextPart) -> bool:
        """Tell whether a part, or what its text is about, bears one of the names known before.

        Known are those in the question, and in the sentence that led to the text, if one did.
        """
        if text.led is None:
            return True
        led = text.led.evidence.text
        if led not in self._led:
            found = [name.text for name in self._source.names_in(led)]
            self._led[led] = Names(found, led, self._source)
        words = f"{text.subject} {part.evidence.text}"
        return self._asked.are_in(words) or self._led[led].are_in(words)

    def all_act_in(self, text: Text, part: TextPart) -> bool:
        """Tell whether a part bears all persons, organisations and identifiers of the question.

        Title, headings and what is said before may have them, if the part refers to it; a fact, and
        what a second round reads, may lack some that texts have. An identifier (`max_jobs`) stands
        in the part's row of a table, elsewhere in its passage; a name of another row is none of it.
        """
        if text.whole is None:
            return True
        around, own = f"{text.subject} {text.introduced(part)}", text.words[part.start : part.end]
        whole, named = text.whole.text, around
        if (part.lead_in or own).startswith("|"):
            around += f" {next(filter(_is_row, whole.splitlines()), '')}"  # with the table's head
            if any(one.are_in(whole) and not one.are_in(around) for one in self._alone):
                return False
        else:
            named = f"{around} {whole}"
        if not (text.led or self._identifiers <= _identifiers(named)):
            return False
        if is_chinese(own) or _REFERS.search(own):  # Chinese leaves out pronouns
            before = (part.evidence.span_start or 0) - (text.whole.span_start or 0)
            around += f" {whole[:before]}"
        return all(one.are_in(around) for one in self._actors if not text.led or one.unsaid)

    @cached_property
    def _identifiers(self) -> Set[str]:
        return set() if self._chooses else _identifiers(self._asked.said_in)

    @cached_property
    def _alone(self) -> "list[Names]":
        """Each name in the question, unless it chooses between names."""
        said_in, source = self._asked.said_in, self._source
        return [Names([one], said_in, source) for one in self._asked.names if not self._chooses]

    @cached_property
    def _actors(self) -> "list[Names]":
        return [name for name in self._alone if name.is_actor]


def _is_row(line: str) -> bool:
    return line.startswith("|")


def _identifiers(text: str) -> Set[str]:
    """Return the names of options and the like in a text: with `_`, `--`, or marked as code."""
    return {found.lstrip("-") for found in _IDENTIFIER.findall(text.replace("\\", "").lower())}


class QuestionYears:
    """The years that a question names, alone or in dates and intervals."""

    def __init__(self, question: Question) -> None:
        self._intervals = _years(question.values)

    def may_be_those_of(self, sentence: str) -> bool:
        """Tell whether a sentence may be about these years: it has one of them, or none at all."""
        if not self._intervals:
            return True
        others = _years(find_values(sentence, language_of(sentence)))
        pairs = product(self._intervals, others)
        return not others or any(a <= d and c <= b for (a, b), (c, d) in pairs)


def _years(values: Iterable[tuple[int, int, Value]]) -> list[tuple[int, int]]:
    """Return the first and the last year of each date or interval; open ends are far away."""
    intervals = [day.date.split("/") for *_, day in values if day.is_date and day.date is not None]
    return [(_year(ends[0], date.min.year), _year(ends[-1], date.max.year)) for ends in intervals]


def _year(end: str, far: int) -> int:
    return far if end == ".." else int(end[:5] if end.startswith("-") else end[:4])


@dataclass
class Names:
    """Names that occur in a text, and where else they do."""

    names: Sequence[str]
    said_in: str
    source: Source

    def are_in(self, text: str) -> bool:
        """Tell whether a text has one of the names.

        It has a name by its rarest word, or by another name of the same entity; of a name that no
        text has, it must have all words, which may be misspelt.
        """
        text = self._without_namesakes(text)
        words, plain = words_of(text), simplified(text.casefold())
        bearers = {one.entity for name in self.source.names_in(text) for one in name.bearers}

        def has(name: str, word: str) -> bool:
            if is_chinese(word) or word.isdigit():
                return (name.casefold() if word.isdigit() else simplified(word)) in plain
            begins = re.search(rf"\b{re.escape(word)}", plain)
            return word in words or bool(begins) or self._is_misspelt(word, words)

        def bears(name: str) -> bool:
            known = [one for one in self._known if one.text in name]
            borne = [k for k in known if {one.entity for one in k.bearers} & bearers]
            if name not in self.unsaid:
                return bool(borne) or has(name, self._rarest(name))
            left = name
            for one in borne:
                left = left.replace(one.text, " ")
            stems = [left.strip()] if is_chinese(left) else words_of(content_words(left))
            return all(stem in _TITLES or has(name, stem) for stem in stems)

        return any(map(bears, self.names))

    def _without_namesakes(self, text: str) -> str:
        """Return a text without names that differ by a letter from those asked for."""
        words = [word.span() for word in _WORD.finditer(text)]
        for name in self.names:
            for (start, _), (_, end) in zip(words, words[name.count(" ") :], strict=False):
                other = text[start:end]
                if are_namesakes(name, other) and _ACTORS.issuperset(self.source.kinds_of(other)):
                    text = text[:start] + " " * (end - start) + text[end:]
        return text

    @property
    def is_actor(self) -> bool:
        """Whether the one name is of a person or an organisation, or nothing is known by it."""
        kinds = set(self.source.kinds_of(self.names[0]))
        return kinds <= _ACTORS if kinds else bool(self.unsaid) and not is_chinese(self.names[0])

    def _is_misspelt(self, word: str, words: Set[str]) -> bool:
        """Tell whether a word that no text has is one letter from another, by oversight."""
        if len(word) < SHORTEST_MISSPELT or self.source.is_said(word) or is_word(word):
            return False
        return any(OSA.distance(word, other, score_cutoff=1) <= 1 for other in words)

    def _rarest(self, name: str) -> str:
        """Return the rarest word of a name as its stem, or a Chinese name itself."""
        stems = [(self.source.rarity(name[a:b]), word) for a, b, word in stems_of(name)]
        return name if is_chinese(name) or not stems else max(stems)[1]

    @cached_property
    def _known(self) -> list[LinkedName]:
        """The known names in what is asked, the longest first."""
        names = self.source.names_in(self.said_in)
        return sorted((one for one in names if one.text), key=lambda one: -len(one.text))

    @cached_property
    def unsaid(self) -> Set[str]:
        """The names that are not known, and that no text has; a number makes another name."""
        unsaid = set()
        for name in self.names:
            left = name
            for known in self._known:
                left = left.replace(known.text, " ")
            numbered = re.search(r" \d{1,3}\b", left)
            if content_words(left) and (numbered or not self.source.is_said(name)):
                unsaid.add(name)
        return unsaid


def lone_pronoun(question: Question) -> re.Match[str] | None:
    """Return the pronoun that is the only subject of a question, as in `When did she die?`

    A pronoun after a noun may stand for it: `How does a user change their password?`
    """
    text = question.text
    if not all(map(str.isdigit, asked_names(question))):  # a year names nobody
        return None
    if question.is_chinese:
        return _CHINESE_PRONOUN.match(text, len("请问") if text.startswith("请问") else 0)
    pronoun = _PRONOUN.search(text) or _THING.search(text)
    if pronoun and (_ENDS_IN_IT.search(text) or not content_words(text[: pronoun.start()])):
        return pronoun
    return None


def may_mean(pronoun: re.Match[str], kind: str) -> bool:
    """Tell whether a pronoun may stand for an entity of a kind; `they` may for any."""
    if _PERSON.fullmatch(pronoun[0]):
        return kind in ("person", "unknown")
    return kind != "person" or not _THINGS.fullmatch(pronoun[0])


def with_name(pronoun: re.Match[str], name: str) -> str:
    """Return the question in which a pronoun was found, with a name in its place."""
    before, after = pronoun.string[: pronoun.start()], pronoun.string[pronoun.end() :]
    owns = "'s" if _OWNER.match(pronoun.string, pronoun.start()) else ""
    return f"{before}{name}{owns}{after}"


def asked_names(question: Question) -> Sequence[str]:
    """Return the names in a question; not a first word that is capitalised for its place alone."""
    names = list(written_names(question))
    text = question.text
    if question.is_chinese:
        spans = sorted(word_spans_of(text))
        tagged = [text[start:end] for start, end in spans if end - start >= SHORTEST_CHINESE]
        subject = _subject(text)
        tagged = [word for word in tagged if tag_of(word) in NAME_TAGS and word not in subject]
        latin = (name for name in _LATIN_NAME.findall(text) if name not in names)
        return [*names, *tagged, *latin, *filter(None, [subject])]
    first, *_ = text.split(maxsplit=1) or [""]
    kept = []
    for name in names:
        if name.split()[:1] == [first] and is_word(first.lower()):
            name = name.removeprefix(first).strip()
        if name.strip() and name.lower() not in FUNCTION_WORDS:
            kept.append(name)
    return kept


def _subject(text: str) -> str:
    """Return the name that a Chinese question begins with, if the dictionary lacks it, else "".

    It is a person's, or extends a known name by what kinds end in: 东城|工学院. Other words cannot
    be told from common ones.
    """
    from tasks.extract.rules.chinese.naming import kind_by_ending, looks_like_person

    found = _CHINESE_SUBJECT.match(simplified(text))
    name = found[0] if found else ""
    if looks_like_person(name, beside_role=_CHINESE_LIFE.match(text, len(name)) is not None):
        return name
    tags = [tag_of(name[start:end]) for start, end in sorted(word_spans_of(name))]
    extends = any(tag in NAME_TAGS for tag in tags) and kind_by_ending(name) != "unknown"
    verbless = not any(tag[:1] == "v" or tag in _FUNCTION_TAGS for tag in tags)
    return name if extends and verbless and not tag_of(name) else ""
