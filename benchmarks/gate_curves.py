"""Gates on real outcomes: two models' answers to MIRAGE's questions without and with retrieval.

    python -m benchmarks.gate_curves [--draws N] [--limit N] [--layers FOLDER]

What `almanac gates measure --gate all` does, with BM25 and Mahalanobis distance as further gates,
in a home with a medical graph, from which the popularity of subjects is taken: once for the
question alone and once for the question with its choices; then Thrust's ablations, and with
`--layers` the layers of a transformers model. Gates are fitted on 200 questions of a data set
(half of it, where it is smaller than 400) and scored on the rest of it; figures are means over the
draws and over the five data sets. Intervals of 95 % are over questions and draws. The curves
are drawn beside the results.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.command import DATA, data, parser_of, report, results_folder, run_command
from benchmarks.rival_gates import add_rivals
from schemas.settings import EngineSettings, Settings
from tasks.evaluate.gates.evaluate import (
    GateMeasurement,
    GateResults,
    compare_gates,
    evaluate_gates,
)
from tasks.evaluate.gates.outcomes import outcomes_of
from tasks.evaluate.gates.scored import Draws
from tasks.evaluate.pictures import draw_curves
from tasks.import_graph import import_graph
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.hidden_states import HiddenStates
from tasks.models.encoders.load import open_question_encoder
from tasks.questions.formats import read_benchmark
from tests.gate_studies import hardness_figures, layer_candidates
from warehouse.home import Home

QUESTIONS = DATA / "gate" / "mirage.jsonl.gz"
GRAPH = "medkg"  # which tells how well known the questions' subjects are
MAPPING = Path(__file__).parents[1] / "examples" / "mappings" / "diseases.yaml"
PLAIN = Settings(engine=EngineSettings(encoder="none"))
DRAWS = 10
KEPT_BY_MODEL = ("area_over_random", "rate_at_99", "accuracy_at_half_of_always")
KEPT = (
    *KEPT_BY_MODEL,
    "area_over_system",
    "share_of_perfect",
    "best_accuracy",
    "best_rate",
    "accuracy_never",
    "accuracy_always",
    "auroc_help",
    "hardness_spearman",
    "hardness_pearson",
    "rate_at_budget",
)
Figures = dict[str, Any]


def measure(home: Home, measurement: GateMeasurement) -> GateResults:
    """Return the results of a measurement on the questions."""
    encoder = open_question_encoder(EncoderChoice("minilm"), EngineSettings(), home)
    return evaluate_gates(home, QUESTIONS, "mirage", lambda _: encoder, measurement)


def measure_layers(folder: str, draws: Draws) -> GateResults:
    """Return the results of Thrust over every layer of a transformers model."""
    outcomes = outcomes_of(read_benchmark(QUESTIONS, "mirage").questions, choices=False)
    layers = range(HiddenStates(folder).layers)
    candidates = layer_candidates([HiddenStates(folder, layer) for layer in layers], outcomes)
    return compare_gates("layers", candidates, GateMeasurement(draws=draws, study="ablations"))


def figures_of(results: GateResults, draws: Draws) -> dict[str, Figures]:
    """Return each gate's figures, those with an interval as three numbers."""
    report = results.report
    hardness = hardness_figures(results, draws.count)
    return {
        gate["system"]: _kept(gate["metrics"] | hardness[gate["system"]])
        for gate in [report, *report["baselines"]]
    }


def _kept(metrics: dict[str, float]) -> Figures:
    kept: Figures = {}
    for name, value in metrics.items():
        if not name.startswith(KEPT_BY_MODEL if ":" in name else KEPT):
            continue
        if f"{name}_low" in metrics:
            kept[name] = [value, metrics[f"{name}_low"], metrics[f"{name}_high"]]
        elif not name.endswith(("_low", "_high")):
            kept[name] = value
    return kept


def main() -> None:
    """Measure, draw, and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, metavar="N", help="draws of the seeds")
    parser.add_argument("--limit", type=int, metavar="N", help="questions (all)")
    parser.add_argument("--layers", metavar="FOLDER", help="a transformers model to look into")
    options = parser.parse_args()
    data("gate")
    add_rivals()
    draws = Draws(count=options.draws)
    with tempfile.TemporaryDirectory(prefix="almanac-gates-") as folder:
        home = Home(Path(folder))
        import_graph(home, DATA / "medkg", PLAIN, name=GRAPH, mapping=MAPPING)
        gates = GateMeasurement(["all"], draws, options.limit, popularity_of=GRAPH)
        alone, chosen = measure(home, gates), measure(home, replace(gates, choices=True))
        ablations = measure(home, replace(gates, popularity_of=None, study="ablations"))
        more: Figures = {"ablations": figures_of(ablations, draws)}
        if options.layers:
            layers = measure_layers(options.layers, draws)
            more["layers"] = figures_of(layers, draws)
    models = alone.report["models"]
    runs = {"question": figures_of(alone, draws), "question and choices": figures_of(chosen, draws)}
    draw_curves(results_folder() / "gate-curves.svg", "mirage", models, alone.curves, alone.perfect)
    about = {name: alone.report[name] for name in ("items", "seeds", "draws", "left_out")}
    report("gate-curves", {**about, "gates": runs, **more})


if __name__ == "__main__":
    run_command(main)
