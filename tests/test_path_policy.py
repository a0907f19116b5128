"""A policy learns from questions with answers to walk to the answers, without gold paths."""

from pathlib import Path as File

import numpy as np
import pytest

from schemas.errors import AlmanacError
from tasks.graphs.graph import Graph
from tasks.paths.path import Step
from tasks.paths.policy.beam import proposals, search_trails
from tasks.paths.policy.lessons import Teacher, lesson_of
from tasks.paths.policy.network import STOP, GraphPolicy, NetworkShape, PolicyNetwork
from tasks.paths.policy.plan import PolicyPlan
from tasks.paths.policy.trails import Trail, explored, readings_of
from tasks.paths.policy.train import Example, TrainedPolicy, train_policy
from tasks.programs.planner.topics import Topic

PEOPLE = 24
PLAN = PolicyPlan(width=16, epochs=12, batch=8)
ASKED = {  # what is asked of a person, and the relations that are meant
    "Where was Person{n} raised?": ("birthplace",),
    "What did the mother of Person{n} do?": ("parent", "job"),
    "Where was the mother of Person{n} raised?": ("parent", "birthplace"),
    "What does the spouse of Person{n} do?": ("spouse", "job"),
}


def family() -> Graph:
    """Return people with a parent, a spouse, a job and a birthplace each."""
    triples = []
    for n in range(PEOPLE):
        triples += [
            (f"Person{n}", "parent", f"Person{(7 * n + 3) % PEOPLE}"),
            (f"Person{n}", "spouse", f"Person{(5 * n + 11) % PEOPLE}"),
            (f"Person{n}", "job", f"Job{(n * n + n) % 9}"),
            (f"Person{n}", "birthplace", f"Town{(n * n + 3) % 7}"),
        ]
    return Graph.of("family", triples)


GRAPH = family()
RELATIONS = np.random.default_rng(0).normal(size=(len(GRAPH.relations), 8)).astype(np.float32)


def example(wording: str, number: int) -> Example:
    nodes = GRAPH.bearers(f"Person{number}")
    for relation in ASKED[wording]:
        nodes = GRAPH.step(nodes, GRAPH.relation_numbers[relation])
    return Example(wording.format(n=number), (nodes,))


TRAINING = [example(wording, n) for wording in ASKED for n in range(0, PEOPLE, 2)]
HELD_OUT = [example(wording, n) for wording in ASKED for n in range(1, PEOPLE, 2)]


@pytest.fixture(scope="module")
def trained() -> TrainedPolicy:
    return train_policy(GRAPH, RELATIONS, TRAINING, PLAN)


def on_graph(network: PolicyNetwork, graph: Graph = GRAPH) -> GraphPolicy:
    return GraphPolicy(network, graph, RELATIONS)


def share_right(policy: GraphPolicy, examples: list[Example], width: int = 20) -> float:
    right = [
        int(best.nodes[0]) in np.concatenate(asked.answers)
        for asked in examples
        for best in proposals(
            policy, search_trails(policy, readings_of(asked.question, GRAPH), width)
        )[:1]
    ]
    return sum(right) / len(examples)


def test_a_policy_answers_questions_that_it_did_not_see(trained):
    untrained = PolicyNetwork.untrained(trained.network.shape, seed=0)
    assert share_right(on_graph(trained.network), HELD_OUT) > 0.9
    assert share_right(on_graph(untrained), HELD_OUT) < 0.5


def test_a_beam_of_one_walks_greedily(trained):
    policy = on_graph(trained.network)
    assert share_right(policy, HELD_OUT, width=1) > 0.8
    [greedy] = search_trails(policy, readings_of(HELD_OUT[0].question, GRAPH), width=1)
    assert greedy.trail.hops


def test_the_relations_that_are_meant_are_found_without_being_told(trained):
    policy = on_graph(trained.network)
    [best, *_] = search_trails(policy, readings_of(HELD_OUT[-1].question, GRAPH))
    walked = [GRAPH.relations[relation] for relation, _ in best.trail.hops]
    assert walked == ["spouse", "job"]


def test_walks_share_what_is_left_beside_hops_that_are_not_there(trained):
    policy = on_graph(trained.network)
    found = search_trails(policy, readings_of(HELD_OUT[0].question, GRAPH), width=10_000)
    assert 0.8 < np.exp([likely.likely for likely in found]).sum() < 1 + 1e-3
    likely = [one.likely for one in found]
    assert likely == sorted(likely, reverse=True)


def test_a_question_with_unknown_words_is_answered_with_less_confidence(trained):
    policy = on_graph(trained.network)

    def surest(question: str) -> float:
        return proposals(policy, search_trails(policy, readings_of(question, GRAPH)))[0].probability

    assert surest("Where was Person1 raised?") > 0.5
    assert surest("Zorgle fribble quaxes Person1 wug?") < 0.3


