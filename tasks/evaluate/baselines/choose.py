"""Opens baselines by name: those over the graphs of questions, and those that ask a model."""

from collections.abc import Callable, Sequence

from schemas.errors import UsageError
from schemas.settings import EngineSettings, Settings
from tasks.evaluate.answerer import BenchmarkAnswerer, Prediction
from tasks.evaluate.baselines.bm25 import BM25Answerer
from tasks.evaluate.baselines.embedding import EmbeddingAnswerer
from tasks.evaluate.baselines.prompted import PROMPTED
from tasks.evaluate.baselines.spe import SPEAnswerer
from tasks.graphs.graph import Graph, graphs_of
from tasks.models.encoders.load import Encoder, load_encoder
from tasks.progress import Report, silent
from tasks.questions.question import BenchmarkQuestion
from tasks.text.languages import is_chinese
from warehouse.editions import Edition

LOOKED_AT = 200  # names from which the language is determined
BASELINES = ("bm25", "embedding", "spe")  # the default; no model is called unless it is named


class OverGraphs:
    """Passes each question to the system that answers from its graph."""

    def __init__(self, name: str, systems: dict[str, BenchmarkAnswerer]) -> None:
        self.name = name
        self._systems = systems

    def learn(self, questions: Sequence[BenchmarkQuestion], report: Report = silent) -> None:
        """Let each system learn from the questions about its graph."""
        for graph, system in self._systems.items():
            system.learn([q for q in questions if q.graph == graph], report)

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question, in order; none if its graph is missing."""
        predictions = [Prediction() for _ in questions]
        for graph, system in self._systems.items():
            places = [place for place, q in enumerate(questions) if q.graph == graph]
            answers = system.answer_all([questions[place] for place in places])
            for place, answer in zip(places, answers, strict=True):
                predictions[place] = answer
        return predictions


def check_baselines(names: Sequence[str], engine: EngineSettings) -> None:
    """Raise UsageError for an unknown baseline, or for one that needs a model if there is none."""
    for name in names:
        if name not in (*BASELINES, *PROMPTED):
            known = ", ".join((*BASELINES, *PROMPTED))
            raise UsageError(f"There is no baseline {name!r}. The baselines: {known}.")
        if name in PROMPTED and engine.engine == "rules":
            raise UsageError(
                f"The baseline {name} needs a language model: give --engine and --model, or set "
                "them in settings.toml."
            )


def baseline(
    name: str, edition: Edition, graphs: Sequence[str], settings: Settings, report: Report
) -> BenchmarkAnswerer:
    """Return a baseline that answers from the graphs of an edition.

    Triples are encoded by the encoder of the settings, the packaged MiniLM if there is none.
    """
    make = _maker(name, settings, report)
    opened = graphs_of(edition)
    return OverGraphs(name, {graph: make(opened[graph]) for graph in graphs if graph in opened})


def _maker(name: str, settings: Settings, report: Report) -> Callable[[Graph], BenchmarkAnswerer]:
    if name == "bm25":
        return lambda graph: BM25Answerer(graph, report)
    if name == "spe":
        return SPEAnswerer
    return lambda graph: EmbeddingAnswerer(graph, _encoder(graph, settings.engine), report)


def _encoder(graph: Graph, settings: EngineSettings) -> Encoder:
    """Return an encoder for a graph's language."""
    chinese = is_chinese(" ".join(map(graph.label, range(min(graph.nodes, LOOKED_AT)))))
    named = settings.name_encoders[chinese]
    encoder = load_encoder(named) or load_encoder("minilm")
    if encoder is None:
        raise UsageError(
            "The embedding baseline needs an encoder; leave it out: `--set baselines=bm25,spe`."
        )
    return encoder
