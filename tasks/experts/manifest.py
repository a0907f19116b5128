"""Checks of an expert's folder, made before a library that loads models reads anything in it.

The folder may come from a stranger. So files must have names from a short list, be ordinary files
of reasonable size and have the hashes in `manifest.json`; weights must be safetensors; and nothing
may ask for code, other repositories or a model larger than its weights. Each refusal states the
reason, and nothing is run before.
"""

import json
import math
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.errors import AlmanacError
from tasks.experts.competence import Competence
from tasks.experts.field import KEYS, NAMES
from tasks.models.tokenizer_check import check_tokenizer
from tasks.models.weight_files import MB, ManifestFile, Tensors, file_sizes, read_header
from warehouse import durable

MANIFEST = "manifest.json"
WEIGHTS = "model.safetensors"
NEEDED = ("config.json", WEIGHTS, "tokenizer.json", "tokenizer_config.json")
OPTIONAL = ("generation_config.json", NAMES)
LARGEST = {  # bytes
    MANIFEST: MB,
    "config.json": MB,
    "tokenizer_config.json": 16 * MB,
    "generation_config.json": MB,
    "tokenizer.json": 256 * MB,
    NAMES: 1024 * MB,
    WEIGHTS: 64 << 30,
}
MOST_LAYERS, LARGEST_NUMBER, LONGEST_LIST = 512, 1 << 31, 10_000  # in a configuration
# With these keys a configuration could choose foreign code or another way to read the weights.
FORBIDDEN = {
    "auto_map": "it asks to run code that comes with it (auto_map)",
    "custom_pipelines": "it asks to run code that comes with it (custom_pipelines)",
    "custom_generate": "it asks to run code that comes with it (custom_generate)",
    "trust_remote_code": "it asks to run code that comes with it (trust_remote_code)",
    "quantization_config": "its weights are quantised, which needs other libraries to be read",
    "kernel_config": "it asks for kernels from elsewhere (kernel_config)",
    "peft_config": "it is an adapter, which names a base model; merge it first",
}
ATTENTION = (None, "eager", "sdpa")


# Fields of a manifest that its files decide, or that a check writes.
FROM_FILES = ("format", "files", "architecture", "parameters", "competence")


class UnsafeExpertError(AlmanacError):
    """An expert's folder fails its checks; nothing in it was loaded."""


class Manifest(BaseModel):
    """`manifest.json`: an expert's files, its origin, and what it was found to know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: int = Field(1, ge=1, le=1)
    files: dict[str, ManifestFile]
    base_model: str = Field("", max_length=500)
    method: str = Field("added", max_length=40)
    licence: str = Field("", max_length=200)
    architecture: str = Field(max_length=100)
    parameters: int = Field(ge=0)
    tokens: int = Field(0, ge=0)
    texts: int = Field(0, ge=0)
    data_sha: str = Field("", max_length=64)
    loss: float | None = None
    perplexity: float | None = None
    training: dict[str, Any] = {}
    competence: Competence | None = None


def write_manifest(folder: Path, **about: Any) -> Manifest:
    """Write and return the manifest of the files in a folder; `about` has its other fields."""
    files = {
        path.name: ManifestFile(sha256=durable.sha256_file(path), size=path.stat().st_size)
        for path in sorted(folder.iterdir())
        if path.name in (*NEEDED, *OPTIONAL)
    }
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    header = read_header(folder / WEIGHTS)
    manifest = Manifest(
        files=files,
        architecture=config["model_type"],
        parameters=sum(math.prod(shape) for _, shape in header.values()),
        **about,
    )
    durable.write_json(folder / MANIFEST, manifest.model_dump())
    return manifest


def sha_of(folder: Path) -> str:
    """Return the SHA-256 of a folder's manifest, which stands for all its files."""
    return durable.sha256_file(folder / MANIFEST)


def checked_manifest(folder: Path, expected: str | None = None) -> Manifest:
    """Return the manifest of a folder, after checking that it is complete and safe to load.

    `expected` is the SHA-256 that the manifest must have. Raises UnsafeExpertError.
    """
    sizes = file_sizes(folder, LARGEST, (MANIFEST, *NEEDED), unsafe)
    data = (folder / MANIFEST).read_bytes()
    if expected is not None and sha256(data).hexdigest() != expected:
        raise unsafe(folder, "manifest.json is not the one that was registered")
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "the whole"
        raise unsafe(folder, f"manifest.json is no manifest of an expert ({place[:80]})") from None
    if manifest.files.keys() != sizes.keys() - {MANIFEST}:
        odd = min(manifest.files.keys() ^ (sizes.keys() - {MANIFEST}))
        raise unsafe(folder, f"manifest.json and the folder differ in {odd[:80]!r}")
    for name, file in manifest.files.items():
        if sizes[name] != file.size or durable.sha256_file(folder / name) != file.sha256:
            raise unsafe(folder, f"{name} is not the file that manifest.json describes")
    check_contents(folder)
    return manifest


