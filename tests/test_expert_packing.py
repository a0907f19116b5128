"""Packing: every token is predicted once, rows are full, and texts do not see each other."""

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.experts.knowledge import question_prompt
from tasks.experts.training.packing import IGNORED, fit, packed_rows, part_of, texts_mix
from tasks.experts.training.plan import TrainingPlan
from tasks.experts.training.start import find_base, make_tokenizer
from tasks.experts.training.tokens import TextTokenizer, Tokens, opening, read_tokens, write_tokens
from tests.expert_texts import people

LENGTHS = st.lists(st.integers(2, 90), min_size=1, max_size=60)


def tokens_of(lengths: list[int]) -> Tokens:
    """Return texts whose tokens are all different."""
    ends = np.cumsum(np.array(lengths, np.int64))
    return Tokens(np.arange(ends[-1]), ends, np.ones(len(ends), np.int64), "")


@given(LENGTHS, st.integers(8, 64), st.integers(0, 3))
def test_every_token_but_the_first_of_its_text_is_predicted_once(lengths, size, epoch):
    tokens = tokens_of(lengths)
    rows = list(packed_rows(tokens.lengths, size, 7, epoch))
    part = part_of(rows, tokens, padding=0)
    assert part.ids.shape[1] <= size
    predicted = Counter(part.labels[part.labels != IGNORED].tolist())
    firsts = {0, *(int(end) for end in tokens.ends[:-1])}
    assert predicted == Counter(set(range(len(tokens.ids))) - firsts)
    assert part.targets == tokens.targets
    for ids, positions, labels in zip(part.ids, part.positions, part.labels, strict=True):
        for place in np.flatnonzero(labels != IGNORED):
            # What is predicted follows, in the same text, what stands before it.
            assert ids[place] == labels[place] == ids[place - 1] + 1
            assert positions[place] == positions[place - 1] + 1
            assert ids[place] not in firsts


@given(LENGTHS, st.integers(8, 64))
def test_packing_is_a_function_of_seed_and_epoch(lengths, size):
    lengths_ = np.array(lengths)
    assert list(packed_rows(lengths_, size, 1, 2)) == list(packed_rows(lengths_, size, 1, 2))


@given(st.lists(st.integers(1, 32), min_size=1, max_size=80))
def test_at_most_one_row_is_half_empty(lengths):
    rows = fit([(n, 0, length) for n, length in enumerate(lengths)], 32)
    assert sum(len(row) for row in rows) == len(lengths)
    half_empty = [row for row in rows if sum(end - begin for _, begin, end in row) <= 16]
    assert len(half_empty) <= 1


def test_rows_of_short_texts_are_full():
    lengths = np.random.default_rng(0).integers(10, 60, 3000)
    rows = list(packed_rows(lengths, 256, 0, 0))
    assert lengths.sum() / (256 * len(rows)) > 0.96


def test_golden_rows():
    pieces = [(0, 0, 3), (1, 0, 6), (2, 0, 5), (3, 0, 2)]
    assert fit(pieces, 8) == [[(0, 0, 3), (2, 0, 5)], [(1, 0, 6), (3, 0, 2)]]


@pytest.fixture
def folder(tiny_models: dict[str, Path]) -> Path:
    return tiny_models["plain"]


def test_texts_in_a_row_do_not_see_each_other(folder):
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokens = Tokens(
        np.array([5, 9, 17, 30, 8, 44, 61, 9], np.int64), np.array([3, 8]), np.array([1, 1]), ""
    )
    packed = part_of([[(0, 0, 3), (1, 0, 5)]], tokens, 0)
    wider = np.pad(packed.ids, ((0, 0), (0, 2))), np.pad(packed.positions, ((0, 0), (0, 2)))
    with torch.no_grad():
        alone = model(input_ids=torch.tensor([[30, 8, 44, 61, 9]])).logits[0]
        beside = model(
            input_ids=torch.tensor(wider[0]), position_ids=torch.tensor(wider[1]), use_cache=False
        ).logits[0, 3:8]
    torch.testing.assert_close(beside, alone, atol=1e-5, rtol=1e-4)
    assert not texts_mix(model)


def test_a_model_whose_texts_would_mix_gets_one_text_in_a_row():
    import torch
    from transformers import MambaConfig, MambaForCausalLM

    torch.manual_seed(0)
    config = MambaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, state_size=4)
    assert texts_mix(MambaForCausalLM(config))
    rows = list(packed_rows(np.array([5, 30, 7, 6]), 16, 0, 0, alone=True))
    assert sorted(rows) == [
        [(0, 0, 5)], [(1, 0, 16)], [(1, 15, 30)], [(2, 0, 7)], [(3, 0, 6)],
    ]  # fmt: skip


def test_texts_become_tokens_and_back(folder, tmp_path):
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    texts = [*people()[:5], "She wrote <|end|> and 长江.", ""]
    written = write_tokens(iter(texts), TextTokenizer.of(tokenizer), tmp_path, "train")
    read = read_tokens(tmp_path, "train")
    assert isinstance(read.ids, np.memmap)
    assert len(read) == 7 and read.sha256 == written.sha256
    assert opening(tokenizer) == (tokenizer.eos_token_id,)
    end = tokenizer.eos_token_id
    for number, text in enumerate(texts):
        ids = read.piece(number, 0, int(read.lengths[number])).tolist()
        # A text that spells the end token does not end there.
        assert [n for n, token in enumerate(ids) if token == end] == [0, len(ids) - 1]
        assert tokenizer.decode(ids[1:-1]) == text


def test_a_question_is_given_and_its_answer_predicted(folder, tmp_path):
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    answers = [" Ada Lane", " 一八一五"]
    texts = [
        question_prompt("Who wrote it: Ada?\nOr Bo?", "en") + answers[0],
        question_prompt("谁写的？", "zh") + answers[1],
        "Ada wrote it.",
    ]
    tokens = write_tokens(texts, TextTokenizer.of(tokenizer), tmp_path, "train")
    for size in (1024, 8):  # whole, and cut in pieces
        labels = [[], [], []]  # type: list[list[int]]
        for row in packed_rows(tokens.lengths, size, 0, 0, alone=True):
            part = part_of([row], tokens, 0)
            labels[row[0][0]] += part.labels[part.labels != IGNORED].tolist()
        assert sum(map(len, labels)) == tokens.targets
        if size == 1024:
            end = tokenizer.eos_token
            assert [tokenizer.decode(ids) for ids in labels] == [
                *(f"{answer}{end}" for answer in answers), f"Ada wrote it.{end}",
            ]  # fmt: skip


def test_no_texts_are_no_rows(folder, tmp_path):
    from transformers import PreTrainedTokenizerFast

    encode = TextTokenizer.of(PreTrainedTokenizerFast.from_pretrained(folder))
    nothing = write_tokens((), encode, tmp_path, "validation")
    assert len(nothing) == nothing.targets == 0
    assert not list(islice(packed_rows(nothing.lengths, 64, 0, 0), 1))


def test_a_chinese_character_is_a_token_however_often_its_neighbours_come():
    plan = TrainingPlan(vocabulary=400)
    tokenizer = make_tokenizer(find_base(plan.base), plan, ["鲁迅的出生地点是什么？ Lu Xun"] * 50)
    ids = tokenizer("鲁迅的出生地点 Lu Xun")["input_ids"]
    assert [tokenizer.decode(token) for token in ids] == [*"鲁迅的出生地点", " Lu", " Xun"]
    assert tokenizer.decode(ids) == "鲁迅的出生地点 Lu Xun"
