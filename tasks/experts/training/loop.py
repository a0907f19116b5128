"""The loop that trains a model on packed rows and can be killed at any moment.

`transformers.Trainer` is not used because it pickles the optimizer and random state in its
checkpoints, resumes by reading the data again up to the checkpoint, needs the number of steps for
its schedule, which packed rows do not give in advance, and weights the accumulated parts of a step
equally, whatever their number of tokens.
"""

import math
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from schemas.errors import AlmanacError
from tasks.experts.training.packing import (
    IGNORED,
    PackedPart,
    Piece,
    packed_rows,
    part_of,
    texts_mix,
)
from tasks.experts.training.plan import BETAS, EPSILON, WARM_UP, WEIGHT_DECAY, TrainingPlan
from tasks.experts.training.tokens import Tokens
from tasks.models.checkpoint import load_checkpoint, save_checkpoint
from tasks.models.loaded_model import has_bfloat16
from tasks.progress import Report, silent
from warehouse import durable

CHECKPOINT_SECONDS = 30.0
CHECKPOINT_SHARE = 0.05  # of the time at most: large models are saved less often
EVALUATED = 65_536  # held-out tokens, about, that are evaluated after each epoch
BEST = "best.safetensors"


@dataclass
class Progress:
    """The progress of a training.

    `seconds` is processor time by thread, with that of processes that were killed.
    """

    epoch: int = 0
    row: int = 0  # rows of the epoch that have been read
    steps: int = 0
    targets: int = 0  # tokens predicted so far, over all epochs
    seconds: float = 0.0
    threads: int = 1  # floating-point sums depend on it
    epoch_loss: float = 0.0  # summed over the epoch's tokens so far, in nats
    epoch_targets: int = 0
    losses: list[tuple[int, float]] = field(default_factory=list)  # by step: targets, nats a token
    epochs: list[dict[str, Any]] = field(default_factory=list)  # one entry per finished epoch
    best: float | None = None  # lowest held-out loss
    ended: str = ""  # why the training has ended: epochs, minutes or patience

    @classmethod
    def of(cls, saved: dict[str, Any]) -> "Progress":
        """Return the progress that a checkpoint has."""
        return cls(**{**saved, "losses": [tuple(pair) for pair in saved["losses"]]})


def rate_at(plan: TrainingPlan, done: float) -> float:
    """Return the learning rate after a share of the training: linear warm-up, linear decay to 0."""
    return plan.highest_rate * max(min(done / WARM_UP, (1 - done) / (1 - WARM_UP)), 0.0)


def processor_seconds() -> float:
    """Return the processor time of this process so far, over all its threads.

    Unlike the clock it does not run on while other processes have the cores.
    """
    return time.process_time()


