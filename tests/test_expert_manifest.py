"""An expert's folder is refused, with a reason, unless it is whole and safe; nothing of it runs."""

import os
import pickle
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schemas.errors import DamageError, UsageError
from tasks.experts.manifest import (
    MANIFEST,
    UnsafeExpertError,
    checked_manifest,
    sha_of,
    write_manifest,
)
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.models.weight_files import read_header
from tests.unsafe_folders import Change, json_change, linked, manifest_change, piped, resealed

FLIPS = 1000


@pytest.fixture
def folder(tiny_expert: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_expert, tmp_path / "expert"))


class Trap:
    """What writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def pickled(name: str) -> Change:
    return lambda folder: (folder / name).write_bytes(pickle.dumps(Trap(folder / "sprung")))


def longer_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes((1 << 60).to_bytes(8, "little") + path.read_bytes()[8:])


def gap(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes() + b"\0" * 64)


def nested(folder: Path) -> None:
    (folder / "config.json").write_text("[" * 100_000)


def config(**values: Any) -> Change:
    """Return what sets values in the configuration and in the manifest its new hash."""
    return resealed(json_change("config.json", **values))


def listed(**values: Any) -> Change:
    """Return what sets values that the manifest has of the configuration."""
    return manifest_change(lambda manifest: manifest["files"]["config.json"].update(values))


def named_too(path: str) -> Change:
    """Return what lets the manifest name the configuration by another path, too."""
    return manifest_change(lambda m: m["files"].update({path: m["files"]["config.json"]}))


REFUSED: dict[str, tuple[Change, str]] = {
    "pickled weights": (pickled("pytorch_model.bin"), "could run code"),
    "a pickle for weights": (resealed(pickled("model.safetensors")), "no safetensors file"),
    "code": (lambda f: (f / "modeling.py").write_text("1"), "could run code"),
    "an extra file": (lambda f: (f / "notes.txt").write_text("1"), "does not belong"),
    "an extra folder": (lambda f: (f / "more").mkdir(), "does not belong"),
    "a hidden file": (lambda f: (f / ".hidden").write_text("1"), "does not belong"),
    "no manifest": (lambda f: (f / MANIFEST).unlink(), "manifest.json is missing"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
    "a file less": (lambda f: (f / "generation_config.json").unlink(), "differ in"),
    "a linked file": (linked("model.safetensors"), "link to another place"),
    "a linked manifest": (linked(MANIFEST), "link to another place"),
    "a pipe": (piped("config.json"), "not an ordinary file"),
    "a manifest that is no JSON": (lambda f: (f / MANIFEST).write_text("{"), "no manifest"),
    "a manifest of a list": (lambda f: (f / MANIFEST).write_text("[]"), "no manifest"),
    "a huge manifest": (lambda f: (f / MANIFEST).write_bytes(b" " * (2 << 20)), "too many"),
    "an unknown field": (manifest_change(lambda m: m.update(run="me")), "no manifest"),
    "no hash": (manifest_change(lambda m: m["files"]["config.json"].pop("sha256")), "no manifest"),
    "an empty hash": (listed(sha256=""), "no manifest"),
    "another size": (listed(size=1), "not the file"),
    "a file that is not named": (
        manifest_change(lambda m: m["files"].pop("tokenizer.json")),
        "differ in",
    ),
    "a path that leads out": (named_too("../x"), "differ in"),
    "an absolute path": (named_too("/etc/passwd"), "differ in"),
    "remote code": (config(auto_map={"AutoModelForCausalLM": "m.Model"}), "run code"),
    "remote code of another repository": (
        config(auto_map={"AutoConfig": "a/b--c.Config"}),
        "run code",
    ),
    "remote code of the tokenizer": (
        resealed(json_change("tokenizer_config.json", auto_map={"AutoTokenizer": ["t.T", None]})),
        "run code",
    ),
    "remote code deep inside": (config(text_config={"auto_map": {"AutoModel": "m.M"}}), "run code"),
    "kernels from elsewhere": (config(_attn_implementation="some/kernels"), "names code"),
    "quantised weights": (config(quantization_config={"quant_method": "x"}), "quantised"),
    "an unknown architecture": (config(model_type="no_such_model"), "no causal model"),
    "an encoder": (config(model_type="vit"), "no causal model"),
    "a billion layers": (config(num_hidden_layers=10**9), "too many"),
    "an absurd width": (config(hidden_size=10**15), "absurd"),
    "a wider model than its weights": (config(hidden_size=1 << 16, head_dim=64), "another shape"),
    "more layers than weights": (config(num_hidden_layers=100), "lacks"),
    "a bigger vocabulary": (config(vocab_size=1 << 30), "another shape"),
    "a header as long as a disk": (resealed(longer_header), "header is too large"),
    "bytes behind the weights": (resealed(gap), "file not fully covered"),
    "endless nesting": (resealed(nested), "not JSON"),
    "a list for a configuration": (
        resealed(lambda f: (f / "config.json").write_text("[]")),
        "not a JSON object",
    ),
}


@pytest.mark.parametrize("trick", REFUSED)
def test_a_folder_with_a_trick_is_refused_with_a_reason(trick, folder):
    change, reason = REFUSED[trick]
    change(folder)
    pool = ExpertPool([OpenExpert("people", "", folder, sha_or_nothing(folder))])
    with pytest.raises(UnsafeExpertError, match="refused") as refusal:
        pool.write("people", ["Ada"])
    assert reason in str(refusal.value)
    assert "Nothing of it was loaded" in str(refusal.value)
    assert not (folder / "sprung").exists()


def sha_or_nothing(folder: Path) -> str:
    try:
        return sha_of(folder)
    except OSError:
        return "0" * 64


def test_every_flipped_bit_is_noticed(folder):
    files = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    expected, random = sha_of(folder), Random(1)
    for path in random.choices(list(files), k=FLIPS):
        bit = random.randrange(8 * len(files[path]))
        damaged = bytearray(files[path])
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(UnsafeExpertError):
            checked_manifest(folder, expected)
        path.write_bytes(files[path])
    assert checked_manifest(folder, expected).parameters > 10_000


def test_another_manifest_than_the_registered_one_is_refused(folder):
    registered = sha_of(folder)
    json_change(MANIFEST, licence="mine")(folder)
    checked_manifest(folder)
    with pytest.raises(UnsafeExpertError, match="not the one that was registered"):
        checked_manifest(folder, registered)


def test_a_linked_folder_is_refused(folder):
    link = folder.parent / "link"
    link.symlink_to(folder)
    with pytest.raises(UnsafeExpertError, match="link"):
        checked_manifest(link)
    with pytest.raises(UnsafeExpertError, match="no such folder"):
        checked_manifest(folder / "nowhere")


def test_a_manifest_says_what_the_folder_holds(folder):
    manifest = checked_manifest(folder)
    assert manifest.method == manifest.base_model == "scratch"
    assert manifest.architecture == "llama"
    assert manifest.texts == 44
    assert 0 < manifest.loss < 4 and manifest.perplexity > 1  # type: ignore[operator]
    assert str(folder) not in (folder / MANIFEST).read_text()
    header = read_header(folder / "model.safetensors")
    assert {kind for kind, _ in header.values()} == {"BF16"}
    again = write_manifest(folder, **manifest.model_dump(exclude={"files", "architecture", "parameters", "format"}))  # noqa: E501  # fmt: skip
    assert again == manifest


def test_unknown_experts_are_a_usage_error(tiny_expert):
    with pytest.raises(UsageError, match="no expert 'x'"):
        ExpertPool([]).write("x", ["a"])
    assert not issubclass(UnsafeExpertError, DamageError)
