"""Loads a language model into this process, and formats conversations for it.

Only safetensors files are read, and no code that comes with a model is run.
"""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from tasks.models.call import Message
from tasks.models.packaged import PACKAGED, packaged_folder
from tasks.models.tokenizer_check import check_tokenizer

PULLED = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")  # from a repository of the hub


def weights_folder(name: str) -> Path:
    """Return the folder of a model by path, hub name or packaged name, such as `smollm2`.

    Raises UsageError if there is none or reading it is not allowed.
    """
    if not name:
        raise UsageError("Name a model: --model with a folder or the name of a model of the hub.")
    folder = _folder_of(name)
    if name not in PACKAGED:
        _refuse_unsafe(folder, name)
    return folder


def weights_size(name: str) -> int:
    """Return the size of a model's weight files in bytes; raise UsageError if it has none."""
    return sum(path.stat().st_size for path in weights_folder(name).glob("*.safetensors"))


@contextmanager
def loading_errors(name: str, kind: str) -> Iterator[None]:
    """Turn every error in the body, which loads a model, into a UsageError."""
    try:
        yield
    except UsageError:
        raise
    except BaseException as error:
        # A library in Rust raises its breakdowns beside all other exceptions.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        # There are too many types to list: a truncated file, an unknown architecture, a
        # quantisation whose library is missing, a device without enough memory.
        reason = str(error).strip().splitlines()[0][:300] if str(error).strip() else ""
        raise UsageError(
            f"The model {name} cannot be loaded ({type(error).__name__}: {reason}). Check that it "
            f"is {kind} with safetensors weights."
        ) from error


def chosen_device(name: str | None) -> Any:
    """Return the torch device of that name, the fastest one for None; UsageError if absent."""
    import torch

    if name is None:
        gpu = "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device("cuda" if torch.cuda.is_available() else gpu)
    try:
        torch.empty(1, device=name)
        return torch.device(name)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"There is no device {name} here. Leave `device` out to have one chosen."
        ) from error


def has_bfloat16() -> bool:
    """Return whether this processor supports bfloat16 in hardware."""
    import torch

    # Older releases of torch cannot report this.
    able = getattr(torch.cpu, "get_capabilities", dict[str, Any])()
    return any(able.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))


def _folder_of(name: str) -> Path:
    """Return the folder of a model, which is fetched from the hub unless it is a local folder."""
    if name in PACKAGED:
        return packaged_folder(name)
    with suppress(RuntimeError):  # there is no such user
        folder = Path(name).expanduser()
        if folder.is_dir():
            return folder
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise UsageError(f"There is no model folder {name}.")
    from huggingface_hub import snapshot_download

    try:
        # Folders within a repository hold the same weights in other forms.
        return Path(
            snapshot_download(
                name, allow_patterns=list(PULLED), ignore_patterns=["*/*", "consolidated*"]
            )
        )
    except Exception as error:
        raise UsageError(
            f"There is no folder {name}, and the hub did not give a model of that name "
            f"({type(error).__name__}). Check the name and the connection, or give a folder."
        ) from error


def _refuse_unsafe(folder: Path, name: str) -> None:
    if not (folder / "config.json").is_file():
        raise UsageError(f"{name} is no model: it has no config.json.")
    if not any(folder.glob("*.safetensors")):
        raise UsageError(
            f"The model {name} has no safetensors weights. Other files of weights can run code "
            "when they are read, so they are not. Convert it, or use another model."
        )
    try:
        check_tokenizer(folder)
    except ValueError as error:
        raise UsageError(f"The model {name} is refused: its {error}.") from None
    if "auto_map" in json.loads((folder / "config.json").read_text(encoding="utf-8")):
        known = "its code is not run; the library's own is used where it knows the architecture"
        logging.getLogger(__name__).warning("The model %s comes with code: %s.", name, known)


LONGEST_PROMPT = 32_768  # tokens, for models that name no limit (relative positions, as in T5)
_SPEAKERS = {"system": "Instructions", "user": "Task", "assistant": "Reply"}


