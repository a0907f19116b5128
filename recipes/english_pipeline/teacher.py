"""The teacher: MiniLM fine-tuned jointly on tags, features, dependencies and names.

It is too big and too slow to ship; it labels raw prose (`silver.py`) that the small spaCy pipeline
then learns from. Dependencies are scored by deep biaffine attention (Dozat and Manning 2017); every
name corpus has a head of its own, so that their differing guidelines do not blur each other.
"""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from recipes.english_pipeline.sentences import NAME_LABELS, AnnotatedSentence

log = logging.getLogger(__name__)
NAME_TAGS = ("O", *(f"{mark}-{label}" for label in NAME_LABELS for mark in "BI"))
LAYERS = ("pos", "tags", "morphs")
_LONGEST = 256
_IGNORE = -100
_FROZEN_LAYERS = 1


@dataclass(frozen=True, slots=True)
class Labels:
    """The inventories that turn annotation into class numbers."""

    pos: tuple[str, ...]
    tags: tuple[str, ...]
    morphs: tuple[str, ...]
    deps: tuple[str, ...]
    name_sources: tuple[str, ...]


def collect_labels(sentences: list[AnnotatedSentence], name_sources: tuple[str, ...]) -> Labels:
    """List every label of the annotated sentences, sorted."""
    inventories = {
        layer: tuple(sorted({v for s in sentences for v in (getattr(s, layer) or ())}))
        for layer in (*LAYERS, "deps")
    }
    return Labels(name_sources=name_sources, **inventories)


def word_case(word: str) -> int:
    """Return the class of a word's letter case, which the uncased encoder does not see."""
    if not any(c.isalpha() for c in word):
        return 1
    if word.islower():
        return 2
    if word.isupper():
        return 3 if len(word) > 1 else 4
    return 5 if word[0].isupper() else 6


@dataclass(slots=True)
class Encoded:
    """A sentence as numbers: pieces, the first and last piece of each word, and known labels."""

    pieces: list[int]
    cases: list[int]
    first: list[int]
    last: list[int]
    source: int
    targets: dict[str, list[int]]


class Encoder:
    """Turn sentences into `Encoded` ones with the teacher's word-piece tokenizer."""

    def __init__(self, folder: Path, labels: Labels) -> None:
        """Read the tokenizer in `folder`."""
        from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(str(folder))
        self.numbers = {
            layer: {v: i for i, v in enumerate(getattr(labels, layer))}
            for layer in (*LAYERS, "deps")
        }
        self.numbers["names"] = {v: i for i, v in enumerate(NAME_TAGS)}
        self.sources = labels.name_sources

    def __call__(self, sentences: list[AnnotatedSentence], source: str = "") -> list[Encoded]:
        """Encode all sentences; `source` names the corpus whose name head they train."""
        words = [list(s.words) for s in sentences]
        tokens = self.tokenizer(
            words, is_split_into_words=True, truncation=True, max_length=_LONGEST
        )
        number = self.sources.index(source) if source else 0
        return [
            self._one(s, tokens["input_ids"][i], tokens.word_ids(i), number)
            for i, s in enumerate(sentences)
        ]

    def _one(
        self,
        sentence: AnnotatedSentence,
        pieces: list[int],
        word_ids: list[int | None],
        source: int,
    ) -> Encoded:
        first, last = [0] * len(sentence.words), [0] * len(sentence.words)
        cases = [0] * len(pieces)
        for position, word in enumerate(word_ids):
            if word is not None:
                first[word] = first[word] or position
                last[word] = position
                cases[position] = word_case(sentence.words[word])
        targets: dict[str, list[int]] = {}
        for layer, numbers in self.numbers.items():
            values = getattr(sentence, layer)
            if values is not None:
                targets[layer] = [numbers.get(v, _IGNORE) for v in values]
        if sentence.heads is not None:
            targets["heads"] = [0 if h == i else h + 1 for i, h in enumerate(sentence.heads)]
        return Encoded(pieces, cases, first, last, source, targets)


