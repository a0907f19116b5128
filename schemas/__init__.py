"""The tables and settings of Almanac, declared once.

`EDITION` are the tables of a published edition, in the order data reaches them; `LIVE` are the
records kept beside them; `schemas.observations.JOURNAL` is what both are built from.
"""

from schemas.bandits import BANDIT_ROWS, BanditArm
from schemas.documents import Document, Passage, SourceYield
from schemas.knowledge import (
    Alias,
    Aspect,
    AssertedTriple,
    Conflict,
    Description,
    Entity,
    EntityPassage,
    EntityRedirect,
    Mention,
    Misfit,
    Relation,
    Theme,
    Triple,
)
from schemas.learning import (
    Centroid,
    Expert,
    GateSeed,
    PathPolicy,
    TaskGate,
    Threshold,
    TrainingText,
)
from schemas.operations import (
    AnswerRecord,
    BatchJob,
    Change,
    Evaluation,
    ExpertDecision,
    ModelCall,
    Rejection,
    Run,
)
from schemas.row import Row
from schemas.statements import AssertedStatement, Clause, Statement
from schemas.verdicts import Verdict

EDITION: tuple[type[Row], ...] = (
    Document,
    Passage,
    SourceYield,
    Entity,
    EntityRedirect,
    Alias,
    Relation,
    Triple,
    Statement,
    Clause,
    Mention,
    Misfit,
    Description,
    Aspect,
    EntityPassage,
    Theme,
    Change,
    TrainingText,
    Expert,
    TaskGate,
    GateSeed,
    Centroid,
    Threshold,
    PathPolicy,
    Verdict,
)
VIEWS: tuple[type[Row], ...] = (AssertedTriple, AssertedStatement, Conflict)
LIVE: tuple[type[Row], ...] = (
    AnswerRecord,
    ExpertDecision,
    Evaluation,
    Run,
    ModelCall,
    BatchJob,
    Rejection,
    *BANDIT_ROWS,
)
LIVE_VIEWS: dict[type[Row], tuple[type[Row], ...]] = {BanditArm: BANDIT_ROWS}  # and what they read
