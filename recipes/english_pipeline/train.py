"""Train the English pipeline.

Run `python -m recipes.english_pipeline.train --encoder DIR --out DIR`.

Three stages, each skipped where its output is already in the output folder: fine-tune the teacher
(`teacher/`), label raw prose with it (`silver/`), train the small pipeline on gold and silver
(`model/`). The stages' lengths are bounded in minutes, so that a slow machine ends too.
"""

import json
import logging
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recipes.command import DATA, parser_of, run_command
from recipes.english_pipeline.prose import prose_sentences
from recipes.english_pipeline.sentences import (
    AnnotatedSentence,
    read_sentences,
    read_treebank,
    write_sentences,
)
from recipes.english_pipeline.silver import WordVectors, label
from recipes.english_pipeline.student import (
    Budget,
    Source,
    initialize,
    load_to_resume,
    new_pipeline,
    train_student,
)
from recipes.english_pipeline.teach import load_teacher, read_name_corpora, teach

log = logging.getLogger(__name__)
_PROSE_SHARE = 0.25
_VECTOR_WORDS = 20_000
_VECTOR_WIDTH = 64
# How often each round of training goes through each source.
_TIMES = {"treebank": 2.0, "wikigold": 3.0, "wnut17": 0.5, "conll04": 0.5, "prose": 0.8}
_CLOSED_CLASSES = frozenset({"PUNCT", "SYM"})
_HYPHENS = frozenset({"-", "–", "‐", "\u2011"})
_LEAST_SHARE = 0.9

LemmaTable = dict[tuple[str, str], str]


def label_everything(data: Path, encoder: Path, teacher: Path, out: Path) -> None:
    """Complete the gold sentences and label the prose; write them and the word vectors to `out`."""
    model, encode, labels = load_teacher(encoder, teacher)
    vectors = WordVectors()
    sources = {"treebank": read_treebank(data / "ud_ewt/train.conllu.gz")}
    sources |= read_name_corpora(data)
    sources["prose"] = prose_sentences(data, _PROSE_SHARE, new_pipeline(None))
    out.mkdir(parents=True, exist_ok=True)
    for name, sentences in sources.items():
        log.info("labelling %s: %d sentences", name, len(sentences))
        write_sentences(out / f"{name}.jsonl.gz", label(model, encode, labels, sentences, vectors))
    words = vectors.reduced(_VECTOR_WORDS, _VECTOR_WIDTH)
    np.save(out / "vectors.npy", np.stack(list(words.values())), allow_pickle=False)
    (out / "words.json").write_text(json.dumps(list(words)), encoding="utf-8")


def read_vectors(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Read the word vectors that `label_everything` wrote."""
    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    return dict(zip(words, np.load(folder / "vectors.npy", allow_pickle=False), strict=True))


def read_sources(folder: Path) -> list[Source]:
    """Read the completed gold and the silver sentences, corrected, with their weights."""
    lemmas = known_lemmas(read_sentences(folder / "treebank.jsonl.gz"))
    return [
        Source(
            [
                join_hyphenated_persons(fill_lemmas(sentence, lemmas))
                for sentence in read_sentences(folder / f"{name}.jsonl.gz")
            ],
            times,
        )
        for name, times in _TIMES.items()
    ]


def known_lemmas(treebank: list[AnnotatedSentence]) -> LemmaTable:
    """Return the lemma of each (lower-case form, Penn tag) pair that nearly always has the same."""
    seen: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for sentence in treebank:
        for word, tag, lemma in zip(
            sentence.words, sentence.tags or (), sentence.lemmas or (), strict=True
        ):
            seen[word.lower(), tag][lemma] += 1
    table: LemmaTable = {}
    for key, lemmas in seen.items():
        lemma, count = lemmas.most_common(1)[0]
        if count >= _LEAST_SHARE * lemmas.total():
            table[key] = lemma
    return table


def fill_lemmas(sentence: AnnotatedSentence, table: LemmaTable) -> AnnotatedSentence:
    """Give a sentence without lemmas those that are sure; "" (unknown) leaves a word untrained."""
    if sentence.lemmas is not None or sentence.tags is None or sentence.pos is None:
        return sentence
    lemmas = tuple(
        word if pos in _CLOSED_CLASSES or tag == "NNP" else table.get((word.lower(), tag), "")
        for word, pos, tag in zip(sentence.words, sentence.pos, sentence.tags, strict=True)
    )
    return replace(sentence, lemmas=lemmas)


def join_hyphenated_persons(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """Make one person of two that the tokeniser split at a hyphen (Lévi - Strauss)."""
    if sentence.names is None:
        return sentence
    names = list(sentence.names)
    for i in range(1, len(names) - 1):
        glued = not sentence.spaces[i - 1] and not sentence.spaces[i]
        between = names[i - 1][2:] == "PERSON" and names[i + 1] == "B-PERSON"
        if sentence.words[i] in _HYPHENS and glued and between:
            names[i] = names[i + 1] = "I-PERSON"
    return replace(sentence, names=tuple(names))


def main() -> None:
    """Parse the command line, run the stages that are missing, and print what was done."""
    parser = parser_of(__doc__)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--teacher-minutes", type=float, default=60)
    parser.add_argument("--teacher-epochs", type=int, default=3)
    parser.add_argument("--words", type=int, default=6_000_000, help="words the student sees")
    parser.add_argument("--minutes", type=float, default=60, help="at most, for the student")
    parser.add_argument("--rate", type=float, default=0.0015, help="the student's learning rate")
    parser.add_argument("--resume", type=Path, help="train this pipeline further, not a new one")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    teacher, silver = options.out / "teacher", options.out / "silver"
    if not (teacher / "labels.json").exists():
        teach(DATA, options.encoder, teacher, options.teacher_minutes, options.teacher_epochs)
    if not (silver / "words.json").exists():
        label_everything(DATA, options.encoder, teacher, silver)
    sources = read_sources(silver)
    from spacy.util import fix_random_seed

    fix_random_seed(options.seed)
    if options.resume is None:
        nlp = new_pipeline(read_vectors(silver))
        initialize(nlp, sources, options.seed)
    else:
        nlp = load_to_resume(options.resume)
    budget = Budget(options.words, options.minutes, options.rate)
    done = train_student(nlp, sources, budget, options.out / "model", options.seed)
    log.info("done: %s", json.dumps(done))


if __name__ == "__main__":
    run_command(main)
