"""Train the model of typed relations.

python -m tasks.extract.typed.training.train --data DATA --out FOLDER [--minutes 25]

A third of Re-DocRED's documents and ten relations of wiki80 and FewRel are never trained on; the
model is measured on them.
"""

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file
from safetensors.torch import save_file

from tasks.extract.typed.model import LOWER
from tasks.extract.typed.training.examples import (
    HELD_OUT,
    SYMMETRIC,
    Example,
    all_examples,
    meanings,
)
from tasks.extract.typed.training.network import TypedNetwork, loss_of
from tasks.extract.typed.training.states import Loaded, pairs_of
from tasks.models.encoders.minilm import MiniLM, minilm_folder
from tasks.models.encoders.minilm_layer import BERT

DOCUMENTS, SENTENCES = 2, 2  # in a step
NEGATIVES = 0.4  # share of the unrelated pairs of a document that a step looks at
SCALE = 4.0  # of the vectors of relations
UPPER_RATE, HEAD_RATE = 3e-4, 1e-3
FROZEN = 0.4  # share of the time in which only the head learns

# Relations of which a pair with a label of another of its row may have this one too.
COMPATIBLE = [
    "P17 P131 P276 P159 P740 P495 P1001 P30 P706 P206 P205 P403 P150 P361 P527",
    "P551 P937 P27 P19 P20 P69 P108 P172",
    "P361 P463 P179 P118 P54 P102 P241 P641 P127 P749 P1344 P710 P355 P137 P1346 P607",
    "P170 P50 P178 P287 P84 P176 P800 P1056 P57 P58 P175 P86 P162",
    "P31 P279 P136 P106 P105 P641 P413 P410 P39 P361 P101 P460",
    "P155 P156 P1365 P1366", "P407 P364 P37 P1412 P495", "P108 P169 P112 P463 P39 P488 P6 P35",
    "P674 P1441 P921 P144 P161", "P123 P750 P272 P449 P178 P264", "P127 P112 P176 P749 P137",
]  # fmt: skip


