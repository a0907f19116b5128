"""What a gate decided is said in words."""

from flows.commands.ask import gate_words
from schemas.answers import Gating


def test_every_outcome_has_words():
    gating = Gating(task="t", gate="thrust c", score=1.0, threshold=2.0, budget=0.5, retrieve=True)
    causes = {
        "score": "knowledge was fetched",
        "current": "“now” asks for something current",
        "no_score": "without a score",
        "no_answer": "after all",
    }
    for cause, words in causes.items():
        sentence = gate_words(gating.model_copy(update={"cause": cause, "words": "now"}))
        assert (
            words in sentence
            and "score 1, threshold 2, budget 50%" in sentence
            and "\n" not in sentence
        )
    assert "by itself" in gate_words(gating.model_copy(update={"retrieve": False}))
    assert "nothing to decide" in gate_words(gating.model_copy(update={"retrieve": None}))
    assert gate_words(Gating(retrieve=True, cause="unknown_task")).endswith("was fetched")
    assert gate_words(Gating()).endswith("no calibrated task")
