"""The planner: topics are read, paths learned from answers alone, programs written, all kept."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import DamageError
from tasks.graphs.graph import Graph
from tasks.models.one_thread import one_thread
from tasks.programs.planner import learn as learning
from tasks.programs.planner.learn import Example, Learned, learn
from tasks.programs.planner.path_model import (
    Encoding,
    LearnedModel,
    PathModel,
)
from tasks.programs.planner.paths import follow, onward, paths_from, walk
from tasks.programs.planner.planner import Planned, Planner, untaught_planner
from tasks.programs.planner.program_text import write_program
from tasks.programs.planner.store import kept_examples, load_planner, planner_for, save_planner
from tasks.programs.planner.topics import SLOT, topics_in
from tasks.programs.planner.writer import PlannedWriter
from tasks.programs.program_run import run_program
from tasks.programs.search_program import Hint
from tasks.progress import silent
from tasks.text.question import Question, analyse
from tests.film_questions import ONE_HOP, TWO_HOPS, examples, film, graph, triples
from tests.graph_knowledge_base import GraphKnowledgeBase
from warehouse.home import Home

TAUGHT = 0.5  # share of the questions that are learned from


@pytest.fixture(scope="module")
def films() -> Graph:
    return graph()


@pytest.fixture(scope="module")
def questions(films: Graph) -> list[Example]:
    return examples(films, ONE_HOP, TWO_HOPS)


@pytest.fixture(scope="module")
def learned(films: Graph, questions: list[Example]) -> Learned:
    return learn(films, questions[: int(TAUGHT * len(questions))], silent)


@pytest.fixture(scope="module")
def planner(films: Graph, learned: Learned) -> Planner:
    return Planner(films, learned.model, learned.paths)


def names(films: Graph, plan: Planned) -> set[str]:
    return {films.label(node) for node in plan.nodes}


# -- topics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "name", "masked"),
    [
        ("who directed The Kid?", "The Kid", f"who directed  {SLOT} ?"),
        ("who directed the kid?", "The Kid", f"who directed the  {SLOT} ?"),
        ("what is [Alien] about", "Alien", f"what is  {SLOT}  about"),
        ("Alien's director", "Alien", f" {SLOT} 's director"),
        ("《阿飞正传》的导演是谁", "阿飞正传", f"《 {SLOT} 》的导演是谁"),
    ],
)
def test_a_topic_is_called_as_the_graph_calls_it(question: str, name: str, masked: str) -> None:
    small = Graph.of(
        "g", [("The Kid", "r", "x"), ("Alien", "r", "y"), ("阿飞正传", "导演", "王家卫")]
    )
    topic = topics_in(analyse(question), small)[0]
    assert topic.name == name
    assert topic.masked.split() == masked.split()


def test_a_name_within_a_longer_one_is_no_topic() -> None:
    small = Graph.of("g", [("Old Harbour", "r", "x"), ("Harbour", "r", "y")])
    [topic] = topics_in(analyse("where is Old Harbour"), small)
    assert topic.name == "Old Harbour"


@given(st.text(max_size=60))
def test_any_question_is_read(question: str) -> None:
    small = Graph.of("g", [("a", "r", "b"), ("Old Harbour", "r", "x")])
    for topic in topics_in(analyse(question), small):
        assert len(topic.nodes) and SLOT in topic.masked


# -- paths ----------------------------------------------------------------------------------------


def test_who_shares_something_with_a_film_is_another_film(films: Graph) -> None:
    start = films.named("The Red Harbour 0")
    directed = films.relation_numbers["directed_by"]
    nodes = walk(films, start, ((directed, False), (directed, True)))
    assert {films.label(n) for n in nodes} == {f"The Red Harbour {n}" for n in (12, 24, 36, 48)}
    only = Graph.of("g", [("a", "r", "b")])
    back = follow(only, only.named("a"), only.named("b"), (0, True))
    assert [only.label(n) for n in back] == ["a"]  # better itself than nothing


# -- learning -------------------------------------------------------------------------------------


def test_paths_are_learned_from_answers_alone(
    films: Graph, questions: list[Example], learned: Learned, planner: Planner
) -> None:
    assert learned.explained == learned.examples == int(TAUGHT * len(questions))
    new = questions[learned.examples :]
    plans = planner.plan([analyse(one.question) for one in new])
    right = [names(films, p[0]) == set(q.answers) for p, q in zip(plans, new, strict=True)]
    assert sum(right) >= 0.98 * len(right)
    assert all(abs(sum(one.share for one in plan) - 1) < 1e-3 for plan in plans)


def test_a_relation_that_no_example_means_is_judged_by_its_name(
    films: Graph, questions: list[Example]
) -> None:
    known = [q for q in questions if "in what year" not in q.question and "first" not in q.question]
    learned = learn(films, known, silent)
    planner = Planner(films, learned.model, learned.paths)
    wordings = [analyse(f"what release year did {film(n)} have") for n in range(40)]
    paths = [[films.relations[r] for r, _ in plans[0].path] for plans in planner.plan(wordings)]
    assert paths.count(["release_year"]) >= 38


def test_weights_come_back_as_they_were(learned: Learned, tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(learned.model.to_bytes())
    again = LearnedModel.load(path)
    assert again.to_bytes() == learned.model.to_bytes()
    assert np.array_equal(again.known, learned.model.known)


def test_what_is_fitted_by_torch_ranks_without_it(
    films: Graph, learned: Learned, questions: list[Example], tmp_path: Path
) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(learned.model.to_bytes())
    load = (
        "import sys; from pathlib import Path; from tasks.programs.planner import store; "
        "store.LearnedModel.load(Path(sys.argv[1])); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", load, path], check=True)
    planner = Planner(films, learned.model, learned.paths)
    plans = planner.plan([analyse(example.question) for example in questions[:40]])
    chosen = [[(plan.topic, plan.path) for plan in some] for some in plans if some]
    encoding = Encoding(films, learned.model.known)
    batch = encoding.batch([encoding.rows(some) for some in chosen])
    scores = learned.model.scores(batch).detach().numpy()
    assert learned.model.ranking(batch) == pytest.approx(scores, abs=1e-4)


def test_learning_the_same_gives_the_same(films: Graph, questions: list[Example]) -> None:
    few = questions[:60]
    first, second = (learn(films, few, silent).model.to_bytes() for _ in range(2))
    assert first == second


def test_what_no_path_explains_teaches_nothing(films: Graph) -> None:
    odd = [Example("who helmed The Red Harbour 0", ("nobody here",)), Example("?", ("x",))]
    learned = learn(films, odd, silent)
    assert (learned.explained, learned.paths) == (0, [])


def test_how_far_it_is_is_told(films: Graph, questions: list[Example]) -> None:
    progress: dict[str, tuple[int, int]] = {}
    learn(films, questions[:40], lambda stage, done, total: progress.update({stage: (done, total)}))
    assert progress["explain questions"] == (40, 40)
    done, total = progress["learn paths"]
    assert done == total


def test_a_question_fits_by_its_words(films: Graph, planner: Planner) -> None:
    wordings = ("who helmed", "list every release year:", "how many gulls nest near")
    questions = [analyse(f"{words} The Lost Harbour 58") for words in wordings]
    taught, listing, foreign = planner.plan(questions)
    assert planner.fit(taught[0]) > 0.9
    assert planner.fit(foreign[0]) < 0.5
    untaught = untaught_planner(films)
    [plans] = untaught.plan([analyse("the release year of The Lost Harbour 58")])
    assert untaught.fit(plans[0]) == 1.0
    assert untaught.model.familiar(taught[0].topic.masked) == 0.0
    assert listing


def test_what_an_entity_lacks_is_not_answered_by_what_it_has(
    films: Graph, learned: Learned, questions: list[Example]
) -> None:
    lacking = Graph.of("films", [t for t in triples() if t[:2] != (film(3), "directed_by")])
    by_name = {relation: n for n, relation in enumerate(lacking.relations)}
    paths = [tuple((by_name[films.relations[r]], i) for r, i in path) for path in learned.paths]
    planner = Planner(lacking, learned.model, paths)
    for asked in (f"who helmed {film(3)}", f"who directed {film(3)}"):
        assert PlannedWriter(planner).plans(analyse(asked)) == []
    [plans] = planner.plan([analyse(f"who helmed {film(4)}")])
    assert {films.relations[r] for r, _ in plans[0].path} == {"directed_by"}


def test_words_of_a_relation_are_enough_untaught(films: Graph) -> None:
    planner = untaught_planner(films)
    question = analyse("the release year of The Old Harbour 1")
    [plans] = planner.plan([question])
    model = PathModel()
    for table in ("relation", "length", "path"):
        model.weights[table].data.zero_()
    [unfitted] = Planner(films, model, (), longest=2).plan([question])
    assert [plan.path for plan in plans] == [plan.path for plan in unfitted]
    assert [plan.share for plan in plans] == pytest.approx([plan.share for plan in unfitted])
    assert [films.relations[relation] for relation, _ in plans[0].path] == ["release_year"]
    assert planner.plan([analyse("nothing that is known here")]) == [[]]


# -- programs -------------------------------------------------------------------------------------


def test_a_path_as_a_program_finds_where_the_path_leads(films: Graph) -> None:
    kb = GraphKnowledgeBase.of(*triples())
    program = write_program("The Red Harbour 0", [("directed_by", False), ("directed_by", True)])
    run = run_program(program, kb, "q")
    assert run.error is None
    assert set(run.answers) == {f"The Red Harbour {n}" for n in (12, 24, 36, 48)}


@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=20))
def test_any_name_stands_in_a_program_as_it_is(topic: str, relation: str) -> None:
    code = write_program(topic, [(relation, True)])
    compile(code, "program", "exec")
    assert repr(topic) in code


def test_after_a_failure_the_next_path_is_tried(planner: Planner) -> None:
    writer = PlannedWriter(planner)
    question = analyse("whom do we see in The Red Harbour 0")
    first = writer.write(question, Hint())
    assert first is not None and "starred_actors" in first.code
    second = writer.write(question, Hint(error="nothing was found", code=first.code))
    assert second is None or second.code != first.code
    assert writer.write(analyse("nothing that is known here"), Hint()) is None


def test_plans_are_returned_while_another_thread_prepares(films: Graph) -> None:
    asked, other = analyse("who directed The Red Harbour 0"), analyse("who directed The Ebb")

    class Shared(PlannedWriter):
        def prepare(self, questions: Sequence[Question]) -> None:
            super().prepare(questions)
            super().prepare([other])  # as another thread may do at this moment

    assert Shared(untaught_planner(films)).plans(asked)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("When did Nora Field direct?", []),
        ("Which films did Nora Field direct?", ["The Tidewater"]),
        ("How many films did Nora Field direct?", ["The Tidewater"]),
        ("When does The Ebb play?", ["autumn"]),
        ("《潮水记》何时写成？", ["唐朝"]),
    ],
)
def test_a_path_leads_to_values_of_the_form_that_is_asked_for(
    question: str, values: list[str]
) -> None:
    rows = [("The Tidewater", "direct", "Nora Field"), ("The Ebb", "play", "autumn")]
    small = Graph.of("g", [*rows, ("潮水记", "写成", "唐朝")])
    plans = PlannedWriter(untaught_planner(small)).plans(analyse(question))
    assert sorted(names(small, plans[0]) if plans else []) == values


# -- keeping --------------------------------------------------------------------------------------


def test_a_planner_is_kept_by_relation_names(
    films: Graph, questions: list[Example], learned: Learned, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    assert load_planner(home, films) is None
    assert planner_for(home, films).longest == 2
    save_planner(home, films, learned)
    turned = Graph.of("films", reversed([*triples(), ("x", "a new relation", "y")]))
    planner = load_planner(home, turned)
    assert planner is not None
    new = questions[learned.examples :][:50]
    plans = planner.plan([analyse(one.question) for one in new])
    right = [names(turned, p[0]) == set(q.answers) for p, q in zip(plans, new, strict=True)]
    assert sum(right) >= 49


def test_learning_again_leaves_one_planner_and_damage_is_told(
    films: Graph, questions: list[Example], learned: Learned, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    save_planner(home, films, learned)
    again = learn(films, questions[:30], silent)
    name = save_planner(home, films, again)
    folder = home.path / "learned" / "planner" / "films"
    [weights] = folder.glob("*.safetensors")
    assert weights.stem == name
    weights.write_bytes(b"\x80\x04not weights")
    with pytest.raises(DamageError, match="almanac learn"):
        load_planner(home, films)


def test_a_planner_is_read_without_a_lock_even_while_another_is_saved(
    films: Graph, learned: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    save_planner(home, films, learned)
    lock = home.path / "learned" / "planner" / "films" / "lock"
    lock.unlink()
    again = replace(learned, model=PathModel(seed=5))
    load_weights = LearnedModel.load

    def load_after_a_save(path: Path) -> LearnedModel:
        monkeypatch.setattr(LearnedModel, "load", load_weights)
        save_planner(home, films, again)
        return load_weights(path)

    monkeypatch.setattr(LearnedModel, "load", load_after_a_save)
    planner = load_planner(home, films)
    assert planner is not None and planner.model.to_bytes() == again.model.to_bytes()
    lock.unlink()
    assert load_planner(home, films) and kept_examples(home, films) == []
    assert not lock.exists()


NAMES = st.sampled_from("abcdefg")
TRIPLES = st.lists(st.tuples(NAMES, st.sampled_from("rst"), NAMES), min_size=1, max_size=30)


@given(TRIPLES, st.sets(st.integers(0, 6), min_size=1))
def test_all_hops_at_once_are_each_hop_alone(
    triples: list[tuple[str, str, str]], chosen: set[int]
) -> None:
    graph = Graph.of("g", triples)
    nodes = np.array(sorted(n for n in chosen if n < graph.nodes), np.int32)
    one_by_one = [
        (hop, graph.step(nodes, hop[0], inverse=hop[1]).tolist())
        for hop in graph.relations_around(nodes)
    ]
    assert [(hop, reached.tolist()) for hop, reached in graph.fan(nodes)] == one_by_one
    start = nodes[:1]
    for hop, reached in onward(graph, start, nodes) if len(start) else ():
        assert np.array_equal(reached, follow(graph, start, nodes, hop))


@given(TRIPLES)
def test_paths_end_where_walking_them_ends(triples: list[tuple[str, str, str]]) -> None:
    graph = Graph.of("g", triples)
    start = np.array([0], np.int32)
    for path, nodes in paths_from(graph, start, 2):
        assert len(nodes) and 1 <= len(path) <= 2
        assert np.array_equal(nodes, walk(graph, start, path))


def test_threads_are_given_back_after_a_failure() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="stop"), one_thread():
        assert torch.get_num_threads() == 1
        raise ValueError("stop")
    assert torch.get_num_threads() == before


def test_a_held_out_part_decides_how_often_examples_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    films = graph()
    questions = examples(films, ONE_HOP)[:60]
    stages: dict[str, int] = {}

    def hear(stage: str, done: int, total: int) -> None:
        assert done <= total
        stages[stage] = stages.get(stage, 0) + 1

    learning.learn(films, questions, hear)
    assert "choose how long" not in stages
    stages.clear()
    monkeypatch.setattr(learning, "ENOUGH", 20)
    one, two = (learning.learn(films, questions, hear) for _ in range(2))
    assert stages["choose how long"] > 0
    assert stages["learn paths"] % (2 * -(-one.explained // learning.QUESTIONS_A_STEP)) == 0
    assert torch.equal(one.model.weights["shared"], two.model.weights["shared"])


def test_plans_that_lead_elsewhere_share_the_probability(
    planner: Planner, questions: list[Example]
) -> None:
    writer = PlannedWriter(planner)
    for asked in questions[:20]:
        programs = writer.programs(analyse(asked.question))
        assert sum(program.probability for program in programs) < 1.001


def test_a_path_back_to_its_topic_is_no_plan() -> None:
    couple = Graph.of("couple", [("Ann", "spouse", "Ben"), ("Ben", "spouse", "Ann")])
    plans = PlannedWriter(untaught_planner(couple)).plans(analyse("Who is the spouse of Ann?"))
    assert {couple.label(node) for plan in plans for node in plan.nodes.tolist()} == {"Ben"}
