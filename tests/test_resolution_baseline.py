"""splink, the baseline of the resolution benchmark, joins what is spelled alike."""

import importlib.util

import pytest

from tests.splink_baseline import splink_clusters


def test_without_splink_there_is_no_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.splink_baseline.find_spec", lambda name: None)
    assert splink_clusters({("a", "Paris"): "place"}) is None


@pytest.mark.skipif(
    importlib.util.find_spec("splink") is None, reason="splink is an extra of the benchmark"
)
def test_equal_names_of_one_kind_are_joined() -> None:
    names = [f"{first} {last}" for first in ("Ada", "Bob", "Cleo", "Dan") for last in ("Xu", "Yao")]
    kinds = {(str(document), name): "person" for document in range(4) for name in names}
    found = splink_clusters(kinds)
    assert found is not None
    assert found["0", "Ada Xu"] == found["3", "Ada Xu"] != found["0", "Bob Yao"]
