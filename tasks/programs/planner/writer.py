"""The embedded planner as a writer of programs: for a local graph, or a remote knowledge base."""

import re
from collections.abc import Iterator, Sequence

from tasks.graphs.graph import Graph
from tasks.models.prompts.replies import Program
from tasks.programs.code_text import readable_code
from tasks.programs.knowledge_bases.protocol import KnowledgeBase
from tasks.programs.planner.endings import SAMPLED, Ending, asks_for_ends, find_ending
from tasks.programs.planner.planner import Planned, Planner, untaught_planner
from tasks.programs.planner.program_text import write_program
from tasks.programs.search_program import Hint
from tasks.text.expected_answer import expected_answer, may_have_form
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import is_chinese
from tasks.text.question import Question

LEAST_SHARE = 0.05  # of the probability; less likely paths are not tried
MOST_NAMES = 4  # looked up per question
MOST_FACTS = 2_000  # around one name
FITS = 0.5  # share of a relation's words that a question must contain
_MARKED = re.compile(r"[\[《“「\"]([^\[\]《》“”「」\"]{1,100})[\]》”」\"]")
_PROPER = re.compile(r"[A-Z0-9][\w'’.-]*(?:\s+(?:(?:of|the|and|de|von|van)\s+)*[A-Z0-9][\w'’.-]*)*")
_CHINESE_NAME = re.compile(r"\A[^？?，,]{1,30}?(?=的|是|有|在|属于|叫|什么|谁|哪|何|多少|几)")


class PlannedWriter:
    """Writes the program of the likeliest path and, if it finds nothing, of the next one."""

    def __init__(self, planner: Planner) -> None:
        """Take a planner; plans that `prepare` made are reused."""
        self.planner = planner
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

    def write(self, question: Question, relations_hint: Hint) -> Program | None:
        """Return the program of the likeliest path, of the next one after a failure."""
        plans = [plan for plan in self.plans(question)[:2] if plan.share >= LEAST_SHARE]
        codes = [self._code(plan) for plan in plans]
        if relations_hint.code in codes:
            codes = codes[codes.index(relations_hint.code) + 1 :]
        if not codes:
            return None
        return Program(need_knowledge="yes", thought="", code=codes[0], introspection="", ok="yes")

    def _planned(self, questions: Sequence[Question]) -> list[list[Planned]]:
        return [list(filter(self._may_answer, plans)) for plans in self.planner.plan(questions)]

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
        return readable_code(write_program(plan.topic.name, path, ending))


class NeighbourhoodWriter:
    """Writes programs for one knowledge base that is not a local graph."""

    def __init__(self, kb: KnowledgeBase) -> None:
        """Store the arguments; no request is sent yet."""
        self._kb = kb

    def write(self, question: Question, relations_hint: Hint) -> Program | None:
        """Return the program of the relation that the question names, None if it names none."""
        graph = None if relations_hint.code else self._around(question)
        if graph is None:
            return None
        writer = PlannedWriter(untaught_planner(graph))
        plans = writer.plans(question)
        if not plans or writer.planner.fit(plans[0]) < FITS:
            return None
        return writer.write(question, relations_hint)

    def _around(self, question: Question) -> Graph | None:
        triples: list[tuple[str, str, str]] = []
        for name in _likely_names(question):
            candidates = self._kb.entity_linking(question.text, [name])
            facts = self._kb.get_entity_triples(candidates[0].entity) if candidates else []
            for fact in facts[:MOST_FACTS]:  # under the name in the question
                head, tail = (fact.text, name) if fact.inverse else (name, fact.text)
                triples.append((head, fact.relation, tail))
        return Graph.of(self._kb.name, triples) if triples else None


def written_names(question: Question) -> list[str]:
    """Return at most `MOST_NAMES` texts in title marks and, outside Chinese, capitalised words."""
    names = _MARKED.findall(question.text)
    if not question.is_chinese:
        names += _proper_names(question.text)
    return list(dict.fromkeys(names))[:MOST_NAMES]


def _likely_names(question: Question) -> list[str]:
    """Return the written names; in Chinese also the beginning of the question."""
    begins = _CHINESE_NAME.findall(question.text) if question.is_chinese else []
    return list(dict.fromkeys([*written_names(question), *begins]))[:MOST_NAMES]


def _proper_names(text: str) -> Iterator[str]:
    for name in _PROPER.findall(text):
        words = name.split()
        while words and words[0].lower() in FUNCTION_WORDS:
            words = words[1:]
        if words:
            yield " ".join(words).removesuffix("'s").removesuffix("’s").rstrip(".")
