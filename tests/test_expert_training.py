"""Training: it learns, ends as it should, and goes on to the very same weights."""

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schemas.errors import AlmanacError, BusyError, DamageError, UsageError
from tasks.experts.manifest import checked_manifest, sha_of
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.experts.training.loop import (
    Training,
    ends_in_its_head,
    precision,
    processor_seconds,
    rate_at,
)
from tasks.experts.training.plan import ENOUGH_TOKENS, FEWEST_EPOCHS, TrainingPlan
from tasks.experts.training.start import find_base, make_model, make_tokenizer
from tasks.experts.training.tokens import TextTokenizer, Tokens, write_tokens
from tasks.experts.training.train import TrainedExpert, _alone, forget_training, train_expert
from tasks.models.weight_files import read_header
from tests.expert_texts import people, texts, tiny_plan
from tests.tiny_models import make_chat_model, make_encoding_model


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedExpert:
    """A training of the small plan that ended; read it, or work on the copy `experts`."""
    return train_expert(tmp_path_factory.mktemp("trained"), "people", tiny_plan(), texts, "1")


@pytest.fixture
def experts(trained: TrainedExpert, tmp_path: Path) -> Path:
    """A copy of that training's folder, to be changed."""
    return Path(shutil.copytree(trained.folder.parents[1], tmp_path / "experts"))


class StoppedError(Exception):
    """What ends a training in the middle."""


def test_lora_resumes_with_its_dropout(tmp_path):
    base = make_chat_model(tmp_path / "base", template=None)
    plan = tiny_plan(base=str(base), method="lora", epochs=2)

    def stop_after(steps: int) -> None:
        def report(stage: str, done: int, total: int) -> None:
            nonlocal steps
            steps -= 1
            if not steps:
                raise StoppedError

        with pytest.raises(StoppedError):
            train_expert(tmp_path / "b", "p", plan, texts, "1", report=report, checkpoint_seconds=0)

    whole = train_expert(tmp_path / "a", "p", plan, texts, "1")
    stop_after(2)
    stop_after(3)
    assert train_expert(tmp_path / "b", "p", plan, texts, "1").sha256 == whole.sha256
    # Merged: a plain model of the base's architecture, nothing of the library's own.
    assert set(read_header(whole.folder / "model.safetensors")) == set(
        read_header(base / "model.safetensors")
    )
    assert whole.manifest.method == "lora" and whole.manifest.base_model == "base"
    assert str(tmp_path) not in "".join(p.read_text() for p in whole.folder.glob("*.json"))


def test_an_expert_learns_its_texts(tmp_path):
    plan = tiny_plan(epochs=40, width=128, batch_tokens=128, learning_rate=4e-3)
    expert = train_expert(tmp_path, "people", plan, texts, "1")
    assert expert.ended == "epochs"
    assert expert.manifest.loss is not None and expert.manifest.loss < 0.8
    assert expert.picture.read_bytes().startswith(b"\x89PNG")
    pool = ExpertPool([OpenExpert("people", "", expert.folder, expert.sha256)])
    known = list(texts("train"))[:20]
    continuations = pool.write("people", [" ".join(t.split()[:5]) for t in known], temperature=0)
    right = [
        written[0].startswith(t.split()[5]) for written, t in zip(continuations, known, strict=True)
    ]
    assert np.mean(right) > 0.5  # by chance an eighth


def test_loss_and_perplexity_are_those_of_the_saved_weights(tiny_expert):
    import torch
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(tiny_expert)
    model = AutoModelForCausalLM.from_pretrained(tiny_expert, dtype=torch.float32)
    loss = targets = 0.0
    for text in texts("validation"):
        ids = [tokenizer.eos_token_id, *tokenizer(text)["input_ids"], tokenizer.eos_token_id]
        with torch.no_grad():
            mean = model(torch.tensor([ids]), labels=torch.tensor([ids])).loss
        loss, targets = loss + float(mean) * (len(ids) - 1), targets + len(ids) - 1
    measured = checked_manifest(tiny_expert).perplexity
    assert measured is not None
    assert math.log(measured) == pytest.approx(loss / targets, abs=0.02)  # rounded to bfloat16


