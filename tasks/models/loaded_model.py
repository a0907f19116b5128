"""Loading a language model into this process, and laying a conversation out for it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from tasks.models.call import Message
from tasks.models.model_folder import chosen_device, told_plainly, weights_folder

LONGEST_PROMPT = 32_768  # tokens, for models that name no limit (relative positions, as in T5)
_SPEAKERS = {"system": "Instructions", "user": "Task", "assistant": "Reply"}


@dataclass(slots=True)
class LoadedModel:
    """A model ready to generate, and what one must know of it."""

    model: Any
    tokenizer: Any
    sequence_to_sequence: bool
    context: int  # tokens that prompt and reply may have; of the prompt alone if it is encoded
    ends: list[int]  # tokens that end a reply
    padding: int
    device: Any
    control: re.Pattern[str] | None  # words that would be read as control tokens

    def prompt(self, messages: list[Message]) -> list[int]:
        """Return the tokens of a conversation, up to where the reply begins."""
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
        said = [{**one, "content": self.harmless(one["content"])} for one in messages]
        if self.tokenizer.chat_template:
            return _by_template(self.tokenizer, said), False
        parts = [f"{_SPEAKERS[one['role']]}:\n{one['content']}" for one in said]
        return "\n\n".join([*parts, "Reply:\n"]), True

    def harmless(self, text: str) -> str:
        """Part the words that the tokenizer would read as tokens that steer the conversation."""
        if self.control is None:
            return text
        return self.control.sub(lambda found: f"{found.group()[0]} {found.group()[1:]}", text)


def _by_template(tokenizer: Any, messages: list[Message]) -> str:
    """Return a conversation as the model's template writes it; some know no system message."""
    from jinja2 import TemplateError

    said: dict[str, Any] = {"add_generation_prompt": True, "enable_thinking": False}
    try:
        return str(tokenizer.apply_chat_template(messages, tokenize=False, **said))
    except TemplateError:
        system, user, *rest = messages
        first = {"role": "user", "content": f"{system['content']}\n\n{user['content']}"}
        return str(tokenizer.apply_chat_template([first, *rest], tokenize=False, **said))


def load_model(name: str, device: str | None) -> LoadedModel:
    """Load a model from a folder or the hub; raise UsageError, in plain words, if that fails.

    Only safetensors are read, and no code that comes with a model is run.
    """
    folder = weights_folder(name)
    with told_plainly(name, "a chat or sequence-to-sequence model"):
        return _load(folder, chosen_device(device))


def _load(folder: Path, device: Any) -> LoadedModel:
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
    # Half precision is emulated on most processors; elsewhere the weights stay as they were saved.
    dtype: Any = torch.float32 if device.type == "cpu" else "auto"
    model, told = kind.from_pretrained(
        folder,
        config=config,
        dtype=dtype,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    if told["missing_keys"]:
        raise UsageError(
            f"{folder} lacks weights that a model which writes needs, such as "
            f"{min(told['missing_keys'])}."
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
    """Take sampling, penalties and forced words out of the model's own settings."""
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
    """Return what finds the texts of control tokens: a document must not speak as the system."""
    words = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    words = {word for word in words | set(tokenizer.all_special_tokens) if len(word) > 1}
    if not words:
        return None
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
