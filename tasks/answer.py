"""Answers a question from an edition, with the places it rests on, or says that it is not known."""

import time
from uuid import uuid4

import duckdb

from schemas.answers import Answer, Evidence
from schemas.settings import EngineSettings
from tasks.embed import load_encoder
from tasks.evidence import Sentence, gather
from tasks.expectation import expect
from tasks.reader import Reading, prepare, read
from tasks.search import Searcher
from warehouse.editions import Edition

PASSAGES = 10
KNOWN = 0.55  # a reading below this score is not an answer
NEARLY = 0.9  # other answers have at least this share of the best one's score


class Answerer:
    """Answers questions from one edition."""

    def __init__(self, edition: Edition, settings: EngineSettings | None = None) -> None:
        """Open the edition's indexes and its database, read-only."""
        settings = settings or EngineSettings()
        self.edition = edition
        self._con = duckdb.connect(str(edition.database), read_only=True)
        self._searcher = Searcher(
            edition.path,
            load_encoder(settings.encoder),
            load_encoder(settings.chinese_encoder or "none"),
        )

    def answer(self, question: str) -> Answer:
        """Return the answer with its evidence; `answerable` is false if nothing supports one."""
        began = time.perf_counter()
        readings = self._readings(question)
        best = readings[0] if readings and readings[0].score >= KNOWN else None
        near = [r for r in readings if best and r.score >= NEARLY * best.score]
        return Answer(
            question_id=uuid4().hex,
            question=question,
            answer=best.phrase.text if best else None,
            answers=[reading.phrase.text for reading in near],
            answerable=best is not None,
            route="text" if best else "none",
            evidence=[_evidence(sentence, best.score) for sentence in (best.chain if best else ())],
            edition=self.edition.id,
            seconds=round(time.perf_counter() - began, 3),
        )

    def _readings(self, question: str) -> list[Reading]:
        searcher = self._searcher
        found = gather(searcher.passages(question, PASSAGES), searcher, self._con)
        likeness = searcher.compare(question, [sentence.text for sentence in found])
        for sentence, value in zip(found, likeness, strict=True):
            sentence.likeness = value
        asked = prepare(question, expect(question), searcher.link(question), searcher.rarity)
        return read(asked, found, searcher.kind_of)


def ask_edition(
    edition: Edition, question: str, settings: EngineSettings | None = None
) -> dict[str, object]:
    """Answer one question; return the JSON object that `almanac ask --json` prints."""
    return Answerer(edition, settings).answer(question).model_dump()


def _evidence(sentence: Sentence, score: float) -> Evidence:
    return Evidence(
        text=sentence.text,
        kind="passage",
        document_id=sentence.document_id,
        uri=sentence.uri,
        span_start=sentence.start,
        span_end=sentence.start + len(sentence.text),
        score=round(score, 4),
    )
