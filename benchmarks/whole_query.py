"""The whole query beside each route alone and without each part, on nine sets of questions.

    python -m benchmarks.whole_query --homes FOLDER [--only SET ...] [--limit 100]
    python -m benchmarks.whole_query --homes FOLDER --model smollm2 --limit 50

Homes are made the first time, as a user would make them (`benchmarks/whole_homes.py`), and kept in
FOLDER. Questions name no graph, as those of somebody who just asks. `mixture` is one home with texts,
two graphs, a policy, a bandit, and an expert on what nothing else there knows. For each set: the
share of right answers, the gain of the whole query over each route alone and over the query without
each part (paired, 95 % bootstrap intervals), and how far what each route says can be believed.
`learned` is what `almanac learn` makes of the mixture, on questions kept apart. A route is asked a
question once, and what it said counts wherever the same route is asked the same again; so seconds
are those of routes. `--rows` keeps what every route said to every question.
"""

import json
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.command import DATA, parser_of, report, run_command
from benchmarks.islands import Archipelago
from benchmarks.whole_homes import (
    EXAMPLES,
    Questions,
    made_once,
    questions_file,
    take_congress,
    take_corpus,
    take_expert,
    take_islands,
    take_texts,
    teach,
    walk,
)
from schemas.answers import Answer
from schemas.settings import Settings
from tasks.ask import asker
from tasks.ask.route import AnswerRoute, AskOptions, QuestionState, Resources, RouteResult
from tasks.evaluate.answerer import Prediction, without_gold
from tasks.evaluate.metrics import rightness, summarise
from tasks.evaluate.report import Measured, gain_over
from tasks.evaluate.systems import AskAnswerer
from tasks.import_graph import import_graph
from tasks.learn import learn
from tasks.models.installed import settings_for_model
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample, split
from tasks.text.question import Question
from warehouse.home import Home

WHOLE = "the whole query"
EXPERT_MINUTES = 9.0  # of training, of an expert on a Congress
ISLAND_MINUTES = 2.0
Place = tuple[Home, list[BenchmarkQuestion]]
