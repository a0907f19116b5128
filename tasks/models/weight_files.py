"""Checks of folders of weights from untrusted sources: file names, sizes, types and tensors.

Nothing here reads more than the header of a file or runs code.
"""

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from safetensors import SafetensorError, safe_open

from schemas.errors import AlmanacError

MB = 1 << 20
LARGEST_HEADER = 16 * MB  # of safetensors
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy", ".npz", ".h5")
Tensors = dict[str, tuple[str, tuple[int, ...]]]  # by name: the type, the shape


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
    with path.open("rb") as file:
        if int.from_bytes(file.read(8), "little") > LARGEST_HEADER:
            raise ValueError("its header is too large")
    try:
        with safe_open(path, "numpy") as opened:
            tensors = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
            return {
                name: (tensor.get_dtype(), tuple(tensor.get_shape()))
                for name, tensor in tensors.items()
            }
    except SafetensorError as error:
        raise ValueError(str(error)) from None
