"""Refreshes by a model against a real endpoint: paid once, grounded, private, in budget."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemas
from schemas.errors import AlmanacError, UsageError
from schemas.observations import Extraction, ModelReply, TripleMention
from schemas.operations import ModelCall, Rejection
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.cost import REPLY_SHARE, estimate, experience, try_on_sample
from tasks.extract.pending import failures_in_words
from tasks.publish.publish import failed_share
from tasks.refresh import refresh
from tasks.run import RunReport
from tests.copied_home import copied_home
from tests.mock_endpoint import Running, running
from warehouse.home import Home
from warehouse.live import latest


@pytest.fixture(scope="module", autouse=True)
def key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_API_KEY", "sk-test-0123456789")
        yield


@pytest.fixture
def corpus(tiny_corpus: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_corpus, tmp_path / "corpus"))


def settings(endpoint: Running, **model: Any) -> Settings:
    chosen = ModelSettings(
        **{"name": "gpt-4.1-mini", "base_url": endpoint.base_url, "concurrency": 4, **model}
    )
    return Settings(engine=EngineSettings(engine="openai", encoder="none", model=chosen), workers=1)


class Watched:
    """A home that is refreshed, and what the endpoint was asked meanwhile."""

    def __init__(self, path: Path, source: Path, endpoint: Running) -> None:
        self.path, self.source, self.endpoint = path, source, endpoint

    @property
    def home(self) -> Home:
        return Home(self.path)

    def refresh(self, *, sensitive: bool = False, **model: Any) -> tuple[RunReport, int]:
        """Refresh and return the report and the number of calls that reached the endpoint."""
        before = len(self.endpoint.calls)
        chosen = settings(self.endpoint, **model)
        run = refresh(self.home, [str(self.source)], chosen, sensitive=sensitive)
        return run, len(self.endpoint.calls) - before

    def calls(self) -> list[dict[str, Any]]:
        return latest(self.home.live, ModelCall).to_pylist()

    def triples(self) -> set[tuple[str, str, str]]:
        rows = self.home.require_edition().table(schemas.Triple).to_pylist()
        return {(row["head"], row["relation"], row["tail"]) for row in rows}


@pytest.fixture
def watched(tmp_path: Path, corpus: Path, endpoint: Running) -> Watched:
    return Watched(tmp_path / "home", corpus, endpoint)


@pytest.fixture(scope="module")
def first(
    tiny_corpus: Path, endpoint: Running, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Watched, RunReport, int]:
    """A home after its first refresh, to be copied, that refresh's report and its calls."""
    folder = tmp_path_factory.mktemp("first")
    corpus = Path(shutil.copytree(tiny_corpus, folder / "corpus"))
    watched = Watched(folder / "home", corpus, endpoint)
    return watched, *watched.refresh()


@pytest.fixture
def refreshed(
    first: tuple[Watched, RunReport, int], tiny_corpus: Path, tmp_path: Path
) -> Iterator[Watched]:
    """A copy of that home; its corpus is put back after the test."""
    whole = first[0]
    home = copied_home(whole.path, tmp_path / "home")
    yield Watched(home, whole.source, whole.endpoint)
    shutil.rmtree(whole.source)
    shutil.copytree(tiny_corpus, whole.source)


# --- paid once ---------------------------------------------------------------------------


def test_one_call_a_document_yields_all_forms(first):
    watched, run, calls = first
    found = run.counts["extraction"]
    assert calls == len(watched.calls()) == run.counts["inputs"]["ingested"]
    assert {call["answered_by"] for call in watched.calls()} == {"almanac-mock"}
    for form in ("triple_mentions", "description_mentions", "alias_mentions"):
        assert found[form] > 0
    assert found["failed"] == 0
    assert any((head, tail) == ("Ada Lovelace", "London") for head, _, tail in watched.triples())
    assert run.cost is not None and run.cost > 0


def test_every_fact_stands_where_it_says(refreshed):
    edition = refreshed.home.require_edition()
    texts = {d["document_id"]: d["text"] for d in edition.table(schemas.Document).to_pylist()}
    triples = edition.table(schemas.Triple).to_pylist()
    for triple in triples:
        text = texts[triple["document_id"]]
        quoted = text[triple["span_start"] : triple["span_end"]]
        assert quoted and (triple["head"] in quoted or triple["tail"] in quoted), triple
    assert {row["engine"] for row in edition.table(schemas.Mention).to_pylist()} == {"openai"}


def test_facts_from_another_endpoint_do_not_count_as_this_ones(refreshed, tmp_path):
    here = len(refreshed.calls())
    with running(tmp_path / "other.jsonl") as other:
        _, there = Watched(refreshed.path, refreshed.source, other).refresh()
    assert there == here > 0


