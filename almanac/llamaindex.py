"""A retriever for LlamaIndex: passages and notes of a home, with the place of each."""

from pathlib import Path
from typing import Any

import almanac
from schemas.errors import AlmanacError
from schemas.extras import missing_library

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise AlmanacError(missing_library(error) or str(error)) from error


class AlmanacRetriever(BaseRetriever):
    """Finds what `almanac search` finds; `limit` passages and as many notes.

    `where` is a condition on their documents, as there: "date >= 2025-01-01".
    Metadata have kind, title, and the document with the characters that a text stands at. May be
    called from any thread.
    """

    def __init__(
        self,
        home: str | Path = "almanac-home",
        limit: int = 8,
        edition: str | None = None,
        where: str | None = None,
    ) -> None:
        super().__init__()
        self._home = home
        self._options: dict[str, Any] = {"limit": limit, "edition": edition, "where": where}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with almanac.open(self._home) as kb:  # a home of its own for each thread
            found = kb.search(query_bundle.query_str, **self._options)
        return [_node(**hit) for hit in found]


def _node(text: str, score: float, **metadata: Any) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text, metadata=metadata), score=score)
