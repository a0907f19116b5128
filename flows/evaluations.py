"""The jobs that measure answers, gates, and the effect of knowledge on models."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import Field

from flows.home import edition_of
from flows.jobs import FORMAT, QUESTIONS, Job, Runner
from flows.summary import figures_as_markdown, table_as_markdown
from warehouse.disk_errors import warned_of_refusals

NOT_DRAWN = "the picture was not drawn."
GATE_FIGURES = (
    "area_over_random",
    "share_of_perfect",
    "rate_at_99",
    "accuracy_at_half_of_always",
    "auroc_help",
)


class Evaluation(Job):
    """A job that measures something and returns the figures."""

    questions: str = QUESTIONS
    limit: int | None = Field(None, ge=1, description="Questions to draw, in a seeded shuffle.")

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the figures of all systems."""
        return figures_as_markdown(result)


class EvaluateAnswers(Evaluation):
    """Measure answers on a benchmark, in comparison with simple baselines."""

    flow_name = "evaluate-answers"
    outcome = "What was measured"

    format: str = FORMAT
    route: str = Field("auto", description="The route to measure: auto, programs, text or experts.")
    expert: str | None = Field(None, description="Measure this expert alone.")
    graph: str | None = Field(None, description="Ask all questions of this graph.")
    learn: bool = Field(True, description="Learn on the training part, or on a seeded half.")
    zero_shot: bool = Field(False, description="Measure before learning, too.")
    baselines: list[str] | None = Field(
        None,
        description="bm25, embedding, spe (the default); with a model also model, recitation, "
        "generated_knowledge, generate_then_read and retrieve_then_read.",
    )
    out: str | None = Field(None, description="A file for every answer and its figures.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure and return the figures."""
        from tasks.evaluate.baselines.choose import BASELINES
        from tasks.evaluate.evaluate import Measurement, evaluate
        from tasks.evaluate.systems import system_for

        settings = self.chosen_settings
        measurement = Measurement(
            graph=self.graph,
            limit=self.limit,
            learn=self.learn,
            zero_shot=self.zero_shot,
            baselines=list(BASELINES) if self.baselines is None else self.baselines,
            answers=Path(self.out) if self.out else None,
        )
        system = system_for(
            self.route, settings, self.place, learned=not self.learn, expert=self.expert
        )
        questions = Path(self.questions)
        return evaluate(
            self.place,
            questions,
            self.format,
            system,
            settings,
            measurement,
            runner.report,
            runner.warn,
        )


class EvaluateGates(Evaluation):
    """Measure gates on questions with known outcomes: whether knowledge helped."""

    flow_name = "evaluate-gates"
    outcome = "What was measured"

    format: str = FORMAT
    gates: list[str] = Field(description="Names of gates, or all; the first is the system.")
    encoder: str = Field("minilm", description="The encoder of the questions.")
    layer: int = Field(-1, description="The layer of hidden states; the last by default.")
    pooling: str = Field("mean", description="How hidden states are pooled.")
    variant: str | None = Field(None, description="The variant of Thrust; by default the full one.")
    clusters: int | None = Field(None, ge=1, description="Clusters per class, for Thrust.")
    seeds: int = Field(200, ge=1, description="Questions to calibrate with, per data set.")
    draws: int = Field(10, ge=1, description="How often the seeds are drawn.")
    choices: bool = Field(False, description="Encode the choices with the question.")
    popularity_of: str | None = Field(
        None, description="The graph from which the gate `popularity` counts subjects."
    )
    ablations: bool = Field(False, description="Measure every variant of Thrust instead.")
    picture: str | None = Field(None, description="Draw the curves as .svg or .png.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure, draw, and return the figures."""
        from tasks.evaluate.gates.evaluate import GateMeasurement, evaluate_gates
        from tasks.evaluate.gates.scored import Draws
        from tasks.evaluate.pictures import check_picture, draw_curves
        from tasks.models.encoders import EncoderChoice, open_question_encoder

        if self.picture:
            check_picture(Path(self.picture))
        options = {"variant": self.variant, "clusters": self.clusters}
        measurement = GateMeasurement(
            gates=self.gates,
            draws=Draws(self.seeds, self.draws),
            limit=self.limit,
            options={name: value for name, value in options.items() if value is not None},
            choices=self.choices,
            popularity_of=self.popularity_of,
            study="ablations" if self.ablations else "gates",
        )
        choice = EncoderChoice(self.encoder, self.layer, self.pooling)  # type: ignore[arg-type]
        encoder = partial(open_question_encoder, choice, self.chosen_settings.engine, self.place)
        questions = Path(self.questions)
        results = evaluate_gates(
            self.place, questions, self.format, encoder, measurement, runner.report, runner.warn
        )
        if self.picture:
            report, models = results.report, results.outcomes.models
            with warned_of_refusals(Path(self.picture), NOT_DRAWN, runner.warn):
                draw_curves(
                    Path(self.picture), report["dataset"], models, results.curves, results.perfect
                )
        return results.report

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the figures that compare gates."""
        return figures_as_markdown(result, GATE_FIGURES)


class EvaluateExperts(Evaluation):
    """Measure the effect of experts, their filters and the modes of asking them (CooK)."""

    flow_name = "evaluate-experts"
    outcome = "What was measured"

    format: str = FORMAT
    models: list[str] = Field(
        [], description="embedded, endpoint:NAME or a local model; by default the settings' model."
    )
    groups: list[str] = Field([], description="baselines, systems, filters, sweep; all by default.")
    datasets: list[str] = Field([], description="Only these data sets of the questions.")
    out: str | None = Field(None, description="A folder for the report and its pictures.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure, write the report, and return the tables."""
        from tasks.evaluate.experts_study.configurations import GROUPS
        from tasks.evaluate.experts_study.study import Study, study_experts

        folder = Path(self.out) if self.out else None
        study = Study(self.models, self.groups or GROUPS, self.datasets, self.limit, folder)
        edition, questions = edition_of(self.place, None), Path(self.questions)
        settings, report, warn = self.chosen_settings, runner.report, runner.warn
        return study_experts(
            self.place, edition, questions, self.format, study, settings, report, warn
        )

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return all tables."""
        from tasks.evaluate.experts_study.report import study_as_markdown

        return study_as_markdown(f"Experts on {result['dataset']}", result["tables"])


class EvaluateArms(Evaluation):
    """Measure how each way to search and phrase a graph helps a reader (KnowGPT)."""

    flow_name = "evaluate-arms"
    outcome = "What was measured"

    format: str = FORMAT
    graph: str = Field(description="The graph whose paths are read.")
    training: int = Field(500, ge=1, description="Questions that the bandit learns from.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure and return the table."""
        from tasks.evaluate.arms_study import ArmsStudy, study_arms

        study = ArmsStudy(self.graph, self.limit, self.training)
        edition, questions = edition_of(self.place, None), Path(self.questions)
        settings, report, warn = self.chosen_settings, runner.report, runner.warn
        return study_arms(
            self.place, edition, questions, self.format, study, settings, report, warn
        )

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the table."""
        rows = arm_rows(result["rows"])
        return table_as_markdown(list(rows[0]), [list(row.values()) for row in rows])


def arm_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the study's rows as shown to people, with intervals in brackets."""
    return [
        {
            "arm": row["row"],
            "accuracy": f"{row['accuracy']:.3f} [{row['accuracy_low']:.3f}, "
            f"{row['accuracy_high']:.3f}]",
            "gain": f"{row['gain']:+.3f} [{row['gain_low']:+.3f}, {row['gain_high']:+.3f}]",
            "edges": row.get("edges", ""),
        }
        for row in rows
    ]


class EvaluateKnowledge(Evaluation):
    """Measure how much knowledge helps models: ask each question without and with it."""

    flow_name = "evaluate-knowledge"
    outcome = "What was measured"

    format: str = FORMAT
    models: list[str] = Field(
        [], description="Folders, hub names or endpoint:NAME; by default the settings' model."
    )
    proxy: str | None = Field(
        None, description="Measure how well this smaller model predicts the others."
    )
    out: str | None = Field(None, description="A file for the outcomes of every question.")
    picture: str | None = Field(None, description="Draw the gains as .svg or .png.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure, draw, and return the figures."""
        from tasks.evaluate.knowledge_gain.asked_models import open_asked_model
        from tasks.evaluate.knowledge_gain.measure import GainMeasurement, measure_gain
        from tasks.evaluate.pictures import check_picture, draw_gain

        if self.picture:
            check_picture(Path(self.picture))
        engine = self.chosen_settings.engine
        out = Path(self.out) if self.out else None
        measurement = GainMeasurement(self.models, self.proxy, self.limit, out)
        opened = partial(
            open_asked_model,
            settings=engine,
            home=self.place,
            run_id=f"evaluate-{uuid4().hex[:12]}",
        )
        questions = Path(self.questions)
        figures = measure_gain(
            self.place,
            questions,
            self.format,
            opened,
            measurement,
            engine,
            runner.report,
            runner.warn,
        )
        if self.picture:
            with warned_of_refusals(Path(self.picture), NOT_DRAWN, runner.warn):
                draw_gain(Path(self.picture), figures)
        return figures
