"""Facts written beforehand and a strong model's replies: what grounding keeps and lets in."""

from pathlib import Path

import orjson

from tasks.extract.by_model.grounding import Grounded, ground
from tasks.models.prompts.replies import Extraction
from tests.grounded_facts import grounded, is_stored, read_documents

DOCUMENTS = {document.title: document for document in read_documents()}
REPLIES = orjson.loads(Path(__file__).with_name("played_replies.json").read_bytes())


def played(title: str) -> tuple[Extraction, Grounded]:
    reply, rows = Extraction.model_validate(REPLIES[title]), DOCUMENTS[title].passages()
    return reply, ground([(reply, rows)], rows)


def test_what_a_text_states_is_kept_and_little_else() -> None:
    stored = {True: 0, False: 0}
    claims = [(document, c) for document in DOCUMENTS.values() for c in document.claims]
    for document, claim in claims:
        stored[claim.is_stated] += is_stored(grounded(document, claim), claim)
    stated = sum(claim.is_stated for _, claim in claims)
    assert stated >= 250 and stored[True] >= 0.95 * stated
    assert stored[False] <= 0.07 * (len(claims) - stated)


def test_a_strong_model_s_triples_are_kept() -> None:
    written = kept = 0
    for title in REPLIES:
        reply, found = played(title)
        written += len(reply.triples)
        kept += sum(len(extracted.triples) for extracted in found.extracted)
    assert kept >= 0.95 * written


def test_times_negations_and_plans_are_stored_with_a_statement_each() -> None:
    _, found = played("Kofi Asare elected")
    [extracted] = found.extracted
    since = [row["valid_from"] for row in extracted.triples if row["relation"] == "position held"]
    assert since == ["2020-10-11", "2021-01-01"]
    [flats] = [row for row in extracted.triples if row["tail"] == "2,000 flats"]
    assert (flats["modality"], flats["valid_to"]) == ("intended", "2026")
    _, found = played("Opening hours and fees")
    polarities = [row["polarity"] for row in found.extracted[0].triples]
    assert polarities.count("negative") == 1
    assert len(extracted.statements) == len(extracted.triples)


def test_the_span_of_a_triple_reaches_from_its_head_to_its_tail() -> None:
    _, found = played("Harwick Bridge")
    text = DOCUMENTS["Harwick Bridge"].passages()[0]["text"]
    spans = [text[t["span_start"] : t["span_end"]] for t in found.extracted[0].triples]
    assert spans[0] == "Harwick Bridge crosses the River Ansel"
    assert "Edith Marlow, an engineer" in spans
