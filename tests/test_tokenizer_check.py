"""Tokenizers from strangers: broken, huge and lying ones are refused by name, within limits."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import UsageError
from tasks.models import tokenizer_check
from tasks.models.loaded_model import loading_errors, weights_folder
from tests.tiny_models import make_chat_model

TOKEN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
POISONS: dict[str, dict[str, Any]] = {
    "a normaliser that breaks the library down": {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    },
    "a pattern that is none": {
        "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False,
        }
    },
    "tokens that the model does not have": {
        "added_tokens": [
            {"id": n, "content": f"t{n}", "special": False, **TOKEN} for n in range(330, 400)
        ]
    },
    "tokens without end": {
        "added_tokens": [
            {"id": n, "content": f"t{n}", "special": False, **TOKEN} for n in range(30_000)
        ]
    },
    "padding to a thousand million tokens": {
        "padding": {
            "strategy": {"Fixed": 1_000_000_000}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "x",
        }
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_chat_model(tmp_path_factory.mktemp("model"))


def test_a_good_tokenizer_passes(model):
    assert weights_folder(str(model)) == model


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS)
def test_a_poisoned_tokenizer_is_refused_by_its_name(poison, model, tmp_path):
    for path in model.iterdir():
        (tmp_path / path.name).hardlink_to(path)
    recipe = json.loads((model / "tokenizer.json").read_text())
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").write_text(json.dumps({**recipe, **poison}))
    began = time.perf_counter()
    with pytest.raises(UsageError, match=r"tokenizer\.json"):
        weights_folder(str(tmp_path))
    assert time.perf_counter() - began < tokenizer_check.SECONDS


LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tokenizer_config.json", json.dumps({"chat_template": LOOP})),
        ("chat_template.jinja", LOOP),
    ],
)
def test_a_template_without_end_is_refused_by_the_name_of_its_file(
    name, text, model, tmp_path, monkeypatch
):
    monkeypatch.setattr(tokenizer_check, "SECONDS", 1)
    for path in model.iterdir():
        (tmp_path / path.name).hardlink_to(path)
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).write_text(text)
    refused = f"its template in {name} (?:takes too long|cannot be read within 1 s)"
    with pytest.raises(UsageError, match=refused):
        weights_folder(str(tmp_path))


def test_a_breakdown_of_a_library_is_an_error_of_the_model():
    class PanicException(BaseException):  # noqa: N818 (the name that Rust's libraries give it)
        pass

    with (
        pytest.raises(UsageError, match="PanicException: index out of range"),
        loading_errors("odd", "a chat model"),
    ):
        raise PanicException("index out of range")
