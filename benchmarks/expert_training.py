"""Training of an expert on packed rows beside a plain loop with one padded text in a row.

    python -m benchmarks.expert_training [--texts 2000] [--epochs 2] [--rounds 3] [--threads 2]
        [--home DIR]

Both train the same new model (same first weights, the default sizes) on the same texts of the
sample corpus, with the same optimizer and learning rates, in steps of as many tokens, computed in
as many parts. The plain loop pads the texts of a part to its longest one, masks the padding, as a
data collator does, and computes the logits of every place. The loops take turns. Speed counts
tokens that are read, without padding, by the clock and by the processor's time, which other work on
the machine changes less; `predicted_tokens` are those in the loss: answers without their questions.
`joined` is packing with texts that see those before them in their row. Held-out losses are of the
same texts, one in a row.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.command import parser_of, report, run_command
from schemas.settings import EngineSettings, Settings
from tasks.experts.training import loop
from tasks.experts.training.loop import Training, precision, rate_at
from tasks.experts.training.packing import Piece, packed_rows, part_of
from tasks.experts.training.plan import BETAS, EPSILON, WEIGHT_DECAY, TrainingPlan
from tasks.experts.training.start import Base, make_model, make_tokenizer
from tasks.experts.training.tokens import TextTokenizer, Tokens, write_tokens
from tasks.refresh import refresh
from tasks.train_experts import journal_texts, text_set
from tasks.verbalize import verbalize
from warehouse.home import Home

CORPUS = Path(__file__).parent.parent / "examples" / "corpus"
SCRATCH = Base(None, "", "")


def sample_texts(home: Home, most: int, folder: Path) -> dict[str, list[str]]:
    """Return the sample corpus' training and held-out texts, made now if the home has none."""
    if not text_set(home, "corpus", None).rows:
        settings = Settings(engine=EngineSettings(encoder="none"))
        refresh(home, [str(CORPUS)], settings)
        verbalize(home, settings)
    ids, position = text_set(home, "corpus", None).ids, home.journal.position
    return {
        split: list(islice(journal_texts(home, ids, position, folder, split), most))
        for split in ("train", "validation")
    }


def padded_rows(lengths: np.ndarray, rows: int, seed: int, epoch: int) -> Iterator[list[Piece]]:
    """Yield texts in random order, one in a row."""
    for text in np.random.default_rng((seed, epoch)).permutation(len(lengths)):
        yield [(int(text), 0, int(lengths[text]))]


def train_plainly(model: Any, plan: TrainingPlan, tokens: Tokens) -> int:
    """Train as most loops do; return the number of places computed, padding included."""
    import torch

    optimizer = torch.optim.AdamW(
        model.parameters(), betas=BETAS, eps=EPSILON, weight_decay=WEIGHT_DECAY, fused=True
    )
    parts = plan.batch_tokens // plan.part_tokens
    rows = max(1, round(plan.part_tokens / tokens.lengths.mean()))  # texts of as many tokens
    done = places = 0
    epochs = plan.epochs_over(len(tokens.ids))
    model.train()
    for epoch in range(epochs):
        stream = padded_rows(tokens.lengths, rows, plan.seed, epoch)
        while step := list(islice(stream, rows * parts)):
            batches = [
                part_of(step[begin : begin + rows], tokens, 0)
                for begin in range(0, len(step), rows)
            ]
            targets = sum(batch.targets for batch in batches)
            share = (done + targets / 2) / (tokens.targets * epochs)
            for group in optimizer.param_groups:
                group["lr"] = rate_at(plan, share)
            for batch in batches:
                ids, labels = torch.as_tensor(batch.ids), torch.as_tensor(batch.labels)
                mask = torch.as_tensor(batch.positions > 0).long()
                mask[:, 0] = 1
                with precision(model.device):
                    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
                loss = torch.nn.functional.cross_entropy(
                    logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), reduction="sum"
                )
                (loss / targets).backward()
                places += ids.numel()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            done += targets
    return places


def train_packed(model: Any, plan: TrainingPlan, tokens: Tokens) -> int:
    """Train on packed rows; return the number of places computed."""
    with tempfile.TemporaryDirectory() as folder:
        nothing = Tokens(tokens.ids[:0], tokens.ends[:0], tokens.given[:0], "")
        training = Training(
            model, plan, tokens, nothing, Path(folder), context=1024, padding=0,
            checkpoint_seconds=float("inf"),
        )  # fmt: skip
        training.run()
    rows = sum(
        1 for epoch in range(plan.epochs_over(len(tokens.ids)))
        for _ in packed_rows(tokens.lengths, plan.row_tokens, plan.seed, epoch)
    )  # fmt: skip
    return rows * plan.row_tokens


