"""The gate in `ask`: the score of each question, and whether knowledge is retrieved for it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schemas.answers import Gating
from schemas.errors import AlmanacError, DamageError
from schemas.operations import AnswerRecord
from schemas.settings import Settings
from tasks.ask.model_route import own_answer
from tasks.ask.phrasing import without_letter
from tasks.ask.route import OwnAnswer, QuestionHints, QuestionState
from tasks.gates.calibrated import CalibratedGate, Placed, TaskRegistry, calibrated_gates
from tasks.gates.crossfit import BUDGETS
from tasks.gates.gate import PopularityGate
from tasks.gates.live import LiveThreshold, PastDecision
from tasks.gates.questions import GateQuestions, kind_of_answer
from tasks.gates.subject_popularity import GraphPopularity, open_popularity
from tasks.graphs.graph import Graph
from tasks.models.encoders.load import open_question_encoder
from tasks.programs.choices import meant_choice
from tasks.text.question import Question, analyse, with_choices
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.journal import Journal
from warehouse.live import newest

Mapped = Callable[..., Iterable[Any]]  # as the built-in map
OWN = frozenset({"uncertainty", "answers"})  # known once the model has answered by itself
SEEDS = 60  # of a gate, in which names of the corpus are looked for
SEEN = 0.2  # share of them that name what the corpus knows if the gate was calibrated for it
_PAST = ("thrust", "retrieve", "budget", "level")


@dataclass(frozen=True, slots=True)
class GateInput:
    """What the gate knows about a question before it decides."""

    question: Question
    placed: Placed
    choices: Sequence[str]
    current_words: str | None  # None also if the settings ignore them
    popularity: float | None = None
    placeable: bool = True  # False if the encoder is not available
    about_corpus: bool = False  # names what the corpus knows, and the gate has seen no such names

    @property
    def needs(self) -> frozenset[str]:
        """The columns that its gate reads from the model's own answer."""
        return OWN & self.placed.gate.gate.needs if self.placed.gate else frozenset()

    @property
    def forced(self) -> bool:
        """Whether knowledge is retrieved whatever the score."""
        return self.current_words is not None or self.about_corpus