def test_an_unchanged_corpus_is_not_asked_about_again(refreshed):
    run, calls = refreshed.refresh()
    assert (run.outcome, calls) == ("unchanged", 0)


def test_a_changed_document_is_the_only_one_asked_about(refreshed):
    (refreshed.source / "london.md").write_text("# London\n\nLondon lies on the River Thames.\n")
    _, calls = refreshed.refresh()
    assert calls == 1


def test_a_deleted_document_costs_nothing(refreshed):
    (refreshed.source / "london.md").unlink()
    run, calls = refreshed.refresh()
    assert (run.published, calls) == (True, 0)


def test_the_same_passage_elsewhere_costs_nothing(refreshed):
    text = (refreshed.source / "london.md").read_text()
    (refreshed.source / "again.md").write_text(text + "\n")
    _, calls = refreshed.refresh()
    assert calls == 0


def test_replies_are_grounded_anew_without_a_call_when_the_rules_change(refreshed, monkeypatch):
    from tasks.extract.by_model import grounding

    before = refreshed.triples()
    monkeypatch.setattr(grounding, "GROUNDING_VERSION", "other rules")
    run, calls = refreshed.refresh()
    assert (run.counts["extraction"]["failed"], calls) == (0, 0)
    assert refreshed.triples() == before
    versions = refreshed.home.journal.table(Extraction)["prompt_sha"].to_pylist()
    assert len(set(versions)) == 2


def test_another_model_is_asked_about_everything(refreshed):
    one = len(refreshed.calls())
    _, other = refreshed.refresh(name="gpt-4.1-nano")
    assert one == other > 0


def test_what_a_died_run_was_told_is_not_asked_again(refreshed):
    """The replies are in the ledger, nothing of them in the journal: as after a kill."""
    again = Home(refreshed.path.parent / "again")
    again.journal.append({ModelReply: refreshed.home.journal.table(ModelReply)})
    run = refresh(again, [str(refreshed.source)], settings(refreshed.endpoint))
    assert run.counts["calls"].get("calls", 0) == 0
    assert run.counts["extraction"]["triple_mentions"] > 0


def test_each_form_may_have_a_call_of_its_own(watched):
    run, calls = watched.refresh(forms="apart")
    assert calls == 3 * run.counts["inputs"]["ingested"]
    assert run.counts["extraction"]["triple_mentions"] > 0


def test_passages_of_one_document_share_a_call_up_to_the_budget(watched):
    _, apart = watched.refresh(call_tokens=1)
    assert apart == watched.home.journal.table(Extraction).num_rows


def test_a_second_look_asks_only_about_what_is_left_uncovered(refreshed, first, tmp_path, corpus):
    nothing = {"entities": [], "triples": [], "aspects": []}
    with scripted(tmp_path, nothing) as up:
        silent = Watched(tmp_path / "silent", corpus, up)
        run, calls = silent.refresh(second_look=True)
    looks = run.counts["calls"]["second looks"]
    assert 0 < looks <= run.counts["inputs"]["ingested"]
    # An empty reply about a text with names or numbers is asked for once more, and then believed.
    # A look at all sentences of a text is the same request, which is answered already.
    assert calls <= 2 * run.counts["inputs"]["ingested"] + looks
    assert run.counts["calls"]["calls no_facts"] == 2 * run.counts["inputs"]["ingested"]
    reasons = silent.home.journal.table(Extraction)["reason"].to_pylist()
    assert set(reasons) == {"empty_reply"}
    looked, _ = refreshed.refresh(second_look=True)
    plain, more = first[1].counts["extraction"], looked.counts["extraction"]
    assert more["triple_mentions"] >= plain["triple_mentions"]


# --- grounded ----------------------------------------------------------------------------


def test_what_the_text_does_not_bear_out_is_a_rejection(tmp_path, corpus):
    reply = {"entities": [], "triples": [["Ada Lovelace", "flew to", "Mars", "she flew to Mars"]]}
    with scripted(tmp_path, {**reply, "aspects": []}) as up:
        watched = Watched(tmp_path / "home", corpus, up)
        run, _ = watched.refresh()
    assert run.counts["extraction"]["triple_mentions"] == 0
    reasons = latest(watched.home.live, Rejection)
    grounds = [r for r in reasons.to_pylist() if r["stage"] == "ground"]
    assert len(grounds) == run.counts["inputs"]["ingested"]
    assert {r["reason"] for r in grounds} == {"sentence_not_found"}


def test_why_passages_failed_is_told_with_the_edition_that_is_held_for_it(tmp_path, corpus):
    with (
        scripted(tmp_path, {"facts": "none"}) as up,
        pytest.raises(AlmanacError, match="(?s)passages failed.* because of: invalid: entities"),
    ):
        Watched(tmp_path / "home", corpus, up).refresh()


