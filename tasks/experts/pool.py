"""Experts in memory, which write texts for many prompts at once.

A text depends only on the expert, the prompt, the seed and the number of the sample, not on the
other texts in its batch: each row has its own random numbers and is computed in float32, where
another order of summation hardly ever changes which token is drawn. `transformers.generate` draws
all rows from one generator, so the loop over tokens is here; the caches are those of the library.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from schemas.errors import AlmanacError, UsageError
from tasks.experts.manifest import checked_manifest
from tasks.experts.training.tokens import Encoder
from tasks.models.loaded_model import chosen_device, loading_errors

NEW_TOKENS = 100  # as in CooK's released code
TEMPERATURE = 1.0
ROWS = 32  # texts that are written at once
RESIDENT_BYTES = 8 << 30  # of weights; beyond that, the least recently used expert is unloaded


@dataclass(frozen=True, slots=True)
class OpenExpert:
    """An expert that may be asked: name, description, folder, and the SHA-256 of its manifest."""

    name: str
    description: str
    folder: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    tokenizer: Any
    encode: Encoder
    ends: Any  # tensor of the tokens that end a text
    context: int

    @property
    def size(self) -> int:
        return sum(weight.nbytes for weight in self.model.parameters())


class ExpertPool:
    """Experts of any architecture; each is loaded when first asked and kept while memory allows."""

    def __init__(
        self,
        experts: Sequence[OpenExpert],
        *,
        device: str | None = None,
        resident_bytes: int = RESIDENT_BYTES,
    ) -> None:
        """Take the experts; none is loaded yet."""
        self._experts = {expert.name: expert for expert in experts}
        self._device, self._most = device, resident_bytes
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()

    @property
    def experts(self) -> list[OpenExpert]:
        """The experts that may be asked."""
        return list(self._experts.values())

    def write(
        self,
        expert: str,
        prompts: Sequence[str],
        count: int = 1,
        seed: int = 0,
        *,
        max_new_tokens: int = NEW_TOKENS,
        temperature: float = TEMPERATURE,
        top_p: float = 1.0,
    ) -> list[list[str]]:
        """Return `count` continuations of each prompt, without the prompt itself.

        A temperature of 0 means greedy decoding. A prompt that is too long for the context loses
        its beginning. Raises UsageError for an unknown expert or a wrong option, UnsafeExpertError
        if the expert's files are not those that were registered, AlmanacError if the model computes
        no probabilities.
        """
        if temperature < 0 or not 0 < top_p <= 1 or count < 0 or max_new_tokens < 1:
            raise UsageError("The temperature must be 0 or more, top_p above 0 and at most 1.")
        loaded = self._ready(expert)
        room = min(max_new_tokens, loaded.context - 1)
        tokens = [
            ids[:-1][-(loaded.context - room) :] for ids in loaded.encode(list(prompts))
        ] if prompts else []  # fmt: skip
        texts: list[list[str]] = [[""] * count for _ in prompts]
        jobs = [(prompt, sample) for prompt in range(len(prompts)) for sample in range(count)]
        jobs.sort(key=lambda job: len(tokens[job[0]]))  # rows of similar length need little padding
        for begin in range(0, len(jobs), ROWS):
            some = jobs[begin : begin + ROWS]
            noise = np.stack([row_noise(seed, prompts[p], s, room) for p, s in some])
            rows = [tokens[prompt] for prompt, _ in some]
            written = _continue(loaded, rows, noise, temperature, top_p)
            for (prompt, sample), ids in zip(some, written, strict=True):
                text = loaded.tokenizer.decode(ids, skip_special_tokens=True)
                texts[prompt][sample] = text.strip()
        return texts

    def close(self) -> None:
        """Unload all models."""
        self._loaded.clear()

    def _ready(self, name: str) -> _Loaded:
        if name not in self._experts:
            known = ", ".join(self._experts) or "none"
            raise UsageError(f"There is no expert {name!r}; there are: {known}.")
        if name not in self._loaded:
            self._loaded[name] = load_expert(self._experts[name], self._device)
        self._loaded.move_to_end(name)
        while len(self._loaded) > 1 and sum(e.size for e in self._loaded.values()) > self._most:
            self._loaded.popitem(last=False)
        return self._loaded[name]


def load_expert(expert: OpenExpert, device: str | None = None) -> _Loaded:
    """Check an expert's files and return it loaded; raises UnsafeExpertError or UsageError."""
    import torch
    import transformers

    checked_manifest(expert.folder, expert.sha256)
    transformers.utils.logging.disable_progress_bar()
    with loading_errors(expert.name, "an expert"):
        tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(expert.folder)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            expert.folder, dtype=torch.float32, use_safetensors=True, trust_remote_code=False,
            local_files_only=True, attn_implementation="sdpa",
        )  # fmt: skip
        model = model.to(chosen_device(device)).eval()
        named = model.generation_config.eos_token_id if model.generation_config else None
        ends = {tokenizer.eos_token_id, *(named if isinstance(named, list) else [named])} - {None}
        if not ends:
            raise UsageError("It has no token that ends a text.")
        context = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 2048
        end_ids = torch.tensor(sorted(ends), device=model.device)
        return _Loaded(model, tokenizer, Encoder.of(tokenizer), end_ids, context)


