"""The types of a benchmark: its questions, their graphs, and the scoring of answers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tasks.text.question import Demonstration

Part = Literal["", "train", "test"]
Scoring = Literal["set", "text", "choice"]
Outcome = tuple[str, float, float]  # a model, its score without knowledge and with it, 0 to 1


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """A question with its gold answers and the data set's annotations.

    `topic` is the entity that the question is about according to the data set. Questions with the
    same `split_key` stay on the same side of a split. `exact` is false where the gold answers are
    known not to follow from the graph, and None where this is unknown. `part` is empty if the data
    set has no parts. `context` holds titles and texts from which to answer the question.

    Answers are scored as a set whose first element is the best guess (`set`), as a text for which
    any gold answer counts (`text`), or as one of the choices (`choice`). Without gold answers, it
    is right to give none.

    `label` is a class shared by all questions of the task, such as a topic or yes and no; it is
    None if the choices are the question's own, since a letter means nothing across questions.
    `knowledge` is a text that helps to answer. `outcomes` are the scores of models without and with
    retrieved knowledge, `own_answers` their answers without it, and `uncertainties` the entropies
    of those answers; `popularity` is how often the question's subject is looked up. `patterns` are
    regular expressions for right answers; `answers` are then plain readings of them.
    `demonstrations` are other questions that a model is shown before, with their answers.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    language: str = "en"
    dataset: str = ""  # the file it comes from
    graph: str = ""  # the name of the graph to query
    hops: int | None = None
    topic: str | None = None
    kind: str = ""  # the data set's type of question
    gold: tuple[str, ...] = ()  # relations on the gold path, or titles to retrieve
    exact: bool | None = None
    part: Part = ""
    split_key: str = ""
    context: tuple[tuple[str, str], ...] = ()
    label: str | None = None
    knowledge: str | None = None
    task: str | None = None
    scoring: Scoring = "set"
    outcomes: tuple[Outcome, ...] = ()
    own_answers: tuple[tuple[str, str], ...] = ()  # a model and its answer without knowledge
    uncertainties: tuple[tuple[str, float], ...] = ()  # a model and its answer's entropy (nats)
    popularity: float | None = None
    patterns: tuple[str, ...] = ()
    unanswerable: bool = False  # its file lists its answers, and there are none
    demonstrations: tuple[Demonstration, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphSource:
    """A graph that comes with questions; `triples` is set if it is part of their file."""

    name: str
    source: Path
    format: str = "auto"
    mapping: Path | None = None
    triples: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The questions in a file or folder, and the graphs beside them.

    `halves` tells whether the data set, if it has no training part, is split in half for training.
    """

    name: str
    questions: list[BenchmarkQuestion]
    graphs: list[GraphSource] = field(default_factory=list)
    halves: bool = False
