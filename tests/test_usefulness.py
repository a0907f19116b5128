"""Statements are published if they serve a reader who sees them alone; the journal has all."""

from pathlib import Path

import pytest

import schemas
from schemas.observations import StatementMention
from schemas.settings import EngineSettings, PublishSettings, Settings
from tasks.extract.rules import RulesEngine
from tasks.ingest.split import split
from tasks.refresh import refresh
from warehouse.home import Home

TELLING = {
    "en": "The Harbour Museum in Tornby was founded by Ida Lund in 1911. We think it is nice.",
    "zh": "青石博物馆由李明山于1911年创办。我们觉得很好。",
}
EMPTY = {"en": "We", "zh": "我们"}


def statements(text: str, language: str) -> list[dict]:
    passages = split("c", "Tornby", text, language, 160)
    return [row for one in RulesEngine().extract(passages) for row in one.statements]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_names_its_subject_is_more_useful_than_a_remark(language: str) -> None:
    rows = statements(TELLING[language], language)
    remarks = [row["usefulness"] for row in rows if row["subject"] == EMPTY[language]]
    facts = [row["usefulness"] for row in rows if row["subject"] != EMPTY[language]]
    assert max(facts) > 0.7
    assert max(remarks, default=0.0) < 0.4
    assert set(rows[0]) <= set(StatementMention.model_fields)


def test_statements_below_the_least_usefulness_stay_in_the_journal(tmp_path: Path) -> None:
    (tmp_path / "tornby.md").write_text(f"# Tornby\n\n{TELLING['en']}\n", encoding="utf-8")
    home = Home(tmp_path / "home")
    published = {}
    for least in (0.0, 0.7):
        engine = EngineSettings(encoder="none", chinese_encoder="none")
        settings = Settings(engine=engine, publish=PublishSettings(min_usefulness=least))
        refresh(home, [str(tmp_path / "tornby.md")], settings)
        table = home.editions.current().table(schemas.Statement)
        published[least] = set(table["subject"].to_pylist())
        assert all(row["usefulness"] <= row["confidence"] for row in table.to_pylist())
    read = home.journal.table(StatementMention)["subject"].to_pylist()
    assert published[0.0] == set(read)
    assert "We" not in published[0.7] <= published[0.0]
    assert published[0.7]
