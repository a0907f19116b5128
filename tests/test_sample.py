"""A sample of the corpus: whole documents, the same ones every time."""

import pyarrow as pa
import pytest

from schemas.errors import UsageError
from tasks.cost import whole_documents

SIZES = {"a": 2, "b": 7, "c": 1, "d": 3, "e": 2}


def corpus(*names: str) -> pa.Table:
    return pa.Table.from_pylist(
        [{"content_id": name, "place": n} for name in names for n in range(SIZES[name])]
    )


@pytest.mark.parametrize("most", range(1, 20))
def test_documents_are_drawn_whole(most):
    sample = whole_documents(corpus(*SIZES), most)
    assert 0 < len(sample) <= most
    assert len(sample) == sum(SIZES[name] for name in {row["content_id"] for row in sample})
    assert sample == whole_documents(corpus(*reversed(SIZES)), most)


def test_more_than_all_is_all_and_nothing_is_nothing():
    assert len(whole_documents(corpus(*SIZES), 99)) == sum(SIZES.values())
    assert whole_documents(pa.table({"content_id": pa.array([], pa.string())}), 5) == []


def test_a_sample_too_small_for_any_document_is_refused_in_words():
    with pytest.raises(UsageError, match="shortest has 3 passages"):
        whole_documents(corpus("b", "d"), 2)
