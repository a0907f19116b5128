"""A language model is given sentences, lists and records; its facts lead back to the passage."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extract.by_model.grounding import ground
from tasks.extract.by_model.passages import (
    halves,
    is_readable,
    read_extraction_text,
    readable,
    render,
)
from tasks.ingest.split import split
from tasks.models.prompts.replies import Extraction

PAGE = """---
author: Nobody
---
The [**tide gauge**](gauge.md) at Brest is `old`.

| Port | Range |
| ---- | ----- |
| Brest | 7.3 m |

```
port = open()
```

The harbour offers:

- moorings
- [Prices](prices.md)

Depth: 6 m
Width: 9 m

Home > Docs > Tides

<div class="x"></div>
"""
GIVEN = """The tide gauge at Brest is old.

| Port | Range |
| --- | --- |
| Brest | 7.3 m |

The harbour offers:

- moorings

Depth: 6 m
Width: 9 m"""


def passage(text: str = PAGE, **more: Any) -> dict[str, Any]:
    return {
        "passage_id": "p", "text": text, "title": "Brest", "headings": "", "language": "en",
        "content_id": "c", "document_id": "d", "sensitive": False, "span_start": 0, "place": 1,
        **more,
    }  # fmt: skip


def reply(quote: str, head: str, tail: str) -> Extraction:
    content: dict[str, Any] = {"entities": [[head, "thing", "", quote]], "aspects": []}
    return Extraction.model_validate({**content, "triples": [[head, "is said to be", tail, quote]]})


def test_a_model_is_given_what_can_be_read_and_nothing_else() -> None:
    assert readable(passage()).text == GIVEN
    _, [shown] = read_extraction_text("\n\n" + render([passage()])["text"])
    lines = [line for line in GIVEN.split("\n") if line and "---" not in line]
    assert [words for _, words in shown] == lines
    assert [number for number, _ in shown] == list(range(1, len(lines) + 1))


def test_a_list_that_another_passage_began_has_its_lead_and_a_table_its_headers() -> None:
    text = "The harbour offers:\n\n" + "".join(f"- mooring {n} for boats\n" for n in range(9))
    rows = split("c", "Brest", text, "en", 20)
    assert len(rows) > 2
    assert all(readable(row).text.startswith("The harbour offers:\n") for row in rows)
    assert readable(rows[-1]).text.endswith("- mooring 8 for boats")


@pytest.mark.parametrize(
    ("quote", "head", "tail", "stands"),
    [
        ("The tide gauge at Brest is old", "tide gauge", "old", "tide gauge**](gauge.md)"),
        ("| Brest | 7.3 m |", "Brest", "7.3 m", "Brest | 7.3 m"),
        ("- moorings", "Brest", "moorings", "moorings"),
        ("Depth: 6 m", "Brest", "6 m", "6 m"),
    ],
)
def test_facts_lead_back_to_the_passage(quote: str, head: str, tail: str, stands: str) -> None:
    [extracted] = ground([(reply(quote, head, tail), [passage()])], [passage()]).extracted
    [triple] = extracted.triples
    assert PAGE[triple["span_start"] : triple["span_end"]].startswith(stands[:10])
    assert stands in PAGE[triple["span_start"] : triple["span_end"]] + "`."
    for name in extracted.names:
        assert PAGE[name["span_start"] : name["span_end"]] == name["name"]


@pytest.mark.parametrize(
    ("quote", "head", "tail"),
    [
        ("port = open()", "Brest", "open"), ("author: Nobody", "Brest", "Nobody"),
        ("Home > Docs > Tides", "Brest", "Docs"), ("[Prices](prices.md)", "Brest", "Prices"),
    ],
)  # fmt: skip
def test_what_a_model_says_of_code_and_menus_is_rejected(quote: str, head: str, tail: str) -> None:
    found = ground([(reply(quote, head, tail), [passage()])], [passage()])
    assert not found.extracted[0].triples
    assert {fact.reason for fact in found.rejected} == {"sentence_not_found"}


def test_a_passage_of_code_alone_is_not_sent() -> None:
    assert not is_readable(passage("```\nport = open()\n```"))
    assert is_readable(passage("It opens."))


def test_half_a_passage_is_given_as_it_is() -> None:
    text = "```\ncode\n```\n\n" + "The tide gauge at Brest is old and in use. " * 4
    cut = halves([passage(text)])
    assert cut is not None
    joined = "".join(readable(half[0]).text for half in cut)
    assert joined == readable(passage(text)).text


@given(st.text(alphabet="ab.:|-#*>` \n[]()!1", max_size=120))
def test_all_that_is_given_has_a_place(text: str) -> None:
    found = readable(passage(text))
    for place in range(len(found.text)):
        start, end = found.in_source(place, place + 1)
        assert 0 <= start < end <= len(text)
        if found.stands_at(place):
            assert text[start] == found.text[place]
