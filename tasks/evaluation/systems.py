"""What `--route` lets be measured: a system for an edition, by name."""

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.evaluation.evaluate import System
from tasks.evaluation.program_answerer import ProgramAnswerer
from tasks.evaluation.text_answerer import TextAnswerer

ROUTES = ("auto", "programs", "text")


def system_for(route: str, settings: Settings) -> System:
    """Return what makes the system of a route from an edition; UsageError for an unknown route."""
    if route not in ROUTES:
        raise UsageError(f"There is no route {route!r}. The routes: {', '.join(ROUTES)}.")
    if route == "text":
        return lambda edition: TextAnswerer(edition, settings.engine)
    return lambda edition: ProgramAnswerer(edition, settings)