class Gatekeeper:
    """Decides question by question, within the budget of each task.

    A budget is the share of a task's questions that may retrieve. Questions that ask for current
    information and questions without a score count towards it; questions that belong to no task
    count towards none.
    """

    def __init__(
        self,
        home: Home,
        edition: Edition,
        settings: Settings,
        run_id: str = "",
        graphs: Mapping[str, Graph] | None = None,
        names_corpus: Callable[[Question], bool] = lambda _: False,
    ) -> None:
        """Open the edition's gates; encoders are opened only when they are needed.

        `graphs` are those of the edition that are open: what is found in them is found once.
        `names_corpus` tells whether a question names an entity of the corpus.

        Raises UsageError if the task of the settings has no gate.
        """
        self._home, self._settings = home, settings.gate
        self._registry = TaskRegistry(
            calibrated_gates(edition),
            lambda choice: open_question_encoder(choice, settings.engine, home, run_id),
        )
        if self._settings.task is not None:
            self._registry.named(self._settings.task)
        budget = self._settings.budget
        self._budget = BUDGETS[budget] if isinstance(budget, str) else float(budget)
        self._thresholds: dict[str, LiveThreshold] = {}
        self._warnings: dict[str, None] = {}
        self._popularity = GatePopularity(edition, graphs or {})
        self._names_corpus = names_corpus
        self._saw_corpus: dict[str, bool] = {}  # by task

    def ask(
        self,
        questions: Sequence[Question],
        states: Sequence[QuestionState],
        *,
        decides: bool,
        mapped: Mapped,
    ) -> list[QuestionState]:
        """Return states with the gate's score and, if `decides`, its decision.

        If a gate reads the model's own answers, the model is asked first. `mapped` is the built-in
        `map`, or one that works on several questions at once.
        """
        inputs = self.gather(questions, [state.hints for state in states])
        own: list[OwnAnswer | None] = [None] * len(states)
        if decides:
            own = list(mapped(_own_answer, states, inputs))
        gatings = self.scored(inputs, own)
        if decides:  # in this order, because every decision moves the threshold
            gatings = list(map(self._decided, inputs, gatings))
        found = zip(states, own, gatings, strict=True)
        return [replace(state, own_answer=answer, gating=one) for state, answer, one in found]

    def gather(
        self, questions: Sequence[Question], hints: Sequence[QuestionHints]
    ) -> list[GateInput]:
        """Return the gates that the questions belong to, and the inputs of these gates.

        A gate cannot decide without its encoder: then there is a warning, and all questions
        retrieve.
        """
        placeable = True
        texts = [question.text for question in questions]
        try:
            placed = self._registry.place(texts, [self._named(hint) for hint in hints])
        except AlmanacError as error:
            self._warnings[f"The gate was not asked. {error}"] = None
            placeable, placed = False, [Placed(None)] * len(questions)
        popularity = self._popularity.of(questions, hints, placed)
        return [
            GateInput(
                question,
                place,
                hint.choices,
                question.current_words if self._settings.freshness else None,
                known,
                placeable,
                self._is_about_corpus(question, place.gate),
            )
            for question, hint, place, known in zip(
                questions, hints, placed, popularity, strict=True
            )
        ]

    def _is_about_corpus(self, question: Question, gate: CalibratedGate | None) -> bool:
        """Return whether a gate cannot tell if the model knows what the corpus knows.

        It can if enough of its seeds name entities of the corpus, too.
        """
        if gate is None or not self._names_corpus(question):
            return False
        if gate.task not in self._saw_corpus:
            named = [self._names_corpus(analyse(seed)) for seed in gate.seeds[:SEEDS]]
            self._saw_corpus[gate.task] = sum(named) >= SEEN * max(1, len(named))
        return not self._saw_corpus[gate.task]

    def _named(self, hint: QuestionHints) -> str | None:
        """Return the task that the settings name, else the file of questions if that has a gate."""
        if self._settings.task is not None:
            return self._settings.task
        return hint.task if hint.task in self._registry else None

    def scored(self, inputs: Sequence[GateInput], own: Sequence[OwnAnswer | None]) -> list[Gating]:
        """Return the score of each question, without a decision.

        `own` holds the model's own answers, None where it was not asked.
        """
        gatings = [Gating() for _ in inputs]
        by_task: dict[str, list[int]] = {}
        for place, gate_input in enumerate(inputs):
            if gate_input.placed.gate:
                by_task.setdefault(gate_input.placed.gate.task, []).append(place)
        for task, places in by_task.items():
            gate = inputs[places[0]].placed.gate
            assert gate is not None
            scores = _scores(gate, [inputs[n] for n in places], [own[n] for n in places])
            for place, score in zip(places, scores, strict=True):
                gatings[place] = Gating(
                    task=task,
                    gate=gate_name(gate),
                    score=None if math.isnan(score) else score,
                    words=inputs[place].current_words,
                )
        return gatings

    def fetched_after_all(self, gating: Gating) -> Gating:
        """Return the changed decision on a question that the model could not answer by itself."""
        if gating.task is not None:
            self._thresholds[gating.task].fetched_after_all()
        return gating.model_copy(update={"retrieve": True, "cause": "no_answer"})

    def close(self) -> None:
        """Close the encoders."""
        self._registry.close()

    @property
    def warnings(self) -> list[str]:
        """Warnings for people: gates that could not decide, drift, budgets that are not kept."""
        lives = self._thresholds.items()
        of_budgets = [words for task, live in lives for words in live.warnings(task)]
        return [*self._warnings, *self._popularity.warnings, *of_budgets]

    def _decided(self, known: GateInput, gating: Gating) -> Gating:
        gate = known.placed.gate
        if gate is None:
            cause = "unknown_task" if known.placeable else "no_score"
            return gating.model_copy(update={"retrieve": True, "cause": cause})
        live = self._threshold(gate)
        level, below = live.level, live.threshold
        score = math.nan if gating.score is None else gating.score
        retrieve = live.decide(score, forced=known.forced)
        cause = "no_score" if gating.score is None else "score"
        cause = "known_name" if known.about_corpus else cause
        return gating.model_copy(
            update={
                "threshold": None if math.isnan(below) else below,
                "budget": self._budget,
                "level": level,
                "retrieve": retrieve,
                "cause": "current" if known.current_words else cause,
            }
        )

    def _threshold(self, gate: CalibratedGate) -> LiveThreshold:
        """Return the threshold of a task, which resumes from the recorded answers."""
        if gate.task not in self._thresholds:
            window = self._settings.window
            live = LiveThreshold(gate.seed_scores, self._budget, window)
            try:
                live.resume(gate_history(self._home.live, gate, window))
            except DamageError as error:
                self._warnings[
                    f"The budget starts afresh because earlier answers are lost. {error}"
                ] = None
            self._thresholds[gate.task] = live
        return self._thresholds[gate.task]


