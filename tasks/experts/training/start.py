"""The model that a training starts from: small and new, or pretrained, with or without LoRA."""

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from tasks.experts.manifest import MANIFEST
from tasks.experts.training.plan import LORA, SCRATCH, TrainingPlan
from tasks.models.loaded_model import loading_errors, weights_folder
from tasks.models.packaged import PROVENANCE

END = "<|endoftext|>"
CONTEXT = 1024  # tokens that a new model can read; its training rows are shorter
HEAD = 64  # width of an attention head
TOKENIZER_TEXTS = 200_000  # that a new tokenizer is trained on at most


@dataclass(frozen=True)
class Base:
    """A base model, with folder None for a new model; the licence is empty if unknown.

    `sha256` identifies the weights by the sizes and modification times of their files.
    """

    folder: Path | None
    licence: str
    sha256: str


def find_base(name: str) -> Base:
    """Return the base model of this name; raises UsageError for an encoder-decoder model."""
    if name == SCRATCH:
        return Base(None, "", "")
    folder = weights_folder(name)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config.get("is_encoder_decoder"):
        raise UsageError(f"{name} has an encoder; experts are models that only go on writing.")
    files = sorted(folder.glob("*.safetensors"))
    # Identifies the weights without reading gigabytes: a training resumes only from the same.
    sha256 = "-".join(f"{file.stat().st_size}.{file.stat().st_mtime_ns}" for file in files)
    return Base(folder, _licence(folder), sha256)


def _licence(folder: Path) -> str:
    """Return the licence in the folder's expert manifest or provenance file; empty without any."""
    for name in (MANIFEST, PROVENANCE):
        try:
            licence = json.loads((folder / name).read_text(encoding="utf-8"))["licence"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return str(licence)
    return ""


def make_tokenizer(base: Base, plan: TrainingPlan, texts: Iterable[str]) -> Any:
    """Return the base model's tokenizer, or a new byte-level BPE trained on the texts."""
    import transformers

    if base.folder is not None:
        with loading_errors(plan.base, "a causal model"):
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                base.folder, trust_remote_code=False
            )
        if not tokenizer.is_fast or tokenizer.eos_token_id is None:
            raise UsageError(
                f"{plan.base} cannot be trained: its tokenizer must be a fast one (tokenizer.json) "
                "with a token that ends texts."
            )
        tokenizer.chat_template = None  # an expert continues texts; it does not converse
        return tokenizer
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    words = Tokenizer(models.BPE())
    # Chinese has no spaces, so a whole frequent question would become one token.
    words.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=plan.vocabulary,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train_from_iterator(islice(texts, TOKENIZER_TEXTS), trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token=END, eos_token=END, model_max_length=CONTEXT
    )


def make_model(base: Base, plan: TrainingPlan, tokenizer: Any) -> Any:
    """Return the model to train, in float32 and on the CPU.

    A new model is a Llama, of about a million weights by default, initialised from torch's global
    seed.
    """
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    if base.folder is None:
        heads = max(1, plan.width // HEAD)
        config = transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=plan.width,
            intermediate_size=-(-plan.width * 8 // 3 // 32) * 32,  # 8/3, as in Llama
            num_hidden_layers=plan.layers,
            num_attention_heads=heads,
            num_key_value_heads=heads,
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=None,
        )
        return transformers.LlamaForCausalLM(config)
    with loading_errors(plan.base, "a causal model"):
        model = transformers.AutoModelForCausalLM.from_pretrained(
            base.folder, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
        )
    return _with_lora(model) if plan.method == "lora" else model


def _with_lora(model: Any) -> Any:
    """Return the model with LoRA: trainable low-rank matrices beside its frozen linear layers."""
    from peft import LoraConfig, get_peft_model

    logging.getLogger("peft").setLevel(logging.ERROR)
    return get_peft_model(
        model, LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", **LORA)
    )


def merged(model: Any) -> Any:
    """Return the plain model, with any LoRA matrices merged into its weights."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