def collate(batch: list[Encoded]) -> dict[str, Tensor]:
    """Pad a batch; words that have no label carry -100 (ignored by the losses)."""
    out = {
        "ids": _padded([e.pieces for e in batch]),
        "cases": _padded([e.cases for e in batch]),
        "attention": _padded([[1] * len(e.pieces) for e in batch]),
        "mask": _padded([[1] * len(e.first) for e in batch]).bool(),
        "first": _padded([e.first for e in batch]),
        "last": _padded([e.last for e in batch]),
        "source": torch.tensor([e.source for e in batch]),
    }
    for name in (*LAYERS, "deps", "heads", "names"):
        targets = [e.targets.get(name, [_IGNORE] * len(e.first)) for e in batch]
        out[name] = _padded(targets, _IGNORE)
    return out


def _padded(rows: list[list[int]], filling: int = 0) -> Tensor:
    tensors = [torch.tensor(row, dtype=torch.int64) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=filling)


def batches(items: list[Encoded], pieces: int, random: Random | None) -> Iterator[list[int]]:
    """Yield index lists of similar lengths, about `pieces` padded word pieces each."""
    noise = [random.random() * 6 if random else 0.0 for _ in items]
    order = sorted(range(len(items)), key=lambda i: len(items[i].pieces) + noise[i])
    groups: list[list[int]] = [[]]
    for i in order:
        if groups[-1] and (len(groups[-1]) + 1) * len(items[i].pieces) > pieces:
            groups.append([])
        groups[-1].append(i)
    if random:
        random.shuffle(groups)
    yield from groups


class Teacher(nn.Module):
    """MiniLM with letter-case embeddings, three tag heads, a biaffine parser, heads for names."""

    def __init__(self, folder: Path, labels: Labels, arc: int = 256, rel: int = 128) -> None:
        """Load the encoder from `folder`; everything else starts at random."""
        super().__init__()
        from transformers import AutoModel

        self.bert = AutoModel.from_pretrained(str(folder), attn_implementation="eager")
        self.bert.embeddings.word_embeddings.weight.requires_grad_(False)
        width = self.bert.config.hidden_size
        self.case = nn.Embedding(7, width)
        nn.init.normal_(self.case.weight, std=0.01)
        for layer in self.bert.encoder.layer[:_FROZEN_LAYERS]:
            layer.requires_grad_(False)
        self.mix = nn.Parameter(torch.zeros(self.bert.config.num_hidden_layers))
        self.dropout = nn.Dropout(0.2)
        self.tag_heads = nn.ModuleDict(
            {layer: nn.Linear(width, len(getattr(labels, layer))) for layer in LAYERS}
        )
        self.arc_head, self.arc_dependent = _mlp(width, arc), _mlp(width, arc)
        self.rel_head, self.rel_dependent = _mlp(width, rel), _mlp(width, rel)
        self.arc_weight = nn.Parameter(torch.empty(arc + 1, arc))
        self.rel_weight = nn.Parameter(torch.empty(len(labels.deps), rel + 1, rel + 1))
        nn.init.xavier_uniform_(self.arc_weight)
        nn.init.normal_(self.rel_weight, std=0.02)
        self.name_heads = nn.ModuleList(
            nn.Sequential(_mlp(width, 192), nn.Linear(192, len(NAME_TAGS)))
            for _ in labels.name_sources
        )

    def words(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Contextual vectors of the words (batch, words, width) and of the sentence start."""
        inputs = self.bert.embeddings.word_embeddings(batch["ids"]) + self.case(batch["cases"])
        states = self.bert(
            inputs_embeds=inputs, attention_mask=batch["attention"], output_hidden_states=True
        ).hidden_states[1:]
        weights = self.mix.softmax(0)
        mixed = sum(w * s for w, s in zip(weights, states, strict=True))
        rows = torch.arange(mixed.shape[0])[:, None]
        return (mixed[rows, batch["first"]] + mixed[rows, batch["last"]]) / 2, mixed[:, :1]

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores of every layer; arcs are (batch, dependent, head) with the root at head 0."""
        words, start = self.words(batch)
        words = self.dropout(words)
        scores = {layer: head(words) for layer, head in self.tag_heads.items()}
        heads = torch.cat([start, words], 1)
        dependents = _with_one(self.arc_dependent(words))
        arcs = dependents @ self.arc_weight @ self.arc_head(heads).transpose(1, 2)
        open_heads = torch.cat([torch.ones_like(batch["mask"][:, :1]), batch["mask"]], 1)
        scores["heads"] = arcs.float().masked_fill(~open_heads[:, None], -1e4)
        scores["rel_dependent"] = _with_one(self.rel_dependent(words))
        scores["rel_head"] = _with_one(self.rel_head(heads))
        scores["words"] = words
        return scores

    def relations(self, scores: dict[str, Tensor], heads: Tensor) -> Tensor:
        """Label scores (batch, word, label) for given heads (0 = root)."""
        rows = torch.arange(heads.shape[0])[:, None]
        chosen = scores["rel_head"][rows, heads]
        return torch.einsum("bwi,rij,bwj->bwr", scores["rel_dependent"], self.rel_weight, chosen)


def _mlp(width: int, out: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, out), nn.GELU(), nn.Dropout(0.2))


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[..., :1])], -1)