def train_joined(model: Any, plan: TrainingPlan, tokens: Tokens) -> int:
    """Train on packed rows whose texts see each other."""

    def joined(*arguments: Any) -> Any:
        part = part_of(*arguments)
        places = np.broadcast_to(np.arange(part.ids.shape[1]), part.ids.shape)
        return type(part)(part.ids, places.copy(), part.labels)

    with patch.object(loop, "part_of", joined):
        return train_packed(model, plan, tokens)


def held_out_loss(model: Any, tokens: Tokens) -> float:
    """Return the loss on texts that stand alone, in nats per token."""
    import torch

    loss, targets = 0.0, 0
    model.eval()
    with torch.inference_mode():
        for row in padded_rows(tokens.lengths, 1, 0, 0):
            part = part_of([row], tokens, 0)
            logits = model(input_ids=torch.as_tensor(part.ids), use_cache=False).logits
            loss += float(
                torch.nn.functional.cross_entropy(
                    logits[0, :-1].float(), torch.as_tensor(part.labels)[0, 1:], reduction="sum"
                )
            )
            targets += part.targets
    return loss / targets


LOOPS: dict[str, Callable[[Any, TrainingPlan, Tokens], int]] = {
    "packed": train_packed,
    "joined": train_joined,
    "padded": train_plainly,
}


def measure(texts: dict[str, list[str]], plan: TrainingPlan, rounds: int) -> dict[str, Any]:
    """Return speed and held-out loss of all loops, each with its range over rounds."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_tokenizer(SCRATCH, plan, texts["train"])
        encode = TextTokenizer.of(tokenizer)
        train = write_tokens(texts["train"], encode, Path(folder), "train")
        held_out = write_tokens(texts["validation"], encode, Path(folder), "validation")
        speeds: dict[str, list[float]] = {name: [] for name in LOOPS}
        lean: dict[str, list[float]] = {name: [] for name in LOOPS}
        losses: dict[str, list[float]] = {name: [] for name in LOOPS}
        full: dict[str, float] = {}
        for number in range(rounds):
            own = plan.model_copy(update={"seed": number})
            for name, train_with in LOOPS.items():
                torch.manual_seed(number)
                model = make_model(SCRATCH, own, tokenizer)
                clock, processor = time.perf_counter(), time.process_time()
                places = train_with(model, own, train)
                epochs = plan.epochs_over(len(train.ids))
                read = len(train.ids) * epochs
                speeds[name].append(read / (time.perf_counter() - clock))
                lean[name].append(read / (time.process_time() - processor))
                full[name] = read / places
                losses[name].append(held_out_loss(model, held_out))
                print(name, round(speeds[name][-1]), round(losses[name][-1], 4), flush=True)
        lengths = np.array(train.lengths)
        parameters = sum(weight.numel() for weight in model.parameters())
    ratios, lean_ratios = (
        [a / b for a, b in zip(by_loop["packed"], by_loop["padded"], strict=True)]
        for by_loop in (speeds, lean)
    )
    gaps = [a - b for a, b in zip(losses["packed"], losses["padded"], strict=True)]
    return {
        "texts": len(lengths),
        "tokens": int(lengths.sum()),
        "predicted_tokens": train.targets,
        "parameters": parameters,
        "plan": plan.model_dump(),
        "length_quartiles": np.percentile(lengths, [0, 25, 50, 75, 100]).tolist(),
        "times_padded": statistics.median(ratios),
        "times_padded_range": [min(ratios), max(ratios)],
        "times_padded_by_processor_time": statistics.median(lean_ratios),
        "held_out_minus_padded": statistics.mean(gaps),
        "held_out_minus_padded_range": [min(gaps), max(gaps)],
        "loops": {
            name: {
                "tokens_per_second": statistics.median(speeds[name]),
                "range": [min(speeds[name]), max(speeds[name])],
                "tokens_per_processor_second": statistics.median(lean[name]),
                "share_of_places_with_tokens": full[name],
                "held_out_loss": statistics.mean(losses[name]),
            }
            for name in LOOPS
        },
    }


def main() -> None:
    """Measure and write the results."""
    import torch

    parser = parser_of(__doc__, texts=2000, epochs=2, rounds=3, threads=2)
    parser.add_argument("--home", type=Path, help="a home with training texts of its corpus")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        home = Home(arguments.home or Path(folder) / "home")
        texts = sample_texts(home, arguments.texts, Path(folder))
        plan = TrainingPlan(epochs=arguments.epochs)
        figures = measure(texts, plan, arguments.rounds)
    report("expert-training", figures)


if __name__ == "__main__":
    run_command(main)
