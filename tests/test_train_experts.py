"""Experts from texts to editions: trained, listed, described, quarantined, added, removed."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from schemas.errors import UsageError
from schemas.learning import Expert, Verbalization, VerbalizedText
from schemas.operations import Run
from schemas.settings import EngineSettings, Settings
from tasks.experts.manifest import UnsafeExpertError, checked_manifest
from tasks.experts.pool import ExpertPool
from tasks.experts.registry import active_experts, current_experts
from tasks.import_graph import import_graph
from tasks.run import RunReport
from tasks.train_experts import (
    About,
    add_expert,
    change_expert,
    journal_texts,
    text_set,
    train_experts,
)
from tasks.verbalize import verbalize
from tests.copied_home import copied_home
from tests.expert_texts import texts, tiny_plan
from tests.test_expert_manifest import REFUSED
from tests.unsafe_folders import json_change, resealed
from warehouse.home import Home
from warehouse.live import latest

PLAIN = Settings(engine=EngineSettings(encoder="none"), workers=1)


@pytest.fixture(scope="module", autouse=True)
def _few_questions() -> Iterator[None]:
    """Ask each trained expert a few questions; forty take longer than its training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.experts.check.FEW_QUESTIONS", 5)
        yield


@pytest.fixture(scope="module")
def trained_home(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the expert `corpus`; read it, or work on a copy of it."""
    folder = copied_home(small_home, tmp_path_factory.mktemp("trained") / "home")
    about = About("The corpus", licence="CC0")
    train_experts(Home(folder), ["corpus"], PLAIN, plan=tiny_plan(), about=about)
    change_expert(Home(folder), "corpus", "restore", PLAIN)  # it knows next to nothing
    return folder


@pytest.fixture
def home(trained_home: Path, tmp_path: Path) -> Home:
    return Home(copied_home(trained_home, tmp_path / "home"))


def expert_rows(home: Home) -> dict[str, dict[str, Any]]:
    return {row["expert"]: row for row in home.require_edition().table(Expert).to_pylist()}


def test_a_training_is_a_row_of_the_edition_and_a_folder(home):
    row = expert_rows(home)["corpus"]
    manifest = checked_manifest(home.path / row["path"], row["sha256"])
    assert row["path"] == f"experts/corpus/{row['sha256'][:12]}"
    assert (row["status"], row["base_model"], row["method"]) == ("active", "scratch", "scratch")
    assert (row["description"], row["licence"], row["stale"]) == ("The corpus", "CC0", False)
    assert row["parameters"] == manifest.parameters > 10_000
    assert row["texts"] == manifest.texts and row["tokens"] == manifest.tokens > row["texts"]
    assert row["loss"] > 0 and row["trained_on"]
    assert (home.path / row["path"]).with_suffix(".png").exists()
    assert not (home.path / "experts/.training/corpus").exists()
    runs = {run["flow"]: run for run in latest(home.live, Run).to_pylist()}
    assert runs["train_experts"]["outcome"] == "done"
    pool = ExpertPool(active_experts(home, home.require_edition()))
    assert len(pool.write("corpus", ["Ada Lovelace"], 2, max_new_tokens=5)[0]) == 2


def test_experts_are_listed_described_quarantined_and_restored(home, almanac):
    change = partial(almanac.shown, home.path, "experts")
    change("quarantine", "corpus", "--reason", "it makes things up")
    assert expert_rows(home)["corpus"]["reason"] == "it makes things up"
    change("quarantine", "corpus")  # the reason may be left out
    assert active_experts(home, home.require_edition()) == []
    change("restore", "corpus")
    assert expert_rows(home)["corpus"]["reason"] is None
    change("describe", "corpus", "--description", "Old machines")
    (listed,) = almanac.json(home.path, "experts")
    about = listed["description"], listed["status"], listed["depth"]
    assert about == ("Old machines", "active", 0)
    assert "Old machines" in change()
    blank = ["describe", "corpus", "--description", " "]
    for wrong in (["describe", "corpus"], blank, ["restore", "nobody"]):
        assert almanac(home.path, "experts", *wrong)[0] == 2


def test_the_command_trains_within_its_minutes_and_what_is_quarantined_stays_so(
    home, tiny_expert, almanac
):
    change_expert(home, "corpus", "quarantine", PLAIN, reason="it makes things up")
    words = ("train-experts", "corpus", "--minutes", "0.001", "--seed", "3")
    report = almanac.json(home.path, *words)
    assert report["published"] and report["experts"][0]["ended"] == "minutes"
    kept = expert_rows(home)["corpus"]
    assert kept["description"] == "The corpus"
    assert (kept["status"], kept["reason"]) == ("quarantined", "it makes things up")
    add_expert(home, tiny_expert, "corpus", PLAIN)
    assert expert_rows(home)["corpus"]["status"] == "quarantined"
    change_expert(home, "corpus", "remove", PLAIN)
    add_expert(home, tiny_expert, "corpus", PLAIN)  # another expert, though of the same name
    assert expert_rows(home)["corpus"]["reason"] != "it makes things up"


@pytest.fixture(scope="module")
def trained_again(
    trained_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Home, RunReport]:
    """A home, named by a relative path, whose active expert was trained again, and that run."""
    path = copied_home(trained_home, tmp_path_factory.mktemp("again") / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path.parent)
        plan = tiny_plan(epochs=1, seed=5)
        run, _ = train_experts(Home(Path("home")), ["corpus"], PLAIN, plan=plan)
    return Home(path), run


def test_a_home_may_be_named_by_a_relative_path(trained_again, trained_home):
    home, run = trained_again
    assert run.published
    row = expert_rows(home)["corpus"]
    assert row["path"] == f"experts/corpus/{row['sha256'][:12]}"
    assert row["sha256"] != expert_rows(Home(trained_home))["corpus"]["sha256"]
    checked_manifest(home.path / row["path"], row["sha256"])


def failed_its_check(home: Home, run: RunReport) -> bool:
    row = expert_rows(home)["corpus"]
    assert row["status"] == "quarantined" and row["share_right"] < 0.1
    assert "experts restore corpus" in run.notes[-1]
    return bool(row["reason"].startswith("Failed its check: it answers 0 of "))


def test_an_expert_that_knows_nothing_is_not_asked_until_it_is_restored(
    trained_again, tiny_expert, tmp_path
):
    home, run = Home(copied_home(trained_again[0].path, tmp_path / "home")), trained_again[1]
    assert failed_its_check(home, run)
    assert failed_its_check(home, add_expert(home, tiny_expert, "corpus", PLAIN))
    change_expert(home, "corpus", "restore", PLAIN)
    assert [expert.name for expert in active_experts(home, home.require_edition())] == ["corpus"]


def test_an_expert_that_passes_its_check_keeps_what_was_found(home, clocks):
    run = add_expert(home, clocks, "clocks", PLAIN)
    row = expert_rows(home)["clocks"]
    assert (row["status"], row["share_right"], row["languages"]) == ("active", 1.0, ["en"])
    assert not run.notes


def test_an_expert_is_checked_by_the_graph_of_its_name(home, clocks, tmp_path):
    (tmp_path / "clocks.tsv").write_text("Lund\tkept by\tAda\nVik\tkept by\tBo\n")
    import_graph(home, tmp_path / "clocks.tsv", PLAIN, name="clocks")
    run = add_expert(home, clocks, "clocks", PLAIN)
    assert expert_rows(home)["clocks"]["share_right"] == 0.0 and run.notes


def test_a_contributed_folder_is_checked_copied_and_listed(home, tiny_expert, tmp_path, almanac):
    bare = Path(shutil.copytree(tiny_expert, tmp_path / "bare"))
    (bare / "manifest.json").unlink()
    (bare / "README.md").write_text("Mine.")
    add = partial(almanac.shown, home.path, "experts", "add")
    printed = add(str(bare), "--name", "people", "--parent", "corpus", "--set", "licence=MIT")
    assert "README.md" in printed
    row = expert_rows(home)["people"]
    assert (row["method"], row["licence"], row["parent"]) == ("added", "MIT", "corpus")
    folder = home.path / row["path"]
    assert not (folder / "README.md").exists()
    assert row["parameters"] == checked_manifest(folder, row["sha256"]).parameters > 10_000
    # One with a manifest keeps it, and what it says.
    add(str(tiny_expert), "--name", "folk")
    assert expert_rows(home)["folk"]["base_model"] == "scratch"
    listed = almanac.json(home.path, "experts")
    names = [(expert["expert"], expert["depth"]) for expert in listed]
    assert names == [("corpus", 0), ("people", 1), ("folk", 0)]
    assert almanac(home.path, "experts", "remove", "corpus")[0] == 2  # it contains another
    circle = ["describe", "corpus", "--parent", "people"]
    assert almanac(home.path, "experts", *circle)[0] == 2
    almanac.shown(home.path, "experts", "remove", "people")
    assert "people" not in expert_rows(home)
    assert folder.exists()  # an earlier edition still names it


@pytest.mark.parametrize("trick", ["pickled weights", "remote code", "a linked file", "a pipe"])
def test_an_unsafe_folder_is_not_added(trick, home, tiny_expert, tmp_path, almanac):
    bad = Path(shutil.copytree(tiny_expert, tmp_path / "bad"))
    REFUSED[trick][0](bad)
    before = home.journal.position
    code, _, refusal = almanac(home.path, "experts", "add", str(bad), "--name", "bad")
    assert code == 1 and f"{bad} is refused" in refusal and ".adding" not in refusal
    assert home.journal.position == before and "bad" not in current_experts(home)
    assert {path.name for path in (home.path / "experts").iterdir()} == {".training", "corpus"}


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def unknown(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "oracle"}')


def lost(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    no_numbers = {name: weight.fill_(float("nan")) for name, weight in weights.items()}
    save_file(no_numbers, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("change", "reason"), [(pickled, "can run code"), (unknown, "is refused"), (lost, "finite")]
)
def test_a_folder_without_a_manifest_is_checked_as_well(
    home, tiny_expert, tmp_path, almanac, change, reason
):
    bare = Path(shutil.copytree(tiny_expert, tmp_path / "bare"))
    (bare / "manifest.json").unlink()
    change(bare)
    code, _, refusal = almanac(home.path, "experts", "add", str(bare), "--name", "bad")
    assert code == 1 and reason in refusal and ".adding" not in refusal
    assert "bad" not in current_experts(home)


def test_folders_and_names_that_cannot_be_are_refused(home, tiny_expert, tmp_path, almanac):
    assert almanac(home.path, "experts", "add", str(tmp_path / "no"), "--name", "bad")[0] in (1, 2)
    assert almanac(home.path, "experts", "add", str(tiny_expert), "--name", "../bad")[0] == 2


def test_an_expert_that_was_changed_on_disk_is_not_asked(home):
    experts = active_experts(home, home.require_edition())
    pool = ExpertPool(experts)
    resealed(json_change("config.json", rms_norm_eps=0.5))(experts[0].folder)
    with pytest.raises(UnsafeExpertError, match="registered"):
        pool.write("corpus", ["Ada"])


def made_texts(home: Home, name: str) -> None:
    """Put a set of texts of the graph `people` into the journal."""
    rows = [
        VerbalizedText(
            text_id=f"{name}-{split}-{number}", expert=name, method="entity_wiki", text=text,
            triple_ids=[], graph="people", split=split, verbalization_id=f"v-{name}",
        )
        for split in ("train", "validation")
        for number, text in enumerate(texts(split))
    ]  # fmt: skip
    made = Verbalization(
        verbalization_id=f"v-{name}", expert=name, graph="people", action="make",
        options='{"checks": 0, "methods": ["entity_wiki"]}', texts=len(rows), source_sha="0:0",
        edition="1", run_id="r", made_at=datetime.now(UTC),
    )  # fmt: skip
    home.journal.append(
        {
            VerbalizedText: VerbalizedText.to_table(rows),
            Verbalization: Verbalization.to_table([made]),
        }
    )


def test_several_experts_are_trained_side_by_side(home):
    for name in ("one", "two"):
        made_texts(home, name)
    heard: list[tuple[str, int, int]] = []
    settings = PLAIN.model_copy(update={"workers": 2})
    run, experts = train_experts(
        home, ["one", "two"], settings, plan=tiny_plan(), about=About(parent="corpus"),
        report=lambda *progress: heard.append(progress),
    )  # fmt: skip
    assert run.published and run.counts["train"]["experts"] == 2
    assert [expert["expert"] for expert in experts] == ["one", "two"]
    # Equal texts, plan and seed: equal weights.
    assert len({Path(expert["path"]).name for expert in experts}) == 1
    assert {("train", 1, 2), ("train", 2, 2)} <= set(heard)
    rows = expert_rows(home)
    assert rows["one"]["parent"] == "corpus" and rows["one"]["description"] == "Facts of people."
    assert rows["one"]["sources"] == ["0:0"]


def test_texts_come_from_the_journal_in_the_same_order(home, tmp_path):
    made_texts(home, "one")
    ids, position = text_set(home, "one", None).ids, home.journal.position
    read = [list(journal_texts(home, ids, position, tmp_path, "train")) for _ in range(2)]
    assert read[0] == read[1]
    assert sorted(read[0]) == sorted(texts("train"))
    assert not text_set(home, "one", "films").rows


def test_a_changed_graph_is_verbalized_again(home):
    verbalize(home, PLAIN, expert="mine")
    before = text_set(home, "mine", None).ids
    rows = home.journal.table(Verbalization).to_pylist()
    rows[-1].update(source_sha="1:1", verbalization_id="old")
    home.journal.append({Verbalization: Verbalization.to_table(rows[-1:])})
    _, (expert,) = train_experts(home, ["mine"], PLAIN, plan=tiny_plan(epochs=1))
    after = text_set(home, "mine", None).ids
    assert expert["texts"] > 0 and after != before != ["old"] != after
    assert expert_rows(home)["mine"]["stale"] is False


def test_an_expert_of_one_of_several_graphs_is_not_stale(home, almanac):
    made_texts(home, "mine")
    verbalize(home, PLAIN, expert="mine")
    train_experts(home, ["mine"], PLAIN, graph="people", plan=tiny_plan(epochs=1))
    row = expert_rows(home)["mine"]
    assert (row["graph"], row["sources"], row["stale"]) == ("people", ["0:0"], False)
    rows = home.journal.table(Verbalization).to_pylist()
    changed = next(row for row in rows if row["verbalization_id"] == "v-mine")
    changed |= {"source_sha": "1:1", "verbalization_id": "newer"}
    home.journal.append({Verbalization: Verbalization.to_table([changed])})
    almanac.shown(home.path, "experts", "describe", "mine", "--description", "People")
    assert expert_rows(home)["mine"]["stale"] is True


def test_what_is_wrong_is_said_before_anything_is_trained(home, almanac):
    for names, graph, about in (
        (["no/name"], None, About()),
        (["nobody"], None, About()),
        (["nobody"], "nowhere", About()),
        (["corpus"], None, About(parent="nobody")),
    ):
        with pytest.raises(UsageError):
            train_experts(home, names, PLAIN, graph=graph, about=about, plan=tiny_plan())
    for wrong in (
        ["corpus", "--minutes", "0"],
        ["nobody"],
        ["corpus", "--method", "lora"],
        ["corpus", "--patience", "2", "--all-texts"],
    ):
        assert almanac(home.path, "train-experts", *wrong)[0] == 2
