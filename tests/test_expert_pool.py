"""Experts that write: seeded texts that do not depend on what is written beside them."""

from pathlib import Path

import numpy as np
import pytest

from schemas.errors import AlmanacError, UsageError
from tasks.experts import pool as pool_module
from tasks.experts.manifest import sha_of
from tasks.experts.pool import ExpertPool, OpenExpert, row_noise
from tasks.models.decoding import drawn_tokens
from tests.expert_texts import people


@pytest.fixture(scope="module")
def pool(tiny_expert: Path) -> ExpertPool:
    return ExpertPool([OpenExpert("people", "", tiny_expert, sha_of(tiny_expert))], device="cpu")


PROMPTS = [text[:cut] for text, cut in zip(people(), (3, 8, 20, 31, 5, 12), strict=False)]


def test_texts_do_not_depend_on_what_is_written_beside_them(pool, monkeypatch):
    options = {"seed": 5, "max_new_tokens": 24}
    together = pool.write("people", PROMPTS, 4, **options)  # type: ignore[arg-type]
    assert [len(texts) for texts in together] == [4] * len(PROMPTS)
    assert len({text for texts in together for text in texts}) > len(PROMPTS)
    for prompt, texts in zip(PROMPTS, together, strict=True):
        assert pool.write("people", [prompt], 2, **options) == [texts[:2]]  # type: ignore[arg-type]
    monkeypatch.setattr(pool_module, "ROWS", 5)
    assert pool.write("people", PROMPTS[::-1], 4, **options) == together[::-1]  # type: ignore[arg-type]
    assert pool.write("people", PROMPTS, 4, seed=6, max_new_tokens=24) != together


def test_greedy_texts_are_all_alike(pool):
    (texts,) = pool.write("people", ["Ada Lund"], 3, temperature=0, max_new_tokens=12)
    assert len(set(texts)) == 1


def test_greedy_texts_are_those_of_the_library(pool, tiny_expert):
    import torch
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(tiny_expert)
    model = AutoModelForCausalLM.from_pretrained(tiny_expert, dtype=torch.float32)
    ids = torch.tensor([[tokenizer.eos_token_id, *tokenizer("Dora Holm was")["input_ids"]]])
    new = model.generate(ids, max_new_tokens=15, do_sample=False, pad_token_id=0)[0, ids.shape[1] :]
    expected = tokenizer.decode(new, skip_special_tokens=True).strip()
    beside = ["Dora Holm was", "A", "Emil Vik was born in"]
    assert pool.write("people", beside, temperature=0, max_new_tokens=15)[0] == [expected]


def test_a_prompt_that_is_too_long_loses_its_beginning(pool):
    (texts,) = pool.write("people", ["born in Oslo " * 2000], 1, max_new_tokens=5)
    assert len(texts) == 1


def test_nothing_asked_is_nothing_written(pool):
    assert pool.write("people", [], 3) == []
    assert pool.write("people", ["Ada"], 0) == [[]]
    with pytest.raises(UsageError):
        pool.write("people", ["Ada"], temperature=-1)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_an_expert_that_computes_no_probabilities_says_so(tiny_expert, temperature):
    pool = ExpertPool([OpenExpert("people", "", tiny_expert, sha_of(tiny_expert))], device="cpu")
    pool._ready("people").model.model.get_output_embeddings().weight.data.fill_(float("nan"))
    with pytest.raises(AlmanacError, match="finite"):
        pool.write("people", ["Ada"], temperature=temperature)


def test_the_longest_unused_expert_leaves_a_full_memory(tiny_expert):
    sha = sha_of(tiny_expert)
    names = ["one", "two"]
    small = ExpertPool([OpenExpert(n, "", tiny_expert, sha) for n in names], resident_bytes=1)
    for name in (*names, "one"):
        assert small.write(name, ["Ada"], 1, max_new_tokens=3)
        assert list(small._loaded) == [name]


def test_golden_choices():
    import torch

    logits = torch.log(torch.tensor([[0.2, 0.5, 0.3]]))

    def chosen(number: float, **options: float) -> int:
        settings = {"temperature": 1.0, "top_p": 1.0, **options}
        return int(drawn_tokens(logits, torch.tensor([number], dtype=torch.float64), **settings))

    # Laid side by side: token 1 up to .5, token 2 up to .8, token 0 up to 1.
    assert [chosen(u) for u in (0.0, 0.49, 0.51, 0.79, 0.81, 0.999)] == [1, 1, 2, 2, 0, 0]
    # Of the likeliest two, which have .8 together, token 1 has 5/8.
    assert [chosen(u, top_p=0.75) for u in (0.6, 0.64, 0.999)] == [1, 2, 2]
    assert chosen(0.999, temperature=0) == 1


def test_choices_follow_the_probabilities():
    import torch

    logits = torch.log(torch.tensor([[0.1, 0.6, 0.3]])).expand(4000, 3)
    numbers = torch.tensor(np.random.default_rng(0).random(4000))
    counts = np.bincount(drawn_tokens(logits, numbers, 1.0, 1.0).numpy(), minlength=3) / 4000
    assert np.abs(counts - [0.1, 0.6, 0.3]).max() < 0.03


def test_rows_have_numbers_of_their_own():
    rows = [row_noise(seed, prompt, n, 4) for seed in (0, 1) for prompt in "ab" for n in (0, 1)]
    assert len({row.tobytes() for row in rows}) == 8
    np.testing.assert_array_equal(row_noise(1, "a", 0, 3), row_noise(1, "a", 0, 9)[:3])
