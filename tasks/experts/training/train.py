"""Training of one expert, from texts to a complete folder; a killed training can be resumed."""

import fcntl
import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import AlmanacError, BusyError
from tasks.experts.line_picture import draw_lines, smoothed
from tasks.experts.manifest import (
    NEEDED,
    OPTIONAL,
    WEIGHTS,
    Manifest,
    UnsafeExpertError,
    checked_manifest,
    sha_of,
    write_manifest,
)
from tasks.experts.training.loop import (
    CHECKPOINT_SECONDS,
    Progress,
    Training,
    processor_seconds,
)
from tasks.experts.training.plan import SCRATCH, TrainingPlan
from tasks.experts.training.start import Base, find_base, make_model, make_tokenizer, merged
from tasks.experts.training.tokens import TextTokenizer, Tokens, read_tokens, write_tokens
from tasks.models.loaded_model import chosen_device
from tasks.progress import Report, silent
from warehouse import durable

Texts = Callable[[str], Iterable[str]]  # texts by split: train or validation
Check = Callable[[Path, dict[str, Any]], Manifest]  # a folder, and its manifest's other fields


@dataclass(frozen=True, slots=True)
class TrainedExpert:
    """A trained expert: its folder, its manifest with its SHA-256, and its loss curve."""

    name: str
    folder: Path
    sha256: str
    manifest: Manifest
    picture: Path
    ended: str
    seconds: float


