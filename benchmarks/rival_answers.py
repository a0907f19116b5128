"""A rival of cited answers: LightRAG's `mix` mode with the same passages, graph, vectors and model.

    python -m venv ENV && ENV/bin/pip install -e . lightrag-hku
    ENV/bin/almanac model install minilm
    ENV/bin/python -m benchmarks.rival_answers --home HOME --questions FILE --model NAME

LightRAG installs packages when it is imported, so it has an environment of its own. Nothing is
extracted anew: the passages, entities and triples of the edition are inserted by its own interface.
Entities, relations and passages in a prompt have 2,500 tokens together, as sources have in ours,
divided as by its defaults and counted in the same way. Instructions, the question and the list of
references come on top. A question needs two calls: one for keywords, one for the answer, which is
judged as in `cited_answers.py`, without its references.
"""

import asyncio
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq

from benchmarks.cited_answers import states
from benchmarks.command import parser_of, report, run_command
from tasks.models.encoders.load import load_encoder
from tasks.models.tokens import estimate_tokens
from tasks.retrieval.index import passage_meaning
from tasks.text.languages import is_chinese
from tasks.text.word_index import open_table
from warehouse.editions import Edition
from warehouse.home import Home

BUDGET = 2500  # tokens of entities, relations and passages
ENTITIES, RELATIONS = BUDGET * 6 // 30, BUDGET * 8 // 30  # LightRAG's default shares
REFERENCES = 200  # tokens that LightRAG keeps free for the list of references
AT_ONCE = 200  # questions
PATIENCE = 7200  # seconds; replies may be written by hand
NOT_FOUND = "NOT FOUND"
REMARK = f"If the context does not have the answer, begin the response with {NOT_FOUND}."
Kept = dict[str, list[dict[str, Any]]]


class Counted:
    """Counts tokens as the rest of the benchmark does; LightRAG needs no more of a tokeniser."""

    def encode(self, content: str) -> list[int]:
        """Return one number for each token."""
        return [0] * estimate_tokens(content)

    def decode(self, tokens: list[int]) -> str:
        """Raise ValueError: a text cannot be had from its number of tokens."""
        raise ValueError(f"{len(tokens)} tokens are only counted.")


