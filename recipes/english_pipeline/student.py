"""The small spaCy pipeline: built from config.cfg, trained on gold and silver sentences."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recipes.english_pipeline.documents import training_documents
from recipes.english_pipeline.sentences import AnnotatedSentence

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc

log = logging.getLogger(__name__)
CONFIG = Path(__file__).with_name("config.cfg")
_DROPOUT = 0.1
_BATCH_WORDS = 900
_SAMPLE = 2500
_TREEBANK_MARKS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"',
}  # fmt: skip
_GLUED = [r"[“”„«»]", r"(?<=[:;,.!?])[\"']", r"[\"'](?=[(\[])"]


@dataclass(frozen=True, slots=True)
class Source:
    """Sentences, and how often each round of training goes through them (0.5 = every other)."""

    sentences: list[AnnotatedSentence]
    times: float


@dataclass(frozen=True, slots=True)
class Budget:
    """When training ends: after so many words or minutes, whichever comes first."""

    words: int
    minutes: float
    peak_learning_rate: float = 0.0015


def new_pipeline(vectors: dict[str, NDArray[np.float32]] | None) -> "Language":
    """Make the untrained pipeline that config.cfg describes, with word vectors if there are any."""
    from spacy.util import load_config, load_model_from_config
    from spacy.vectors import Vectors

    config = load_config(CONFIG)
    config["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] = bool(vectors)
    nlp = load_model_from_config(config, auto_fill=True)
    set_tokenizer_rules(nlp)
    if vectors:
        data = np.stack(list(vectors.values()))
        nlp.vocab.vectors = Vectors(
            strings=nlp.vocab.strings, data=data, keys=list(vectors), name="minilm"
        )
    nlp.meta.update(name="almanac_english", version="1.1.0", license="CC BY-SA 4.0")
    return nlp


def set_tokenizer_rules(nlp: "Language") -> None:
    """Keep `-LRB-` and double backticks whole, normed as plain marks; split glued quotes off."""
    from spacy.tokenizer import Tokenizer
    from spacy.util import compile_infix_regex, compile_prefix_regex

    tokenizer = nlp.tokenizer
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError("These rules are for spaCy's own tokeniser, which this pipeline lacks.")
    for mark, norm in _TREEBANK_MARKS.items():
        tokenizer.add_special_case(mark, [{"ORTH": mark, "NORM": norm}])
    defaults = nlp.Defaults
    tokenizer.prefix_search = compile_prefix_regex(["``", *(defaults.prefixes or [])]).search
    infixes = [*(defaults.infixes or []), *_GLUED]
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer


def batches(documents: Iterator["Doc"], words: int) -> Iterator[list["Doc"]]:
    """Yield lists of documents that hold about `words` tokens."""
    batch: list[Doc] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document)
        if size >= words:
            yield batch
            batch, size = [], 0


def examples(documents: list["Doc"]) -> list[Any]:
    """Pair each annotated Doc with a bare copy for the pipeline to annotate."""
    from spacy.tokens import Doc
    from spacy.training import Example

    return [
        Example(Doc(d.vocab, words=[t.text for t in d], spaces=[bool(t.whitespace_) for t in d]), d)
        for d in documents
    ]


def rounds(sources: list[Source], nlp: "Language", random: Random) -> Iterator["Doc"]:
    """Yield augmented documents for ever; in every round the sources are mixed in proportion."""
    while True:
        pool: list[Doc] = []
        for source in sources:
            for turn in range(int(np.ceil(source.times))):
                documents = list(training_documents(source.sentences, nlp.vocab, random))
                pool += documents[: round(len(documents) * min(1.0, source.times - turn))]
        random.shuffle(pool)
        yield from pool


def learning_rate(progress: float, peak: float) -> float:
    """Warm up over the first 2 % of training, then fall linearly to almost nothing."""
    warm, cool = progress / 0.02, (1 - progress) / 0.98
    return peak * max(0.005, min(warm, cool))


def initialize(nlp: "Language", sources: list[Source], seed: int = 0) -> None:
    """Set the label inventories and random weights from a sample of every source."""
    random = Random(seed)
    sample: list[Doc] = []
    for source in sources:
        sample += list(training_documents(source.sentences, nlp.vocab, random))[:_SAMPLE]
    vectors = nlp.vocab.vectors
    nlp.initialize(lambda: examples(sample))
    nlp.vocab.vectors = vectors


def load_to_resume(model: Path) -> "Language":
    """Load a pipeline for further training."""
    import spacy

    nlp = spacy.load(model)
    lemmatizer: Any = nlp.get_pipe("trainable_lemmatizer")
    # spaCy does not save this map; without it every edit tree would be taken for label 0.
    lemmatizer.tree2label = {tree: i for i, tree in enumerate(lemmatizer.cfg["labels"])}
    return nlp


def train_student(
    nlp: "Language", sources: list[Source], budget: Budget, out: Path, seed: int = 0
) -> dict[str, float]:
    """Train until the budget is spent and write the running average of the weights to `out`.

    `nlp` is an initialized pipeline, new or trained before.
    """
    from thinc.api import Adam

    random = Random(seed)
    optimizer = Adam(0.001, beta1=0.9, beta2=0.999, L2=0.01, grad_clip=1.0, use_averages=True)
    begin = report = time.monotonic()
    seen, losses = 0, dict[str, float]()
    for step, batch in enumerate(batches(rounds(sources, nlp, random), _BATCH_WORDS)):
        spent = (time.monotonic() - begin) / 60
        progress = max(seen / budget.words, spent / budget.minutes)
        if progress >= 1:
            break
        optimizer.learn_rate = learning_rate(progress, budget.peak_learning_rate)
        nlp.update(examples(batch), sgd=optimizer, drop=_DROPOUT, losses=losses)
        seen += sum(len(d) for d in batch)
        if time.monotonic() - report > 60:
            report = time.monotonic()
            rounded = {k: round(float(v)) for k, v in losses.items()}
            log.info("step %d, %d words, %.1f min, %s", step, seen, spent, rounded)
            losses.clear()
    with nlp.use_params(optimizer.averages):
        nlp.to_disk(out)
    return {"words": seen, "minutes": round((time.monotonic() - begin) / 60, 1)}
