"""The embedded planner as a writer of programs: for a local graph, or a remote knowledge base."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.graphs.graph import Graph
from tasks.graphs.question_names import names_in
from tasks.models.encoders.load import Encoder
from tasks.models.prompts.replies import Program
from tasks.programs.code_text import readable_code
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact, KnowledgeBase
from tasks.programs.planner.endings import SAMPLED, Ending, asks_for_ends, find_ending
from tasks.programs.planner.planner import Planned, Planner, untaught_planner
from tasks.programs.planner.program_text import (
    write_description,
    write_program,
    write_relationship,
)
from tasks.programs.planner.sayings import says
from tasks.programs.planner.topics import SLOT
from tasks.programs.planner.wordings import Wordings
from tasks.programs.search_program import Hint
from tasks.text.chinese_words import simplified
from tasks.text.expected_answer import expected_answer, may_have_form
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import is_chinese
from tasks.text.question import Question, Span

ABOUT = 0.95  # probability that a question for nothing but an entity is understood
GUESSED = 0.5  # probability of a familiar plan for a question that says more
FEW = 50  # examples; a planner that learned from fewer knows words, but not what they mean
MANY = 500  # examples; one that learned from fewer may know no question that says several relations
FAMILIAR = 0.7  # fit from which a plan counts before other words
SURE = (FEW, 1.01), (MANY, 1.0)  # the same with fewer examples than these
LEAST_SHARE = 0.05  # of the probability; less likely paths are not tried
LACKING = 0.5  # of the probability; a question that means a missing relation so surely has no plan
MOST_NAMES = 4  # looked up per question
MOST_FACTS = 2_000  # around one name
FITS = 0.5  # share of a relation's words that a question must contain
_MARKED = re.compile(r"[\[《“「\"]([^\[\]《》“”「」\"]{1,100})[\]》”」\"]")
_WORD = r"\b\w*[A-Z0-9][\w'’.-]*"  # of a name; it may begin small: "macOS"
_PROPER = re.compile(rf"{_WORD}(?:\s+(?:(?:of|the|and|de|von|van)\s+)*{_WORD})*")
_CHINESE_NAME = re.compile(r"\A[^？?，,]{1,30}?(?=的|是|有|在|属于|叫|什么|谁|哪|何|多少|几)")

# Questions that ask for nothing but an entity, or for what relates two of them.
_NAME = rf"(?:the |an? )?{SLOT}"
_ABOUT = re.compile(
    rf"(?:what|who)(?: (?:is|was|are|were)|['’]s) {_NAME}"
    rf"|(?:please )?(?:tell me (?:more |something )?about|describe|explain) {_NAME}"
    rf"|what do you know about {_NAME}"
    rf"|请?(?:给?我?(?:介绍|讲|说|描述|解释)(?:一下)?|什么是|谁是|告诉我关于){SLOT}(?:的情况)?"
    rf"|{SLOT}(?:到底|究竟)?是(?:什么|谁|什么人|何人|个?什么东西)",
    re.I,
)
_JOINED = "(?:related|connected|linked|tied)"
_TIE = "(?:relationship|relation|connection|link)"
_RELATED = re.compile(
    rf"how (?:are|were) {_NAME} and {_NAME} {_JOINED}(?: to each other)?"
    rf"|how (?:is|was) {_NAME} {_JOINED} (?:to|with) {_NAME}"
    rf"|what (?:connects|links|relates|joins) {_NAME} (?:and|to|with) {_NAME}"
    rf"|what(?: (?:is|was)|['’]s) the {_TIE} (?:between|of) {_NAME} (?:and|to|with) {_NAME}"
    rf"|{SLOT}[和与跟同及]{SLOT}(?:之间)?(?:的(?:关系|联系)是(?:什么|怎样的)"
    rf"|[有是存在]*(?:什么|怎样的?|何|啥)(?:样的)?(?:关系|联系|关联))",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Written:
    """A program for a question; `probability` is how likely it asks what the question asks.

    It is `guessed` if the question says more than the program, in words that are not known.
    """

    code: str
    probability: float
    guessed: bool = False


class PlannedWriter:
    """Writes the program of the likeliest path and, if it finds nothing, of the next one.

    What an entity is, and what relates two, needs no path. Other words than the graph's are read by
    `wordings`, if given, where the planner does not know the words of a question.
    """

    def __init__(self, planner: Planner, wordings: Wordings | None = None) -> None:
        """Take a planner; plans that `prepare` made are reused."""
        self.planner, self._wordings = planner, wordings
        self._plans: dict[Question, list[Planned]] = {}

    def prepare(self, questions: Sequence[Question]) -> None:
        """Plan many questions at once; earlier plans are dropped."""
        self._plans = dict(zip(questions, self._planned(questions), strict=True))

    def plans(self, question: Question) -> list[Planned]:
        """Return the paths that a question may mean, the likeliest first."""
        plans = self._plans.get(question)
        if plans is None:  # another thread may prepare other questions meanwhile
            [plans] = self._planned([question])
            self._plans = {question: plans}
        return plans

    def programs(self, question: Question) -> list[Written]:
        """Return the programs that a question may mean, the one to run first at the beginning."""
        about = write_about(question, self.planner.graph)
        if about:
            return [Written(readable_code(about), ABOUT)]
        possible, examples = self.plans(question), self.planner.examples
        plans = [plan for plan in possible[:2] if plan.share >= LEAST_SHARE]
        fit = self.planner.fit(plans[0]) if plans else 0.0
        planned = [
            Written(self._code(plan), fit * (_share(plan, possible) if examples else 1.0))
            for plan in plans
        ]
        is_likely = bool(planned) and planned[0].probability >= FAMILIAR
        is_familiar = fit >= next((f for n, f in SURE if examples < n), FAMILIAR)
        if self._wordings and not (is_familiar and is_likely):
            meant = self._wordings.best(question)
            if meant:
                return [Written(self._code(meant), meant.share)]
            if examples < MANY and plans and not self._wordings.says_all(plans[0]):
                guesses = [
                    Written(one.code, min(GUESSED, one.probability), guessed=True)
                    for one in planned
                ]
                return guesses if fit >= FAMILIAR else []
        elif examples < MANY and self._wordings and self._wordings.says_further(plans[0]):
            meant = self._wordings.best(question)
            return [Written(self._code(meant), meant.share)] if meant else []
        return planned

    def write(self, question: Question, relations_hint: Hint) -> Program | None:
        """Return the program of the likeliest path, of the next one after a failure."""
        codes = [written.code for written in self.programs(question)]
        if relations_hint.code in codes:
            codes = codes[codes.index(relations_hint.code) + 1 :]
        if not codes:
            return None
        return Program(need_knowledge="yes", thought="", code=codes[0], introspection="", ok="yes")

    def _planned(self, questions: Sequence[Question]) -> list[list[Planned]]:
        return [self._possible(plans) for plans in self.planner.plan(questions)]

    def _possible(self, plans: list[Planned]) -> list[Planned]:
        """Return the plans that may answer; none where the topic probably lacks what is asked.

        One that only leads back to the topic answers nothing.
        """
        if plans and not len(plans[0].nodes) and plans[0].share > LACKING:
            return []
        return [
            plan
            for plan in plans
            if len(np.setdiff1d(plan.nodes, plan.topic.nodes)) and self._may_answer(plan)
        ]

    def _may_answer(self, plan: Planned) -> bool:
        """Return whether a plan leads to a value of the form that is asked for, or counts."""
        if not asks_for_ends(plan.topic.masked, plan.path, self.planner.graph):
            return False
        form = expected_answer(plan.topic.masked).form  # the topic's own words ask for nothing
        if form == "number" and is_chinese(plan.topic.masked):
            return True  # 多少 also asks for codes, grades and prices in words
        labels = (self.planner.graph.label(node) for node in plan.nodes[:SAMPLED])
        if any(may_have_form(label, form) for label in labels):
            return True
        ending = self._ending(plan)
        return ending is not None and ending.kind == "count"

    def _ending(self, plan: Planned) -> Ending | None:
        return find_ending(plan.topic.masked, plan.path, plan.nodes, self.planner.graph)

    def _code(self, plan: Planned) -> str:
        graph = self.planner.graph
        path = [(graph.relations[relation], inverse) for relation, inverse in plan.path]
        ending = self._ending(plan)
        return readable_code(write_program(plan.topic.name, path, ending, plan.members))


def _share(plan: Planned, plans: Sequence[Planned]) -> float:
    """Return how likely a plan is beside the likeliest one that leads to other nodes, 0 to 1."""
    same = sum(one.share for one in plans if np.array_equal(one.nodes, plan.nodes))
    others = (one.share for one in plans if not np.array_equal(one.nodes, plan.nodes))
    return same / max(same + max(others, default=0.0), 1e-9)


def write_about(question: Question, graph: Graph) -> str | None:
    """Return the program that describes the only name in a question, or relates the only two.

    None if the question asks for anything else, or names more or less.
    """
    names = names_in(question, graph).apart
    spans = sorted((name.start, name.end) for name in names)
    labels = [question.text[slice(*span)] for span in spans]
    masked = simplified(_masked(question.text, spans))
    if len(spans) == 1 and _ABOUT.fullmatch(masked):
        return write_description(*labels)
    if len(spans) == 2 and _RELATED.fullmatch(masked):
        return write_relationship(*labels)
    return None


def _masked(text: str, spans: list[Span]) -> str:
    for start, end in reversed(spans):
        text = f"{text[:start]}{SLOT}{text[end:]}"
    return " ".join(text.split()).rstrip(" ?？.。!！")


class NeighbourhoodWriter:
    """Writes programs for one knowledge base that is not a local graph."""

    def __init__(
        self, kb: KnowledgeBase, english: Encoder | None = None, chinese: Encoder | None = None
    ) -> None:
        self._kb, self._encoders = kb, (english, chinese)

    def write(self, question: Question, relations_hint: Hint) -> Program | None:
        """Return the program of the relations that the question says, None if it says none."""
        graph = None if relations_hint.code else self._around(question)
        if graph is None:
            return None
        wordings = Wordings(graph, (), *self._encoders)
        writer = PlannedWriter(untaught_planner(graph), wordings)
        programs = writer.programs(question)
        if not programs or programs[0].guessed or programs[0].probability < FITS:
            return None
        return writer.write(question, relations_hint)

    def _around(self, question: Question) -> Graph | None:
        """Return the facts around the names in a question, and those one relation further.

        These are around what a relation leads to that the question says, since it may go on there.
        """
        triples: list[tuple[str, str, str]] = []
        further: dict[EntityRef, None] = {}
        for name in _likely_names(question):
            candidates = self._kb.entity_linking(question.text, [name])
            facts = self._kb.get_entity_triples(candidates[0].entity) if candidates else []
            for fact in facts[:MOST_FACTS]:
                triples.append(_triple(fact, name))  # under the name in the question
                if isinstance(fact.value, EntityRef) and says(question.text, fact.relation):
                    further[fact.value] = None
        for entity in list(further)[:MOST_NAMES]:
            facts = self._kb.get_entity_triples(entity)
            triples += [_triple(fact, entity.name) for fact in facts[:MOST_FACTS]]
        return Graph.of(self._kb.name, triples) if triples else None


def _triple(fact: Fact, name: str) -> tuple[str, str, str]:
    """Return a fact as head, relation and tail, with a name for its entity."""
    head, tail = (fact.text, name) if fact.inverse else (name, fact.text)
    return head, fact.relation, tail


def written_names(question: Question) -> list[str]:
    """Return at most `MOST_NAMES` texts in title marks and, outside Chinese, capitalised words."""
    names = _MARKED.findall(question.text)
    if not question.is_chinese:
        names += _proper_names(question.text)
    return list(dict.fromkeys(names))[:MOST_NAMES]


def _likely_names(question: Question) -> list[str]:
    """Return the written names; in Chinese also the beginning of the question."""
    text = question.text
    begin = _CHINESE_NAME.match(simplified(text)) if question.is_chinese else None
    begins = [text[: begin.end()]] if begin else []
    return list(dict.fromkeys([*written_names(question), *begins]))[:MOST_NAMES]


def _proper_names(text: str) -> Iterator[str]:
    for name in _PROPER.findall(text):
        words = name.split()
        while words and words[0].lower() in FUNCTION_WORDS:
            words = words[1:]
        if words:
            yield " ".join(words).removesuffix("'s").removesuffix("’s").rstrip(".")
