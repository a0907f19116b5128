"""Scores of a pipeline on held-out gold: tags, dependencies, sentences and names."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from recipes.english_pipeline.documents import join
from recipes.english_pipeline.sentences import (
    AnnotatedSentence,
    read_names,
    read_treebank,
    split_wikigold,
)

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc


def treebank_documents(
    sentences: list[AnnotatedSentence], nlp: "Language", grouping: str
) -> list["Doc"]:
    """Return gold Docs with one sentence, ten sentences or a whole source document each."""
    if grouping == "sentence":
        groups = [[s] for s in sentences]
    elif grouping == "ten":
        groups = [sentences[i : i + 10] for i in range(0, len(sentences), 10)]
    else:
        by_document: dict[str, list[AnnotatedSentence]] = {}
        for sentence in sentences:
            by_document.setdefault(sentence.document, []).append(sentence)
        groups = list(by_document.values())
    return [join(g, nlp.vocab) for g in groups]


def score_treebank(nlp: "Language", gold: Iterable["Doc"], raw: bool) -> dict[str, float]:
    """Return POS, TAG, feature and lemma accuracy, UAS, LAS and sentence F1 in percent.

    Punctuation does not count in UAS and LAS (spaCy's own rule). `raw` starts from the text, so
    that the pipeline's tokeniser counts too; otherwise from the gold tokens.
    """
    from spacy.training import Example

    result = nlp.evaluate([Example(_bare(nlp, doc, raw), doc) for doc in gold])
    keys = {
        "pos": "pos_acc", "tag": "tag_acc", "morph": "morph_acc", "lemma": "lemma_acc",
        "uas": "dep_uas", "las": "dep_las", "sentences": "sents_f", "tokens": "token_f",
    }  # fmt: skip
    return {k: round(100 * (result.get(v) or 0), 2) for k, v in keys.items()}


def _bare(nlp: "Language", doc: "Doc", raw: bool) -> "Doc":
    """Return the document without annotation: its gold tokens, or its text tokenised again."""
    from spacy.tokens import Doc

    spaces = [bool(token.whitespace_) for token in doc]
    return (
        nlp.make_doc(doc.text)
        if raw
        else Doc(nlp.vocab, words=[token.text for token in doc], spaces=spaces)
    )


def score_names(nlp: "Language", gold: Iterable["Doc"], raw: bool) -> dict[str, float]:
    """Return precision, recall and F1 of names in percent: exact character span and label."""
    right = found = wanted = 0
    for doc in gold:
        given = nlp(_bare(nlp, doc, raw))
        mine = {(e.start_char, e.end_char, e.label_) for e in given.ents}
        theirs = {(e.start_char, e.end_char, e.label_) for e in doc.ents}
        right += len(mine & theirs)
        found += len(mine)
        wanted += len(theirs)
    precision, recall = right / max(found, 1), right / max(wanted, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"p": round(100 * precision, 2), "r": round(100 * recall, 2), "f1": round(100 * f1, 2)}


def score_all(nlp: "Language", data: Path, most: int | None) -> dict[str, dict[str, float]]:
    """Return all scores on UD EWT dev and on the last fifth of WikiGold."""
    treebank = read_treebank(data / "ud_ewt/dev.conllu.gz")[:most]
    scores = {
        f"ud_ewt_dev, gold tokens, {g} per text": score_treebank(
            nlp, treebank_documents(treebank, nlp, g), raw=False
        )
        for g in ("sentence", "ten", "document")
    }
    whole = treebank_documents(treebank, nlp, "document")
    scores["ud_ewt_dev, raw text, document per text"] = score_treebank(nlp, whole, raw=True)
    _, held_out = split_wikigold(read_names(data / "ner/wikigold.conll.gz"))
    documents = treebank_documents(held_out[:most], nlp, "document")
    one_each = treebank_documents(held_out[:most], nlp, "sentence")
    scores["wikigold last fifth, gold tokens, sentence per text"] = score_names(
        nlp, one_each, False
    )
    scores["wikigold last fifth, gold tokens, document per text"] = score_names(
        nlp, documents, False
    )
    scores["wikigold last fifth, raw text, document per text"] = score_names(nlp, documents, True)
    return scores