@dataclass(slots=True)
class LoadedModel:
    """A model ready to generate, and its properties."""

    model: Any
    tokenizer: Any
    sequence_to_sequence: bool
    context: int  # tokens of prompt and reply; of the prompt alone if it is encoded
    ends: list[int]  # tokens that end a reply
    padding: int
    device: Any
    control: re.Pattern[str] | None  # texts that would be tokenised as control tokens

    def prompt(self, messages: list[Message]) -> list[int]:
        """Return the tokens of a conversation, up to the beginning of the reply."""
        text, add_special = self.prompt_text(messages)
        ids = self.tokenizer(
            text, add_special_tokens=add_special, truncation=False, padding=False, verbose=False
        )
        return list(ids["input_ids"])

    def prompt_text(self, messages: list[Message]) -> tuple[str, bool]:
        """Return the text of a conversation, and whether special tokens must be added to it.

        A model without a chat template gets `Instructions:`, `Task:` and `Reply:`, each followed by
        the message on a line of its own.
        """
        conversation = [
            {**message, "content": self.harmless(message["content"])} for message in messages
        ]
        if self.tokenizer.chat_template:
            return _by_template(self.tokenizer, conversation), False
        parts = [f"{_SPEAKERS[message['role']]}:\n{message['content']}" for message in conversation]
        return "\n\n".join([*parts, "Reply:\n"]), True

    def harmless(self, text: str) -> str:
        """Return a text with a space inserted wherever the tokenizer would read a control token."""
        if self.control is None:
            return text
        return self.control.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", text)


def _by_template(tokenizer: Any, messages: list[Message]) -> str:
    """Return a conversation in the model's template; some templates have no system message."""
    from jinja2 import TemplateError

    options: dict[str, Any] = {"add_generation_prompt": True, "enable_thinking": False}
    try:
        return str(tokenizer.apply_chat_template(messages, tokenize=False, **options))
    except TemplateError:
        system, user, *rest = messages
        first = {"role": "user", "content": f"{system['content']}\n\n{user['content']}"}
        return str(tokenizer.apply_chat_template([first, *rest], tokenize=False, **options))


def load_model(name: str, device: str | None, *, in_float32: bool = False) -> LoadedModel:
    """Load a model from a folder or the hub; raise UsageError if that fails."""
    folder = weights_folder(name)
    with loading_errors(name, "a chat or sequence-to-sequence model"):
        return _load(folder, chosen_device(device), in_float32)


def _load(folder: Path, device: Any, in_float32: bool) -> LoadedModel:
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    if not tokenizer.is_fast:
        raise UsageError("The model's tokenizer is not a fast one: it has no tokenizer.json.")
    encoded = bool(config.is_encoder_decoder)
    kind: Any = transformers.AutoModelForCausalLM
    if encoded:
        kind = transformers.AutoModelForSeq2SeqLM
    dtype: Any = "auto"  # as the weights were saved
    emulated = device.type == "cpu" and not (config.dtype == torch.bfloat16 and has_bfloat16())
    if in_float32 or emulated:  # processors emulate half precision
        dtype = torch.float32
    model, loading = kind.from_pretrained(
        folder,
        config=config,
        dtype=dtype,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    if loading["missing_keys"]:
        raise UsageError(
            f"{folder} lacks weights that a model which writes needs, such as "
            f"{min(loading['missing_keys'])}."
        )
    model = model.to(device).eval()
    ends = _ends(model, tokenizer)
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else ends[0]
    _set_greedy(model, ends, padding)
    context = getattr(config.get_text_config(), "max_position_embeddings", None) or LONGEST_PROMPT
    control = _control_words(tokenizer)
    return LoadedModel(model, tokenizer, encoded, context, ends, padding, device, control)


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """Return the tokens that end a reply, the tokenizer's own first."""
    named = model.generation_config.eos_token_id
    named = [] if named is None else named if isinstance(named, list) else [named]
    ends = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    ends += [token for token in named if token not in ends]
    if not ends:
        raise UsageError("The model has no token that ends a reply.")
    return ends


def _set_greedy(model: Any, ends: list[int], padding: int) -> None:
    """Remove sampling, penalties and forced words from the model's generation settings."""
    from transformers import GenerationConfig

    own = model.generation_config
    model.generation_config = GenerationConfig(
        do_sample=False,
        num_beams=1,
        eos_token_id=ends,
        pad_token_id=padding,
        bos_token_id=own.bos_token_id,
        decoder_start_token_id=own.decoder_start_token_id,
    )


def _control_words(tokenizer: Any) -> re.Pattern[str] | None:
    """Return a pattern for control tokens, with which a document could pose as the system."""
    words = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    words = {word for word in words | set(tokenizer.all_special_tokens) if len(word) > 1}
    if not words:
        return None
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
