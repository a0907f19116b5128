"""The teacher trained on all gold data, saved and loaded."""

import json
from dataclasses import asdict
from pathlib import Path
from random import Random

import torch
from safetensors.torch import load_file, save_file

from recipes.english_pipeline.sentences import (
    AnnotatedSentence,
    read_names,
    read_relation_names,
    read_treebank,
    rename_document,
    split_wikigold,
)
from recipes.english_pipeline.teacher import (
    Encoder,
    Labels,
    Teacher,
    collect_labels,
    train_teacher,
)

NAME_SOURCES = ("wikigold", "wnut17", "conll04")
_NAMELESS_SHARE = 0.25


def read_name_corpora(data: Path) -> dict[str, list[AnnotatedSentence]]:
    """Read the training parts of the name corpora; most messages without a name are left out."""
    wikigold, _ = split_wikigold(read_names(data / "ner/wikigold.conll.gz"))
    wnut: list[AnnotatedSentence] = []
    for file in ("wnut17.train.conll.gz", "wnut17.dev.conll"):
        wnut += rename_document(read_names(data / "ner" / file), file)
    random = Random(0)
    wnut = [s for s in wnut if set(s.names or ()) != {"O"} or random.random() < _NAMELESS_SHARE]
    conll04 = read_relation_names(data / "relations/conll04/train.txt.gz")
    return {"wikigold": wikigold, "wnut17": wnut, "conll04": conll04}


def teach(data: Path, encoder: Path, out: Path, minutes: float, epochs: int) -> None:
    """Fine-tune the encoder found in `encoder` and write weights and labels to `out`."""
    torch.manual_seed(0)
    treebank = read_treebank(data / "ud_ewt/train.conllu.gz")
    labels = collect_labels(treebank, NAME_SOURCES)
    encode = Encoder(encoder, labels)
    items = encode(treebank)
    for source, sentences in read_name_corpora(data).items():
        items += encode(sentences, source) * (2 if source == "wikigold" else 1)
    model = Teacher(encoder, labels)
    train_teacher(model, items, minutes, epochs, pieces=1400)
    out.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), out / "teacher.safetensors")
    (out / "labels.json").write_text(json.dumps(asdict(labels)), encoding="utf-8")


def load_teacher(encoder: Path, folder: Path) -> tuple[Teacher, Encoder, Labels]:
    """Load what `teach` wrote."""
    raw = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    labels = Labels(**{k: tuple(v) for k, v in raw.items()})
    model = Teacher(encoder, labels)
    model.load_state_dict(load_file(folder / "teacher.safetensors"))
    return model.eval(), Encoder(encoder, labels), labels
