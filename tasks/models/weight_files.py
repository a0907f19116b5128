"""Checks of folders of weights from untrusted sources: file names, sizes, types and tensors.

Nothing here reads more than the header of a file or runs code.
"""

import json
import math
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from schemas.errors import AlmanacError

MB = 1 << 20
LARGEST_HEADER = 64 * MB  # of safetensors
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy", ".npz", ".h5")
Tensors = dict[str, tuple[str, tuple[int, ...]]]  # by name: the type, the shape
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1}
BYTES["BOOL"] = 1


class ManifestFile(BaseModel):
    """The properties that one file of a folder must have."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: int = Field(ge=0)


def file_sizes(
    folder: Path,
    largest: Mapping[str, int],
    needed: Iterable[str],
    refusal: Callable[[Path, str], AlmanacError],
) -> dict[str, int]:
    """Return the sizes in bytes of a folder's files.

    `largest` maps each permitted file name to its maximum size; the files in `needed` must exist.
    Raises the error that `refusal` makes of the folder and a reason if a file is missing or too
    large, has another name, or is a link or not a regular file.
    """
    try:
        mode = os.lstat(folder).st_mode
    except OSError:
        raise refusal(folder, "there is no such folder") from None
    if not stat.S_ISDIR(mode):
        raise refusal(folder, "it is not a folder, or a link to one")
    sizes = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            info, name = entry.stat(follow_symlinks=False), entry.name[:80]
            if entry.is_symlink():
                raise refusal(folder, f"{name!r} is a link to another place")
            if entry.name not in largest:
                kind = "could run code when read" if is_pickle(entry.name) else "does not belong"
                raise refusal(folder, f"{name!r} {kind}")
            if not stat.S_ISREG(info.st_mode):
                raise refusal(folder, f"{name} is not an ordinary file")
            if info.st_size > largest[entry.name]:
                raise refusal(folder, f"{name} has {info.st_size} bytes, which is too many")
            sizes[entry.name] = info.st_size
    for name in needed:
        if name not in sizes:
            raise refusal(folder, f"{name} is missing")
    return sizes


def is_pickle(name: str) -> bool:
    """Return whether a file of that name may hold pickled objects or code."""
    return name.lower().endswith((*PICKLES, ".py", ".so", ".pyc"))


def read_header(path: Path) -> Tensors:
    """Return types and shapes of a safetensors file's tensors; raise ValueError for other files."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(LARGEST_HEADER, size - 8):
            raise ValueError("its header has an impossible length")
        try:
            header = json.loads(file.read(length))
            tensors = {
                name: (str(about["dtype"]), tuple(about["shape"]), tuple(about["data_offsets"]))
                for name, about in header.items()
                if name != "__metadata__"
            }
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ValueError("its header cannot be read") from None
    position = 0
    for kind, shape, (begin, end) in sorted(tensors.values(), key=lambda tensor: tensor[2]):
        if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)) or begin != position:
            raise ValueError("its tensors overlap or leave gaps")
        if end - begin != math.prod(shape) * BYTES.get(kind, 0):
            raise ValueError("a tensor is not as long as its shape says")
        position = end
    if position != size - 8 - length:
        raise ValueError("its tensors do not fill it")
    return {name: (kind, shape) for name, (kind, shape, _) in tensors.items()}
