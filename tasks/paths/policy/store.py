"""Policies as folders of safetensors weights, which are loaded only if they match a manifest.

manifest.json            the plan, the encoder, and size and SHA-256 of the other files
policy.safetensors       the weights of the network
curve.json               figures of the training, batch by batch

The folder may come from a stranger. Each refusal states the reason, and nothing is loaded before.
"""

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.errors import AlmanacError
from tasks.models.weight_files import MB, ManifestFile, file_sizes, read_header
from tasks.paths.policy.network import NetworkShape, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.train import TrainedPolicy
from warehouse import durable

FORMAT = 3  # until 2 policies learned without the hops that a node lacks
MANIFEST, WEIGHTS, CURVE = "manifest.json", "policy.safetensors", "curve.json"
LARGEST = {MANIFEST: MB, WEIGHTS: 1_024 * MB, CURVE: 64 * MB}  # bytes


class UnsafePolicyError(AlmanacError):
    """A policy's folder fails its checks; nothing in it was loaded."""


class PolicyManifest(BaseModel):
    """`manifest.json`: a policy's plan, training graph, encoder and files."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = Field(FORMAT, ge=FORMAT, le=FORMAT)
    files: dict[str, ManifestFile]
    plan: PolicyPlan
    dimensions: int = Field(ge=1, le=16_384, description="The length of the vectors it reads.")
    encoder: str = Field(max_length=500, description="The encoder of these vectors.")
    graph: str = Field(max_length=500, description="The graph it was trained on.")
    learned_from: int = Field(ge=0, description="The number of questions it learned from.")
    parameters: int = Field(ge=0)

    @property
    def shape(self) -> NetworkShape:
        """The sizes of the network."""
        return NetworkShape(self.dimensions, self.plan.width, self.plan.steps)

    @property
    def tensors(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The type and shape of each tensor."""
        return {name: ("F32", size) for name, size in self.shape.weights.items()}


def save_policy(folder: Path, policy: TrainedPolicy, graph: str, encoder: str) -> str:
    """Write a policy to a new folder atomically; return the SHA-256 of its manifest."""
    from safetensors.numpy import save_file

    aside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    tensors = {name: weight.detach().numpy() for name, weight in policy.network.weights.items()}
    contiguous = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    save_file(contiguous, aside / WEIGHTS)
    (aside / CURVE).write_text(json.dumps(policy.curve), encoding="utf-8")
    manifest = PolicyManifest(
        files={
            name: ManifestFile(
                sha256=durable.sha256_file(aside / name), size=(aside / name).stat().st_size
            )
            for name in (WEIGHTS, CURVE)
        },
        plan=policy.plan,
        dimensions=policy.network.shape.dimensions,
        encoder=encoder,
        graph=graph,
        learned_from=policy.learned_from,
        parameters=sum(array.size for array in tensors.values()),
    )
    durable.write_json(aside / MANIFEST, manifest.model_dump(mode="json"))
    durable.sync_tree(aside)
    digest = durable.sha256_file(aside / MANIFEST)
    durable.replace(aside, folder)
    return digest


def is_of_this_format(folder: Path) -> bool:
    """Return whether a folder has a policy that `load_policy` reads, or refuses for its faults."""
    try:
        number = json.loads((folder / MANIFEST).read_bytes())["format"]
    except (OSError, ValueError, TypeError, KeyError):
        return True
    return bool(number == FORMAT)


def load_policy(folder: Path, expected: str | None = None) -> tuple[TrainedPolicy, PolicyManifest]:
    """Return the policy in a folder without its training curve, and its manifest.

    `expected` is the SHA-256 that the manifest must have. Raises UnsafePolicyError if the folder is
    not exactly what `save_policy` writes.
    """
    import torch
    from safetensors.numpy import load

    names = file_sizes(folder, LARGEST, LARGEST, _unsafe)
    contents = {name: (folder / name).read_bytes() for name in names}
    if expected is not None and sha256(contents[MANIFEST]).hexdigest() != expected:
        raise _unsafe(folder, f"{MANIFEST} is not the one that was registered")
    try:
        manifest = PolicyManifest.model_validate_json(contents[MANIFEST])
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "the whole"
        raise _unsafe(folder, f"{MANIFEST} is no manifest of a policy ({place[:80]})") from None
    if manifest.files.keys() != contents.keys() - {MANIFEST}:
        raise _unsafe(folder, f"{MANIFEST} does not list exactly {WEIGHTS} and {CURVE}")
    for name, file in manifest.files.items():
        if len(contents[name]) != file.size or sha256(contents[name]).hexdigest() != file.sha256:
            raise _unsafe(folder, f"{name} is not the file that {MANIFEST} describes")
    try:
        header = read_header(folder / WEIGHTS)
    except ValueError as error:
        raise _unsafe(folder, f"{WEIGHTS} is no safetensors file ({error})") from None
    if header != manifest.tensors:
        odd = min(name for name, _ in header.items() ^ manifest.tensors.items())
        raise _unsafe(folder, f"the tensor {odd[:80]!r} is not one of the network in the plan")
    tensors = load(contents[WEIGHTS])
    for name, array in tensors.items():
        if not np.isfinite(array).all():
            raise _unsafe(folder, f"the tensor {name} has numbers that are not finite")
    weights = {name: torch.from_numpy(array) for name, array in tensors.items()}
    network = PolicyNetwork(manifest.shape, weights)
    return TrainedPolicy(network, manifest.plan, learned_from=manifest.learned_from), manifest


def _unsafe(folder: Path, why: str) -> UnsafePolicyError:
    return UnsafePolicyError(f"The policy in {folder} is refused: {why}. Nothing of it was loaded.")