def test_the_commonest_reasons_for_failures_are_told():
    reasons = Counter({"timed_out: late.": 3, "refused: no": 4, "empty: nothing": 2, "rare": 1})
    words = failures_in_words(reasons, 12)
    assert words.startswith(
        "10 of 12 passages could not be extracted, 4 because of: refused: no; 3"
    )
    assert "no; 3" in words
    assert "timed_out: late; 2 because of: empty: nothing" in words and "rare" not in words


def test_a_passage_that_failed_in_three_runs_is_not_paid_for_again(tmp_path, corpus):
    with scripted(tmp_path, {"facts": "none"}) as up:
        watched = Watched(tmp_path / "home", corpus, up)
        for tried in (True, True, True, False):
            before = len(up.calls)
            with pytest.raises(AlmanacError, match="of the passages failed"):
                watched.refresh()
            assert (len(up.calls) > before) is tried


def test_a_passage_that_fails_holds_no_later_edition_back():
    assert failed_share({"passages": 1, "failed": 1}, passages=20) == 0.05
    assert failed_share({"passages": 0, "given up": 1}, passages=20) == 0.05
    assert failed_share({"passages": 4, "failed": 3}, passages=4) == 0.75


def scripted(tmp_path: Path, reply: dict[str, Any]) -> Any:
    """Run an endpoint that serves one reply to every request."""

    fault = {
        "id": "said",
        "serve": {"status": 200, "content": json.dumps(reply), "repeat": "always"},
    }
    faults = tmp_path / "said.jsonl"
    faults.write_text(json.dumps(fault))
    return running(tmp_path / "ledger.jsonl", faults=faults)


# --- private -----------------------------------------------------------------------------


def test_a_sensitive_source_never_reaches_the_endpoint_and_its_rows_stay_sensitive(watched):
    run, calls = watched.refresh(sensitive=True)
    assert (calls, watched.calls()) == (0, [])
    assert run.counts["extraction"]["triple_mentions"] > 0
    assert set(watched.home.journal.table(TripleMention)["engine"].to_pylist()) == {"rules"}
    (watched.source / "london.md").write_text("# London\n\nLondon lies on the River Thames.\n")
    _, calls = watched.refresh()
    assert calls == 0
    edition = watched.home.require_edition()
    for row in (schemas.Document, schemas.Passage, schemas.Triple, schemas.Description):
        assert set(edition.table(row)["sensitivity"].to_pylist()) == {"sensitive"}, row.table


def test_an_endpoint_that_is_allowed_sees_sensitive_texts(watched):
    chosen = settings(watched.endpoint, sensitive=True)
    before = len(watched.endpoint.calls)
    run = refresh(watched.home, [str(watched.source)], chosen, sensitive=True)
    calls = len(watched.endpoint.calls) - before
    assert calls == run.counts["inputs"]["ingested"]


def test_the_key_is_nowhere(refreshed):
    for path in refreshed.path.rglob("*"):
        if path.is_file():
            assert b"sk-test-0123456789" not in path.read_bytes(), path


# --- in budget ---------------------------------------------------------------------------


def test_what_a_model_denies_or_dates_is_published_as_such(tmp_path, corpus):
    (corpus / "pier.md").write_text("# Pier\n\nThe Pier burnt down in 1911. It was not rebuilt.\n")
    burnt, rebuilt = ["Pier", "burnt down", "1911", "1", "1911"], ["Pier", "was", "rebuilt", "2"]
    rows = [burnt, [*rebuilt, "", "", "not"]]
    reply = {"entities": [["Pier", "place", "", "1"]], "triples": rows, "aspects": []}
    with scripted(tmp_path, reply) as up:
        watched = Watched(tmp_path / "home", corpus, up)
        watched.refresh()
    edition = watched.home.editions.current()
    assert edition is not None
    triples = [t for t in edition.table(schemas.Triple).to_pylist() if t["head"] == "Pier"]
    since = {triple["polarity"]: triple["valid_from"] for triple in triples}
    assert since == {"positive": "1911", "negative": None}
    statements = edition.table(schemas.Statement).to_pylist()
    assert {(s["polarity"], s["time"]) for s in statements if s["subject"] == "Pier"} == {
        ("positive", "1911"), ("negative", ""),
    }  # fmt: skip


def test_a_budget_that_is_reached_publishes_what_was_paid_for(watched):
    most = 0.0105  # one call is allowed up to 0.008, for its room, and takes about 0.001
    run, _ = watched.refresh(budget=most, concurrency=1)
    made = watched.calls()
    assert 0 < sum(call["cost"] for call in made) <= most
    assert any("budget" in note and "are left" in note for note in run.notes)
    assert watched.triples()
    _, calls = watched.refresh()
    assert calls > 0
    requests = [call["request_sha"] for call in watched.calls()]
    assert len(requests) == len(set(requests)) == len(made) + calls


