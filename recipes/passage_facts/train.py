"""Train what finds facts: `python -m recipes.passage_facts.train OUT --minutes 52`.

It learns from the passages in `recipes/labelled`, but for those of documents that choose or report.
The lower six layers of multilingual-e5-small stay as they are; the upper six start from the
reader's and learn, together with what finds spans, pairs, relations and cues. OUT/facts.safetensors
is written every few minutes, OUT/log.jsonl as it goes.
"""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import Tensor
from torch.nn import functional

from recipes.command import parser_of, run_command
from recipes.passage_facts.finder import relation_names
from recipes.passage_facts.labels import Labelled, labelled_passages
from recipes.passage_facts.network import LONGEST, FactNetwork
from recipes.reader.network import WIDTH
from tasks.models.encoders.e5 import e5_folder
from tasks.models.encoders.stored_weights import load_weights, save_weights
from tasks.models.span_reader.networks import E5_PADDING
from tasks.models.span_reader.reader import MULTILINGUAL

POOL = 32  # batches that are drawn together and sorted by length
NOTED = 50  # steps between two lines of the log
KEPT_EVERY = 240.0  # seconds between two files of weights
LINKS = 2.0  # weight of the loss of pairs
HEADS, TAILS = 6, 10  # likely spans that are paired beside those of facts
HEAD_RATE = 5.0  # of the new layers' learning rate to the others'
LOWER_STATES: dict[int, Tensor] = {}  # by the passage's object
WARM = 0.06  # share of the time in which the rate rises


def allowed_spans(rows: list[Labelled], tokens: int) -> Tensor:
    """Return where a span may be (texts, tokens, tokens): within the title or the passage."""
    part = torch.full((len(rows), tokens), -1)
    for number, row in enumerate(rows):
        begin, end = row.tokens.begin, len(row.tokens.ids)
        part[number, 1 : begin - 1] = 0
        part[number, begin : end - 1] = 1
    places = torch.arange(tokens)
    apart = places[None] - places[:, None]
    near = (apart >= 0) & (apart < LONGEST)
    return (part[:, :, None] == part[:, None]) & (part >= 0)[:, :, None] & near


def span_loss(scores: Tensor, right: Tensor, open_: Tensor) -> Tensor:
    """Return the loss of spans (texts, tokens, tokens); those in `open_` do not count.

    All right scores shall be above zero, all others below (Su et al. 2022).
    """
    wrong = scores.masked_fill(right | open_, -1e9).flatten(1)
    missing = (-scores).masked_fill(~right, -1e9).flatten(1)
    zero = scores.new_zeros(len(scores), 1)
    return torch.logsumexp(torch.cat([wrong, zero], 1), 1) + torch.logsumexp(
        torch.cat([missing, zero], 1), 1
    )


