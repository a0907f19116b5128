"""Answers from the passages of an edition."""

from functools import cached_property
from threading import Lock

from schemas.documents import Passage
from tasks.ask.route import AnswerRoute, Attempt, QuestionState, Resources, RouteResult
from tasks.reader.passage_reader import PassageReader
from tasks.text.question import Question


class TextRoute(AnswerRoute):
    """Answers from the passages of an edition."""

    def __init__(self, resources: Resources) -> None:
        """Open nothing yet."""
        self._edition, self._engine = resources.edition, resources.settings.engine
        self._min_score = resources.options.min_score
        self._lock = Lock()  # questions that are answered at once share one reader

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the answer from passages; none if the edition has no passages."""
        with self._lock:
            if self._reader is None:
                return RouteResult("text")
            answer = self._reader.answer(question, self._min_score)
        tried = (Attempt("passages"),)
        return RouteResult(
            "text", answer.answers, answer.evidence, tried, probability=answer.probability
        )

    @cached_property
    def _reader(self) -> PassageReader | None:
        has_passages = self._edition.rows(Passage) > 0
        return PassageReader(self._edition, self._engine) if has_passages else None