def train_expert(
    experts: Path,
    name: str,
    plan: TrainingPlan,
    texts: Texts,
    source: str,
    *,
    licence: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    check: Check | None = None,
    report: Report = silent,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> TrainedExpert:
    """Train an expert and store it in `experts`/NAME/SHA12, with its loss curve beside it.

    `texts` must return the same texts of a split in the same order at each call; `source`
    identifies this set of texts. `check` asks the trained expert and writes its manifest. `threads`
    are torch's; by default one for a new model, else as many as there are idle cores. The state is
    kept in `experts`/.training/NAME until `forget_training`, and the same call resumes from it.
    Raises BusyError if another process trains this expert, UsageError for a base that cannot be
    trained, AlmanacError without texts or if the training diverges.
    """
    import torch

    started = processor_seconds()
    base = find_base(plan.base)
    state = experts / ".training" / name
    with _alone(state, name):
        _begin_or_go_on(state, {"plan": plan.model_dump(), "base": base.sha256, "source": source})
        tokenizer, train, held_out = _tokens(state, base, plan, texts)
        if not train.targets:
            raise AlmanacError(f"There are no texts to train the expert {name} on.")
        with torch.random.fork_rng():  # the caller's random numbers are restored
            torch.manual_seed(plan.seed)
            model = make_model(base, plan, tokenizer).to(chosen_device(device))
            text_config = model.config.get_text_config()
            training = Training(
                model,
                plan,
                train,
                held_out,
                state,
                context=getattr(text_config, "max_position_embeddings", None) or plan.row_tokens,
                padding=tokenizer.eos_token_id,
                threads=threads or (_idle_cores() if base.folder else 1),
                report=report,
                started=started,
                checkpoint_seconds=checkpoint_seconds,
            )
            progress = training.run()
        about = _about(plan, base, licence, train, progress)
        aside = state / "result"
        _save(aside, model, tokenizer)
        manifest = check(aside, about) if check else write_manifest(aside, **about)
        sha256 = sha_of(aside)
        folder = experts / name / sha256[:12]
        picture = folder.with_suffix(".png")
        folder.parent.mkdir(parents=True, exist_ok=True)
        epochs = [(e["targets"], e["held_out"]) for e in progress.epochs]
        lines = {
            "training loss, nats per token": smoothed(progress.losses),
            "held out": smoothed([point for point in epochs if point[1] is not None]),
        }
        draw_lines(f"Expert {name}", lines, "tokens read", picture)
        if not _is_whole(folder, sha256):  # otherwise editions may name it
            shutil.rmtree(folder, ignore_errors=True)
            durable.sync_tree(aside)
            durable.replace(aside, folder)
        return TrainedExpert(
            name, folder, sha256, manifest, picture, progress.ended, progress.seconds
        )


def _idle_cores() -> int:
    """Return the number of cores without work; one at least."""
    return max(1, (os.cpu_count() or 1) - round(os.getloadavg()[0]))


def _is_whole(folder: Path, sha256: str) -> bool:
    """Return whether a folder holds the expert with this SHA-256, undamaged."""
    try:
        checked_manifest(folder, sha256)
    except UnsafeExpertError:
        return False
    return True


def forget_training(experts: Path, name: str) -> None:
    """Remove the state of a training that has ended."""
    for folder in (name, f"{name}.spill"):
        shutil.rmtree(experts / ".training" / folder, ignore_errors=True)


@contextmanager
def _alone(state: Path, name: str) -> Iterator[None]:
    """Hold the lock of a training, which the system releases if the process dies."""
    state.mkdir(parents=True, exist_ok=True)
    with state.with_name(f"{name}.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"Another process is training the expert {name}.") from None
        yield


def _begin_or_go_on(state: Path, identity: dict[str, Any]) -> None:
    """Empty the folder unless it has the state of a training with the same identity."""
    path = state / "training.json"
    if not durable.has_json(path, identity):
        shutil.rmtree(state, ignore_errors=True)
        durable.write_json(path, identity)


def _tokens(
    state: Path, base: Base, plan: TrainingPlan, texts: Texts
) -> tuple[Any, Tokens, Tokens]:
    """Return the tokenizer, the training tokens and the held-out tokens; make those missing."""
    from transformers import PreTrainedTokenizerFast

    def training_texts() -> Iterator[str]:
        yield from texts("train")
        if plan.all_texts:
            yield from texts("validation")

    folder = state / "tokenizer"
    if not folder.exists():
        aside = state / ".tokenizer"
        make_tokenizer(base, plan, training_texts()).save_pretrained(aside)
        durable.sync_tree(aside)
        durable.replace(aside, folder)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    if not (state / "train.json").exists():
        write_tokens(training_texts(), TextTokenizer.of(tokenizer), state, "train")
    if not (state / "validation.json").exists():
        held_out = () if plan.all_texts else texts("validation")
        write_tokens(held_out, TextTokenizer.of(tokenizer), state, "validation")
    return tokenizer, read_tokens(state, "train"), read_tokens(state, "validation")


def _about(
    plan: TrainingPlan,
    base: Base,
    licence: str | None,
    train: Tokens,
    progress: Progress,
) -> dict[str, Any]:
    """Return the manifest's fields about a training, without times, to be reproducible."""
    measured = [epoch for epoch in progress.epochs if epoch["held_out"] is not None]
    if progress.best is not None:  # the saved weights are from the best epoch
        measured = [epoch for epoch in measured if epoch["held_out"] == progress.best]
    last = progress.epochs[-1] if progress.best is None else measured[-1]
    base_name = os.path.basename(plan.base.rstrip("/")) if Path(plan.base).is_dir() else plan.base  # noqa: PTH119
    return {
        "base_model": base_name,
        "method": SCRATCH if plan.base == SCRATCH else plan.method,
        "licence": base.licence if licence is None else licence,
        "tokens": progress.targets,
        "texts": len(train),
        "data_sha": train.sha256,
        "loss": last["train"],
        "perplexity": math.exp(min(measured[-1]["held_out"], 700)) if measured else None,
        "training": {
            "plan": plan.model_dump(exclude={"base"}),
            "highest_rate": plan.highest_rate,
            "ended": progress.ended,
            "epochs": progress.epochs,
        },
    }


def _save(folder: Path, model: Any, tokenizer: Any) -> None:
    """Write a plain model with its tokenizer into a new folder.

    Weights are rounded to bfloat16, which halves their size.
    """
    import torch

    shutil.rmtree(folder, ignore_errors=True)
    model = merged(model).to(torch.bfloat16)
    model.config._name_or_path = ""
    model.save_pretrained(folder, max_shard_size="1TB")
    tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        if path.name not in (*NEEDED, *OPTIONAL):
            path.unlink()
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    for place in ("name_or_path", "local_files_only"):  # these only describe this machine
        settings.pop(place, None)
    path.write_text(json.dumps(settings, indent=2, sort_keys=True), encoding="utf-8")
    assert (folder / WEIGHTS).exists()