def check_contents(folder: Path) -> None:
    """Raise UnsafeExpertError for files that ask for code, are malformed, or do not agree."""
    configs = {
        name: _json(folder, name)
        for name in (*NEEDED, *OPTIONAL)
        if name.endswith(".json") and (folder / name).exists()
    }
    for name, config in configs.items():
        if name != "tokenizer.json":
            _check_values(folder, name, config)
    try:
        header = read_header(folder / WEIGHTS)
    except ValueError as error:
        raise unsafe(folder, f"{WEIGHTS} is no safetensors file ({error})") from None
    _check_names(folder)
    try:
        check_tokenizer(folder)
    except ValueError as error:
        raise unsafe(folder, str(error)) from None
    _check_size(folder, configs["config.json"], header)


def _check_names(folder: Path) -> None:
    """Raise UnsafeExpertError unless the file of names, if there is one, has hashes alone."""
    if not (folder / NAMES).exists():
        return
    try:
        header = read_header(folder / NAMES)
    except ValueError as error:
        raise unsafe(folder, f"{NAMES} is no safetensors file ({error})") from None
    if list(header) != [KEYS] or header[KEYS][0] != "I64" or len(header[KEYS][1]) != 1:
        raise unsafe(folder, f"{NAMES} has something else than hashes of names")


def _json(folder: Path, name: str) -> dict[str, Any]:
    try:
        value = json.loads((folder / name).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise unsafe(folder, f"{name} is not JSON") from None
    if not isinstance(value, dict):
        raise unsafe(folder, f"{name} is not a JSON object")
    return value


def _check_values(folder: Path, name: str, config: Mapping[str, Any]) -> None:
    for key, value in _pairs(config):
        if key in FORBIDDEN and value:
            raise unsafe(folder, f"in {name}, {FORBIDDEN[key]}")
        if key.strip("_").startswith("attn_implementation") and value not in ATTENTION:
            raise unsafe(folder, f"in {name}, {key} names code from elsewhere")
        if isinstance(value, list) and len(value) > LONGEST_LIST:
            raise unsafe(folder, f"in {name}, {key} has {len(value)} items")
        if isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
            if name == "tokenizer_config.json" and key == "model_max_length":
                continue  # transformers writes 1e30 for "no limit"
            raise unsafe(folder, f"in {name}, {key} is {value:.0e}, which is absurd")
        layers = "layer" in key and isinstance(value, int) and name == "config.json"
        if layers and value > MOST_LAYERS:
            raise unsafe(folder, f"in {name}, {key} is {value}, which is too many")


def _pairs(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all keys and values of nested JSON; list items have the key of their list."""
    yield key, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _pairs(inner, name)
    elif isinstance(value, list):
        for inner in value[:LONGEST_LIST]:
            yield from _pairs(inner, key)


def _check_size(folder: Path, config: dict[str, Any], tensors: Tensors) -> None:
    """Raise UnsafeExpertError if the weights do not fit the model that the configuration describes.

    This bounds the model's memory by the size of the files. The model is built without weights.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    kind = config.get("model_type")
    try:
        known = AutoConfig.for_model(**config)
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(
                known, trust_remote_code=False, attn_implementation="eager"
            )
    except Exception as error:
        raise unsafe(
            folder, f"config.json describes no causal model that is known here ({kind!r})"
        ) from error
    tied = set(getattr(model, "_tied_weights_keys", None) or ())
    shapes = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
    for name, (_, shape) in tensors.items():
        if name in shapes and shapes[name] != shape:
            raise unsafe(folder, f"the weights of {name} have another shape than config.json says")
    if missing := shapes.keys() - tensors.keys() - tied:
        raise unsafe(folder, f"{WEIGHTS} lacks {min(missing)}")
    weights = sum(math.prod(shape) for _, shape in tensors.values())
    buffers = sum(buffer.numel() for buffer in model.buffers())
    if buffers > MOST_BUFFERS * weights + MB:
        raise unsafe(folder, "config.json describes a model much larger than its weights")


MOST_BUFFERS = 8  # buffer elements, which a model computes itself, per weight


def unsafe(folder: Path, why: str) -> UnsafeExpertError:
    """Return the error that refuses the expert in a folder."""
    return UnsafeExpertError(f"The expert in {folder} is refused: {why}. Nothing of it was loaded.")