def test_what_is_counted_is_told_if_the_cost_of_a_call_is_not_known(tmp_path, corpus):
    faults = tmp_path / "down.jsonl"
    faults.write_text(json.dumps({"id": "down", "serve": {"status": 503}}))
    with running(tmp_path / "ledger.jsonl", faults=faults) as up:
        run, calls = Watched(tmp_path / "home", corpus, up).refresh()
    assert run.cost is None
    unknown = run.counts["calls"]["calls of unknown cost"]
    assert 0 < unknown < calls
    assert any(f" is counted for the calls; the cost of {unknown} " in note for note in run.notes)


def test_a_budget_that_allows_no_call_stops_the_run(watched):
    with pytest.raises(AlmanacError, match="budget"):
        watched.refresh(budget=0.001)
    assert watched.calls() == []


def test_the_estimate_is_what_the_refresh_does(watched):
    chosen = settings(watched.endpoint)
    expected = estimate(watched.home, [str(watched.source)], chosen)
    assert not (watched.path / "live").exists()
    run, calls = watched.refresh()
    assert expected.calls == calls
    tokens = sum(call["tokens_in"] for call in watched.calls())
    assert abs(expected.tokens_in - tokens) <= 0.1 * tokens
    assert estimate(watched.home, [str(watched.source)], chosen).calls == 0


def test_replies_are_estimated_from_the_text_and_later_from_earlier_replies(watched, tmp_path):
    chosen, more = settings(watched.endpoint), tmp_path / "more"
    more.mkdir()
    for path in sorted(watched.source.glob("*.md"))[:3]:
        path.rename(more / path.name)
    first = estimate(watched.home, [str(more)], chosen)
    assert first.tokens_out == round(first.text_tokens * REPLY_SHARE)
    watched.refresh()
    later, before = estimate(watched.home, [str(more)], chosen), len(watched.calls())
    refresh(watched.home, [str(more)], chosen)
    assert later.cost == pytest.approx(sum(c["cost"] for c in watched.calls()[before:]), rel=0.3)
    assert later.assumed == ()


def test_replies_are_estimated_alike_by_endpoints_that_do_not_count_the_schema(
    refreshed, monkeypatch
):
    calls = refreshed.calls()
    prompts = {call["prompt_sha"]: call["purpose"] for call in calls}
    share = experience(refreshed.home, "gpt-4.1-mini", prompts).reply_share
    assert 0 < share < 10
    fewer = pa.Table.from_pylist([{**call, "tokens_in": 100} for call in calls])
    monkeypatch.setattr("tasks.cost.latest", lambda *_: fewer)
    assert experience(refreshed.home, "gpt-4.1-mini", prompts).reply_share == share
    later = dict.fromkeys(["a later version"], "extract")
    assert experience(refreshed.home, "gpt-4.1-mini", later).reply_share == share


def test_a_refresh_says_that_changed_prompts_are_paid_for(refreshed, monkeypatch):
    from tasks.models.prompts import prompt

    run, calls = refreshed.refresh()
    assert calls == 0 and not any("cost calls anew" in note for note in run.notes)
    system, user = prompt._parts("extract")
    monkeypatch.setattr(prompt, "_parts", lambda purpose: (f"{system}\nBe brief.", user))
    expected = estimate(refreshed.home, [], settings(refreshed.endpoint))
    run, calls = refreshed.refresh()
    assert calls == expected.calls > 0 and expected.assumed == ()
    assert any("had replies to earlier prompts and cost calls anew" in n for n in run.notes)


def test_an_estimate_needs_a_model(watched):
    with pytest.raises(UsageError, match="costs nothing"):
        estimate(watched.home, [], Settings())


def test_a_sample_tells_what_another_model_would_change(refreshed):
    other = settings(refreshed.endpoint, name="gpt-4.1-nano")
    before = len(refreshed.endpoint.calls)
    trial = try_on_sample(refreshed.home, other, 5, "sample")
    assert len(refreshed.endpoint.calls) - before == trial.calls > 0
    assert sum(trial.same.values()) > 0
    assert sum(trial.added.values()) == sum(trial.gone.values()) == 0  # the mock knows no better
    assert trial.cost is not None and trial.cost_in_all is not None
    assert trial.cost_in_all > trial.cost
    again = try_on_sample(refreshed.home, other, 5, "again")
    assert (again.calls, again.known_calls, again.cost) == (0, trial.calls, 0.0)
    assert again.cost_in_all == pytest.approx(trial.cost_in_all)  # an answer at hand has a price
    _, calls = refreshed.refresh(name="gpt-4.1-nano")
    of_one_model = [c for c in refreshed.calls() if c["model"] == "gpt-4.1-mini"]
    assert calls + trial.calls == len(of_one_model)  # what the sample paid for is not paid again
