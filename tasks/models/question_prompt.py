"""How a question, with or without knowledge, is laid out for a loaded model that answers plainly.

A model with a chat template gets a conversation; another causal model goes on after `Answer:`; a
model with an encoder reads `question: … context: …`, as T5 was trained.
"""

from typing import Any

from schemas.errors import UsageError
from tasks.models.loaded_model import LoadedModel

INSTRUCTION = "Answer the question in a few words, on one line, without explanations."
MOST_KNOWLEDGE = 480  # tokens (Thrust, section 4); the rest is cut off


def question_text(
    loaded: LoadedModel, question: str, knowledge: str | None = None
) -> tuple[str, bool]:
    """Return a question's prompt, and whether the tokeniser must add its special tokens to it."""
    known = _beginning(loaded, knowledge or "", MOST_KNOWLEDGE)
    if loaded.tokenizer.chat_template:
        user = f"{known}\n\n{question}" if known else question
        said = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": user}]
        return loaded.prompt_text(said)
    question, known = loaded.harmless(question), loaded.harmless(known)
    if loaded.sequence_to_sequence:
        return f"question: {question}" + (f" context: {known}" if known else ""), True
    return (f"{known}\n\n" if known else "") + f"Question: {question}\nAnswer:", True


def question_tokens(
    loaded: LoadedModel, question: str, knowledge: str | None = None, room: int = 0
) -> list[int]:
    """Return a prompt's tokens, with `room` left for an answer; UsageError if that cannot be.

    Where context lacks, a model that goes on writing loses what stands first, since the end of the
    question matters most. An encoder loses the last tokens before its end token: the knowledge's.
    """
    text, special = question_text(loaded, question, knowledge)
    if loaded.sequence_to_sequence:
        ids, most = token_ids(loaded, text, special), loaded.context
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]
    ids, most = prompt_ids(loaded, text, special), loaded.context - room
    if most < 1:
        raise UsageError(f"An answer of {room} tokens does not fit the model's context.")
    return ids[-most:]


def token_ids(loaded: LoadedModel, text: str, special: bool) -> list[int]:
    """Return a text's tokens, with the special ones around them or without."""
    return list(loaded.tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"])


def prompt_ids(loaded: LoadedModel, text: str, special: bool) -> list[int]:
    """Return the tokens of a text that is to go on: an end token behind it is left out."""
    ids = token_ids(loaded, text, special)
    while special and len(ids) > 1 and ids[-1] in loaded.ends:
        ids.pop()
    return ids


def _beginning(loaded: LoadedModel, text: str, tokens: int) -> str:
    """Return a text's beginning of at most so many tokens."""
    asked: dict[str, Any] = {"add_special_tokens": False, "return_offsets_mapping": True}
    offsets = loaded.tokenizer(text, verbose=False, **asked)["offset_mapping"]
    return text if len(offsets) <= tokens else text[: offsets[tokens][0]].rstrip()