@pytest.mark.parametrize("scaled", [False, True])
def test_logits_are_left_out_only_where_nothing_follows_the_head(tmp_path, scaled):
    import torch
    from transformers import GraniteConfig, GraniteForCausalLM

    sizes = {
        "vocab_size": 320, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
        "num_attention_heads": 1, "num_key_value_heads": 1,
    }  # fmt: skip
    torch.manual_seed(1)
    model = GraniteForCausalLM(GraniteConfig(**sizes, logits_scaling=4.0 if scaled else 1.0))
    assert ends_in_its_head(model) is not scaled
    ids = np.random.default_rng(2).integers(1, 320, 32).tolist()
    tokens = Tokens(np.array(ids), np.array([len(ids)]), np.array([20]), "")
    training = Training(model, tiny_plan(), tokens, tokens, tmp_path, context=64, padding=0)
    with torch.no_grad(), precision(torch.device("cpu")):
        logits = model.eval()(torch.tensor([ids])).logits[0, 19:-1]
        loss = torch.nn.functional.cross_entropy(logits.float(), torch.tensor(ids[20:]))
    assert training.evaluate(tokens) == pytest.approx(float(loss), rel=1e-5)


def test_golden_learning_rates():
    plan = TrainingPlan(learning_rate=1.0)
    rates = [round(rate_at(plan, done), 4) for done in (0, 0.03, 0.06, 0.53, 1)]
    assert rates == [0, 0.5, 1, 0.5, 0]
    assert TrainingPlan(base="x", method="lora").highest_rate == 1e-3


