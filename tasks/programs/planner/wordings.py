"""The path that a question means which says a relation in other words than the graph.

Evidence is, the surest first: words of the question that are the relation's own or a wording of it
in the vocabulary; a question that was learned from and is nearly the same but for its topic; the
relation that is nearest by vectors, if it is near and clearly nearer than the next one. What the
question asks for by its interrogative (who, when, where, how many) excludes values of other kinds.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tasks.graphs.graph import Graph, Nodes
from tasks.models.encoders.load import Encoder
from tasks.programs.planner.endings import SAMPLED, asks_for_ends, find_ending
from tasks.programs.planner.features import named_share
from tasks.programs.planner.paths import Path, known_paths, onward
from tasks.programs.planner.planner import Planned
from tasks.programs.planner.topics import SLOT, Topic, topics_in
from tasks.programs.relation_matching import similarity, spelt_out
from tasks.text.english_words import is_base_verb, verb_forms
from tasks.text.expected_answer import ExpectedAnswer, expected_answer, may_have_form
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import is_chinese
from tasks.text.question import Question, content_words
from tasks.text.relations.forms import form_of
from tasks.text.relations.vocabulary import meanings_alone
from tasks.text.values.units import chinese_units, english_units

LONGEST_PHRASE = 4  # words of a question that may be a wording; in Chinese, characters
SAID = 0.9  # least similarity of a wording that is the relation's own or a synonym
ALIKE = 0.72  # least cosine of a question with one that was learned from
NEAR = 0.42  # least cosine of a question, without its topic, with the name of a relation
APART = 0.05  # least difference from the cosine of the next relation
KIND = "instance of"  # what a question for the members of a class means
# How often each kind of evidence is right, on the questions that it was developed on.
PROBABILITIES = {"said": 0.93, "alike": 0.9, "near": 0.8}

_WORD = re.compile(rf"{SLOT}|[\w'’-]+")
_RUN = re.compile(rf"[^{SLOT}\s？?，,。！!]+")
_I = rf"(?<!{SLOT} )(?<!{SLOT}  )I (?=[a-z])"  # but "Charles I"
_NAMED = re.compile(rf"(?<!\A)(?<![.?!:] )\b(?!{_I})[A-Z][\w'’-]*")
_SHARED = re.compile(
    r"\b(?:same|also|share[sd]?|sharing|together|co-\w+|both)\b|共同|同一|相同|一起|其他|还", re.I
)
_DOES = re.compile(r"\b(?:did|does)\b", re.I)
_LOWER = re.compile(r"\b[a-z]{2,}\b")
_OWNED = re.compile(rf"\b(\w+) of\b|['’]s (\w+)|的([^的是有在{SLOT}\s？?]{{1,4}})")
_ONLY_ASKS = re.compile(
    r"(?:which|what|how many|list|name)(?: (?:all|the|are|there|do you know|exist))*\W*"
    r"|(?:请?列出|有|都|所有|哪|些|几|多少|什么|[座个位部首种条名])*\W*",
    re.I,
)
_NUMBER = re.compile(r"\d+")
_UNIT = re.compile(r"(?: in)? (\S+)\Z")


@dataclass(frozen=True, slots=True)
class Meant:
    """A path that a question means, and the probability that it does."""

    planned: Planned
    probability: float


@dataclass(frozen=True, slots=True)
class _Said:
    """How a question says a relation: how surely, in which words, where, and in which direction.

    From `SAID` on the words are its own, or a synonym of it; longer phrases say more.
    """

    surely: float = 0.0
    words: frozenset[str] = frozenset()
    agrees: bool = True
    distance: int = 0  # of the words from the topic, in characters


@dataclass(frozen=True, slots=True)
class _Candidate:
    topic: Topic
    path: Path
    nodes: Nodes
    name: str  # of the relation, in words; empty for a path of several
    said: "_Said"


@dataclass
class Wordings:
    """Finds the path that a question means in one graph.

    `learned` are masked questions that were learned from with the paths that they mean. Without
    encoders, only words count. With `strict`, a question that says a relation of the vocabulary
    means no relation that is merely near to it.
    """

    graph: Graph
    learned: Sequence[tuple[str, Path]] = ()
    english: Encoder | None = None
    chinese: Encoder | None = None
    strict: bool = False

    def best(self, question: Question) -> Meant | None:
        """Return the path that a question most probably means; None if none is clear."""
        known = {_bare(masked): path for masked, path in self.learned}
        candidates = [
            candidate
            for topic in topics_in(question, self.graph)
            # A name says more than the path would, unless it is part of what was learned.
            if _bare(topic.masked) in known or not _NAMED.search(topic.masked)
            for candidate in self._around(topic)
        ]
        if not candidates:
            return None
        for one in candidates:
            if known.get(_bare(one.topic.masked)) == one.path:
                return _meant(one, "said")
        said = [one for one in candidates if one.said.surely >= SAID]
        if said:
            best = max(said, key=lambda one: (one.said.surely, one.said.agrees, one.topic.share))
            return _meant(best, "said") if self.says_all(_meant(best, "said").planned) else None
        encoder = self.chinese if question.is_chinese else self.english
        return self._nearest(candidates, encoder) if encoder else None

    def says_all(self, planned: Planned) -> bool:
        """Tell whether a question says no more than a path.

        It says more if other words of it say a further relation at either end of the path, if most
        of its words say none, if it has a number, such as a year, that no relation of the path has,
        or if it asks for what shares something with the topic.
        """
        topic, names = planned.topic, self.graph.relations
        words: set[str] = set()
        for relation, inverse in planned.path:
            words |= _said(topic.masked, spelt_out(names[relation]), inverse=inverse).words
        relations = " ".join(names[relation] for relation, _ in planned.path)
        if not set(_NUMBER.findall(relations)).issuperset(_NUMBER.findall(topic.masked)):
            return False
        content = _content(topic.masked)
        if _SHARED.search(topic.masked) or (words and 2 * len(words & content) < len(content)):
            return False
        if words and any(
            meanings_alone(noun)
            for noun in _owned(topic.masked)
            if not words.issuperset(noun if is_chinese(noun) else [noun])
        ):
            return False
        ends = (topic.nodes, planned.nodes[:SAMPLED])
        around = dict.fromkeys(hop for nodes in ends for hop in self.graph.relations_around(nodes))
        return not any(
            said.words and not said.words & words
            for relation, inverse in around
            for said in (_said(topic.masked, spelt_out(names[relation]), inverse=inverse),)
        )

    def _around(self, topic: Topic) -> Iterator[_Candidate]:
        """Yield the paths from a topic whose ends may be asked for: single hops, learned paths.

        Two hops are among them if the question says both, each in words of its own.
        """
        paths = dict(known_paths(self.graph, topic, [path for _, path in self.learned]))
        for hop, nodes in onward(self.graph, topic.nodes, topic.nodes):
            paths[hop,] = nodes
        expected = expected_answer(topic.masked)
        for path, nodes in paths.items():
            (relation, inverse), *more = path
            name = "" if more else spelt_out(self.graph.relations[relation])
            said = _said(topic.masked, name, inverse=inverse) if name else _Said()
            steps = [_Candidate(topic, path, nodes, name, said)]
            if said.surely >= SAID and said.words:
                steps += self._further(steps[0])
            for step in steps:
                if not asks_for_ends(topic.masked, step.path, self.graph):
                    continue
                ending = find_ending(topic.masked, step.path, step.nodes, self.graph)
                is_counted = step.said.surely >= SAID and ending and ending.kind == "count"
                if is_counted or _are_of_kind(step.nodes, expected, topic, self.graph):
                    yield step

    def _further(self, first: _Candidate) -> Iterator[_Candidate]:
        """Yield the paths of a second hop, which a question says in other words than the first."""
        (known, _), *_ = first.path
        for hop, nodes in onward(self.graph, first.topic.nodes, first.nodes):
            name = spelt_out(self.graph.relations[hop[0]])
            said = _said(first.topic.masked, name, inverse=hop[1])
            is_beyond = said.distance > first.said.distance
            if hop[0] != known and is_beyond and not said.words & first.said.words:
                both = _Said(1 + said.surely, first.said.words | said.words, said.agrees)
                yield _Candidate(first.topic, (*first.path, hop), nodes, "", both)

    def _nearest(self, candidates: list[_Candidate], encoder: Encoder) -> Meant | None:
        asked = [_bare(one.topic.masked) for one in candidates]
        paths = [path for _, path in self.learned]
        vectors = encoder.encode([*asked, *(_bare(masked) for masked, _ in self.learned)])
        mine, known = vectors[: len(asked)], vectors[len(asked) :]
        if len(known):
            cosines = mine @ known.T
            column = int(cosines.max(axis=0).argmax())
            if cosines[:, column].max() >= ALIKE:  # what that means may lead nowhere here
                for row in cosines[:, column].argsort()[::-1]:
                    if candidates[row].path == paths[column]:
                        return _meant(candidates[row], "alike")
                return None
        named = [n for n, one in enumerate(candidates) if one.name]
        if not named:
            return None
        names = encoder.encode([_without_unit(candidates[n].name) for n in named])
        near = (mine[named] * names).sum(axis=1)
        order = near.argsort()[::-1]
        best = candidates[named[order[0]]]
        others = [near[n] for n in order[1:] if candidates[named[n]].name != best.name]
        is_clear = near[order[0]] >= NEAR and (not others or near[order[0]] - others[0] >= APART)
        if not is_clear or _contradicts(best.topic.masked, best.name, strict=self.strict):
            return None
        meant = _meant(best, "near")
        return meant if self.says_all(meant.planned) else None


def _meant(candidate: _Candidate, kind: str) -> Meant:
    share = PROBABILITIES[kind]
    return Meant(Planned(candidate.topic, candidate.path, candidate.nodes, share), share)


def _content(masked: str) -> frozenset[str]:
    """Return the content words of a masked question; in Chinese nothing, as none is a word."""
    if is_chinese(masked):
        return frozenset()
    return frozenset(content_words(_bare(_finite(masked))).lower().split())


@lru_cache(maxsize=1 << 10)
def _finite(masked: str) -> str:
    """Return a question with the verb after `did` or `does` in the form that relations have."""
    asks = _DOES.search(masked)
    if asks is None:
        return masked
    tag = "VBD" if asks[0].lower() == "did" else "VBZ"

    def inflected(word: re.Match[str]) -> str:
        forms = verb_forms(word[0], tag) if is_base_verb(word[0]) else ()
        return forms[0] if forms else word[0]

    return masked[: asks.end()] + _LOWER.sub(inflected, masked[asks.end() :])


def _owned(masked: str) -> Iterator[str]:
    """Yield what a question says that something has: `spouse` in `the spouse of the director`."""
    for match in _OWNED.finditer(masked.lower()):
        yield next(filter(None, match.groups()))


def says(text: str, relation: str) -> bool:
    """Tell whether a text says a relation, by its own words or a synonym."""
    return _said(text, spelt_out(relation), inverse=False).surely >= SAID


def _bare(masked: str) -> str:
    return " ".join(masked.replace(SLOT, " ").split())


def _said(masked: str, name: str, *, inverse: bool) -> _Said:
    """Return how a question says a relation."""
    if inverse and _ONLY_ASKS.fullmatch(_bare(masked)):  # for the members of a class
        return _Said(similarity(KIND, name))
    best = _Said()
    for phrase in _phrases(masked):
        alike = max(similarity(phrase, spelling) for spelling in {name, _without_unit(name)})
        words = list(phrase) if is_chinese(phrase) else phrase.split()
        surely = alike + 0.01 * len(words) if alike >= SAID else 0.0
        if surely > best.surely:
            content = frozenset(words) - FUNCTION_WORDS
            agrees = _leads(masked, phrase, name) in (None, inverse)
            best = _Said(surely, content, agrees, _distance(masked, phrase))
    if not best.surely and named_share(masked, name) == 1:
        return _Said(SAID, frozenset(name.split()) - FUNCTION_WORDS)
    return best


def _distance(masked: str, phrase: str) -> int:
    """Return how far a phrase is from the topic; from the last of its words, if it is apart."""
    text = _finite(masked).lower()
    words = phrase if phrase in text else phrase.split()[-1]
    at, topic = text.find(words), text.find(SLOT)
    return at - topic if at > topic else topic - at - len(words)


def _leads(masked: str, phrase: str, name: str) -> bool | None:
    """Tell whether a phrase leads from the topic against the relation; None if it does not tell.

    A verb after which the topic stands has it as its object, so that it is read from the other end.
    """
    ways = [turned for turned in (False, True) if similarity(phrase, name, turned) >= SAID]
    if len(ways) != 1:
        return None
    text = _finite(masked).lower()
    is_object = text.find(SLOT) > text.find(phrase) >= 0
    return ways[0] ^ (is_object and form_of(phrase).kind == "verb")


@lru_cache(maxsize=1 << 10)
def _phrases(masked: str) -> tuple[str, ...]:
    """Return the phrases of a masked question that may be a wording.

    In English each content word is also taken with the interrogative: `where born`.
    """
    if is_chinese(masked):
        runs = _RUN.findall(masked)
        return tuple(
            run[start : start + length]
            for run in runs
            for length in range(1, LONGEST_PHRASE + 1)
            for start in range(len(run) - length + 1)
        )
    words = _WORD.findall(_finite(masked).lower())
    spans = (
        words[start : start + length]
        for length in range(1, LONGEST_PHRASE + 1)
        for start in range(len(words) - length + 1)
    )
    phrases = [
        " ".join(span) for span in spans if SLOT not in span and not FUNCTION_WORDS.issuperset(span)
    ]
    asking = [word for word in words[:1] if word in ("where", "when", "how")]
    asked = [f"{asking[0]} {word}" for word in words if asking and word not in FUNCTION_WORDS]
    return tuple(dict.fromkeys(phrases + [word for word in asked if SLOT not in word]))


def _contradicts(masked: str, name: str, *, strict: bool) -> bool:
    """Tell whether a question says in full a relation of the vocabulary that is another one.

    Vectors do not tell birth from death, which occur in the same texts. With `strict`, the name
    need not be in the vocabulary.
    """
    content = content_words(_bare(_finite(masked)))
    known = meanings_alone(content) and (strict or meanings_alone(name))
    return bool(known) and similarity(content, name) < SAID


def _are_of_kind(nodes: Nodes, expected: ExpectedAnswer, topic: Topic, graph: Graph) -> bool:
    """Tell whether nodes may be what a question asks for: no amount for who or where."""
    labels = [graph.label(node) for node in nodes[:SAMPLED]]
    if expected.kinds & {"person", "place", "organisation"}:
        return not all(any(map(str.isdigit, label)) for label in labels)
    if expected.form == "number" and is_chinese(topic.masked):
        return True  # 多少 also asks for codes, grades and prices in words
    return any(may_have_form(label, expected.form) for label in labels)


@lru_cache(maxsize=1 << 12)
def _without_unit(name: str) -> str:
    """Return the name of a relation without a unit at its end: `height m` is `height`."""
    unit = _UNIT.search(name)
    if unit and (unit[1] in english_units() or unit[1] in chinese_units()):
        return name[: unit.start()]
    return name