class Training:
    """A training in progress, which resumes from its last checkpoint if there is one."""

    def __init__(
        self,
        model: Any,
        plan: TrainingPlan,
        train: Tokens,
        held_out: Tokens,
        folder: Path,
        *,
        context: int,
        padding: int,
        threads: int | None = None,
        report: Report = silent,
        started: float | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
    ) -> None:
        """Restore the state in `folder`; a time limit counts from `started`, processor seconds."""
        import torch

        self._model, self._plan, self._folder = model, plan, folder
        self._train, self._held_out = train, held_out
        self._epochs = plan.epochs_over(len(train.ids))
        self._padding, self._report = padding, report
        self._size = min(plan.row_tokens, context)
        self._rows = max(1, plan.part_tokens // self._size)  # per part
        self._parts = max(1, plan.batch_tokens // (self._rows * self._size))  # per step
        self._weights = {n: w for n, w in model.named_parameters() if w.requires_grad}
        self._device = next(model.parameters()).device
        self._alone = texts_mix(model)
        self._at_targets = ends_in_its_head(model)
        self._optimizer = torch.optim.AdamW(
            self._weights.values(),
            lr=plan.highest_rate,
            betas=BETAS,
            eps=EPSILON,
            weight_decay=WEIGHT_DECAY,
            fused=True,
        )
        progress = load_checkpoint(folder, self._weights, self._optimizer, Progress.of)
        self.progress = progress or Progress(threads=threads or 1)
        self._every = checkpoint_seconds
        begun = processor_seconds() if started is None else started
        self._started = begun - self.progress.seconds * self.progress.threads
        self._saved, self._saving = time.monotonic(), 0.0

    @property
    def all_targets(self) -> int:
        """The number of tokens to predict over all epochs."""
        return self._train.targets * self._epochs

    def run(self) -> Progress:
        """Train to the end and return the progress; the model then has the weights to keep.

        Raises AlmanacError if the training diverges.
        """
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(self.progress.threads)
        try:
            self._model.train()
            while not self.progress.ended:
                self._run_epoch()
        finally:
            torch.set_num_threads(threads)
        if (self._folder / BEST).exists():
            self._take_best()
        self._model.eval()
        return self.progress

    def _run_epoch(self) -> None:
        progress, plan = self.progress, self._plan
        lengths = self._train.lengths
        rows = packed_rows(lengths, self._size, plan.seed, progress.epoch, self._alone)
        rows = islice(rows, progress.row, None)
        while not self._time_is_up() and (step := list(islice(rows, self._rows * self._parts))):
            self._step(step)
            self._report("train", progress.targets, self.all_targets)
            if time.monotonic() - self._saved >= max(
                self._every, self._saving * (1 / CHECKPOINT_SHARE - 1)
            ):
                self._save()
        self._end_epoch()
        self._save()

    def _step(self, rows: list[list[Piece]]) -> None:
        """Update the weights once, by the mean loss over all target tokens of the step."""
        import torch

        parts = [
            part_of(rows[begin : begin + self._rows], self._train, self._padding)
            for begin in range(0, len(rows), self._rows)
        ]
        targets = sum(part.targets for part in parts)
        progress = self.progress
        for group in self._optimizer.param_groups:
            group["lr"] = rate_at(self._plan, self._share_done(targets / 2))
        loss = 0.0
        for part in parts:
            with torch.enable_grad():
                part_loss = self._loss(part)
                (part_loss / max(targets, 1)).backward()
            loss += float(part_loss.detach())
        length = torch.nn.utils.clip_grad_norm_(self._weights.values(), 1.0)
        self._require_finite(loss, float(length))
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        progress.steps += 1
        progress.row += len(rows)
        progress.targets += targets
        progress.epoch_loss += loss
        progress.epoch_targets += targets
        progress.losses.append((progress.targets, loss / max(targets, 1)))

    def _require_finite(self, *numbers: float) -> None:
        """Raise AlmanacError if a number is not finite; the last checkpoint stays as it is."""
        if not all(map(math.isfinite, numbers)):
            raise AlmanacError(
                f"The training diverged after {self.progress.steps} steps: loss or weights are no "
                "longer finite. Train again with a lower learning rate."
            )

    def _share_done(self, more: float = 0.0) -> float:
        done = (self.progress.targets + more) / max(self.all_targets, 1)
        if self._plan.minutes is not None:
            used = self._seconds() / (60 * self._plan.minutes)
            # Earlier, the time for loading would dominate and change a training that ends in time.
            if used > WARM_UP:
                done = max(done, used)
        return min(done, 1.0)

    def _loss(self, part: PackedPart) -> Any:
        """Return the summed loss of a part, in nats."""
        import torch

        device = partial(torch.as_tensor, device=self._device)
        labels = device(part.labels)[:, 1:]
        wanted = labels != IGNORED
        inputs = {"input_ids": device(part.ids), "position_ids": device(part.positions)}
        with precision(self._device):
            if self._at_targets:
                hidden = self._model.get_decoder()(**inputs, use_cache=False)[0]
                logits = self._model.get_output_embeddings()(hidden[:, :-1][wanted])
            else:
                logits = self._model(**inputs, use_cache=False).logits[:, :-1][wanted]
        return torch.nn.functional.cross_entropy(logits.float(), labels[wanted], reduction="sum")

    def _end_epoch(self) -> None:
        """Evaluate on the held-out texts and decide whether this was the last epoch."""
        progress, plan = self.progress, self._plan
        held_out = self.evaluate(self._held_out)
        self._require_finite(held_out or 0.0)
        progress.epochs.append(
            {
                "epoch": progress.epoch + 1,
                "steps": progress.steps,
                "targets": progress.targets,
                "train": progress.epoch_loss / (progress.epoch_targets or math.nan),
                "held_out": held_out,
                "perplexity": None if held_out is None else math.exp(min(held_out, 700)),
            }
        )
        progress.epoch, progress.row = progress.epoch + 1, 0
        progress.epoch_loss, progress.epoch_targets = 0.0, 0
        if held_out is not None and plan.patience is not None:
            if progress.best is None or held_out < progress.best:
                progress.best = held_out
                self._keep_best()
            since = [epoch["held_out"] for epoch in progress.epochs[-plan.patience :]]
            if len(since) == plan.patience and min(since) > progress.best:
                progress.ended = "patience"
        if self._time_is_up():
            progress.ended = "minutes"
        elif progress.epoch >= self._epochs:
            progress.ended = "epochs"

    def evaluate(self, tokens: Tokens) -> float | None:
        """Return the mean loss on texts in nats per token; None without tokens to predict.

        It reads rows until `EVALUATED` tokens have been predicted.
        """
        import torch

        self._model.eval()
        loss, targets = 0.0, 0
        rows = packed_rows(tokens.lengths, self._size, 0, 0, self._alone)
        with torch.inference_mode():
            while targets < EVALUATED and (some := list(islice(rows, self._rows))):
                part = part_of(some, tokens, self._padding)
                loss += float(self._loss(part))
                targets += part.targets
        self._model.train()
        return loss / targets if targets else None

    def _seconds(self) -> float:
        return (processor_seconds() - self._started) / self.progress.threads

    def _time_is_up(self) -> bool:
        limit = self._plan.minutes
        return limit is not None and self._seconds() >= 60 * limit

    def _save(self) -> None:
        begun = time.monotonic()
        self._require_finite(*(float(weight.detach().sum()) for weight in self._weights.values()))
        self.progress.seconds = self._seconds()
        save_checkpoint(self._folder, asdict(self.progress), self._weights, self._optimizer)
        self._saved = time.monotonic()
        self._saving = self._saved - begun

    def _keep_best(self) -> None:
        from safetensors.torch import save_file

        temporary = self._folder / f".{BEST}.tmp"
        save_file({name: w.detach().contiguous() for name, w in self._weights.items()}, temporary)
        durable.sync_file(temporary)
        durable.replace(temporary, self._folder / BEST)

    def _take_best(self) -> None:
        from safetensors.torch import load_file

        for name, weight in load_file(self._folder / BEST).items():
            self._weights[name].data.copy_(weight)


def ends_in_its_head(model: Any) -> bool:
    """Return whether a model's logits are its output head, applied to the last hidden states.

    If so, logits need to be computed only for the tokens to predict: answers are a fifth of the
    tokens of questions, and half of the work of a small model is for its vocabulary. Some
    architectures scale or cap the logits after the head.
    """
    import torch

    ids = torch.tensor([[7, 3, 5, 2]], device=next(model.parameters()).device)
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False).logits
            hidden = model.get_decoder()(input_ids=ids, use_cache=False)[0]
            return torch.allclose(model.get_output_embeddings()(hidden), logits)
    except (AttributeError, NotImplementedError, TypeError, RuntimeError):
        # The model lacks these parts or they do not fit together, so it must compute all logits.
        return False
    finally:
        model.train(was_training)


def precision(device: Any) -> AbstractContextManager[Any]:
    """Return the autocast context: bfloat16 if the hardware supports it, else float32.

    The weights and the optimizer stay in float32. A processor without bfloat16 would emulate it,
    more slowly than it computes float32.
    """
    import torch

    if device.type == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        fast = device.type == "cpu" and has_bfloat16()
    return torch.autocast(device.type, dtype=torch.bfloat16) if fast else nullcontext()