def test_few_texts_are_read_more_often():
    plan = TrainingPlan()
    assert plan.epochs_over(ENOUGH_TOKENS // 20) == 20
    assert plan.epochs_over(ENOUGH_TOKENS // 20 + 1) == 20
    assert plan.epochs_over(100 * ENOUGH_TOKENS) == FEWEST_EPOCHS
    assert plan.epochs_over(0) == ENOUGH_TOKENS
    assert TrainingPlan(base="smollm2").epochs_over(100) == FEWEST_EPOCHS
    assert TrainingPlan(epochs=3).epochs_over(ENOUGH_TOKENS // 20) == 3


def test_a_time_limit_changes_nothing_in_a_training_that_is_done_long_before(tmp_path):
    import torch

    losses = []
    for minutes in (None, 10.0):
        plan, folder = tiny_plan(minutes=minutes, epochs=8), tmp_path / str(minutes)
        tokenizer = make_tokenizer(find_base(plan.base), plan, texts("train"))
        tokens = write_tokens(texts("train"), TextTokenizer.of(tokenizer), folder, "train")
        torch.manual_seed(1)
        model = make_model(find_base(plan.base), plan, tokenizer)
        loaded = processor_seconds() - 30.0  # a twentieth of the time is over before the first step
        training = Training(
            model, plan, tokens, tokens, folder, context=64, padding=0, started=loaded
        )
        losses.append(training.run().losses)
    assert losses[0] == losses[1]


def test_training_stops_when_held_out_texts_no_longer_gain(tmp_path):
    def opposite(split: str) -> Iterator[str]:
        yield from people() if split == "train" else [text[::-1] for text in people(1)]

    plan = tiny_plan(epochs=60, patience=2, learning_rate=2e-2)
    expert = train_expert(tmp_path, "people", plan, opposite, "1")
    epochs = expert.manifest.training["epochs"]
    best = min(epoch["held_out"] for epoch in epochs)
    assert expert.ended == "patience" and len(epochs) < 60
    assert [epoch["held_out"] for epoch in epochs].index(best) == len(epochs) - 3
    assert expert.manifest.perplexity == math.exp(best)  # the weights of the best epoch are kept


def test_a_training_that_diverges_says_so_and_keeps_its_last_checkpoint(
    tmp_path, trained, monkeypatch
):
    loss, parts = Training._loss, 0

    def broken_loss(training: Training, part: Any) -> Any:
        nonlocal parts
        parts += 1
        return loss(training, part) * (math.nan if parts > 9 else 1.0)

    def train() -> TrainedExpert:
        return train_expert(tmp_path, "people", tiny_plan(), texts, "1", checkpoint_seconds=0)

    with monkeypatch.context() as patched:
        patched.setattr(Training, "_loss", broken_loss)
        with pytest.raises(AlmanacError, match=r"diverged .* lower learning rate"):
            train()
    assert not (tmp_path / "people").exists()
    assert train().sha256 == trained.sha256  # it goes on from before the loss was lost


@pytest.mark.parametrize("ending", [{"patience": 2}, {"all_texts": True, "epochs": 1}])
def test_no_expert_comes_of_weights_that_are_not_finite(tmp_path, ending):
    plan = tiny_plan(learning_rate=1e38, batch_tokens=100_000, **ending)
    with pytest.raises(AlmanacError, match="diverged"):
        train_expert(tmp_path, "people", plan, texts, "1")
    assert not (tmp_path / "people").exists()


def test_training_stops_when_its_time_is_up(tmp_path):
    plan = tiny_plan(epochs=100_000, minutes=1e-6)
    expert = train_expert(tmp_path, "people", plan, texts, "1")
    assert expert.ended == "minutes"
    assert expert.manifest.perplexity is not None


def test_other_texts_or_another_plan_begin_anew(experts, trained):
    again = train_expert(experts, "people", tiny_plan(), texts, "1")
    assert again.sha256 == trained.sha256 == sha_of(again.folder)
    other = train_expert(experts, "people", tiny_plan(seed=1), texts, "1")
    assert other.sha256 != again.sha256 and again.folder.exists()
    wider = train_expert(experts, "people", tiny_plan(seed=1, all_texts=True), texts, "1")
    assert wider.manifest.texts == 48 and wider.manifest.perplexity is None
    forget_training(experts, "people")
    assert not (experts / ".training" / "people").exists()


def test_the_same_result_replaces_the_published_folder_only_if_that_is_damaged(experts, trained):
    folder = experts / "people" / trained.folder.name
    published = folder.stat().st_ino
    train_expert(experts, "people", tiny_plan(), texts, "1")
    assert folder.stat().st_ino == published
    (folder / "model.safetensors").write_bytes(b"damaged")
    train_expert(experts, "people", tiny_plan(), texts, "1")
    assert checked_manifest(folder, trained.sha256) == trained.manifest


def test_what_cannot_be_trained_is_refused(tmp_path):
    with pytest.raises(AlmanacError, match="no texts"):
        train_expert(tmp_path, "none", tiny_plan(), lambda split: [], "1")
    base = str(make_encoding_model(tmp_path / "encoding"))
    with pytest.raises(UsageError):
        train_expert(tmp_path, "people", tiny_plan(base=base), texts, "1")
    with pytest.raises(UsageError):
        train_expert(tmp_path, "people", tiny_plan(base="/nowhere"), texts, "1")
    with (
        _alone(tmp_path / ".training" / "people", "people"),
        pytest.raises(BusyError, match="Another process"),
    ):
        train_expert(tmp_path, "people", tiny_plan(), texts, "1")


def test_a_damaged_checkpoint_is_said_so(experts):
    state = experts / ".training" / "people" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(DamageError, match="checkpoint"):
        train_expert(experts, "people", tiny_plan(), texts, "1")


def test_a_checkpoint_holds_no_pickle(trained):
    state = trained.folder.parents[1] / ".training" / "people"
    assert not list(state.rglob("*.p*t")) and (state / "state.safetensors").exists()
    plan = json.loads((state / "training.json").read_text())["plan"]
    assert TrainingPlan(**plan) == tiny_plan()
