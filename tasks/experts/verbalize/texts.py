"""The training texts of a graph: entity wiki, evidence, walks, questions and passages.

The first three methods are those of FactKB (Feng et al. 2023), which CooK's experts are trained
on, but as sentences: all that is known about an entity; a triple with the description of its tail;
the steps of a random walk. Questions with their answers teach an expert to answer. Triples are
streamed from the edition's tables, sorted by head, so that a graph may be larger than memory; walks
read the graph's mapped arrays.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Literal, get_args

import duckdb
import numpy as np
import pyarrow as pa

import schemas
from schemas.knowledge import CORPUS
from tasks.experts.knowledge import question_prompt
from tasks.experts.verbalize.answer_kinds import kind_of_answers
from tasks.experts.verbalize.phrasing import AnswerKind, Phrasings, listed, relation_words
from tasks.experts.verbalize.wordings import loose_question, name_forms
from tasks.graphs.graph import Graph, graphs_of
from tasks.models.encoders.vocabulary import load_tokenizer
from tasks.progress import Report, silent
from tasks.text.chinese_words import segmenter
from tasks.text.languages import HAN, is_chinese, language_of
from warehouse.asserted import create_asserted_view
from warehouse.editions import Edition

Method = Literal["entity_wiki", "evidence", "knowledge_walk", "question", "passage"]
METHODS: tuple[Method, ...] = get_args(Method)
ROWS_AT_ONCE = 20_000  # rows read, and texts made, at a time
LOOSE_TAILS = 3  # longer lists are asked for once, or they would dominate the training
SHORTEST_DESCRIPTION = 10  # characters; FactKB's
_NOWHERE = {"document_id": None, "passage_id": None}
_COMMON_WORDS = slice(1996, 6000)  # of the tokeniser, whose commonest come first, after signs

Text = dict[str, Any]
TRIES = 8  # draws of an edge before a walk ends at its node


@dataclass(frozen=True, slots=True)
class TextOptions:
    """The methods, numbers and sizes of the texts to make.

    `triples` is the maximum number of triples in an entity-wiki text or an answer; `walks` and
    `evidence` are the maximum numbers of texts of these methods, drawn by `seed`; `hops` is the
    maximum length of a walk. A question is also asked in `wordings` looser wordings. `held_out` is
    the share of entities whose texts are for validation. About `checks` questions are asked in one
    more wording, which no training text has: the check of the expert asks these.
    """

    methods: tuple[Method, ...] = METHODS
    seed: int = 0
    triples: int = 10
    evidence: int = 100_000
    walks: int = 100_000
    hops: int = 5
    wordings: int = 8
    held_out: float = 0.02
    checks: int = 300

    def facts(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        return asdict(self)


_COLUMNS = r"""
select t.triple_id, t.head_id, t.head, t.relation, t.tail,
    case when t.graph <> 'corpus' then e.language
        when regexp_matches(t.relation, '\p{Han}') then 'zh' else 'en' end as language
"""
_TRIPLES = f"""
{_COLUMNS}, k.kind
from asserted_triples t
join entities e on e.entity_id = t.head_id
left join entities k on k.entity_id = t.tail_id
where t.graph = $graph and t.sensitivity is distinct from 'sensitive'
order by t.head_id, t.relation, t.tail, t.triple_id
"""
_EVIDENCE = f"""
{_COLUMNS},
    coalesce(d.description, substr(p.text, t.span_start - p.span_start + 1,
        t.span_end - t.span_start)) as evidence,
    if(d.description is null, t.document_id, s.document_id) as document_id,
    if(d.description is null, t.passage_id, s.passage_id) as passage_id
from (
    select * from asserted_triples where graph = $graph and sensitivity is distinct from 'sensitive'
    order by md5(triple_id || $seed) limit $evidence
) t
join entities e on e.entity_id = t.head_id
left join entities d on d.entity_id = t.tail_id and d.sensitivity is distinct from 'sensitive'
    and length(d.description) >= $shortest
left join descriptions s on s.entity_id = d.entity_id and s.text = d.description
left join passages p on p.document_id = t.document_id and p.passage_id = t.passage_id
    and p.sensitivity is distinct from 'sensitive'
    and t.span_start between p.span_start and p.span_end
