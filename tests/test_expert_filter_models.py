"""Verifiers and summarizers from checkpoints: labels by name, safetensors only, hostile texts."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from schemas.errors import UsageError
from tasks.experts.filters.evidence import EditionEvidence
from tasks.experts.filters.pruning import CheckpointSummarizer, prune
from tasks.experts.filters.verifier import CheckpointVerifier, label_columns
from tasks.experts.knowledge import KnowledgeText
from tasks.graphs.graph import Graph
from tasks.retrieval.index import build_index
from tasks.retrieval.search import Searcher
from tests.small_edition import make_edition
from tests.tiny_models import make_chat_model, make_encoding_model

LABELS = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
PAIRS = [
    ("the cat sat on a mat", "the cat sat"),
    ("Ada met Charles", "the mat sat"),
    ("", ""),
    ("\x00\x1b[31m", "mat " * 250_000),
    ("cat " * 250_000, "the"),
]


def make_classifier(folder: Path, order: list[int], labels: list[str]) -> Path:
    """Save a tiny BERT whose outputs stand in an order, under the labels' names."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = [
        "[PAD]",
        "[CLS]",
        "[SEP]",
        "[UNK]",
        *sorted({*PAIRS[0][0].split(), *PAIRS[1][0].split()}),
    ]
    tokens = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="[UNK]"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    tokens.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token="[PAD]", unk_token="[UNK]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(11)
    config = BertConfig(
        vocab_size=32,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        initializer_range=0.4,
        id2label=dict(enumerate(labels)),
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.copy_(model.classifier.weight[order].clone())
    model.save_pretrained(folder)
    return folder


def test_labels_count_by_name_not_by_place(tmp_path):
    plain = CheckpointVerifier(str(make_classifier(tmp_path / "a", [0, 1, 2], LABELS)), "cpu")
    names = ["neutral", "entailment", "contradiction"]
    other = CheckpointVerifier(str(make_classifier(tmp_path / "b", [2, 0, 1], names)), "cpu")
    verdicts = plain.verify(PAIRS)
    assert np.abs(verdicts - other.verify(PAIRS)).max() < 1e-5
    assert np.abs(verdicts.sum(axis=1) - 1).max() < 1e-6
    assert np.ptp(verdicts[:2], axis=0).max() > 0.01  # the model does tell pairs apart


def test_evidence_comes_first(tmp_path):
    verifier = CheckpointVerifier(str(make_classifier(tmp_path, [0, 1, 2], LABELS)), "cpu")
    there, back = verifier.verify([("the cat", "a mat met"), ("a mat met", "the cat")])
    assert np.abs(there - back).max() > 1e-3


def test_unknown_labels_are_refused(tmp_path):
    folder = make_classifier(tmp_path, [0, 1, 2], ["LABEL_0", "LABEL_1", "LABEL_2"])
    with pytest.raises(UsageError, match="names no verdict"):
        CheckpointVerifier(str(folder), "cpu")
    with pytest.raises(UsageError, match="no output"):
        label_columns({0: "neutral", 1: "unknown"}, "m")
    assert label_columns({0: "not_entailment", 1: "entailment"}, "m") == {0: 2, 1: 0}


def test_other_models_are_refused(tmp_path):
    make_chat_model(tmp_path / "chat")
    with pytest.raises(UsageError):
        CheckpointVerifier(str(tmp_path / "chat"), "cpu")
    folder = make_classifier(tmp_path / "pickled", [0, 1, 2], LABELS)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match="no safetensors"):
        CheckpointVerifier(str(folder), "cpu")
    with pytest.raises(UsageError, match="sequence-to-sequence"):
        CheckpointSummarizer(str(tmp_path / "chat"), "cpu")


def test_a_checkpoint_summarizes_alike_each_time(tmp_path):
    name = str(make_encoding_model(tmp_path))
    texts = [KnowledgeText("atlas", text) for text in ("the cat " * 40, "\x00" * 200, "short")]
    first = prune("?", texts, CheckpointSummarizer(name, "cpu", batch=2), 8)
    again = prune("?", texts[:1], CheckpointSummarizer(name, "cpu"), 8)
    assert first[0].pruned == again[0].pruned
    assert first[2].pruned is None
    assert all(len(text.words.split()) <= 8 for text in first[:2])


TEXTS = {
    "Brenholm": "Brenholm is a settlement in Norrland. Its mill opened in 1911.",
    "Ostwick": "Ostwick is a harbour in Sudland.",
}


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edition")
    entities: dict[str, tuple[str, list[str]]] = {
        "Brenholm": ("place", []),
        "Norrland": ("place", []),
        "Ostwick": ("place", []),
    }
    facts = [("Brenholm", "Brenholm", "located in", "Norrland")]
    made = make_edition(folder, TEXTS, entities, facts)
    build_index(folder, None)
    return made.database


def test_evidence_is_not_what_the_expert_learned(edition):
    searcher = Searcher(edition.parent, None)
    with duckdb.connect(edition, read_only=True) as con:
        rows = con.execute("select triple_id, head_id, head, tail_id, tail from triples").fetchall()
        [(triple, head_id, head, tail_id, tail)] = rows
        graph = Graph.of("corpus", [(head_id, "located in", tail_id)], [(head, head_id)])
        claim = "Brenholm lies in Norrland."
        found = EditionEvidence(con, searcher, [graph]).find(claim)
        assert found[0] == "Brenholm located in Norrland."
        assert found[1].startswith("Brenholm\nBrenholm is a settlement")
        blind = EditionEvidence(
            con, searcher, [graph], excluded_triples=[triple], excluded_passages=["p0"]
        )
        assert not [text for text in blind.find(claim) if "Brenholm" in text]
        assert EditionEvidence(con, None, []).find(claim) == []