def loss_of(model: Teacher, batch: dict[str, Tensor]) -> Tensor:
    """Sum of the cross-entropies of all layers that the batch has labels for."""
    scores = model(batch)
    parts: list[Tensor] = []
    for layer in (*LAYERS, "heads"):
        if (batch[layer] != _IGNORE).any():
            parts.append(_entropy(scores[layer], batch[layer]))
    if (batch["deps"] != _IGNORE).any():
        parts.append(_entropy(model.relations(scores, batch["heads"].clamp(min=0)), batch["deps"]))
    for source in batch["source"].unique().tolist():
        target = batch["names"][batch["source"] == source]
        if (target != _IGNORE).any():
            words = scores["words"][batch["source"] == source]
            parts.append(_entropy(model.name_heads[source](words), target))
    return torch.stack(parts).sum()


def _entropy(scores: Tensor, target: Tensor) -> Tensor:
    return cross_entropy(scores.float().flatten(0, 1), target.flatten(), ignore_index=_IGNORE)


def train_teacher(
    model: Teacher, items: list[Encoded], minutes: float, epochs: int, pieces: int, seed: int = 0
) -> None:
    """Fine-tune for `epochs` or `minutes`, whichever ends first; the learning rate falls to 0."""
    random = Random(seed)
    encoder = [p for n, p in model.named_parameters() if n.startswith("bert") and p.requires_grad]
    rest = [p for n, p in model.named_parameters() if not n.startswith("bert")]
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": 2e-4}, {"params": rest, "lr": 1.5e-3}], weight_decay=0.01
    )
    peaks = [group["lr"] for group in optimizer.param_groups]
    begin = time.monotonic()
    schedule = [g for _ in range(epochs) for g in batches(items, pieces, random)]
    total, report = 0.0, 0
    model.train()
    for step, group in enumerate(schedule):
        spent = (time.monotonic() - begin) / (minutes * 60)
        progress = max(step / len(schedule), spent)
        if progress >= 1:
            break
        for param_group, peak in zip(optimizer.param_groups, peaks, strict=True):
            param_group["lr"] = peak * min(progress / 0.06 + 0.01, (1 - progress) / 0.94 + 0.002)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(model, collate([items[i] for i in group]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        total, report = total + float(loss.detach()), report + 1
        if report == 100:
            seconds = time.monotonic() - begin
            log.info("step %d of %d, loss %.3f, %.0f s", step, len(schedule), total / 100, seconds)
            total, report = 0.0, 0
