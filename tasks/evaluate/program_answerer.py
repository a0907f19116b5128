"""Measures the route `programs`: plans, runs in the sandbox, and answers from values."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from schemas.knowledge import CORPUS
from tasks.evaluate.answerer import Prediction
from tasks.programs.choices import meant_choice
from tasks.programs.knowledge_bases.edition_graph import EditionGraph, edition_graphs
from tasks.programs.planner.learn import Example, learn
from tasks.programs.planner.planner import Planner, untaught_planner
from tasks.programs.planner.store import planner_for
from tasks.programs.planner.writer import PlannedWriter
from tasks.programs.search_program import ProgramSearch, answer_by_program
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion
from tasks.reader.knowledge_reader import KnowledgeReader
from tasks.text.question import analyse
from warehouse.editions import Edition
from warehouse.home import Home

PATHS = 5  # kept per question, to see whether the gold one is among them


class ProgramAnswerer:
    """Answers each question by a program over the graph that it is asked of."""

    name = "programs"

    def __init__(self, edition: Edition, home: Home | None = None) -> None:
        """Open the edition's graphs, with what the home has learned about them."""
        self._graphs = edition_graphs(edition)
        corpus = self._graphs.get(CORPUS)
        self.learned: dict[str, Planner] = {}
        self._knowledge = corpus and KnowledgeReader(corpus, edition)
        self._writers = {
            name: PlannedWriter(
                planner_for(home, graph.arrays) if home else untaught_planner(graph.arrays)
            )
            for name, graph in self._graphs.items()
        }

    def learn(self, questions: Sequence[BenchmarkQuestion], report: Report = silent) -> None:
        """Learn a planner for each graph from the questions that are asked of it."""
        for name, graph in self._graphs.items():
            examples = [Example(q.question, q.answers) for q in questions if q.graph == name]
            if examples:
                learned = learn(graph.arrays, examples, report)
                self.learned[name] = Planner(
                    graph.arrays,
                    learned.model,
                    learned.paths,
                    worded=learned.worded,
                    examples=learned.examples,
                )
                self._writers[name] = PlannedWriter(self.learned[name])

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question; those of one graph are planned together."""
        for name, writer in self._writers.items():
            if name == CORPUS:
                continue
            writer.prepare([analyse(q.question) for q in questions if self._graph_of(q) == name])
        return [self._answer(question) for question in questions]

    def _graph_of(self, question: BenchmarkQuestion) -> str:
        return question.graph or next(iter(self._graphs), "")

    def _answer(self, question: BenchmarkQuestion) -> Prediction:
        name = self._graph_of(question)
        graph: EditionGraph | None = self._graphs.get(name)
        if graph is None:
            return Prediction()
        if name == CORPUS and self._knowledge:
            return self._among_choices(question, graph, _read(self._knowledge, question))
        search = ProgramSearch(self._writers[name], [graph])
        result = answer_by_program(analyse(question.question), search)
        calls = [call for _, call in result.searched.calls]
        prediction = Prediction(
            answers=result.answers,
            stages={
                "program": result.searched.program is not None and result.searched.error is None,
                "linking": bool(calls) and bool(calls[0].entities),
                "answer": result.answer is not None,
            },
            messages="\n".join(result.searched.knowledge)[:2_000],
            paths=self._paths(name, question),
        )
        return self._among_choices(question, graph, prediction)

    def _paths(self, name: str, question: BenchmarkQuestion) -> tuple[tuple[str, ...], ...]:
        """Return the relations of the likeliest paths, each sequence once."""
        writer = self._writers[name]
        relations = writer.planner.graph.relations
        plans = writer.plans(analyse(question.question))
        ranked = (tuple(relations[number] for number, _ in plan.path) for plan in plans)
        return tuple(islice(dict.fromkeys(ranked), PATHS))

    def _among_choices(
        self, question: BenchmarkQuestion, graph: EditionGraph, prediction: Prediction
    ) -> Prediction:
        """Return a prediction with the choice that its answers mean, without answers if none."""
        if not question.choices:
            return prediction
        choice = meant_choice(question.question, question.choices, prediction.answers, [graph])
        return replace(prediction, answers=[choice] if choice else [])


def _read(reader: KnowledgeReader, question: BenchmarkQuestion) -> Prediction:
    """Return the knowledge reader's answer from the corpus, which has no learned paths."""
    result = reader.answer(analyse(question.question))
    calls = [call for run in result.runs for call in run.calls]
    return Prediction(
        answers=result.answers,
        stages={
            "program": bool(result.programs),
            "linking": any(call.entities for call in calls),
            "answer": bool(result.answers),
        },
        messages="\n".join(line for run in result.runs for line in run.knowledge)[:2_000],
    )
