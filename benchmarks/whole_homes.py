"""The homes that the whole query is measured on, each made once, as a user would make it.

Planners, policies and bandits learn from questions that are not asked later. Experts learn only
the questions and answers that their graph gives.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.command import ROOT, data
from benchmarks.islands import Archipelago
from schemas.knowledge import Triple
from schemas.learning import Expert
from schemas.settings import Settings
from tasks.experts.training.plan import TrainingPlan
from tasks.experts.verbalize.texts import TextOptions
from tasks.import_graph import import_graph
from tasks.learn import learn, learn_arms
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample
from tasks.refresh import refresh
from tasks.train_experts import add_expert, train_experts
from tasks.train_paths import train_paths
from tasks.verbalize import verbalize
from warehouse.home import Home

EXAMPLES = ROOT / "examples"
SETTINGS = Settings()
TEXTS = TextOptions(methods=("question",), wordings=4)
WALKED, ARMS = 800, 200  # questions for a policy, and for a bandit
Questions = Sequence[BenchmarkQuestion]


def made_once(folder: Path, make: Callable[[Home], None]) -> Home:
    """Return the home in a folder; what was half made is made again."""
    home, made = Home(folder), folder.with_suffix(".made")
    if not made.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        make(home)
        made.touch()
    return home


def take_corpus(home: Home) -> None:
    """Read the sample corpus, and import the sample graph beside it."""
    refresh(home, [str(EXAMPLES / "corpus")], SETTINGS)
    import_graph(home, EXAMPLES / "graphs" / "moons.tsv", SETTINGS, name="moons")


def take_lines(home: Home, lines: str, name: str) -> None:
    """Import facts from tab-separated lines as a graph."""
    file = home.path.with_name(f"{home.path.name}-{name}.tsv")
    file.write_text(lines, encoding="utf-8")
    import_graph(home, file, SETTINGS, name=name)


def take_islands(home: Home, questions: Questions) -> None:
    """Import the first islands; questions with choices teach planner, policy and bandit."""
    take_lines(home, Archipelago(0).lines, "islands")
    teach(home, questions, "islands")
    walk(home, questions, "islands")


def take_texts(home: Home, texts: Sequence[tuple[str, str]]) -> None:
    """Read texts with their titles."""
    folder = home.path.with_name(f"{home.path.name}-texts")
    folder.mkdir(parents=True, exist_ok=True)
    for number, (title, text) in enumerate(texts):
        file = folder / f"{number:03d}.md"
        file.write_text(f"# {' '.join(title.split())}\n\n{text}\n", encoding="utf-8")
    refresh(home, [str(folder)], SETTINGS)


def take_congress(home: Home, demonstrations: Questions, minutes: float) -> None:
    """Import the 118th Congress, learn from the demonstrations, add an expert on the elections."""
    mapping = EXAMPLES / "mappings" / "congress.yaml"
    import_graph(home, data("congress"), SETTINGS, name="congress", mapping=mapping)
    teach(home, demonstrations, "congress")
    facts = home.require_edition().table(Triple).to_pylist()
    elected = [fact for fact in facts if fact["relation"].endswith("elected in 2022")]
    lines = "".join(f"{f['head']}\t{f['relation']}\t{f['tail']}\n" for f in elected)
    take_expert(home, lines, "elections", "Who won the elections to Congress in 2022", minutes)


def take_expert(home: Home, lines: str, name: str, about: str, minutes: float) -> None:
    """Add an expert that was trained elsewhere on facts; the home does not get the facts."""

    def train(elsewhere: Home) -> None:
        take_lines(elsewhere, lines, name)
        verbalize(elsewhere, SETTINGS, graph=name, expert=name, options=TEXTS)
        plan = TrainingPlan(minutes=minutes, all_texts=True)
        train_experts(elsewhere, [name], SETTINGS, graph=name, plan=plan)

    elsewhere = made_once(home.path.with_name(f"expert-{name}"), train)
    [expert] = elsewhere.require_edition().table(Expert).to_pylist()
    add_expert(home, elsewhere.path / expert["path"], name, SETTINGS, description=about)


def teach(home: Home, questions: Questions, graph: str) -> None:
    """Learn a planner of a graph, without measuring which parts help."""
    learn(home, [questions_file(home, questions)], "jsonl", SETTINGS, graph, replace=True)


def walk(home: Home, questions: Questions, graph: str) -> None:
    """Train a policy on a graph and, where questions have choices, a bandit."""
    train_paths(home, sample(questions, WALKED), SETTINGS, graph=graph)
    learn_arms(home, questions, SETTINGS, graph=graph, count=ARMS)


def questions_file(home: Home, questions: Questions) -> Path:
    """Write questions to a file beside a home, as users have them; return it."""
    file = home.path.with_name(f"{home.path.name}-questions.jsonl")
    rows = [
        {
            "id": question.id,
            "question": question.question,
            "answers": question.answers,
            "choices": question.choices,
            "topic": question.split_key,
        }
        for question in questions
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file