@pytest.mark.parametrize("question", ["Where was Nobody raised?", "Where was Person1 Junior born?"])
def test_a_name_that_the_graph_lacks_starts_no_walk(question):
    assert readings_of(question, GRAPH) == []
    assert search_trails(on_graph(untrained_network()), []) == []


def untrained_network() -> PolicyNetwork:
    return PolicyNetwork.untrained(NetworkShape(8, 16, 3), seed=0)


def test_an_untrained_network_prefers_relations_that_share_words_with_the_question():
    [best, *_] = search_trails(
        on_graph(untrained_network()), readings_of("Who is the spouse of Person4?", GRAPH)
    )
    assert [GRAPH.relations[relation] for relation, _ in best.trail.hops] == ["spouse"]


def test_a_trail_may_return_to_a_node_but_answers_prefer_others():
    graph = Graph.of("film", [("Ann", "directed", "One"), ("Ann", "directed", "Two")])
    [one] = readings_of("Which films are by the director of One?", graph)
    directed = graph.relation_numbers["directed"]
    back = next(
        trail
        for trail in explored(graph, one, steps=2, most=10)
        if trail.hops == ((directed, True), (directed, False))
    )
    assert set(map(graph.label, back.levels[-1])) == {"One", "Two"}
    assert list(map(graph.label, back.ends)) == ["Two"]
    two = int(graph.named("Two")[0])
    [path] = back.paths_to(graph, two)
    assert path.start == int(graph.named("One")[0])
    assert path.steps[-1] == Step(directed, False, two)


def test_exploring_stops_at_its_budget():
    reading = Topic("", GRAPH.bearers("Person1"), "", 0.0, quoted=False)
    firsts = Trail.begin(reading).longer(GRAPH)
    assert len(list(explored(GRAPH, reading, steps=1, most=1))) == len(firsts)
    assert len(list(explored(GRAPH, reading, steps=3, most=1))) == len(firsts)


def test_a_lesson_has_the_trails_to_the_answers_and_what_they_could_have_taken_instead():
    policy = on_graph(untrained_network())
    asked = example("Where was Person{n} raised?", 3)
    meanings = Teacher(GRAPH, 3).meanings(asked.question, asked.answers)
    assert meanings is not None
    lesson = lesson_of(policy, meanings, 3)
    birthplace = 2 * GRAPH.relation_numbers["birthplace"]
    first = lesson.states.hops[lesson.actions[:, 0]]
    assert birthplace in first
    stopped = lesson.states.hops[lesson.actions[first == birthplace, 1]]
    assert STOP in stopped
    assert Teacher(GRAPH, 3).meanings(asked.question, (GRAPH.bearers("Nobody"),)) is None


def test_of_choices_only_those_reached_count():
    teacher = Teacher(GRAPH, 1)
    right, wrong = (GRAPH.bearers(name) for name in ("Town5", "Job0"))
    question = "Where was Person3 raised?"
    alone = teacher.meanings(question, (right,), (wrong,))
    assert alone is not None and alone.trails[0][2] == 1


def test_training_goes_on_after_a_kill_and_ends_with_the_same_weights(trained, tmp_path: File):
    class KilledError(Exception):
        """Raised in the middle of a training."""

    def kill(stage: str, done: int, total: int) -> None:
        if stage == "learn" and done == 20:
            raise KilledError

    options = {"state": tmp_path, "checkpoint_seconds": 0.0}
    with pytest.raises(KilledError):
        train_policy(GRAPH, RELATIONS, TRAINING, PLAN, report=kill, **options)
    again = train_policy(GRAPH, RELATIONS, TRAINING, PLAN, **options)
    assert again.curve == trained.curve
    for name, weight in trained.network.weights.items():
        assert (again.network.weights[name] == weight).all()


def test_questions_without_reachable_answers_teach_nothing():
    lost = [Example("Where was Person1 raised?", (np.zeros(0, np.int32),))]
    with pytest.raises(AlmanacError, match="nothing to learn"):
        train_policy(GRAPH, RELATIONS, lost, PLAN)


def test_a_training_that_diverges_says_so_and_keeps_no_state(tmp_path: File):
    wild = PLAN.model_copy(update={"learning_rate": 1e30})
    with pytest.raises(AlmanacError, match="lower learning rate"):
        train_policy(GRAPH, RELATIONS, TRAINING, wild, tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_nothing_is_likely_where_the_relation_that_is_meant_is_missing(trained):
    triples = [("Person90", "spouse", "Person91"), ("Person90", "job", "Job1")]
    triples += [("Person92", "parent", "Person93"), ("Person92", "birthplace", "Town1")]
    policy = on_graph(trained.network, Graph.of("family", triples))
    [best, *_] = proposals(
        policy, search_trails(policy, readings_of("Where was Person90 raised?", policy.graph))
    )
    assert best.probability < 0.3
