"""learn_from_questions: what learns from questions with answers learns; today the planner.

The work is `tasks.learn_planners`; here it gets Prefect's flow and artifact.
"""

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows import progress
from flows.orchestration import hush_at_exit
from flows.refresh_knowledge import log_progress
from schemas.settings import Settings, load_settings
from tasks.learn_planners import learn_planners
from warehouse.home import Home


@flow(name="learn-from-questions", persist_result=False)
def learn_from_questions(
    questions: str,
    format: str = "jsonl",
    home: str = "almanac-home",
    graph: str | None = None,
    settings: Settings | None = None,
) -> list[dict[str, Any]]:
    """Learn a planner for each graph that the questions are asked of; return what was learned.

    Raises AlmanacError when the questions cannot be read or nothing can be learned from them.
    """
    hush_at_exit()
    place = Home(Path(home))
    report = progress.listener() or log_progress()
    settings = settings or load_settings(place.path)
    learned = learn_planners(place, Path(questions), format, settings, graph, report)
    create_markdown_artifact(
        key="learn-from-questions", markdown=as_markdown(learned), description="What was learned"
    )
    return learned


def as_markdown(learned: list[dict[str, Any]]) -> str:
    """Return what was learned as a table."""
    names = list(learned[0])
    lines = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    lines += [f"| {' | '.join(str(one[name]) for name in names)} |" for one in learned]
    return "\n".join([*lines, ""])
