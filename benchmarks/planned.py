"""The requests that a refresh would make, made without asking."""

from pathlib import Path

from schemas.settings import Settings
from tasks.cost import requests_for
from tasks.models.call import Request
from tasks.refresh import Refresh, read_sources, split_texts
from tasks.run import RunReport
from warehouse.home import Home


def planned_requests(folder: Path, source: Path, settings: Settings) -> list[Request]:
    """Return the requests of a first refresh of the source; the folder becomes a home."""
    home, run = Home(folder), RunReport(run_id="plan")
    work = Refresh(home, settings, run, sources=[str(source)])
    read_sources(work)
    split_texts(work)
    return list(requests_for(home, settings.engine, work.pending().passages))
