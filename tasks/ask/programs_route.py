"""The route `programs`: written by a model, or planned for each graph that fits the question."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from schemas.answers import Evidence, Route
from schemas.knowledge import CORPUS
from tasks.ask.context import Item
from tasks.ask.known_facts import MOST_CITED, MOST_VALUES
from tasks.ask.route import AnswerRoute, QuestionState, Resources, RouteResult
from tasks.programs.knowledge_bases.choose import knowledge_bases_for
from tasks.programs.knowledge_bases.edition_graph import EditionGraph
from tasks.programs.knowledge_bases.protocol import EntityRef, KnowledgeBase
from tasks.programs.limits import Limits
from tasks.programs.messages import one_line
from tasks.programs.planner.wordings import Wordings
from tasks.programs.planner.writer import NeighbourhoodWriter, PlannedWriter, written_names
from tasks.programs.relation_matching import INVERSE_OF
from tasks.programs.search_program import Hint, ProgramSearch, Writer, answer_by_program
from tasks.reader.knowledge_reader import KnowledgeReader
from tasks.text.english_words import is_base_verb
from tasks.text.question import Question, with_choices

if TYPE_CHECKING:
    from tasks.programs.written_program import Conversation

FITS = 0.7  # least fit of a plan if no graph is named
NAMED_FITS = 0.5  # least fit of a plan for the graph that is named
MOST_MESSAGES = 8  # of a program that are shown beside its values
LONGEST_MESSAGE = 400  # characters
MOST_RELATIONS = 40  # of an entity that a writer is shown
CHOOSING = Limits(call_seconds=600.0)  # a model that chooses may wait for its rate limits
PARTS = re.compile(r"\s+(?:(?:of|the|and)\s+)+")  # between the parts of a name


class ProgramsRoute(AnswerRoute):
    """Answers by programs over the knowledge bases for a question's language.

    With a model this is all of KnowledGPT: the model writes, chooses and phrases. Without a model,
    a graph's own planner plans for it if one was trained, else plans are made by words alone, and
    the knowledge reader answers from the corpus (`tasks.reader.knowledge_reader`).
    """

    def __init__(self, resources: Resources) -> None:
        self._resources, self._graphs = resources, resources.graphs
        self._options, self._settings = resources.options, resources.settings.knowledge_bases
        self._troubles: dict[str, str] = {}  # the first of each remote knowledge base

    @property
    def warnings(self) -> Sequence[str]:
        """Which remote knowledge bases failed, and why."""
        return [f"{name} could not be asked in full: {why}" for name, why in self._troubles.items()]

    def prepare(self, questions: Sequence[Question]) -> None:
        """Plan all questions for each imported graph at once."""
        if self._resources.speaks_for_itself:
            for name, writer in self._writers.items():
                if self._options.graph in (None, name):
                    writer.prepare(questions)

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the answer of programs."""
        kbs = self._knowledge_bases(question)
        result = self._answer(question, state, kbs)
        for kb in kbs:
            for trouble in getattr(kb, "troubles", ()):  # of a remote one
                self._troubles.setdefault(kb.name, trouble)
        return result

    def _answer(
        self, question: Question, state: QuestionState, kbs: Sequence[KnowledgeBase]
    ) -> RouteResult:
        if state.conversation is not None and not self._resources.speaks_for_itself:
            complete = with_choices(question, state.hints.choices)
            return self._by_model(complete, kbs, state.conversation)
        program: str | None = None
        for _, result in self._planned(question, kbs, guesses=bool(state.hints.choices)):
            if result.answerable:
                return result
            program = program or result.program
        return RouteResult("programs", program=program, unknown=self._unknown(question, kbs))

    def items(self, question: Question, state: QuestionState) -> list[Item]:
        """Return what programs find that are planned without a model, in imported graphs alone."""
        kbs = [kb for kb in self._knowledge_bases(question) if kb.name != CORPUS]
        return [
            _item(name, result.answers, result.evidence)
            for name, result in self._planned(question, kbs)
            if result.answerable
        ]

    def computed(
        self,
        question: Question,
        conversation: "Conversation",
        linked: Sequence[tuple[EditionGraph, EntityRef]],
    ) -> tuple[list[Item], str | None]:
        """Return what a program of the model finds, and the program.

        The model is shown the entities that the question names.
        """
        search = self._search(question, self._knowledge_bases(question), conversation)
        searched = search.search(question, Hint(entities=tuple(_entity_words(linked))))
        items = [
            _item(
                run.knowledge_base,
                run.answers,
                replace(searched, runs=[run]).evidence,
                run.knowledge,
            )
            for run in searched.runs
            if run.found or run.answers
        ]
        return items, searched.program

    def planned_paths(self, question: Question, graph: str) -> tuple[tuple[str, ...], ...] | None:
        """Return the relations of the paths that a question may mean, the likeliest first.

        None for a graph that no plan is made for, and where a model writes programs.
        """
        writer = self._writers.get(graph)
        if writer is None or not self._resources.speaks_for_itself:
            return None
        relations = writer.planner.graph.relations
        paths = (
            tuple(relations[number] for number, _ in plan.path) for plan in writer.plans(question)
        )
        return tuple(dict.fromkeys(paths))

    def _knowledge_bases(self, question: Question) -> list[KnowledgeBase]:
        if self._options.graph is not None:
            return [self._graphs[self._options.graph]]
        web = self._resources.web
        return knowledge_bases_for(question.language, self._graphs, self._settings, web)

    def _by_model(
        self, question: Question, kbs: Sequence[KnowledgeBase], conversation: "Conversation"
    ) -> RouteResult:
        """Return the answer that the model reads from the results of its programs.

        If it asks for no knowledge, or none is found, it answers by itself: the route is `none`.
        """
        search = self._search(question, kbs, conversation)
        answer = answer_by_program(question, search, conversation)
        route: Route = "programs" if answer.searched.found else "none"
        program = answer.searched.program
        return RouteResult(route, answer.answers, answer.evidence, program=program)

    def _search(
        self, question: Question, kbs: Sequence[KnowledgeBase], conversation: "Conversation"
    ) -> ProgramSearch:
        return ProgramSearch(
            conversation,
            kbs,
            chooser=partial(conversation.choose, language=question.language),
            encoder=self._resources.name_encoders[question.is_chinese],
            limits=CHOOSING,
            rounds=self._options.rounds or 1,
        )

    def _planned(
        self, question: Question, kbs: Sequence[KnowledgeBase], *, guesses: bool = False
    ) -> Iterator[tuple[str, RouteResult]]:
        """Yield each knowledge base with its answer: imported graphs, the corpus, then the web.

        Only imported graphs that the question fits are asked, the best first, and the corpus only
        if the route `programs` or its graph is requested. With `guesses` a plan also counts for a
        question that says more: where the answer is one of some choices, they check the guess.
        """
        writers = {kb.name: self._writers[kb.name] for kb in kbs if kb.name in self._writers}
        fits: dict[str, float] = {}
        least = NAMED_FITS if self._options.graph else FITS
        for name, writer in writers.items():
            for first in writer.programs(question)[:1]:
                if guesses if first.guessed else first.probability >= least:
                    fits[name] = first.probability
        for name in sorted(fits, key=lambda name: -fits[name]):
            result = self._by_program(question, writers[name], self._graphs[name])
            yield name, replace(result, probability=fits[name])
        # Otherwise the route `text` reads the corpus' facts beside passages.
        reads_corpus = self._options.route == "programs" or self._options.graph == CORPUS
        of_corpus = reads_corpus and CORPUS in [kb.name for kb in kbs]
        if of_corpus and self._knowledge_reader is not None:
            known = self._knowledge_reader.answer(question)
            found = known.answers, known.evidence, known.probability, known.program
            yield CORPUS, RouteResult("programs", *found)
        for kb in kbs:
            if kb.name not in self._graphs:
                around = NeighbourhoodWriter(kb, *self._resources.name_encoders)
                yield kb.name, self._by_program(question, around, kb)

    def _by_program(self, question: Question, writer: Writer, kb: KnowledgeBase) -> RouteResult:
        answer = answer_by_program(question, ProgramSearch(writer, [kb]))
        program = answer.searched.program
        return RouteResult("programs", answer.answers, answer.evidence, program=program)

    def _unknown(self, question: Question, kbs: Sequence[KnowledgeBase]) -> list[str]:
        """Return the names in a question that no graph of the edition links to an entity.

        A name with parts, such as the capital of Peru, is not among them if a part is known. Dates
        and numbers are no names, nor is the verb of a command: `List …`.
        """
        graphs = [kb for kb in kbs if kb.name in self._graphs]
        names = written_names(question) if graphs else []
        values = [question.text[start:end] for start, end, _ in question.values]
        first = question.text.split(maxsplit=1)[:1]
        return [
            name
            for name in names
            if not any(name in value for value in values)
            and not ([name] == first and is_base_verb(name.lower()))
            and not any(
                graph.entity_linking(question.text, [part])
                for graph in graphs
                for part in dict.fromkeys([name, *PARTS.split(name)])
            )
        ]

    @cached_property
    def _writers(self) -> dict[str, PlannedWriter]:
        return {name: self._writer(graph) for name, graph in self._graphs.items() if name != CORPUS}

    def _writer(self, graph: EditionGraph) -> PlannedWriter:
        planner = self._resources.planner(graph.arrays)
        worded = Wordings(graph.arrays, planner.worded, *self._resources.name_encoders)
        return PlannedWriter(planner, worded)

    @cached_property
    def _knowledge_reader(self) -> KnowledgeReader | None:
        corpus: EditionGraph | None = self._graphs.get(CORPUS)
        return KnowledgeReader(corpus, self._resources.edition) if corpus else None


