"""Checks the tokenizer of a folder from an untrusted source, in a process with limits.

The library that reads tokenizers is fast and trusts them: some files make it break down, read for
minutes, or give numbers of tokens that the model does not have.
"""

import json
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE, SETTINGS, CONFIG = "tokenizer.json", "tokenizer_config.json", "config.json"
MOST_ADDED = 20_000  # tokens beside the vocabulary; models have some hundreds
SECONDS = 30  # of processor time
MEMORY = 2 << 30  # bytes
# Words, Chinese, numbers, and runs that slow patterns read again and again.
SAMPLE = f"A tokenizer reads words, 12,345 numbers and 中文。 {'a' * 64}!{' ' * 64}{'1' * 64}\n" * 4
CHILD = f"from {__name__} import report; report()"


def check_tokenizer(folder: Path) -> None:
    """Raise ValueError, with the file's name and what is wrong, if the tokenizer cannot be used."""
    for name, added in ((FILE, "added_tokens"), (SETTINGS, "added_tokens_decoder")):
        if len(_object(folder / name).get(added) or ()) > MOST_ADDED:
            raise ValueError(f"{name} adds more than {MOST_ADDED:,} tokens")
    if not (folder / FILE).is_file():
        return
    status = (folder / FILE).stat()
    largest = _largest_token(folder / FILE, status.st_size, status.st_mtime_ns)
    config = _object(folder / CONFIG)
    inner = config.get("text_config")
    tokens = config.get("vocab_size") or (isinstance(inner, dict) and inner.get("vocab_size"))
    if isinstance(tokens, int) and tokens and largest >= tokens:
        raise ValueError(f"{FILE} has the token {largest:,}, but the model has {tokens:,} tokens")


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name} is not JSON") from None
    return value if isinstance(value, dict) else {}


@lru_cache(maxsize=16)
def _largest_token(path: Path, size: int, modified: int) -> int:
    """Return the largest number of a token; `size` and `modified` tell a changed file."""
    command = [sys.executable, "-I", "-c", CHILD]
    try:
        ended = subprocess.run(
            command, input=str(path.resolve()).encode(), capture_output=True, env={}, cwd="/",
            timeout=4 * SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ValueError(f"{path.name} takes too long to read") from None
    if ended.returncode == 0:
        return int(ended.stdout)
    raise ValueError(f"{path.name} cannot be read within {SECONDS} s and {MEMORY >> 30} GB")


def report() -> None:
    """Use the tokenizer whose path comes by standard input, and print its largest token."""
    import resource

    from tokenizers import Tokenizer

    for limit, most in (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_DATA, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError):  # already lower
            resource.setrlimit(limit, (most, most))
    tokenizer = Tokenizer.from_file(sys.stdin.read())
    read = tokenizer.encode(SAMPLE).ids
    tokenizer.decode(read)
    print(max(*tokenizer.get_vocab().values(), *read, 0))  # noqa: T201
