"""A retriever for LangChain: passages and notes of a home, with the place of each."""

from pathlib import Path
from typing import Any

import almanac
from schemas.errors import AlmanacError
from schemas.extras import missing_library

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    raise AlmanacError(missing_library(error) or str(error)) from error


class AlmanacRetriever(BaseRetriever):
    """Finds what `almanac search` finds; `limit` passages and as many notes.

    `where` is a condition on their documents, as there: "date >= 2025-01-01".
    Metadata have kind, title, score, and the document with the characters that a text stands at.
    May be called from any thread.
    """

    home: Path = Path("almanac-home")
    limit: int = 8
    edition: str | None = None
    where: str | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        with almanac.open(self.home) as kb:  # a home of its own for each thread
            found = kb.search(query, limit=self.limit, edition=self.edition, where=self.where)
        return [_document(**hit) for hit in found]


def _document(text: str, **metadata: Any) -> Document:
    return Document(page_content=text, metadata=metadata)
