"""What several test files share: the benchmark data, and profiles for hypothesis."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent

# Shared machines stall for seconds, which says nothing about the code under test.
settings.register_profile(
    "almanac", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("almanac")


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def almanac_data() -> Path:
    data = Path(os.environ.get("ALMANAC_DATA") or REPOSITORY.parent / "shared" / "data")
    if not data.is_dir():
        pytest.skip(f"no benchmark data in {data}; set ALMANAC_DATA")
    return data
