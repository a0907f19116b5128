"""Tiny models with random weights, made in less than a second: one that chats, one that encodes."""

import string
from pathlib import Path

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
WORDS = "the cat sat on a mat and Ada Lovelace met Charles Babbage in London 1833. " * 20


def make_chat_model(folder: Path, *, context: int = 512, template: str | None = CHAT) -> Path:
    """Save a Llama of a tenth of a million weights with byte-level tokens."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train_from_iterator([WORDS], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<|end|>", pad_token="<|pad|>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": special[2:]})
    tokenizer.chat_template = template
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=352,  # more than there are tokens, as in most models
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_encoding_model(folder: Path) -> Path:
    """Save a T5 with SentencePiece-like tokens; as T5's, they have neither braces nor backslash."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    signs = [sign for sign in string.printable.strip() if sign not in "{}\\"]
    special = ["<pad>", "</s>", "<unk>", *(f"<extra_id_{n}>" for n in range(5))]
    pieces = [*special, "\u2581", "\u2581the", "\u2581Ada", "cat", *signs]
    words = Tokenizer(models.Unigram([(piece, -3.0) for piece in pieces], unk_id=2))
    words.pre_tokenizer = pre_tokenizers.Metaspace()
    words.decoder = decoders.Metaspace()
    words.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": special[3:]})
    torch.manual_seed(5)
    config = T5Config(
        vocab_size=128,
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        initializer_factor=3.0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
