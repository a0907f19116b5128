"""What search finds for a question, whatever answers it: `recall@8` and `perfect_retrieval@8`."""

from schemas.documents import Passage
from schemas.knowledge import CORPUS
from schemas.settings import EngineSettings
from tasks.models.encoders.load import load_encoder
from tasks.questions.question import BenchmarkQuestion
from tasks.retrieval.search import Searcher
from tasks.text.question import analyse
from warehouse.editions import Edition

FIRST = 8  # documents that count as found
PASSAGES = 64  # in which that many documents are looked for


class DocumentSearch:
    """The search of an edition, as the route `text` uses it."""

    def __init__(self, edition: Edition, settings: EngineSettings) -> None:
        """Open the edition's indexes if it has passages."""
        self._searcher = None
        if edition.rows(Passage):
            encoders = load_encoder(settings.encoder), load_encoder(settings.chinese_encoder)
            self._searcher = Searcher(edition.path, *encoders)

    def found(self, question: BenchmarkQuestion) -> frozenset[str] | None:
        """Return the titles, uris and ids of the first documents found and of their passages.

        None for a question to an imported graph, and for an edition without passages.
        """
        if self._searcher is None or question.graph not in ("", CORPUS):
            return None
        hits = self._searcher.passages(analyse(question.question), PASSAGES)
        first = list(dict.fromkeys(hit.fields["document_id"] for hit in hits))[:FIRST]
        names = ("title", "uri", "document_id", "passage_id")
        found = [hit.fields for hit in hits if hit.fields["document_id"] in first]
        return frozenset(fields[name] for fields in found for name in names)