def exported(edition: Edition) -> Kept:
    """Return an edition's passages, entities and triples as `ainsert_custom_kg` takes them.

    LightRAG has one entity of a name and one relation of two entities, so namesakes and what
    relates two entities are joined. It refuses a name that it makes empty, and a relation of an
    entity to itself. `passages` of an entity are the ids of all passages that mention it.
    """
    from lightrag.utils import normalize_entity_name, sanitize_text_for_encoding

    passages = open_table(edition.path / "search" / "passages.arrow").to_pylist()
    chunks = [
        {"content": text, "source_id": one["passage_id"], "file_path": one["uri"]}
        for one in passages
        if (text := sanitize_text_for_encoding(passage_meaning(one)))
    ]
    known = {chunk["source_id"] for chunk in chunks}
    mentioning = defaultdict(list)
    for one in _rows(edition, "entity_passages"):
        if one["passage_id"] in known:
            mentioning[one["entity_id"]].append(one["passage_id"])
    named, related = defaultdict(list), defaultdict(list)
    for one in _rows(edition, "entities"):
        named[normalize_entity_name(one["name"])].append(one)
    for one in _rows(edition, "triples"):
        ends = (normalize_entity_name(one["head"]), normalize_entity_name(one["tail"]))
        if all(ends) and ends[0] != ends[1]:
            related[min(ends), max(ends)].append(one)
    entities = []
    for name, bearers in named.items():
        places = [place for one in bearers for place in mentioning[one["entity_id"]]]
        if name and places:
            entities.append(
                {
                    "entity_name": name,
                    "entity_type": bearers[0]["kind"],
                    "description": _joined(one["description"] or one["kind"] for one in bearers),
                    "source_id": places[0],
                    "passages": places,
                }
            )
    relations = [
        {
            "src_id": source,
            "tgt_id": target,
            "description": _joined(f"{t['head']} {t['relation']} {t['tail']}" for t in triples),
            "keywords": _joined(triple["relation"] for triple in triples),
            "source_id": triples[0]["passage_id"],
        }
        for (source, target), triples in related.items()
    ]
    return {"chunks": chunks, "entities": entities, "relationships": relations}


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _rows(edition: Edition, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(edition.path / f"{table}.parquet").to_pylist()
    return rows


async def opened(folder: str, model: str, used: Counter[str], *, chinese: bool) -> Any:
    """Return an empty LightRAG that asks the endpoint's model; `used` counts calls and tokens."""
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc, Tokenizer
    from openai import AsyncOpenAI

    client = AsyncOpenAI(timeout=PATIENCE)
    encoder = load_encoder("minilm-zh" if chinese else "minilm")
    assert encoder is not None

    async def vectors(texts: list[str]) -> np.ndarray:
        return await asyncio.to_thread(encoder.encode, texts)

    async def reply(prompt: str, system_prompt: str | None = None, **_: Any) -> str:
        system: list[Any] = [{"role": "system", "content": system_prompt}] if system_prompt else []
        used.update(calls=1, tokens=estimate_tokens(prompt) + estimate_tokens(system_prompt or ""))
        completion = await client.chat.completions.create(
            model=model, messages=[*system, {"role": "user", "content": prompt}], temperature=0
        )
        return completion.choices[0].message.content or ""

    rag = LightRAG(
        working_dir=folder,
        embedding_func=EmbeddingFunc(embedding_dim=encoder.dimensions, func=vectors),
        default_embedding_timeout=PATIENCE,
        llm_model_func=reply,
        llm_model_max_async=AT_ONCE,
        default_llm_timeout=PATIENCE,
        tokenizer=Tokenizer("counted", Counted()),
        enable_llm_cache=False,
        addon_params={"language": "Chinese" if chinese else "English"},
    )
    await rag.initialize_storages()
    return rag


async def insert(rag: Any, kept: Kept) -> None:
    """Insert what `exported` returned; an entity then has all passages that mention it.

    The interface takes one passage for each, where LightRAG's own extraction keeps all.
    """
    from lightrag.constants import GRAPH_FIELD_SEP
    from lightrag.utils import compute_mdhash_id

    await rag.ainsert_custom_kg(kept)
    chunks = {
        one["source_id"]: compute_mdhash_id(one["content"], "chunk-") for one in kept["chunks"]
    }
    graph = rag.chunk_entity_relation_graph
    nodes = await graph.get_nodes_batch([one["entity_name"] for one in kept["entities"]])
    for one in kept["entities"]:
        places = dict.fromkeys(chunks[place] for place in one["passages"])
        nodes[one["entity_name"]]["source_id"] = GRAPH_FIELD_SEP.join(places)
    await graph.upsert_nodes_batch(list(nodes.items()))


async def answered(rag: Any, questions: list[str]) -> list[str]:
    """Return the answers to questions, all asked at once."""
    from lightrag import QueryParam
    from lightrag.prompt import PROMPTS

    fixed = PROMPTS["rag_response"] + PROMPTS["kg_query_context"] + REMARK
    total = BUDGET + estimate_tokens(fixed) + REFERENCES
    asked = [
        rag.aquery(
            question,
            QueryParam(
                mode="mix",
                response_type="Single Paragraph",
                user_prompt=REMARK,
                enable_rerank=False,
                max_entity_tokens=ENTITIES,
                max_relation_tokens=RELATIONS,
                max_total_tokens=total + estimate_tokens(question),
            ),
        )
        for question in questions
    ]
    return await asyncio.gather(*asked)


def judged(text: str, accepted: list[str]) -> str:
    """Return `refused`, `right` or `wrong`; what the references name is no answer."""
    answer = text.partition("### References")[0].strip(" \n#*>")
    if answer.startswith(NOT_FOUND) or "[no-context]" in answer:
        return "refused"
    return "right" if states([answer], accepted) else "wrong"


async def measure(edition: Edition, questions: list[dict[str, Any]], model: str) -> dict[str, Any]:
    """Return how LightRAG answered questions about an edition, and what it took."""
    used: Counter[str] = Counter()
    texts = [question["question"] for question in questions]
    with tempfile.TemporaryDirectory(prefix="almanac-rival-") as folder:
        rag = await opened(folder, model, used, chinese=is_chinese("".join(texts)))
        await insert(rag, exported(edition))
        answers = await answered(rag, texts)
        await rag.finalize_storages()
    gold = [question.get("answers", []) for question in questions]
    verdicts = list(map(judged, answers, gold))
    counts = Counter(zip(map(bool, gold), verdicts, strict=True))
    return {
        "questions": sum(map(bool, gold)),
        "right": counts[True, "right"],
        "wrong": counts[True, "wrong"],
        "without an answer": len(gold) - sum(map(bool, gold)),
        "refused": counts[False, "refused"],
        "calls a question": round(used["calls"] / len(gold), 2),
        "prompt tokens a question": round(used["tokens"] / len(gold)),
        "not right": [
            f"{text} -> {answer}"
            for text, answer, accepted, verdict in zip(texts, answers, gold, verdicts, strict=True)
            if verdict != ("right" if accepted else "refused")
        ],
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    questions = [orjson.loads(line) for line in arguments.questions.read_bytes().splitlines()]
    edition = Home(arguments.home).require_edition()
    figures = asyncio.run(measure(edition, questions, arguments.model))
    report(f"rival-answers-{arguments.home.name}", figures)


if __name__ == "__main__":
    run_command(main)
