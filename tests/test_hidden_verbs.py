"""Verbs in the present that the tagger takes for nouns."""

import pytest

from tasks.extract.english_pipeline.load import load_english
from tasks.extract.rules.tree import parse

PRESENT = """\
The router forwards packets to the gateway.|forwards
The cache stores sessions in memory.|stores
The index maps words to documents.|maps
Enzymes speed reactions.|speed
The server logs errors to a file.|logs
Arteries transport blood.|transport
Farmers plant maize in spring.|plant
Sails power the boat.|power
The registry signs images.|signs
The agent ships logs to the collector.|ships"""


@pytest.mark.parametrize("line", PRESENT.splitlines())
def test_a_verb_taken_for_a_noun_is_the_verb_of_its_sentence(line: str) -> None:
    text, word = line.split("|")
    (doc,) = parse(load_english(), [f"It rained in May. {text} It rained again."])
    verb = next(token for token in doc if token.text == word)
    assert verb.dep_ == "ROOT"
    assert verb.tag_ in ("VBZ", "VBP")
    assert "nsubj" in [token.dep_ for token in verb.lefts]
    assert len(list(doc.sents)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "The latest release notes",
        "Heart attacks and strokes",
        "Place the spare office keys on the shelf.",
        "The state of all access requests.",
        "She reviewed the access requests.",
    ],
)
def test_other_sentences_stay_as_they_were(text: str) -> None:
    nlp = load_english()
    (doc,) = parse(nlp, [text])
    assert [(t.tag_, t.dep_, t.head.i) for t in doc] == [
        (t.tag_, t.dep_, t.head.i) for t in nlp(text)
    ]