order by t.triple_id
"""
_RELATIONS = f"""
select relation, arg_min(tail, triple_id, 10), list(distinct kind), any_value(language)
from ({_TRIPLES}) group by relation order by relation
"""
_UNNAMED = """
select word from unnest($words) words(word)
where word not in (select lower(head) from asserted_triples where graph = $graph)
    and word not in (select lower(tail) from asserted_triples where graph = $graph)
"""
_NAMED = """
select t.head || ' ' || t.tail || ' ' || coalesce(e.description, '')
from asserted_triples t
left join entities e on e.entity_id = t.head_id and e.sensitivity is distinct from 'sensitive'
where t.graph = $graph and t.sensitivity is distinct from 'sensitive'
order by md5(t.triple_id || $seed) limit 2000
"""
_PASSAGES = """
select p.document_id, p.passage_id, p.text from passages p
where p.sensitivity is distinct from 'sensitive' order by p.document_id, p.span_start
"""
_WALKED = """
select w.place, t.triple_id from walked w
join asserted_triples t on t.graph = $graph and t.head_id = w.head_id and t.relation = w.relation
    and t.tail = w.tail and t.tail_id is not distinct from w.tail_id
    and t.sensitivity is distinct from 'sensitive'
"""
# Checksums that do not depend on the order of rows, so that rows need not be sorted or kept in
# memory; `experts.sql` compares them.
_GRAPH_SOURCE = """
select count(*) || ':' || coalesce(bit_xor(md5_number(triple_id)), 0) from triples
where graph = $graph
"""
_CORPUS_SOURCE = """
select count(*) || ':' || coalesce(bit_xor(n), 0) from (
    select md5_number(triple_id) as n from triples where graph = $graph
    union all
    select md5_number(document_id || passage_id) from passages
)
"""


class Verbalizer:
    """Makes the training texts of one graph of an edition; as a context, it closes its database."""

    def __init__(self, edition: Edition, graph: str, expert: str, options: TextOptions) -> None:
        """Open the edition's tables; nothing is read yet."""
        self._graph, self._expert, self._options = graph, expert, options
        self._edition = edition
        self._con = duckdb.connect(":memory:", config={"memory_limit": "1GB", "threads": "2"})
        for row in (schemas.Triple, schemas.Entity, schemas.Passage, schemas.Description):
            self._con.read_parquet(str(edition.parquet(row))).create_view(row.table)
        create_asserted_view(self._con, schemas.Triple.table)

    def __enter__(self) -> "Verbalizer":
        return self

    def __exit__(self, *_: object) -> None:
        self._con.close()

    def source_sha(self) -> str:
        """Return a hash of the triples, and of the passages for the corpus, in any order."""
        return str(self._value(_CORPUS_SOURCE if self._graph == CORPUS else _GRAPH_SOURCE))

    def texts(self, report: Report = silent) -> Iterator[list[Text]]:
        """Yield distinct texts in batches: rows of TrainingText, with their `facts`.

        Facts are (head, relation, tail); a passage has none, because its facts are unknown.
        """
        seen = _Seen()
        for method in self._options.methods:
            for texts in _batches(self._texts(method, partial(report, method))):
                fresh = seen.first([text["text_id"] for text in texts])
                yield [text for text, is_first in zip(texts, fresh, strict=True) if is_first]

    def _texts(self, method: Method, report: Callable[[int, int], None]) -> Iterator[Text]:
        makers = {
            "entity_wiki": self._entity_wiki,
            "evidence": self._evidence,
            "knowledge_walk": self._knowledge_walks,
            "question": self._questions,
            "passage": self._passages,
        }
        return makers[method](report)

    # -- methods ----------------------------------------------------------------------------------

    def _entity_wiki(self, report: Callable[[int, int], None]) -> Iterator[Text]:
        """Yield all facts about each head, with the tails of a relation in one sentence."""
        rows = self._rows(_TRIPLES, report, self._triples, graph=self._graph)
        for (head_id, head), facts in groupby(rows, itemgetter("head_id", "head")):
            sentences: list[str] = []
            stated: list[dict[str, Any]] = []
            for relation, same in groupby(facts, itemgetter("relation")):
                for some in _batches(same, self._options.triples):
                    if len(stated) + len(some) > self._options.triples and sentences:
                        yield self._text("entity_wiki", head_id, sentences, stated)
                        sentences, stated = [], []
                    language = some[0]["language"]
                    tails = list(dict.fromkeys(row["tail"] for row in some))
                    sentences.append(self._phrasings.of(relation, language).sentence(head, tails))
                    stated += some
            yield self._text("entity_wiki", head_id, sentences, stated)

    def _evidence(self, report: Callable[[int, int], None]) -> Iterator[Text]:
        """Yield single triples, in either direction, with the tail's description or the source."""
        options = self._options
        values: dict[str, Any] = {"graph": self._graph, "seed": str(options.seed)}
        values |= {"evidence": options.evidence, "shortest": SHORTEST_DESCRIPTION}
        for row in self._rows(_EVIDENCE, report, min(self._triples, options.evidence), **values):
            phrasing = self._phrasings.of(row["relation"], row["language"])
            head, tail = row["head"], row["tail"]
            if _share(row["triple_id"], "inverse", options.seed) < 0.5:
                sentence = phrasing.inverse_sentence(head, tail)
            else:
                sentence = phrasing.sentence(head, [tail])
            sentences = [sentence, row["evidence"]] if row["evidence"] else [sentence]
            yield self._text("evidence", row["head_id"], sentences, [row], row)

    def _knowledge_walks(self, report: Callable[[int, int], None]) -> Iterator[Text]:
        """Yield random walks from distinct, randomly chosen nodes with outgoing edges."""
        graph = graphs_of(self._edition).get(self._graph)
        if graph is None:
            return
        rng = np.random.default_rng(self._options.seed)
        heads = np.flatnonzero(np.diff(graph.out_offsets) > 0)
        order = rng.permutation(heads)[: self._options.walks].astype(np.int32)
        for begin in range(0, len(order), ROWS_AT_ONCE):
            yield from self._walked(graph, order[begin : begin + ROWS_AT_ONCE], rng)
            report(min(begin + ROWS_AT_ONCE, len(order)), len(order))

    def _walked(self, graph: Graph, starts: np.ndarray, rng: np.random.Generator) -> Iterator[Text]:
        """Yield the texts of the walks from some start nodes."""
        walks = random_walks(graph, starts, self._options.hops, rng)
        places = np.flatnonzero(walks >= 0)
        edges = walks.ravel()[places]
        columns = {
            "place": pa.array(places),
            "head_id": graph.ids.take(pa.array(graph.heads[edges])),
            "relation": pa.array(graph.relations).take(pa.array(graph.out_relations[edges])),
            "tail_id": graph.ids.take(pa.array(graph.out_tails[edges])),
            "head": graph.labels.take(pa.array(graph.heads[edges])),
            "tail": graph.labels.take(pa.array(graph.out_tails[edges])),
        }
        walked = pa.table(columns)
        self._con.register("walked", walked)
        matches = self._con.execute(_WALKED, {"graph": self._graph}).fetchall()
        self._con.unregister("walked")
        triple_ids: dict[int, str] = dict(matches)
        rows = walked.to_pylist()
        for _, steps in groupby(rows, lambda row: row["place"] // self._options.hops):
            whole = list(steps)
            for row in whole:
                row["triple_id"] = triple_ids.get(row["place"])
            starts_held_out = self._is_held_out(whole[0]["head_id"])
            if any(
                row["triple_id"] is None or self._is_held_out(row["head_id"]) is not starts_held_out
                for row in whole
            ):
                continue  # sensitive, or both training and held-out entities
            language = language_of(whole[0]["head"])
            sentences = [
                self._phrasings.of(row["relation"], language).sentence(row["head"], [row["tail"]])
                for row in whole
            ]
            yield self._text("knowledge_walk", whole[0]["head_id"], sentences, whole)

    def _questions(self, report: Callable[[int, int], None]) -> Iterator[Text]:
        """Yield questions for each relation of a head, answered by its tails, up to a limit."""
        rows = self._rows(_TRIPLES, report, self._triples, graph=self._graph)
        checked = self._options.checks / max(self._triples, 1)
        to_people = list(self._relations.values()).count("person")
        for (head_id, head, relation), facts in groupby(
            rows, itemgetter("head_id", "head", "relation")
        ):
            some = list(islice(facts, self._options.triples))
            language = some[0]["language"]
            phrasing = self._phrasings.of(relation, language)
            tails = list(dict.fromkeys(row["tail"] for row in some))
            kind = kind_of_answers(relation, tails, [row["kind"] for row in some], language)
            prompt = question_prompt(phrasing.ask(head, kind=kind), phrasing.language)
            answer = listed(tails, language)
            exact = self._text("question", head_id, [prompt, answer], some) | {"subject": head}
            yield exact
            if len(tails) > LOOSE_TAILS:
                continue
            spoken = "zh" if language == "zh" or is_chinese(relation) else "en"
            rng = random.Random(f"{self._options.seed} {head_id} {relation}")  # noqa: S311
            is_checked = exact["split"] == "train" and (
                _share(f"{head_id} {relation}", "check", self._options.seed) < checked
            )
            for number in range(self._options.wordings + is_checked):
                name = rng.choice(name_forms(head))
                question = loose_question(
                    relation,
                    name,
                    kind=kind,
                    is_told_by_kind=kind == "person" and to_people == 1,
                    vocabulary=self._vocabulary[spoken],
                    rng=rng,
                    language=spoken,
                )
                stated = [{**row, "head": name} for row in some]
                prompt = question_prompt(question, language)
                text = self._text("question", head_id, [prompt, answer], stated)
                split = text["split"] if number < self._options.wordings else "check"
                yield text | {"subject": name, "split": split}

    def _passages(self, report: Callable[[int, int], None]) -> Iterator[Text]:
        """Yield the passages of the corpus; a document is held out as a whole."""
        if self._graph != CORPUS:
            return
        total = self._value("select count(*) from passages")
        for row in self._rows(_PASSAGES, report, total):
            yield self._text("passage", row["document_id"], [row["text"]], [], row)

    # -- shared -----------------------------------------------------------------------------------

    def _text(
        self,
        method: Method,
        subject: str,
        sentences: Sequence[str],
        triples: Sequence[Mapping[str, Any]],
        place: Mapping[str, Any] = _NOWHERE,
    ) -> Text:
        """Return a row of TrainingText; `subject` decides whether it is held out."""
        joiner = "" if sentences[0].endswith("。") else " "
        text = joiner.join(sentences)
        digest = hashlib.sha256(f"{self._expert}\x1f{method}\x1f{text}".encode())
        return {
            "text_id": digest.hexdigest()[:24],
            "expert": self._expert,
            "method": method,
            "text": text,
            "triple_ids": [row["triple_id"] for row in triples],
            "facts": [(row["head"], row["relation"], row["tail"]) for row in triples],
            "graph": self._graph,
            "split": "validation" if self._is_held_out(subject) else "train",
            "subject": None,
            "rewritten": False,
            **{column: place[column] for column in _NOWHERE},
        }

    def _is_held_out(self, subject: str) -> bool:
        return _share(subject, "split", self._options.seed) < self._options.held_out

    def _rows(
        self, query: str, report: Callable[[int, int], None], total: int, **values: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query, of which only one batch is in memory."""
        done = 0
        # A separate cursor, because another query may run before the last row is read.
        cursor = self._con.cursor()
        for batch in cursor.sql(query, params=values).to_arrow_reader(ROWS_AT_ONCE):
            yield from batch.to_pylist()
            done += len(batch)
            report(done, total)

    @cached_property
    def _phrasings(self) -> Phrasings:
        return Phrasings(self._relations)

    @cached_property
    def _relations(self) -> dict[str, AnswerKind]:
        """What each relation leads to, as some of its tails tell."""
        rows = self._con.execute(_RELATIONS, {"graph": self._graph}).fetchall()
        return {row[0]: kind_of_answers(*row) for row in rows}

    @cached_property
    def _vocabulary(self) -> dict[str, list[str]]:
        """Words that name no entity and no relation: common ones, Chinese ones of some triples."""
        values = {"graph": self._graph, "seed": str(self._options.seed)}
        rows = self._con.execute(_NAMED, values).fetchall()
        chinese = {
            word for [names] in rows for run in HAN.findall(names) for word in segmenter().cut(run)
        }
        ranks = load_tokenizer().get_vocab()
        english = set(filter(str.isalpha, sorted(ranks, key=ranks.__getitem__)[_COMMON_WORDS]))
        relations = " ".join(map(relation_words, self._relations)).lower()
        words = [word for word in chinese | english if word not in relations]
        named = {"graph": self._graph, "words": words}
        unnamed = {word for [word] in self._con.execute(_UNNAMED, named).fetchall()}
        return {"en": sorted(unnamed & english), "zh": sorted(unnamed & chinese)}

    @cached_property
    def _triples(self) -> int:
        return int(self._value("select count(*) from asserted_triples where graph = $graph"))

    def _value(self, query: str) -> Any:
        """Return the only value of a query's only row."""
        parameters = {"graph": self._graph} if "$graph" in query else None
        [[value]] = self._con.execute(query, parameters).fetchall()
        return value


def says_all(text: Text) -> bool:
    """Return whether a text contains every head and tail of its facts, letter for letter."""
    words = text["text"]
    return all(head in words and tail in words for head, _, tail in text["facts"])


class _Seen:
    """The ids of the texts so far, in eight bytes each."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.uint64)

    def first(self, text_ids: Sequence[str]) -> np.ndarray:
        """Return which ids occur for the first time, bool (ids,), and remember them all."""
        keys = np.array([int(text_id[:16], 16) for text_id in text_ids], np.uint64)
        unique, first = np.unique(keys, return_index=True)
        is_first = np.zeros(len(keys), bool)
        is_first[first[~np.isin(unique, self._keys, assume_unique=True)]] = True
        self._keys = np.union1d(self._keys, unique)
        return is_first


def _share(subject: str, purpose: str, seed: int) -> float:
    """Return a pseudo-random number in [0, 1) that depends on subject, purpose and seed only."""
    digest = hashlib.blake2b(f"{seed}\x1f{purpose}\x1f{subject}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def _batches(items: Iterator[Any], size: int = ROWS_AT_ONCE) -> Iterator[list[Any]]:
    while batch := list(islice(items, size)):
        yield batch


def random_walks(
    graph: Graph, starts: np.ndarray, hops: int, rng: np.random.Generator
) -> np.ndarray:
    """Return a walk from each start, int32 (walks,): its edges, int64 (walks, hops), -1 at its end.

    Each hop is uniform over the outgoing edges to nodes that the walk has not visited. A walk ends
    if `TRIES` draws give no such edge.
    """
    edges = np.full((len(starts), hops), -1, np.int64)
    visited = np.full((len(starts), hops + 1), -1, np.int32)
    visited[:, 0] = starts
    going = np.arange(len(starts))
    for hop in range(hops):
        chosen = _fresh_edges(graph, visited[going], hop, rng)
        going, chosen = going[chosen >= 0], chosen[chosen >= 0]
        edges[going, hop] = chosen
        visited[going, hop + 1] = graph.out_tails[chosen]
    return edges


def _fresh_edges(
    graph: Graph, visited: np.ndarray, hop: int, rng: np.random.Generator
) -> np.ndarray:
    """Return an edge to an unvisited node for each walk; -1 if none was drawn."""
    nodes = visited[:, hop]
    first = graph.out_offsets[nodes]
    degrees = graph.out_offsets[nodes + 1] - first
    chosen = np.full(len(nodes), -1, np.int64)
    open_walks = np.flatnonzero(degrees > 0)
    for _ in range(TRIES):
        if not len(open_walks):
            break
        drawn = first[open_walks] + (rng.random(len(open_walks)) * degrees[open_walks]).astype(
            np.int64
        )
        tails = graph.out_tails[drawn]
        fresh = ~(visited[open_walks, : hop + 1] == tails[:, None]).any(axis=1)
        chosen[open_walks[fresh]] = drawn[fresh]
        open_walks = open_walks[~fresh]
    return chosen