def _own_answer(state: QuestionState, known: GateInput) -> OwnAnswer | None:
    """Return the model's own answer if the gate reads it and does not retrieve in any case."""
    if not known.needs or known.forced or state.conversation is None:
        return None
    question = with_choices(known.question, known.choices)
    return own_answer(question, state.conversation, measured="uncertainty" in known.needs)


def _kind(own: OwnAnswer | None, choices: Sequence[str]) -> str:
    """Return the kind of the model's own answer; in words, it is of the choice that it means."""
    answer: str | None = own.words if own else None
    if answer and choices:
        answer = meant_choice("", choices, [without_letter(answer, choices)], ())
    return kind_of_answer(answer, choices)


def _scores(
    gate: CalibratedGate, inputs: Sequence[GateInput], own: Sequence[OwnAnswer | None]
) -> list[float]:
    """Return the scores of one task's questions; NaN where a column of the gate is unknown.

    A seed has the score that the gate gives it without having seen it, as all others are unseen.
    """
    vectors = [gate_input.placed.vector for gate_input in inputs]
    scores = gate.gate.score(
        GateQuestions(
            [gate_input.question.text for gate_input in inputs],
            vectors=None if any(v is None for v in vectors) else np.array(vectors),
            popularity=np.array([gate_input.popularity for gate_input in inputs], float),
            uncertainty=np.array([answer.uncertainty if answer else math.nan for answer in own]),
            answers=np.array(
                [_kind(answer, known.choices) for answer, known in zip(own, inputs, strict=True)],
                dtype=object,
            ),
        )
    )
    if OWN & gate.gate.needs:
        return [
            math.nan if answer is None else float(score)
            for answer, score in zip(own, scores, strict=True)
        ]
    unseen = dict(zip(gate.seeds, gate.seed_scores.tolist(), strict=False))
    return [
        unseen.get(known.question.text, float(score))
        for known, score in zip(inputs, scores, strict=True)
    ]


# -- earlier decisions, from the records of answers -----------------------------------------------


def gate_history(live: Journal, gate: CalibratedGate, count: int) -> list[PastDecision]:
    """Return a calibration's decisions on its last `count` questions, oldest first."""
    matching = {"task": gate.task, "gate": gate_name(gate)}
    rows = newest(live, AnswerRecord, matching, count, _PAST)
    return [PastDecision(*(row[column] for column in _PAST)) for row in rows.to_pylist()]


def gate_name(gate: CalibratedGate) -> str:
    """Return the name of one calibration of a gate in the records."""
    return f"{gate.gate.name} {gate.calibration}"


# -- popularity of subjects, from the graphs that gates name --------------------------------------


class GatePopularity:
    """Looks up popularity as the gate of each question counts it; opens graphs when needed."""

    def __init__(self, edition: Edition, graphs: Mapping[str, Graph]) -> None:
        """Use the graphs of this edition; `warnings` names those that are not available."""
        self._edition, self._graphs = edition, graphs
        self._opened: dict[str, GraphPopularity | None] = {}
        self.warnings: list[str] = []

    def of(
        self,
        questions: Sequence[Question],
        hints: Sequence[QuestionHints],
        placed: Sequence[Placed],
    ) -> list[float | None]:
        """Return popularity from the graph that a gate names, else from a question's hints.

        If that graph is not available, popularity is unknown, because hints do not compare with its
        counts.
        """
        popularity = [hint.popularity for hint in hints]
        by_graph: dict[str, list[int]] = {}
        for place, task in enumerate(placed):
            if task.gate and isinstance(task.gate.gate, PopularityGate):
                name = task.gate.gate.popularity_of
                if name is not None:
                    by_graph.setdefault(name, []).append(place)
                    self._open(name, task.gate.task)
        for name, places in by_graph.items():
            graph, subset = self._opened[name], [questions[place] for place in places]
            values = graph.of(subset).tolist() if graph else [math.nan] * len(subset)
            for place, value in zip(places, values, strict=True):
                popularity[place] = None if math.isnan(value) else value
        return popularity

    def _open(self, name: str, task: str) -> None:
        if name in self._opened:
            return
        try:
            self._opened[name] = open_popularity(self._edition, name, self._graphs)
        except AlmanacError as error:
            self._opened[name] = None
            self.warnings.append(
                f"All questions of the task {task} retrieve knowledge, because its gate cannot "
                f"look up how well known their subjects are. {error} Import the graph again, or "
                "calibrate the gate with another: "
                f"`almanac calibrate-gate FILE --task {task} --gate popularity "
                "--set popularity_of=GRAPH`."
            )
