"""Train the entailment model on the pairs of `recipes.entailment.prepare`.

    python -m recipes.entailment.train OUT [--minutes 15]

Writes OUT/entailment.safetensors and OUT/report.json: the share of right verdicts on pairs of the
halves that are kept aside, by the way in which they were made. One core; bfloat16 where it has it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file
from torch.nn import functional

from recipes.command import parser_of, run_command
from recipes.entailment.network import EntailmentNetwork
from recipes.entailment.pair import VERDICTS, Pair
from recipes.reader.train import Schedule
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.stored_weights import load_weights, save_weights
from tasks.models.entailment.entailment import SUPPORT, pair_ids
from tasks.models.span_reader.reader import ON_MINILM
from tasks.models.span_reader.windows import SEP

LONGEST = 72  # tokens of a pair; longer ones take more time than they teach
POOLED = 40  # batches that are sorted by length together
NOTED = 50  # steps
WARM = 40  # steps of rising rate
REPORTED = 400  # pairs of a kind
MOST = {
    "climate": 400,
    "neighbour": 800,
    "fact": 3000,
    "relation": 3000,
    "SNLI": 2500,
    "opposite": 1200,
    "semi-automatic NLI": 5000,
}  # of a kind
TIMES = {"roles": 4, "mixed": 3, "title": 3, "doubt": 2, "all": 2}  # that a rare kind is repeated


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__, minutes=15.0, rate=2.5e-4, batch=32, seed=7)
    parser.add_argument("out", type=Path)
    parser.add_argument("--start", type=Path, help="trained weights from which to go on")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    packaged = load_file(str(minilm_folder() / "model.safetensors"))
    weights = packaged | load_weights(ON_MINILM)
    network = EntailmentNetwork(weights | (load_weights(options.start) if options.start else {}))
    network.eval()  # without dropout: no pair is seen often enough to be learnt by heart
    lines = (options.out / "pairs.jsonl").read_text("utf-8").splitlines()
    pairs = [Pair(**json.loads(line)) for line in lines]
    file = options.out / "entailment.safetensors"
    _train(network, _chosen(pairs, held_out=False, seed=options.seed), options, file)
    save_weights(network.tuned(), file)
    report = _report(network, _chosen(pairs, held_out=True, seed=1))
    (options.out / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    print(json.dumps(report, indent=1))


def _chosen(pairs: list[Pair], *, held_out: bool, seed: int) -> list[Pair]:
    """Return the pairs of a half in random order, of each kind at most `MOST`."""
    kinds: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.held_out == held_out:
            kinds[pair.made].append(pair)
    random, chosen = Random(seed), list[Pair]()
    for made, rows in sorted(kinds.items()):
        random.shuffle(rows)
        chosen += rows[: MOST.get(made, len(rows))] * (1 if held_out else TIMES.get(made, 1))
    random.shuffle(chosen)
    return chosen


def _train(network: EntailmentNetwork, pairs: list[Pair], options: Any, file: Path) -> None:
    rows = pair_ids([(pair.evidence, pair.claim) for pair in pairs])
    short = [place for place, row in enumerate(rows) if len(row) <= LONGEST]
    ids = [rows[place] for place in short]
    truth = np.array([VERDICTS.index(pairs[place].verdict) for place in short])
    tuned = [rows for rows in network.parameters() if rows.requires_grad]
    optimizer = torch.optim.AdamW(tuned, options.rate, (0.9, 0.98), weight_decay=0.01, fused=True)
    schedule, losses, seen = Schedule(optimizer, options.minutes, warm=WARM), list[float](), 0
    batches = _batches(ids, options.batch, Random(options.seed))
    while schedule.next():
        places = next(batches)
        logits = _logits(network, [ids[place] for place in places])
        loss = functional.cross_entropy(logits, torch.tensor(truth[places]), label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(tuned, 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        seen += len(places)
        if schedule.step % NOTED == 0:
            save_weights(network.tuned(), file)
            print(f"{seen} of {len(ids)} pairs, loss {np.mean(losses[-NOTED:]):.3f}", flush=True)


def _batches(ids: list[list[int]], size: int, random: Random) -> Iterator[list[int]]:
    """Yield batches of places without end, each of pairs of like length."""
    while True:
        places = random.sample(range(len(ids)), len(ids))
        for begin in range(0, len(places), size * POOLED):
            pool = sorted(places[begin : begin + size * POOLED], key=lambda place: len(ids[place]))
            batches = [pool[start : start + size] for start in range(0, len(pool), size)]
            yield from random.sample(batches, len(batches))


def _logits(network: EntailmentNetwork, ids: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, ids))
    padded = np.array([row + [0] * (longest - len(row)) for row in ids])
    ends = padded == SEP
    second = (ends.cumsum(axis=1) - ends > 0) & (padded > 0)
    with torch.autocast("cpu", torch.bfloat16):
        logits: torch.Tensor = network(torch.tensor(padded), torch.tensor(second).long())
    return logits.float()


@torch.no_grad()
def _report(network: EntailmentNetwork, pairs: list[Pair]) -> dict[str, dict[str, float]]:
    """Return for each kind the shares of verdicts, and of "supported or not", that are right."""
    kinds: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        kinds[pair.made].append(pair)
    report = {}
    for made, rows in sorted(kinds.items()):
        rows = rows[:REPORTED]
        ids = pair_ids([(pair.evidence, pair.claim) for pair in rows])
        parts = [_logits(network, ids[at : at + 50]) for at in range(0, len(ids), 50)]
        found = torch.cat(parts).argmax(dim=1).numpy()
        truth = np.array([VERDICTS.index(pair.verdict) for pair in rows])
        report[made] = {
            "pairs": len(rows),
            "right": round(float((found == truth).mean()), 3),
            "supported or not": round(float(((found == SUPPORT) == (truth == SUPPORT)).mean()), 3),
        }
    return report


if __name__ == "__main__":
    run_command(main)
