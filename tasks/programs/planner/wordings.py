"""The path that a question means which says a relation in other words than the graph.

Evidence is, the surest first: words of the question that are the relation's own or a wording of it
in the vocabulary; a question that was learned from and is nearly the same but for its topic; the
relation that is nearest by vectors, if it is near and clearly nearer than the next one. What the
question asks for by its interrogative (who, when, where, how many) excludes values of other kinds.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, cast

import numpy as np

from tasks.graphs.graph import Graph, Nodes
from tasks.models.encoders.load import Encoder
from tasks.programs.planner.classes import has_classes, members_of
from tasks.programs.planner.endings import (
    CLASSIFIER,
    SAMPLED,
    asks_for_ends,
    ending_places,
    find_ending,
)
from tasks.programs.planner.features import relation_words
from tasks.programs.planner.path_model import LONGEST
from tasks.programs.planner.paths import Hop, Path, known_paths, onward, walk
from tasks.programs.planner.planner import Planned
from tasks.programs.planner.sayings import (
    SAID,
    Saying,
    bare,
    content_tokens,
    distance,
    finite,
    is_of_topic,
    plain,
    sayings_of,
    tokens_of,
    without_unit,
)
from tasks.programs.planner.topics import SLOT, Topic, topics_in
from tasks.programs.relation_matching import known_names, similarity, spelt_out
from tasks.programs.value_functions import value_of
from tasks.text.english_words import noun_lemma
from tasks.text.expected_answer import expected_answer, may_have_form
from tasks.text.languages import is_chinese
from tasks.text.question import Question, content_words
from tasks.text.relations.vocabulary import kinds_of_heads, kinds_of_tails, meanings_alone
from tasks.text.stems import english_stem
from tasks.text.values.units import english_units

ALIKE = 0.72  # least cosine of a question with one that was learned from
NEAR = 0.42  # least cosine of a question, without its topic, with the name of a relation
APART = 0.05  # least difference from the cosine of the next relation
OTHER = 0.1  # least lead of a known relation that the graph lacks
KIN = 0.5  # least similarity of the names of two relations that may be one
# How often each kind of evidence is right, on the questions that it was developed on.
PROBABILITIES = {"said": 0.93, "alike": 0.9, "near": 0.8}

_I = rf"(?<!{SLOT} )(?<!{SLOT}  )I (?=[a-z])"  # but "Charles I"
_NAMED = re.compile(rf"(?<!\A)(?<![.?!:] )\b(?!{_I})[A-Z][\w'’-]*")
_SHARED = re.compile(
    r"\b(?:same|also|share[sd]?|sharing|together|co-\w+|both)\b|共同|同一|相同|一起|其他|还", re.I
)
_ASKED = re.compile(r"\b(?:which|what|how many) (\w+)")
_PASSED = re.compile(r" (?:whose|where|that|with|in which|of which)\b")
_NOUN = re.compile(
    r"\b(?:which|what|how many|name|list|number of)(?: (?:all|of|the|other))* *\n(?P<en>[^\n]*)\Z"
)
_CHINESE_NOUN = re.compile(rf"(?:哪[一几些]?|几|多少|什么){CLASSIFIER}?\n")
_HELD = re.compile(rf"\b\w+ (?:of|for) (?:\w+ )* *{SLOT}|{SLOT} *['’]s? \w+|{SLOT} *》? *的")
_WHOSE = re.compile(r"\bwhose\b|谁的", re.I)
_NUMBER = re.compile(r"\d+")
_FULL_DATE = re.compile(r"\d{4}-\d\d|\d (?:[A-Z][a-z]+) \d|[A-Z][a-z]+ \d+, \d|\d年\d")


@dataclass(frozen=True, slots=True)
class _Candidate:
    topic: Topic
    path: Path
    nodes: Nodes
    saying: Saying = Saying()


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
    _mutual: dict[int, bool] = field(default_factory=dict)

    def best(self, question: Question) -> Planned | None:
        """Return the path that a question most probably means; None if none is clear."""
        known = {bare(masked): path for masked, path in self.learned}
        candidates = [
            candidate
            for topic in topics_in(question, self.graph)
            for candidate in self._around(topic)
            # A name says more than the path would, unless it is part of what was learned.
            if bare(topic.masked) in known or self._has_names(candidate.path, topic.masked)
        ]
        if not candidates:
            return None
        for one in candidates:
            if known.get(bare(one.topic.masked)) == one.path:
                return _meant(one, "said")
        sure = [one for one in candidates if one.saying.surely >= SAID]
        sure.sort(key=lambda one: (one.saying.surely, one.topic.share), reverse=True)
        for best in sure:
            if meant := self._whole(best):
                return meant
        if sure:
            return None
        encoder = self.chinese if question.is_chinese else self.english
        return self._nearest(candidates, encoder) if encoder else None

    def _has_names(self, path: Path, masked: str) -> bool:
        """Tell whether relations of a path have all names in a question without its topic."""
        names = {name.lower() for name in _NAMED.findall(masked)}
        spelt = (spelt_out(self.graph.relations[relation]).split() for relation, _ in path)
        return not names or names.issubset(chain.from_iterable(spelt))

    def says_all(self, planned: Planned) -> bool:
        """Tell whether a question says no more than a path (see `_whole`)."""
        topic = planned.topic
        places, is_said = self._places(topic.masked, planned.path)
        if not is_said:
            return False
        whole = self._whole(_Candidate(topic, planned.path, planned.nodes, Saying(SAID, places)))
        is_kind = _are_of_kind(topic.masked, planned.path, planned.nodes, self.graph)
        return is_kind and whole is not None and whole.members is None

    def says_further(self, planned: Planned) -> bool:
        """Tell whether a question says a relation that a path does not follow, or not that way.

        It does not if a question that was learned from says it as often, and means the path.
        """
        ends = (planned.topic.nodes, planned.nodes[:SAMPLED])
        around = [hop for nodes in ends for hop in self.graph.relations_around(nodes)]
        alike = [masked for masked, path in self.learned if path == planned.path]
        for hop in dict.fromkeys((*planned.path, *around)):
            more = self._left_over(planned.topic.masked, planned.path, hop)
            if more and not any(self._left_over(one, planned.path, hop) >= more for one in alike):
                return True
        return False

    def _left_over(self, masked: str, path: Path, hop: Hop) -> int:
        """Return how often a question says a relation apart from a path that it may mean."""
        places, _ = self._places(masked, path)
        says = sayings_of(masked, spelt_out(self.graph.relations[hop[0]]), hop[1])
        return sum(not saying.places & places for saying in says if saying.places)

    def _places(self, masked: str, path: Path) -> tuple[frozenset[int], bool]:
        """Return where a question says the relations of a path, each in words of its own.

        And whether it says none of them in words of another alone, or from the other end.
        """
        places, is_said = frozenset[int](), True
        for relation, inverse in path:
            says = sayings_of(masked, spelt_out(self.graph.relations[relation]), inverse)
            new = [saying for saying in self._ways(says, relation) if not saying.places & places]
            is_said &= not says or bool(new)
            places = places.union(*(saying.places for saying in new[:1]))
        return places, is_said

    def _whole(self, one: _Candidate) -> Planned | None:
        """Return the path of a candidate if it is all that the question says; else None.

        A question says more if a word of it is no word of a relation of the path, no class of what
        it leads to, and none that asks; if it has a number, such as a year, that no relation of the
        path has; or if it asks for what shares something with the topic. What is of another class
        than the question asks for is left out.
        """
        topic, nodes = one.topic, one.nodes
        names = [self.graph.relations[relation] for relation, _ in one.path]
        if not set(_NUMBER.findall(" ".join(names))).issuperset(_NUMBER.findall(topic.masked)):
            return None
        if _SHARED.search(topic.masked):
            return None
        unsaid = self._unpassed(one, names, self._unsaid(one, names))
        members, share = None, PROBABILITIES["said"]
        if unsaid:
            noun = _noun(topic.masked, unsaid)
            found = noun and members_of(self.graph, nodes, noun)
            if found:
                nodes, members = found
            elif noun and not has_classes(self.graph, nodes):
                share = PROBABILITIES["near"]  # nothing says that they are others
            else:
                return None
        return Planned(topic, one.path, nodes, share, members)

    def _unpassed(
        self, one: _Candidate, names: list[str], unsaid: list[tuple[int, str]]
    ) -> list[tuple[int, str]]:
        """Return unsaid words but those for what a path passes: `the country whose capital …`."""
        text = plain(one.topic.masked)
        passed = [walk(self.graph, one.topic.nodes, one.path[:n]) for n in range(1, len(one.path))]

        def is_passed(word: str) -> bool:
            found = (members_of(self.graph, nodes, word) for nodes in passed)
            return any(similarity(word, spelt_out(name)) >= SAID for name in names) or any(
                members and members[1] is None for members in found
            )

        return [
            (start, word)
            for start, word in unsaid
            if not (_PASSED.match(text, start + len(word)) and is_passed(word))
        ]

    def _unsaid(self, one: _Candidate, names: list[str]) -> list[tuple[int, str]]:
        """Return the content words of a question that a path and its ending leave unsaid."""
        masked = one.topic.masked
        text, places = plain(masked), one.saying.places
        read_words = {english_stem(word) for start, word in tokens_of(masked) if start in places}
        own = {stem for name in names for stem in relation_words(spelt_out(name))} - read_words
        if is_chinese(masked):
            own = set()
        ending = find_ending(masked, one.path, one.nodes, self.graph)
        cues = ending_places(text, ending) if ending else frozenset[int]()
        form = expected_answer(masked).form
        return [
            (start, word)
            for start, word in content_tokens(masked)
            if not places.issuperset(range(start, start + len(word)))
            and english_stem(word) not in own
            and not is_of_topic(text, start, word)
            and start not in cues
            and not (form == "date" == expected_answer(f"which {word}").form)
        ]

    def _around(self, topic: Topic) -> Iterator[_Candidate]:
        """Yield the paths from a topic whose ends may be asked for: single hops, learned paths.

        Several hops are among them if the question says each in words of its own.
        """
        paths = dict(known_paths(self.graph, topic, [path for _, path in self.learned]))
        for hop, nodes in onward(self.graph, topic.nodes, topic.nodes):
            paths[hop,] = nodes
        for path, nodes in paths.items():
            steps: Iterable[_Candidate] = [_Candidate(topic, path, nodes)]
            if len(path) == 1:
                steps = self._steps(_Candidate(topic, (), topic.nodes), path[0], nodes)
            for step in steps:
                walked = topic.masked, step.path, step.nodes, self.graph
                if not asks_for_ends(topic.masked, step.path, self.graph):
                    continue
                ending = find_ending(*walked) if step.saying.surely >= SAID else None
                if (ending and ending.kind == "count") or _are_of_kind(*walked):
                    yield step

    def _steps(self, before: _Candidate, hop: Hop, nodes: Nodes) -> Iterator[_Candidate]:
        """Yield what one more hop gives: its path, and those that go on in further words.

        Nothing if the question says the relation from its other end.
        """
        topic, (relation, inverse) = before.topic, hop
        name = spelt_out(self.graph.relations[relation])
        says = [
            saying
            for saying in sayings_of(topic.masked, name, inverse)
            if not saying.places & before.saying.places
            and (
                not before.path
                or distance(topic.masked, saying) > distance(topic.masked, before.saying)
            )
        ]
        ways = self._ways(says, relation)
        if not ways:
            if not before.path and not says:
                yield _Candidate(topic, (hop,), nodes)
            return
        for saying in ways:
            surely = len(before.path) + saying.surely
            both = Saying(surely, before.saying.places | saying.places)
            step = _Candidate(topic, (*before.path, hop), nodes, both)
            yield step
            if saying.places and len(step.path) < LONGEST:
                for following, reached in onward(self.graph, topic.nodes, nodes):
                    yield from self._steps(step, following, reached)

    def _ways(self, says: Sequence[Saying], relation: int) -> list[Saying]:
        """Return the ways to say a relation that go its way, the surest first."""
        ways = sorted(says, key=lambda saying: (saying.agrees, saying.surely), reverse=True)
        return [saying for saying in ways if saying.agrees or self._is_mutual(relation)]

    def _is_mutual(self, relation: int) -> bool:
        """Tell whether most facts of a relation, such as a border, are stated from both ends."""
        if relation not in self._mutual:
            edges = np.flatnonzero(self.graph.out_relations == relation)[:SAMPLED]
            ends = zip(self.graph.heads[edges], self.graph.out_tails[edges], strict=True)
            back = [
                head in self.graph.step(np.array([tail], np.int32), relation) for head, tail in ends
            ]
            self._mutual[relation] = 2 * sum(back) > len(back)
        return self._mutual[relation]

    def _nearest(self, candidates: list[_Candidate], encoder: Encoder) -> Planned | None:
        questions = [bare(one.topic.masked) for one in candidates]
        paths = [path for _, path in self.learned]
        vectors = encoder.encode([*questions, *(bare(masked) for masked, _ in self.learned)])
        mine, known = vectors[: len(questions)], vectors[len(questions) :]
        if len(known):
            cosines = mine @ known.T
            column = int(cosines.max(axis=0).argmax())
            if cosines[:, column].max() >= ALIKE:  # what that means may lead nowhere here
                masked, learned = candidates[0].topic.masked, self.learned[column][0]
                if _asks_by_other_noun(masked, learned) or _is_turned(masked, learned):
                    return None
                for row in cosines[:, column].argsort()[::-1]:
                    if candidates[row].path == paths[column]:
                        return _meant(candidates[row], "alike")
                return None
        named = [n for n, one in enumerate(candidates) if len(one.path) == 1]
        if not named:
            return None
        names = [spelt_out(self.graph.relations[candidates[n].path[0][0]]) for n in named]
        near = (mine[named] * encoder.encode([*map(without_unit, names)])).sum(axis=1)
        order = near.argsort()[::-1]
        best, name = candidates[named[order[0]]], names[order[0]]
        others = [near[n] for n in order[1:] if names[n] != name]
        is_clear = near[order[0]] >= NEAR and (not others or near[order[0]] - others[0] >= APART)
        if not is_clear or _contradicts(best.topic.masked, name, strict=self.strict):
            return None
        if not self._says_nothing_else(best, name):
            return None
        alike, known_ones = _known_relations(cast(Hashable, encoder), is_chinese(best.topic.masked))
        cosines = alike @ mine[named[order[0]]]
        own = [similarity(known, without_unit(name)) for known in known_ones]
        kin_ones = [cosine for cosine, kin in zip(cosines, own, strict=True) if kin >= SAID]
        least = max([near[order[0]], *kin_ones])
        nouns = {noun_lemma(noun) for noun in _ASKED.findall(plain(best.topic.masked))}
        if any(
            cosine > least + OTHER and kin < KIN and noun_lemma(known) not in nouns
            for cosine, kin, known in zip(cosines, own, known_ones, strict=True)
        ):
            return None  # the question means a relation that the graph lacks
        return _meant(best, "near")

    def _says_nothing_else(self, one: _Candidate, name: str) -> bool:
        """Tell whether a question that says a relation in other words says no further one.

        Where it names what it asks for by a noun, or in a unit, the relation must have that word:
        vectors do not tell a grandmother from a mother.
        """
        topic = one.topic
        if _SHARED.search(topic.masked) or _NUMBER.search(topic.masked):
            return False
        words = [word for _, word in content_tokens(topic.masked)]
        if not _HELD.search(plain(topic.masked)):
            words = [word for word in words if word in english_units()]
        own = relation_words(name)
        if not all(english_stem(word) in own or word in name for word in words):
            return False
        ends = (topic.nodes, one.nodes[:SAMPLED])
        around = dict.fromkeys(hop for nodes in ends for hop in self.graph.relations_around(nodes))
        return not any(
            sayings_of(topic.masked, spelt_out(self.graph.relations[relation]), inverse)
            for relation, inverse in around
        )


def _meant(candidate: _Candidate, kind: str) -> Planned:
    return Planned(candidate.topic, candidate.path, candidate.nodes, PROBABILITIES[kind])


def _asks_by_other_noun(masked: str, learned: str) -> bool:
    """Tell whether a question names what it asks for by a noun that a learned one does not say."""
    known, words = (
        {english_stem(word) for _, word in content_tokens(text)} for text in (learned, masked)
    )
    return bool(_HELD.search(plain(masked))) and not words <= known


def _is_turned(masked: str, learned: str) -> bool:
    """Tell whether one question asks whose son the topic is, and the other for its son."""
    whose = [bool(_WHOSE.search(text)) for text in (masked, learned)]
    other = (learned, masked)[whose[1]]
    return whose[0] != whose[1] and bool(_HELD.search(plain(other)))


def _contradicts(masked: str, name: str, *, strict: bool) -> bool:
    """Tell whether a question says in full a relation of the vocabulary that is another one.

    Vectors do not tell birth from death, which occur in the same texts. With `strict`, the name
    need not be in the vocabulary.
    """
    content = content_words(bare(finite(masked)))
    known = meanings_alone(content) and (strict or meanings_alone(name))
    return bool(known) and similarity(content, name) < SAID


@lru_cache(maxsize=4)
def _known_relations(encoder: Any, chinese: bool) -> tuple[np.ndarray, list[str]]:
    """Return vectors (names, dimensions) of all known names of relations in a language."""
    names = [name for name in known_names() if is_chinese(name) == chinese]
    return encoder.encode(names), names


def _noun(masked: str, unsaid: list[tuple[int, str]]) -> str:
    """Return the noun after the interrogative that unsaid words are; empty if they are not."""
    text, start = plain(masked), unsaid[0][0]
    end = unsaid[-1][0] + len(unsaid[-1][1])
    words = text[start:end]
    if is_chinese(masked):
        is_noun = words == "".join(word for _, word in unsaid)
        return words if is_noun and _CHINESE_NOUN.search(text[:start] + "\n") else ""
    is_noun = words.split() == [word for _, word in unsaid]
    return words if is_noun and _NOUN.search(text[:start] + "\n") else ""


def _are_of_kind(masked: str, path: Path, nodes: Nodes, graph: Graph) -> bool:
    """Tell whether nodes may be what a question asks for: no amount for who, no person for where.

    A date is no age.
    """
    expected = expected_answer(masked)
    labels = [graph.label(node) for node in nodes[:SAMPLED]]
    relation, inverse = path[-1]
    if expected.kinds & {"person", "place", "organisation"}:
        kinds = _kinds_at(spelt_out(graph.relations[relation]), inverse)
        where = kinds <= {"place", "organisation"} and "place" in expected.kinds
        is_other = kinds and not where and "thing" not in kinds and not kinds & expected.kinds
        return not is_other and any(value_of(label) is None for label in labels)
    if expected.units and any(map(_FULL_DATE.search, labels)):
        return False
    if expected.form == "number" and is_chinese(masked):
        return True  # 多少 also asks for codes, grades and prices in words
    return any(may_have_form(label, expected.form) for label in labels)


@lru_cache(maxsize=1 << 12)
def _kinds_at(name: str, inverse: bool) -> frozenset[str]:
    return kinds_of_heads(name) if inverse else kinds_of_tails(name)
