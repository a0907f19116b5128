"""Train the embedded English pipeline: `python -m tasks.parser.train --data DIR --out DIR`."""

import argparse
import json
import logging
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tasks.parser.documents import join, training_documents
from tasks.parser.sentences import (
    Sentence,
    read_names,
    read_treebank,
    rename_document,
    split_wikigold,
)
from tasks.parser.tokenizer import set_tokenizer_rules

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc

log = logging.getLogger(__name__)
CONFIG = Path(__file__).with_name("config.cfg")
_INITIAL_DOCUMENTS = 4000


def read_gold(data: Path) -> tuple[list[Sentence], list[Sentence]]:
    """Read the training sentences of the treebank and of the name corpora."""
    treebank = read_treebank(data / "ud_ewt/train.conllu.gz")
    names, _ = split_wikigold(read_names(data / "ner/wikigold.conll.gz"))
    for file in ("wnut17.train.conll.gz", "wnut17.dev.conll"):
        names += rename_document(read_names(data / "ner" / file), file)
    return treebank, names


def new_pipeline(vectors: Path | None) -> "Language":
    """Make the untrained pipeline that config.cfg describes."""
    import spacy
    from spacy.util import load_config

    config = load_config(CONFIG)
    if vectors is not None:
        config["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] = True
        config["initialize"] = {"vectors": str(vectors)}
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    set_tokenizer_rules(nlp)
    return nlp


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
    if batch:
        yield batch


def examples(documents: list["Doc"]) -> list[Any]:
    """Pair each annotated Doc with a bare copy for the pipeline to annotate."""
    from spacy.tokens import Doc
    from spacy.training import Example

    return [
        Example(Doc(d.vocab, words=[t.text for t in d], spaces=[bool(t.whitespace_) for t in d]), d)
        for d in documents
    ]


def learning_rate(progress: float, peak: float) -> float:
    """Warm up over the first 2 %, then fall linearly to a hundredth of the peak."""
    if progress < 0.02:
        return peak * progress / 0.02
    return peak * max(0.01, (1 - progress) / 0.98)


def train(
    nlp: "Language",
    sources: list[tuple[list[Sentence], float]],
    out: Path,
    minutes: float,
    words: int,
    dropout: float,
    seed: int = 0,
) -> dict[str, float]:
    """Train for `minutes` of wall time and save the averaged weights; each source is a list of sentences and how
    often an epoch repeats it.
    """
    import spacy
    from thinc.api import Adam

    spacy.util.fix_random_seed(seed)
    random = Random(seed)
    sample = [
        d
        for part, _ in sources
        for d in list(training_documents(part, nlp.vocab, random))[:_INITIAL_DOCUMENTS]
    ]
    nlp.initialize(lambda: examples(sample))
    optimizer = Adam(0.001, beta1=0.9, beta2=0.999, L2=0.01, grad_clip=1.0, use_averages=True)
    begin = time.monotonic()
    seen, report = 0, begin
    losses: dict[str, float] = {}
    for step, batch in enumerate(batches(endless(sources, nlp, random), words)):
        progress = (time.monotonic() - begin) / (minutes * 60)
        if progress >= 1:
            break
        optimizer.learn_rate = learning_rate(progress, 0.0015)
        nlp.update(examples(batch), sgd=optimizer, drop=dropout, losses=losses)
        seen += sum(len(d) for d in batch)
        if time.monotonic() - report > 60:
            report = time.monotonic()
            rounded = {k: round(v, 1) for k, v in losses.items()}
            log.info("step %d, %d words, %.0f s, %s", step, seen, report - begin, rounded)
            losses.clear()
    with nlp.use_params(optimizer.averages):
        nlp.to_disk(out)
    return {"words": seen, "seconds": time.monotonic() - begin}


def endless(
    sources: list[tuple[list[Sentence], float]], nlp: "Language", random: Random
) -> Iterator["Doc"]:
    """Yield augmented documents for ever; the sources are mixed in proportion."""
    for _ in count():
        pool: list[Doc] = []
        for part, times in sources:
            for turn in range(int(times) + 1):
                documents = list(training_documents(part, nlp.vocab, random))
                pool += (
                    documents
                    if turn < int(times)
                    else documents[: int(len(documents) * (times % 1))]
                )
        random.shuffle(pool)
        yield from pool


def main() -> None:
    """Parse the command line, train, and print what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--vectors", type=Path)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    treebank, names = read_gold(options.data)
    nlp = new_pipeline(options.vectors)
    done = train(
        nlp, [(treebank, 1), (names, 1)], options.out, options.minutes, words=1200, dropout=0.1
    )
    log.info("done: %s", json.dumps(done))


if __name__ == "__main__":
    main()