class Knowledge:
    """Which relations are trained, and what the label of a pair says of the others."""

    def __init__(self, examples: list[Example]) -> None:
        """Count what holds together in Re-DocRED's training documents."""
        learned = [example for example in examples if not example.held_out]
        self.relations = sorted({label[2] for example in learned for label in example.labels})
        self.place = {relation: place for place, relation in enumerate(self.relations)}
        size = len(self.relations)
        self.universes = {name: np.zeros(size, bool) for name in {e.universe for e in examples}}
        for example in learned:
            for _, _, relation in example.labels:
                self.universes[example.universe][self.place[relation]] = True
        wikidata = np.array([relation.startswith("P") for relation in self.relations])
        for name in ("redocred", "wiki80", "fewrel"):
            self.universes[name] = wikidata
        self.along, self.against = np.zeros((size, size), bool), np.zeros((size, size), bool)
        for row in COMPATIBLE:
            places = [self.place[relation] for relation in row.split() if relation in self.place]
            self.along[np.ix_(places, places)] = True
        self._count([example for example in learned if example.universe == "redocred"])

    def _count(self, documents: list[Example]) -> None:
        times: Counter[str] = Counter()
        along: Counter[tuple[str, str]] = Counter()
        against: Counter[tuple[str, str]] = Counter()
        for document in documents:
            by_pair: dict[tuple[int, int], list[str]] = {}
            for head, tail, relation in document.labels:
                by_pair.setdefault((head, tail), []).append(relation)
            for (head, tail), names in by_pair.items():
                times.update(names)
                along.update((name, other) for name in names for other in names)
                against.update((n, other) for n in names for other in by_pair.get((tail, head), []))
        for counted, table in ((along, self.along), (against, self.against)):
            for (name, other), count in counted.items():
                if count > 0.03 * times[name]:
                    table[self.place[name], self.place[other]] = True
        for name in self.relations:
            self.against[self.place[name], self.place[name]] |= name in SYMMETRIC

    def targets(self, example: Example, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (pairs, relations): what holds of each pair, and what is known to fail."""
        holds = np.zeros((len(pairs), len(self.relations)), np.float32)
        fails = np.tile(self.universes[example.universe], (len(pairs), 1))
        rows = {(int(head), int(tail)): row for row, (head, tail) in enumerate(pairs)}
        for head, tail, relation in example.labels:
            place = self.place[relation]
            if (row := rows.get((head, tail))) is not None:
                holds[row, place] = 1.0
                if example.universe != "redocred":
                    fails[row] &= ~self.along[place]
            if not example.whole and (row := rows.get((tail, head))) is not None:
                fails[row] &= ~self.against[place]
        return holds, fails & (holds == 0)


def batches(numbers: list[int], size: int, loaded: Loaded) -> list[list[int]]:
    """Return shuffled batches of texts of like length."""
    random.shuffle(numbers)
    rows = []
    for start in range(0, len(numbers), size * 12):
        part = sorted(numbers[start : start + size * 12], key=loaded.length)
        rows += [part[at : at + size] for at in range(0, len(part), size)]
    random.shuffle(rows)
    return rows


def relation_vectors(relations: list[str], data: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Return MiniLM's vectors of names, and of names with descriptions."""
    known = meanings(data)
    encoder = MiniLM()
    names = [known[relation][0] for relation in relations]
    full = [": ".join(filter(None, known[relation])) for relation in relations]
    return (
        torch.tensor(encoder.encode(names)) * SCALE,
        torch.tensor(encoder.encode(full)) * SCALE,
    )


def train(options: argparse.Namespace) -> None:
    """Train, measure after each round over the documents, and write the weights."""
    torch.manual_seed(1)
    random.seed(1)
    torch.set_num_threads(options.threads)
    examples = all_examples(options.data)
    loaded = Loaded(examples, options.cache, options.threads)
    knowledge = Knowledge(examples)
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    network = TypedNetwork(packaged, len(knowledge.relations))
    names, full = relation_vectors(knowledge.relations, options.data)
    if options.start:
        load(network, full, options.start)
    frozen = 0.0 if options.start else FROZEN
    usable = [n for n, e in enumerate(examples) if not e.held_out and loaded.mentions[n]]
    usable = [n for n in usable if len(pairs_of(examples[n], loaded.mentions[n], 1.0))]
    documents = [n for n in usable if examples[n].universe == "redocred"]
    sentences = [n for n in usable if examples[n].universe != "redocred"]
    upper = list(network.layers.parameters())
    own = {id(parameter) for parameter in upper}
    own.add(id(network.features.weight))
    head = [p for p in network.parameters() if p.requires_grad and id(p) not in own]
    optimizer = torch.optim.AdamW(
        [
            {"params": upper, "lr": UPPER_RATE},
            {"params": head, "lr": HEAD_RATE},
            {"params": [network.features.weight], "lr": 8 * HEAD_RATE},
        ],
        weight_decay=0.01,
    )
    rates = [group["lr"] * options.rate for group in optimizer.param_groups]
    print(len(knowledge.relations), "relations", len(documents), len(sentences), flush=True)
    started, step, rounds = time.monotonic(), 0, 0
    queue: list[list[int]] = []
    spent = 0.0
    while spent < 1.0:
        losses: list[float] = []
        for batch in batches(documents, DOCUMENTS, loaded):
            spent = (time.monotonic() - started) / (60 * options.minutes)
            tuned = spent >= frozen
            warm = min(1.0, (step + 1) / 30)
            left = warm * max(1.0 - spent, 0.0)
            factors = (left / (1.0 - frozen) * tuned, left, left)
            for group, rate, factor in zip(optimizer.param_groups, rates, factors, strict=True):
                group["lr"] = rate * factor
            queue = queue or batches(sentences, SENTENCES, loaded)
            total = torch.zeros(())
            for numbers in (batch, queue.pop()):
                rows = [loaded.marked(n, NEGATIVES) for n in numbers]
                kept = [(n, row) for n, row in zip(numbers, rows, strict=True) if len(row.pairs)]
                targets = [knowledge.targets(examples[n], row.pairs) for n, row in kept]
                holds, fails = (
                    torch.from_numpy(np.concatenate([t[i] for t in targets]).astype(np.float32))
                    for i in range(2)
                )
                mixed = torch.where(torch.rand(len(names), 1) < 0.5, names, full)
                own_used = (torch.rand(len(names), 1) < 0.7).float()
                texts = [row for _, row in kept]
                encoded = loaded.encoded(network, [n for n, _ in kept], texts, tuned=tuned)
                scores = network.scores(network(texts, encoded), mixed, own_used)
                loss = loss_of(scores, holds, fails).mean()
                losses.append(float(loss.detach()))
                total = total + loss
            optimizer.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
            if spent >= 1.0:
                break
        rounds += 1
        print(step, f"{spent:.2f}", np.mean(losses[0::2]), np.mean(losses[1::2]), flush=True)
        save(network, knowledge, full, options.out)
        if rounds % 3 and spent < 0.9:
            continue
        network.eval()
        with torch.no_grad():
            few = spent < 0.9
            print(json.dumps(measure(network, loaded, knowledge, full, few=few)), flush=True)
        network.train()
    with torch.no_grad():
        network.eval()
        print(json.dumps(unseen(network, loaded, options.data)), flush=True)


def save(network: TypedNetwork, knowledge: Knowledge, vectors: torch.Tensor, folder: Path) -> None:
    """Write the tuned weights, in half precision, and the vectors of the relations."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {"scale": torch.tensor([SCALE])}
    for name, value in network.state_dict().items():
        if name.startswith("layers."):
            _, number, part, kind = name.split(".")
            name = f"encoder.layer.{LOWER + int(number)}.{BERT[part]}.{kind}"
        weights[name] = value
    weights["vectors"] = network.relation(vectors) + weights.pop("own")
    halves = {name: value.detach().half().contiguous() for name, value in weights.items()}
    save_file(halves, str(folder / "model.safetensors"))
    uncalibrated = {"slope": 1.0, "intercepts": {"any": 0.0}}
    relations = json.dumps({"relations": knowledge.relations, **uncalibrated})
    (folder / "relations.json").write_text(relations + "\n", "utf-8")


def load(network: TypedNetwork, vectors: torch.Tensor, folder: Path) -> None:
    """Set the weights that `save` wrote, for relations with the same `vectors` of meaning."""
    theirs = {name: part for part, name in BERT.items()}
    weights = {}
    for name, value in load_file(str(folder / "model.safetensors")).items():
        if name.startswith("encoder."):
            _, _, number, *part, kind = name.split(".")
            name = f"layers.{int(number) - LOWER}.{theirs['.'.join(part)]}.{kind}"
        weights[name] = torch.from_numpy(value.astype(np.float32))
    del weights["scale"]
    own = weights.pop("vectors")
    with torch.no_grad():
        known = network.state_dict()
        network.load_state_dict({**known, **weights})
        network.own.copy_(own - network.relation(vectors))


def measure(
    network: TypedNetwork, loaded: Loaded, knowledge: Knowledge, vectors: Any, *, few: bool
) -> dict[str, float]:
    """Return micro F1 over the pairs and relations of the documents that were kept back."""
    mine = [n for n, e in enumerate(loaded.examples) if e.universe == "redocred" and e.held_out][
        : 50 if few else None
    ]
    used = torch.ones(len(knowledge.relations), 1)
    labels = {r for e in loaded.examples if e.universe == "redocred" for _, _, r in e.labels}
    inside = torch.tensor([relation in labels for relation in knowledge.relations])
    margins, right, gold = [], [], 0
    for number in mine:
        example, text = loaded.examples[number], loaded.marked(number)
        scores = network.scores(network([text]), vectors, used).masked_fill(~inside, -1e9)
        rows, places = torch.nonzero(scores > -4.0, as_tuple=True)
        known = set(example.labels)
        gold += len(known)
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            head, tail = text.pairs[row].tolist()
            margins.append(float(scores[row, place]))
            right.append((head, tail, knowledge.relations[place]) in known)
    order = np.argsort(-np.array(margins))
    hits = np.cumsum(np.array(right)[order])
    count = np.arange(1, len(order) + 1)
    f1 = 2 * hits / (count + gold)
    at_zero = int((np.array(margins) > 0).sum()) - 1
    best = int(f1.argmax())
    report = {"gold": gold, "F1": f1[at_zero], "P": hits[at_zero] / (at_zero + 1)}
    report |= {"best F1": f1[best], "best margin": margins[order[best]]}
    for precision in (0.8, 0.85, 0.9):
        enough = np.nonzero(hits / count >= precision)[0]
        report[f"recall at {precision}"] = hits[enough[-1]] / gold if len(enough) else 0.0
    return {name: round(float(value), 3) for name, value in report.items()}


def unseen(network: TypedNetwork, loaded: Loaded, data: Path) -> dict[str, float]:
    """Return how well the relations that were kept back are told from each other and from none."""
    relations = list(HELD_OUT)
    own = network.own
    network.own = torch.nn.Parameter(torch.zeros(len(relations), own.shape[1]))
    report = {}
    for name, vectors in zip(
        ("name", "description"), relation_vectors(relations, data), strict=True
    ):
        right = total = above = backwards = named = 0
        for number, example in enumerate(loaded.examples):
            if example.universe not in ("wiki80", "fewrel") or not example.held_out:
                continue
            text = loaded.marked(number)
            pairs = network(  # both directions of the labelled pair
                [text]
            )
            scores = network.scores(pairs, vectors, torch.zeros(len(relations), 1))
            for (head, tail), row in zip(text.pairs.tolist(), scores, strict=True):
                gold = [r for h, t, r in example.labels if (h, t) == (head, tail)]
                best = int(row.argmax())
                if gold:
                    total += 1
                    right += relations[best] in gold
                    above += relations[best] in gold and float(row[best]) > 0
                else:
                    backwards += float(row[best]) > 0
                named += float(row[best]) > 0
        report[f"accuracy by {name}"] = right / total
        report[f"recall by {name}"] = above / total
        report[f"precision by {name}"] = above / max(named, 1)
        report[f"backwards by {name}"] = backwards / total
    network.own = own
    return {name: round(float(value), 3) for name, value in report.items()}


def main() -> None:
    """Read the options, and train."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--cache", type=Path, help="Where states of the lower layers are kept.")
    options.add_argument("--start", type=Path, help="A folder whose weights are trained on.")
    options.add_argument("--rate", type=float, default=1.0, help="Share of the learning rates.")
    options.add_argument("--minutes", type=float, default=25.0)
    options.add_argument("--threads", type=int, default=2)
    train(options.parse_args())


if __name__ == "__main__":
    main()