def _item(
    where: str,
    answers: Sequence[str],
    evidence: Sequence[Evidence],
    messages: Sequence[str] = (),
) -> Item:
    """Return what a program found in one knowledge base, stated by the facts behind it."""
    values = "; ".join(one_line(answer) for answer in answers[:MOST_VALUES])
    counted = f" ({len(answers)} in all)" if len(answers) > 1 else ""
    first = MOST_MESSAGES // 2  # the program's conclusion is the last one
    chosen = [*messages[:first], *messages[first:][-first:]]
    shown = [one_line(message, LONGEST_MESSAGE) for message in chosen]
    text = "\n".join(filter(None, (values + counted, *shown)))
    stated = tuple(evidence[:MOST_CITED])
    graph = stated[0].graph if stated else where
    whole = Evidence(text=text, kind="program", graph=graph, score=1.0)
    title = f"Result of a search program in {one_line(where)}"
    return Item(text, whole, "programs", title, stated_by=stated)


def _entity_words(linked: Sequence[tuple[EditionGraph, EntityRef]]) -> Iterator[str]:
    """Yield a line for each entity of a question with the relations around it."""
    for graph, entity in linked:
        facts = graph.get_entity_triples(entity)
        relations = dict.fromkeys(
            f"{INVERSE_OF if fact.inverse else ''}{fact.relation}" for fact in facts
        )
        shown = ", ".join(one_line(name) for name in list(relations)[:MOST_RELATIONS])
        yield f"{one_line(entity.name)} (in {graph.name}): {shown}"
