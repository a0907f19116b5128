"""Checks the tokenizer of a folder from an untrusted source, in processes with limits.

The library that reads tokenizers is fast and trusts them: some files make it break down, read for
minutes, or give numbers of tokens that the model does not have. A template of conversations is a
program, which may run without end.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE, SETTINGS, CONFIG = "tokenizer.json", "tokenizer_config.json", "config.json"
TEMPLATE = "chat_template.jinja"
MOST_ADDED = 20_000  # tokens beside the vocabulary; models have some hundreds
SECONDS = 30  # of processor time
MEMORY = 2 << 30  # bytes
# Words, Chinese, numbers, and runs that slow patterns read again and again.
SAMPLE = f"A tokenizer reads words, 12,345 numbers and 中文。 {'a' * 64}!{' ' * 64}{'1' * 64}\n" * 4
CHILD = f"from {__name__} import {{0}}; {{0}}({{1}})"


def check_tokenizer(folder: Path) -> None:
    """Raise ValueError, with the file's name and what is wrong, if the tokenizer cannot be used."""
    for name, added in ((FILE, "added_tokens"), (SETTINGS, "added_tokens_decoder")):
        if len(_object(folder / name).get(added) or ()) > MOST_ADDED:
            raise ValueError(f"{name} adds more than {MOST_ADDED:,} tokens")
    _check_templates(folder)
    if not (folder / FILE).is_file():
        return
    status = (folder / FILE).stat()
    largest = _largest_token(folder / FILE, status.st_size, status.st_mtime_ns)
    config = _object(folder / CONFIG)
    inner = config.get("text_config")
    tokens = config.get("vocab_size") or (isinstance(inner, dict) and inner.get("vocab_size"))
    if isinstance(tokens, int) and tokens and largest >= tokens:
        raise ValueError(f"{FILE} has the token {largest:,}, but the model has {tokens:,} tokens")


def _check_templates(folder: Path) -> None:
    settings = _object(folder / SETTINGS)
    stated = settings.get("chat_template")
    several = stated if isinstance(stated, list) else [stated] if stated else []
    templates = [(SETTINGS, template) for template in several]
    with suppress(FileNotFoundError, UnicodeDecodeError):
        templates.append((TEMPLATE, (folder / TEMPLATE).read_text(encoding="utf-8")))
    for name, template in templates:
        text = template.get("template") if isinstance(template, dict) else template
        tokens = {key: value for key, value in settings.items() if key.endswith("_token")}
        _in_child(render, json.dumps([text, tokens]), f"template in {name}")


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
    return int(_in_child(report, str(path.resolve()), path.name))


@lru_cache(maxsize=16)
def _in_child(work: Callable[[int], None], given: str, name: str) -> bytes:
    """Return what a function of this module prints, given a text by standard input."""
    command = [sys.executable, "-I", "-c", CHILD.format(work.__name__, SECONDS)]
    try:
        ended = subprocess.run(
            command, input=given.encode(), capture_output=True, env={}, cwd="/",
            timeout=4 * SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ValueError(f"{name} takes too long to read") from None
    if ended.returncode == 0:
        return ended.stdout
    raise ValueError(f"{name} cannot be read within {SECONDS} s and {MEMORY >> 30} GB")


def render(seconds: int) -> None:
    """Word a conversation by the template that comes by standard input, with special tokens."""
    from transformers.utils.chat_template_utils import render_jinja_template

    _limit(seconds)
    template, tokens = json.loads(sys.stdin.read())
    turns = [{"role": role, "content": SAMPLE} for role in ("system", "user", "assistant", "user")]
    for messages in (turns[:2], turns[1:2], turns):
        try:
            render_jinja_template(
                [messages], chat_template=template, add_generation_prompt=True,
                enable_thinking=False, **tokens,
            )  # fmt: skip
        except MemoryError:
            raise
        except Exception:  # noqa: S112 (templates refuse conversations in many ways)
            continue


def report(seconds: int) -> None:
    """Use the tokenizer whose path comes by standard input, and print its largest token."""
    from tokenizers import Tokenizer

    _limit(seconds)
    tokenizer = Tokenizer.from_file(sys.stdin.read())
    read = tokenizer.encode(SAMPLE).ids
    tokenizer.decode(read)
    print(max(*tokenizer.get_vocab().values(), *read, 0))  # noqa: T201


def _limit(seconds: int) -> None:
    """Limit what this process may use, in seconds of processor time."""
    import resource

    for limit, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_DATA, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError):  # already lower
            resource.setrlimit(limit, (most, most))
