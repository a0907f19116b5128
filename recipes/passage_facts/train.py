"""Train what finds facts: `python -m recipes.passage_facts.train OUT --minutes 40`.

It learns from the passages in `recipes/labelled`, but for those of documents that choose or report.
The lower six layers of multilingual-e5-small stay as they are; the upper six start from the
reader's and learn, together with what finds spans, pairs, relations and cues. OUT/facts.safetensors
is written every few minutes, OUT/log.jsonl as it goes.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from recipes.command import parser_of, run_command
from recipes.passage_facts.labels import Labelled, labelled_passages
from recipes.passage_facts.network import FactNetwork, allowed_spans, best_spans, fact_network
from recipes.passage_facts.relations import relation_names
from recipes.reader.multilingual import HalfTrainer
from recipes.reader.network import CLOSED
from recipes.reader.train import Schedule
from tasks.models.span_reader.networks import E5_PADDING
from tasks.models.span_reader.reader import MULTILINGUAL

POOL = 32  # batches that are drawn together and sorted by length
NOTED = 50  # steps between two lines of the log
LINKS = 2.0  # weight of the loss of pairs
HEADS, TAILS = 6, 10  # likely spans that are paired beside those of facts


def span_loss(scores: Tensor, right: Tensor, open_: Tensor) -> Tensor:
    """Return the loss of spans (texts, tokens, tokens); those in `open_` do not count.

    All right scores shall be above zero, all others below (Su et al. 2022).
    """
    wrong = scores.masked_fill(right | open_, CLOSED).flatten(1)
    missing = (-scores).masked_fill(~right, CLOSED).flatten(1)
    zero = scores.new_zeros(len(scores), 1)
    return torch.logsumexp(torch.cat([wrong, zero], 1), 1) + torch.logsumexp(
        torch.cat([missing, zero], 1), 1
    )


def loss_of(
    network: FactNetwork, rows: list[Labelled], names: dict[str, int]
) -> tuple[Tensor, ...]:
    """Return the losses of spans, pairs, relations and cues of passages."""
    tokens = -(-max(len(row.tokens.ids) for row in rows) // 8) * 8
    ids = torch.full((len(rows), tokens), E5_PADDING)
    for number, row in enumerate(rows):
        ids[number, : len(row.tokens.ids)] = torch.tensor(row.tokens.ids)
    states = network.states(ids, ids)
    scores = network.span_scores(states, allowed_spans([row.tokens for row in rows], tokens))
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
        wanted = torch.tensor([names.get(fact.relation, 0) for fact in stated])
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


class FactTrainer(HalfTrainer):
    """Trains a network to find facts, and notes its losses."""

    head_rate = 5.0

    def learn_facts(
        self, network: FactNetwork, rows: list[Labelled], minutes: float, rate: float, size: int
    ) -> None:
        """Train on labelled passages, `size` in a step."""
        optimizer = self._optimizer(network.parameters(), rate)
        known = {name: number for number, name in enumerate(relation_names())}
        drawn, seen = batches(rows, size, random.Random(7)), []
        schedule = Schedule(optimizer, minutes)
        while schedule.next():
            losses = torch.stack(loss_of(network, next(drawn), known))
            self._step(optimizer, losses.sum())
            seen.append(losses.detach())
            if schedule.step % NOTED == 0:
                spans, pairs, relations, cues = torch.stack(seen).mean(0).tolist()
                self.note(
                    passages=schedule.step * size,
                    spans=spans, pairs=pairs, relations=relations, cues=cues,
                )  # fmt: skip
                seen = []


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--rate", type=float, default=3e-4, help="highest learning rate")
    parser.add_argument("--batch", type=int, default=8, help="passages in a step")
    parser.add_argument("--threads", type=int, default=1, help="cores that train")
    parser.add_argument("--start", type=Path, help="trained weights from which to go on")
    options = parser.parse_args()
    (options.out / "model").mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    torch.set_num_threads(options.threads)
    rows = [row for row in labelled_passages() if row.part == "train"]
    network = fact_network(options.start or MULTILINGUAL)
    trainer = FactTrainer(network, options.out)
    trainer.note(passages=len(rows), facts=sum(len(row.facts) for row in rows))
    trainer.learn_facts(network, rows, options.minutes, options.rate, options.batch)
    trainer.keep()


if __name__ == "__main__":
    run_command(main)
