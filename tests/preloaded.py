"""What processes of tests begin with, loaded once: they are forks of a server that imported this.

The parser is loaded, too, which takes longer than most tests.
"""

import gc

import tasks.refresh  # noqa: F401
import tests.mock_server  # noqa: F401
from tasks.extract.rules import RulesEngine

PASSAGE = {"passage_id": "first", "title": "Ada", "subject": "Ada", "headings": ""}
TEXTS = {"en": "Ada was born in London.", "zh": "长江是河流。"}
for _ in RulesEngine().extract([PASSAGE | {"text": TEXTS[k], "language": k} for k in TEXTS]):
    pass
gc.freeze()  # or each fork copies these pages while it looks for garbage
