"""Verbalize a graph into training texts and publish an edition with them.

A set of texts takes effect when its last row is written; a run that was killed leaves rows that
nothing reads.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa

from schemas.documents import Passage
from schemas.errors import UsageError
from schemas.knowledge import CORPUS
from schemas.learning import Verbalization, VerbalizedText
from schemas.settings import Settings
from tasks.experts.registry import check_name
from tasks.experts.verbalize.texts import (
    METHODS,
    Method,
    Text,
    TextOptions,
    Verbalizer,
    says_all,
)
from tasks.graphs.graph import graphs_of
from tasks.models.client import BlockingClient
from tasks.models.prompts.prompt import load_prompt
from tasks.models.prompts.replies import Text as TextReply
from tasks.progress import Report, RunStage, run_plainly, silent
from tasks.publish.publish import PUBLISHING
from tasks.run import RunReport, Stages, Work, publishing_run, run_stages
from tasks.text.languages import language_of
from warehouse.editions import Edition
from warehouse.home import Home

COMMIT_TEXTS = 200_000
REPLY_TOKENS = 512
Mapped = Callable[[Callable[[Text], Text], Iterable[Text]], Iterable[Text]]


def verbalize(
    home: Home,
    settings: Settings,
    *,
    graph: str = CORPUS,
    expert: str | None = None,
    options: TextOptions | None = None,
    rewrite: bool = False,
    report: Report = silent,
    run_stage: RunStage = run_plainly,
) -> RunReport:
    """Make the training texts of a graph, as the set `expert`, and publish an edition with them.

    The set's earlier texts from this graph are replaced. With `rewrite` the model of the settings
    puts the texts into its own words. Raises UsageError if there is no such graph, or no model to
    rewrite with; then nothing has changed.
    """
    name = expert or graph
    check_name(name)
    edition = _edition_with(home, graph)
    if rewrite and settings.engine.engine == "rules":
        raise UsageError("Rewriting needs a language model: say --engine and --model.")
    with publishing_run(home, "verbalize", settings) as run:
        work = _Verbalizing(
            home,
            settings,
            run,
            report,
            edition=edition,
            graph=graph,
            expert=name,
            options=options or TextOptions(),
            rewrite=rewrite,
        )
        run_stages(work, STAGES, run_stage)
    return run


def chosen_methods(names: Sequence[str]) -> tuple[Method, ...]:
    """Return the methods with these names; raise UsageError for an unknown one."""
    unknown = sorted(set(names) - set(METHODS))
    if unknown:
        raise UsageError(f"There is no method {unknown[0]!r}. The methods: {', '.join(METHODS)}.")
    return tuple(method for method in METHODS if method in names)


def _edition_with(home: Home, graph: str) -> Edition:
    """Return the current edition; raise UsageError unless it has facts of the graph."""
    edition = home.editions.current()
    if edition is None:
        raise UsageError("Nothing is published yet: refresh from sources or import a graph first.")
    graphs = list(graphs_of(edition))
    if edition.rows(Passage) and CORPUS not in graphs:
        graphs.append(CORPUS)
    if graph not in graphs:
        known = ", ".join(graphs) or "none"
        raise UsageError(f"There is no graph {graph!r}. The graphs: {known}.")
    return edition


class Rewriter:
    """Rewrites texts that were made from triples, several in parallel."""

    def __init__(self, model: BlockingClient, mapped: Mapped) -> None:
        """Take the model and `mapped`, a `map` that may call it from several threads."""
        self._model, self._mapped = model, mapped

    def rewritten(self, texts: Sequence[Text]) -> list[Text]:
        """Return the texts in order, rewritten if the model's text has every name.

        Questions and passages stay as they are.
        Raises AlmanacError if the model cannot reply.
        """
        return list(self._mapped(self._rewrite, texts))

    def _rewrite(self, text: Text) -> Text:
        facts: list[tuple[str, str, str]] = text["facts"]
        # A description instead of a question would teach no answer.
        if not facts or text["method"] == "question":
            return text
        language = language_of(text["text"])
        triples = "\n".join(" | ".join(fact) for fact in facts)
        request = load_prompt("describe_graph", language).request(
            {"triples": triples}, most_tokens=REPLY_TOKENS
        )
        reply: Any = self._model.ask(request).reply
        if not isinstance(reply, TextReply):
            return text
        fresh = {**text, "text": reply.text, "rewritten": True}
        return fresh if says_all(fresh) else text


@dataclass
class _Verbalizing(Work):
    """One verbalization in progress: what its stages share."""

    edition: Edition | None = None
    graph: str = ""
    expert: str = ""
    options: TextOptions = field(default_factory=TextOptions)
    rewrite: bool = False

    def __post_init__(self) -> None:
        self._id = uuid4().hex

    def make(self) -> None:
        """Write the texts to the journal, then the row that makes them effective."""
        assert self.edition is not None
        counts: Counter[str] = Counter()
        waiting: list[pa.Table] = []
        with (
            Verbalizer(self.edition, self.graph, self.expert, self.options) as verbalizer,
            self._rewriter() as rewriter,
        ):
            for texts in verbalizer.texts(self.report):
                if rewriter:
                    texts = rewriter.rewritten(texts)
                whole = [text for text in texts if says_all(text)]
                counts["refused"] += len(texts) - len(whole)
                counts["rewritten"] += sum(text["rewritten"] for text in whole)
                counts.update(str(text["method"]) for text in whole)
                waiting.append(self._table(whole))
                if sum(map(len, waiting)) >= COMMIT_TEXTS:
                    self._commit(waiting)
            self._commit(waiting)
            source_sha = verbalizer.source_sha()
        self.run.counts["verbalize"] = dict(counts)
        row = Verbalization(
            verbalization_id=self._id,
            expert=self.expert,
            graph=self.graph,
            action="make",
            options=orjson.dumps(self.options.facts()).decode(),
            texts=sum(counts.values()) - counts["refused"] - counts["rewritten"],
            source_sha=source_sha,
            edition=self.edition.id,
            run_id=self.run.run_id,
            made_at=datetime.now(UTC),
        )
        self.home.journal.append({Verbalization: Verbalization.to_table([row])})

    def _table(self, texts: list[Text]) -> pa.Table:
        return VerbalizedText.to_table({**text, "verbalization_id": self._id} for text in texts)

    def _commit(self, waiting: list[pa.Table]) -> None:
        if waiting:
            self.home.journal.append({VerbalizedText: pa.concat_tables(waiting)})
            waiting.clear()

    @contextmanager
    def _rewriter(self) -> Iterator[Rewriter | None]:
        """Yield a rewriter with the model of the settings; None if texts are not rewritten."""
        if not self.rewrite:
            yield None
            return
        from tasks.models.transports import open_client

        client = open_client(self.home, self.settings.engine, self.run.run_id)
        try:
            with (
                BlockingClient(client) as model,
                ThreadPoolExecutor(client.settings.concurrency) as pool,
            ):
                yield Rewriter(model, pool.map)
        finally:
            self.home.ledger.seal()
            self.run.counts["calls"] = dict(client.counts)
            self.run.cost = client.paid


STAGES: Stages[_Verbalizing] = (
    ("verbalize", _Verbalizing.make, "a graph -> training texts in the journal"),
    *PUBLISHING,
)