def best_spans(scores: Tensor, most: int) -> list[tuple[int, int]]:
    """Return the spans (tokens, tokens) with the best scores."""
    values, places = scores.flatten().topk(min(most, scores.numel()))
    rows = [(int(p) // scores.shape[1], int(p) % scores.shape[1]) for p in places]
    return [row for row, value in zip(rows, values.tolist(), strict=True) if value > -1e8]


def lower_states(network: FactNetwork, rows: list[Labelled], ids: Tensor) -> Tensor:
    """Return the states of passages below the layers that learn, each computed once."""
    if any(id(row) not in LOWER_STATES for row in rows):
        with torch.no_grad():
            states = network.lower(ids)
        for row, own in zip(rows, states, strict=True):
            LOWER_STATES[id(row)] = own[: len(row.tokens.ids)].clone()
    together = torch.zeros(*ids.shape, WIDTH, dtype=torch.bfloat16)
    for number, row in enumerate(rows):
        own = LOWER_STATES[id(row)]
        together[number, : len(own)] = own
    return together


def loss_of(
    network: FactNetwork, rows: list[Labelled], names: dict[str, int]
) -> tuple[Tensor, ...]:
    """Return the losses of spans, pairs, relations and cues of passages."""
    tokens = -(-max(len(row.tokens.ids) for row in rows) // 8) * 8
    ids = torch.full((len(rows), tokens), E5_PADDING)
    for number, row in enumerate(rows):
        ids[number, : len(row.tokens.ids)] = torch.tensor(row.tokens.ids)
    states = network.upper(lower_states(network, rows, ids), ids)
    scores = network.span_scores(states, allowed_spans(rows, tokens))
    right = torch.zeros(len(rows), 2, tokens, tokens, dtype=torch.bool)
    open_ = torch.zeros_like(right)
    for number, row in enumerate(rows):
        for fact in row.facts:
            right[number, 0][fact.head] = right[number, 1][fact.tail] = True
        for place, places in enumerate((row.heads, row.tails)):
            for span in places:
                open_[number, place][span] = True
    spans = (
        span_loss(scores[:, 0], right[:, 0], open_[:, 0])
        + span_loss(scores[:, 1], right[:, 1], open_[:, 1])
    ).mean()
    links, relations, cues = [], [], []
    for number, row in enumerate(rows):
        gold = {(fact.head, fact.tail): fact for fact in row.facts}
        with torch.no_grad():
            heads = best_spans(scores[number, 0], HEADS)
            tails = best_spans(scores[number, 1], TAILS)
        heads = list(dict.fromkeys([head for head, _ in gold] + heads))
        tails = list(dict.fromkeys([tail for _, tail in gold] + tails))
        pairs = [
            (head, tail)
            for head in heads
            for tail in tails
            if (head, tail) in gold or ((head, tail) not in row.pairs and head != tail)
        ]
        if not pairs:
            continue
        both = torch.tensor(pairs)
        vectors = network.pairs(states[number], both[:, 0], both[:, 1])
        facts = [gold.get(pair) for pair in pairs]
        known = torch.tensor([float(fact is not None) for fact in facts])
        link = network.link(vectors)[:, 0]
        links.append(
            functional.binary_cross_entropy_with_logits(link, known, reduction="sum")
            / (1 + len(gold))
        )
        if not gold:
            continue
        stated = [fact for fact in facts if fact]
        chosen = vectors[known.bool()]
        wanted = torch.tensor([names.get(fact.relation.lower(), 0) for fact in stated])
        relations.append(functional.cross_entropy(network.relation(chosen), wanted))
        ends = torch.tensor([fact.cue or (0, 0) for fact in stated])
        cue = network.cue_scores(states[number, : len(row.tokens.ids)], chosen)
        cues.append(
            (
                functional.cross_entropy(cue[0], ends[:, 0])
                + functional.cross_entropy(cue[1], ends[:, 1])
            )
            / 2
        )

    def mean(values: list[Tensor]) -> Tensor:
        return torch.stack(values).mean() if values else torch.zeros(())

    return spans, LINKS * mean(links), mean(relations), mean(cues)


def batches(rows: list[Labelled], size: int, drawn: random.Random) -> Iterator[list[Labelled]]:
    """Yield batches of passages of similar length, endlessly."""
    while True:
        order = rows.copy()
        drawn.shuffle(order)
        for start in range(0, len(order), POOL * size):
            pool = sorted(order[start : start + POOL * size], key=lambda row: len(row.tokens.ids))
            groups = [pool[place : place + size] for place in range(0, len(pool), size)]
            drawn.shuffle(groups)
            yield from groups


class HalfSteps:
    """Steps of AdamW for weights in bfloat16, by exact copies of them."""

    def __init__(self, network: FactNetwork, rate: float) -> None:
        """Learn all weights that want a gradient but those of the reader's ends."""
        tuned = [
            w
            for n, w in network.named_parameters()
            if w.requires_grad and not n.startswith("ends.")
        ]
        self.copies = [(w, w.detach().float().clone()) for w in tuned]
        new = [copy for w, copy in self.copies if w.dtype == torch.float32]
        old = [copy for w, copy in self.copies if w.dtype != torch.float32]
        groups = [{"params": old, "most": rate}, {"params": new, "most": HEAD_RATE * rate}]
        self.optimizer = torch.optim.AdamW(groups, rate, (0.9, 0.98), weight_decay=0.01, fused=True)

    def step(self, loss: Tensor, share: float) -> None:
        """Learn from a loss; `share` of the time is over."""
        loss.backward()
        for weight, copy in self.copies:
            if weight.grad is not None:
                copy.grad, weight.grad = weight.grad.float(), None
        torch.nn.utils.clip_grad_norm_([copy for _, copy in self.copies], 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = group["most"] * min(share / WARM, (1 - share) / (1 - WARM))
        self.optimizer.step()
        with torch.no_grad():
            for weight, copy in self.copies:
                weight.copy_(copy)


def keep(network: FactNetwork, out: Path) -> None:
    """Write the weights as they are."""
    save_weights(network.tuned(), out / "facts.part")
    (out / "facts.part").replace(out / "facts.safetensors")


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    torch.set_num_threads(options.threads)
    rows = [row for row in labelled_passages() if row.part == "train"]
    names = relation_names()
    known = {name: number for number, name in enumerate(names)}
    weights = load_file(str(e5_folder() / "model.safetensors")) | load_weights(MULTILINGUAL)
    network = FactNetwork(weights, len(names))
    steps = HalfSteps(network, options.rate)
    log = (options.out / "log.jsonl").open("a")
    print(
        len(rows), "passages,", sum(len(r.facts) for r in rows), "facts,", len(names), "relations"
    )
    started = kept = time.monotonic()
    seen: list[list[float]] = []
    read = 0
    for number, batch in enumerate(batches(rows, options.batch, random.Random(7)), 1):
        share = (time.monotonic() - started) / (60 * options.minutes)
        if share >= 1:
            break
        losses = loss_of(network, batch, known)
        steps.step(torch.stack(losses).sum(), share)
        seen.append([float(value.detach()) for value in losses])
        read += len(batch)
        if number % NOTED == 0:
            mean = np.mean(seen, 0).round(3).tolist()
            log.write(
                json.dumps(
                    {
                        "step": number,
                        "minutes": round(share * options.minutes, 2),
                        "epochs": round(read / len(rows), 2),
                        "losses": mean,
                    }
                )
                + "\n"
            )
            log.flush()
            seen = []
        if time.monotonic() - kept > KEPT_EVERY:
            keep(network, options.out)
            kept = time.monotonic()
    keep(network, options.out)


if __name__ == "__main__":
    run_command(main)
