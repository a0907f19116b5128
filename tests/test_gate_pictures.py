import re
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import UsageError
from tasks.evaluate.gates.candidates import of_gates
from tasks.evaluate.gates.evaluate import GateMeasurement, GateResults, compare_gates
from tasks.evaluate.gates.outcomes import Outcomes
from tasks.evaluate.gates.scored import Draws
from tasks.evaluate.pictures import check_picture, draw_curves
from tasks.gates.questions import GateQuestions

MODELS = ("small", "large")


@pytest.fixture(scope="module")
def results() -> GateResults:
    rng = np.random.default_rng(1)
    questions = GateQuestions(
        [f"What is {n}?" for n in range(60)],
        vectors=rng.normal(size=(60, 4)),
        popularity=rng.lognormal(size=60),
    )
    outcomes = Outcomes(
        questions,
        np.repeat(["kings", "rivers"], 30).astype(object),
        MODELS,
        rng.random((2, 60)),
        rng.random((2, 60)),
    )
    how = GateMeasurement(draws=Draws(15, 2, budgets=False), resamples=20)
    candidates, _ = of_gates(["popularity", "thrust", "random", "always"], {}, outcomes)
    return compare_gates("things", candidates, how)


def words(svg: Path) -> list[str]:
    """Return what is written in a picture; text is drawn as shapes, with a comment beside it."""
    return re.findall(r"<!-- (.+?) -->", svg.read_text())


def test_curves_name_what_they_show(results, tmp_path):
    file = tmp_path / "curves.svg"
    draw_curves(file, "things", MODELS, results.curves, results.perfect)
    labels = words(file)
    assert {"small", "large", "perfect gate", "popularity", "thrust", "random line"} <= set(labels)
    assert {"retrieval rate, %", "accuracy, %"} <= set(labels)
    # Gates whose curve is the random line are not drawn over it.
    assert not {"always", "random"} & set(labels)
    assert labels.count("popularity") == 1


def test_equal_figures_give_equal_files(results, tmp_path):
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    for file in (one, other):
        draw_curves(file, "things", MODELS, results.curves, results.perfect)
    assert one.read_bytes() == other.read_bytes()
    assert "<dc:date>" not in one.read_text()


def test_names_are_shown_as_they_are(results, tmp_path):
    file = tmp_path / "curves.svg"
    names = ["$x_", "_a$\\frac{$b"]
    draw_curves(file, "$\nthings", names, results.curves, results.perfect)
    assert {"$x_", "a$\\frac{$b", "$ things: accuracy over retrieval rate"} <= set(words(file))
    odd = {f"_{name}$": one for name, one in results.curves.items()}
    draw_curves(file, "things", MODELS, odd, results.perfect)
    assert "popularity$" in words(file)


def test_pictures_need_a_folder_and_a_form(tmp_path):
    check_picture(tmp_path / "curves.svg")
    with pytest.raises(UsageError, match=r"\.svg or \.png"):
        check_picture(tmp_path / "curves.gif")
    with pytest.raises(UsageError, match="no folder"):
        check_picture(tmp_path / "none" / "curves.svg")
