"""Policies in folders: they come back as they were, and hostile ones are refused."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tasks.paths.policy.network import NetworkShape, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.store import (
    CURVE,
    MANIFEST,
    WEIGHTS,
    UnsafePolicyError,
    is_of_this_format,
    load_policy,
    save_policy,
)
from tasks.paths.policy.train import TrainedPolicy
from tests.unsafe_folders import Change, linked, manifest_change, piped, resealed
from warehouse.durable import sha256_file

PLAN = PolicyPlan(width=6, relatedness=0.7)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    network = PolicyNetwork.untrained(NetworkShape(4, 6, 3), seed=0)
    policy = TrainedPolicy(network, PLAN, [{"loss": 0.5}], learned_from=7)
    save_policy(tmp_path / "policy", policy, "a graph", "minilm")
    return tmp_path / "policy"


def test_a_policy_comes_back_as_it_was(folder):
    policy, manifest = load_policy(folder, sha256_file(folder / MANIFEST))
    whole = PolicyNetwork.untrained(NetworkShape(4, 6, 3), seed=0)
    assert policy.network.shape == whole.shape
    assert all((policy.network.weights[name] == w).all() for name, w in whole.weights.items())
    assert policy.plan == PLAN
    assert policy.learned_from == 7
    assert json.loads((folder / CURVE).read_bytes()) == [{"loss": 0.5}]
    assert (manifest.graph, manifest.encoder) == ("a graph", "minilm")


def test_a_policy_of_an_earlier_format_is_told_from_a_damaged_one(folder):
    assert is_of_this_format(folder)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    (folder / MANIFEST).write_text(json.dumps({**manifest, "format": 2}))
    assert not is_of_this_format(folder)
    (folder / MANIFEST).write_text("{")
    assert is_of_this_format(folder)  # loading it says what is wrong


def tensors(change: Callable[[dict[str, np.ndarray]], object]) -> Change:
    """Return what changes the weights and seals them."""

    def attack(folder: Path) -> None:
        weights = load_file(folder / WEIGHTS)
        change(weights)
        save_file(weights, folder / WEIGHTS)

    return resealed(attack)


def written(name: str, data: bytes) -> Change:
    """Return what replaces a file and seals it."""
    return resealed(lambda folder: (folder / name).write_bytes(data))


def damage(folder: Path) -> None:
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[-1] ^= 1
    (folder / WEIGHTS).write_bytes(data)


ATTACKS: dict[str, tuple[Change, str]] = {
    "a pickle beside it": (lambda f: (f / "weights.pkl").write_bytes(b"x"), "could run code"),
    "a file beside it": (lambda f: (f / "notes.txt").write_text("x"), "does not belong"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), "policy.safetensors is missing"),
    "no manifest": (lambda f: (f / MANIFEST).unlink(), "manifest.json is missing"),
    "linked weights": (linked(WEIGHTS), "link to another place"),
    "a pipe for weights": (piped(WEIGHTS), "not an ordinary file"),
    "a curve that is too long": (lambda f: os.truncate(f / CURVE, 1 << 40), "which is too many"),
    "changed weights": (damage, "not the file that"),
    "not safetensors": (written(WEIGHTS, b"\x80\x04pickle"), "no safetensors file"),
    "not a manifest": (lambda f: (f / MANIFEST).write_text("[]"), "no manifest"),
    "options that do not exist": (
        manifest_change(lambda m: m["plan"].update(code="x")),
        r"no manifest of a policy \(plan.code\)",
    ),
    "a network that is too wide": (
        manifest_change(lambda m: m["plan"].update(width=10**9)),
        "no manifest",
    ),
    "another network": (
        manifest_change(lambda m: m["plan"].update(width=7)),
        "not one of the network",
    ),
    "other vectors": (manifest_change(lambda m: m.update(dimensions=5)), "not one of"),
    "a file outside": (
        manifest_change(lambda m: m["files"].update({"../x": m["files"][CURVE]})),
        "does not list exactly",
    ),
    "numbers that are not finite": (tensors(lambda t: t["stop"].fill(np.nan)), "not finite"),
    "a tensor too many": (
        tensors(lambda t: t.update(more=np.zeros(3, np.float32))),
        "'more' is not one",
    ),
    "another type": (
        tensors(lambda t: t.update(stop=np.zeros(6, np.float64))),
        "'stop' is not one",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_folders_are_refused(folder, attack):
    change, reason = ATTACKS[attack]
    change(folder)
    with pytest.raises(UnsafePolicyError, match=reason):
        load_policy(folder)


def test_another_policy_than_the_registered_one_is_refused(folder):
    with pytest.raises(UnsafePolicyError, match="not the one that was registered"):
        load_policy(folder, "0" * 64)
    with pytest.raises(UnsafePolicyError, match="no such folder"):
        load_policy(folder.with_name("nothing"))
    link = folder.with_name("link")
    link.symlink_to(folder)
    with pytest.raises(UnsafePolicyError, match="or a link to one"):
        load_policy(link)