def row_noise(seed: int, prompt: str, sample: int, steps: int) -> np.ndarray:
    """Return the random numbers of a row, one in [0, 1) for each token."""
    key = hashlib.sha256(f"{seed} {sample} {prompt}".encode()).digest()
    return np.random.default_rng(int.from_bytes(key[:16], "little")).random(steps)


def _continue(
    loaded: _Loaded, rows: Sequence[Sequence[int]], noise: np.ndarray, temperature: float,
    top_p: float,
) -> list[list[int]]:  # fmt: skip
    """Return the tokens that follow each row, up to an end token.

    `noise` has a random number for each row and step. Finished rows are removed from the batch.
    """
    import torch

    model, device = loaded.model, loaded.model.device
    longest = max(map(len, rows))
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for number, row in enumerate(rows):  # padded on the left, so that all end at the same place
        ids[number, longest - len(row) :] = torch.tensor(row)
        mask[number, longest - len(row) :] = 1
    ids, mask = ids.to(device), mask.to(device)
    drawn = torch.tensor(noise, dtype=torch.float64, device=device)
    written: list[list[int]] = [[] for _ in rows]
    going = list(range(len(rows)))
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    cache = None
    with torch.inference_mode():
        for step in range(noise.shape[1]):
            result = model(
                input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=True,
                past_key_values=cache, logits_to_keep=1,
            )  # fmt: skip
            cache = result.past_key_values
            logits = result.logits[:, -1]
            if not bool((logits < torch.inf).all()):  # NaN is not less than anything
                raise AlmanacError(
                    "Its weights, or what it computes with them, are no finite numbers. Train it "
                    "again."
                )
            chosen = choose(logits, drawn[going, step], temperature, top_p)
            ended = torch.isin(chosen, loaded.ends)
            for place, token in enumerate(chosen.tolist()):
                if not ended[place]:
                    written[going[place]].append(token)
            if bool(ended.all()):
                break
            if bool(ended.any()):
                keep = (~ended).nonzero().flatten()
                cache.batch_select_indices(keep)
                chosen, mask, positions = chosen[keep], mask[keep], positions[keep]
                going = [going[place] for place in keep.tolist()]
            ids, positions = chosen[:, None], positions[:, -1:] + 1
            mask = torch.cat([mask, mask.new_ones((len(going), 1))], dim=1)
    return written


def choose(logits: Any, drawn: Any, temperature: float, top_p: float) -> Any:
    """Return a token for each row of `logits`, drawn by inverse transform sampling.

    `drawn` has a random number in [0, 1) for each row. Only the most probable tokens that together
    have at least probability `top_p` can be drawn (nucleus sampling).
    """
    import torch

    if temperature == 0:
        return logits.argmax(-1)
    chances, order = torch.softmax(logits.double() / temperature, dim=-1).sort(
        dim=-1, descending=True, stable=True
    )
    sums = chances.cumsum(-1)
    kept = torch.where(sums - chances < top_p, chances, 0.0)
    sums = kept.cumsum(-1)
    place = (sums <= drawn[:, None] * sums[:, -1:]).sum(-1)
    last = (kept > 0).sum(-1) - 1
    return order.gather(-1, torch.minimum(place, last)[:, None])[:, 0]
