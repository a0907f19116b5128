"""Wikidata, Wikipedia and CN-DBpedia as knowledge bases, against a server that speaks like them."""

from pathlib import Path
from typing import Any

import pytest

from schemas.errors import UsageError
from schemas.settings import KnowledgeBaseSettings
from tasks.programs.knowledge_bases.choose import knowledge_bases_for, open_web
from tasks.programs.knowledge_bases.protocol import EntityRef, KnowledgeBase
from tasks.programs.knowledge_bases.web import Web
from tasks.programs.knowledge_bases.wikidata_statements import statements_of, time_words
from tasks.programs.program_run import run_program
from tests.graph_knowledge_base import GraphKnowledgeBase
from tests.knowledge_server import World
from tests.remote_bases import MIRA, PROGRAM, OpenRemote, RemoteBases, stated

WRITER = "李明（挪威作家）"


def test_wikidata_finds_by_label_and_alias_and_ranks_by_the_question(remote: RemoteBases) -> None:
    base = remote.wikidata()
    found = base.entity_linking("Where was the composer Mira Holt born?", ["Mira Holt", "M. Holt"])
    assert [one.entity.key for one in found] == ["Q1", "Q2"]
    assert found[0].description == "Norwegian composer"
    assert found[0].aliases == ("M. Holt",)
    assert all(0 <= one.score <= 1 for one in found)
    ferry = remote.wikidata().entity_linking("When was the ferry Mira Holt built?", ["Mira Holt"])
    assert {one.entity.key for one in ferry} == {"Q1", "Q2"}
    assert base.get_entity_info(found[0].entity) == "Norwegian composer"
    assert base.troubles == []


def test_wikidata_finds_words_inside_of_names_by_full_text(remote: RemoteBases) -> None:
    found = remote.wikidata().entity_linking("Who composed Long Fjord?", ["Long Fjord"])
    assert [(one.entity.key, one.entity.name) for one in found] == [("Q6", "The Long Fjord")]


def test_wikidata_statements_and_what_refers_to_them(remote: RemoteBases) -> None:
    facts = remote.wikidata().get_entity_triples(MIRA)
    assert stated(facts) == {
        ("place of birth", "Bergen", False), ("date of birth", "1952-03-11", False),
        ("occupation", "composer", False), ("height", "1.72 metre", False),
        ("name in native language", "Mira Holt", False),
        ("coordinate location", "60.393, 5.32415", False), ("child", "2", False),
        ("composer", "The Long Fjord", True),
    }  # fmt: skip
    birth = next(fact for fact in facts if fact.relation == "place of birth")
    assert birth.value == EntityRef("Wikidata", "Q3", "Bergen")
    assert birth.fact_id == "Q1$0"


def test_an_entity_keeps_its_identity_from_hop_to_hop(remote: RemoteBases) -> None:
    base = remote.wikidata()
    place = next(f.value for f in base.get_entity_triples(MIRA) if f.relation == "place of birth")
    assert isinstance(place, EntityRef)
    assert ("population", "285601", False) in stated(base.get_entity_triples(place))
    assert base.get_entity_info(place) == "city in Norway"


def test_labels_are_asked_for_in_batches_and_kept_one_by_one(
    remote: RemoteBases, world: World
) -> None:
    remote.wikidata().get_entity_triples(MIRA)
    batches = [p for p in world.requests("/wikidata/") if p.get("props") == "labels"]
    assert len(batches) == 1
    assert {"P19", "Q3", "Q5", "Q6"} <= set(batches[0]["ids"].split("|"))
    before = len(world.asked)
    remote.wikidata().get_entity_triples(MIRA)
    assert len(world.asked) == before
    remote.wikidata().get_entity_triples(EntityRef("Wikidata", "Q3", "Bergen"))
    batches = [p for p in world.requests("/wikidata/") if p.get("props") == "labels"]
    assert batches[1]["ids"] == "P1082|Q1"  # Q1 was only asked for by its key


def test_labels_in_more_than_one_batch(remote: RemoteBases, world: World) -> None:
    base = remote.wikidata()
    names = base._labels.names([f"Q{number}" for number in range(1, 121)])
    assert names["Q4"] == "composer"
    assert names["Q99"] == "Q99"
    assert sorted(len(p["ids"].split("|")) for p in world.requests("")) == [20, 50, 50]


def test_chinese_labels_with_others_where_there_are_none(remote: RemoteBases) -> None:
    base = remote.wikidata("zh")
    found = base.entity_linking("米拉·霍尔特在哪里出生？", ["米拉·霍尔特"])
    assert [(one.entity.key, one.description) for one in found] == [("Q1", "挪威作曲家")]
    assert ("place of birth", "Bergen", False) in stated(base.get_entity_triples(found[0].entity))


def test_wikipedia_follows_redirects_and_leaves_lists_of_meanings_out(remote: RemoteBases) -> None:
    base = remote.wikipedia()
    found = base.entity_linking("Where was M. Holt born?", ["M. Holt", "Holt"])
    assert found[0].entity == EntityRef("Wikipedia/Wikidata", "Q1", "Mira Holt")
    assert found[0].aliases == ("M. Holt",)
    assert "Holt" not in [one.entity.name for one in found]
    assert base.get_entity_info(found[0].entity) == "Mira Holt is a composer of operas."
    assert ("place of birth", "Bergen", False) in stated(base.get_entity_triples(found[0].entity))


def test_wikipedia_tells_about_entities_that_facts_lead_to(remote: RemoteBases) -> None:
    base = remote.wikipedia()
    found = base.entity_linking("Where was Mira Holt born?", ["Mira Holt"])
    facts = base.get_entity_triples(found[0].entity)
    place = next(fact.value for fact in facts if fact.relation == "place of birth")
    assert isinstance(place, EntityRef)
    assert place.knowledge_base == base.name
    assert base.get_entity_info(place) == "Bergen is a city by the sea."
    opera = next(fact.value for fact in facts if fact.inverse)
    assert isinstance(opera, EntityRef)
    assert base.get_entity_info(opera) == "opera"  # it has no article


def test_an_article_without_an_item_has_a_text_and_no_facts(remote: RemoteBases) -> None:
    base = remote.wikipedia()
    found = base.entity_linking("What are Fjord songs?", ["Fjord songs"])
    assert base.get_entity_info(found[0].entity) == "Fjord songs are sung on boats."
    assert base.get_entity_triples(found[0].entity) == []


def test_wikipedia_finds_names_that_only_stand_in_a_text(remote: RemoteBases) -> None:
    found = remote.wikipedia().entity_linking("What sails?", ["ferry"])
    assert [(one.entity.key, one.score) for one in found] == [("Q2", 0.0)]  # it is called otherwise


def test_a_search_program_over_wikipedia(remote: RemoteBases, world: World) -> None:
    run = run_program(PROGRAM, remote.wikipedia(), "How many live where Mira Holt was born?")
    assert run.error is None
    assert run.answers == ["285601"]
    assert "Mira Holt, place of birth: Bergen" in run.messages[0]
    assert run.graph == "wikipedia"


def test_cndbpedia_finds_the_one_that_the_question_means(remote: RemoteBases) -> None:
    base = remote.cndbpedia()
    found = base.entity_linking("挪威作家李明的代表作品是什么？", ["李明", "小李"])
    assert found[0].entity == EntityRef("CN-DBpedia", WRITER, WRITER)
    assert found[0].description == "挪威作家"
    assert "李明" in found[0].aliases
    assert len(found) == 3
    player = remote.cndbpedia().entity_linking("足球运动员李明多高？", ["李明"])
    assert player[0].entity.key == "李明（足球运动员）"


def test_cndbpedia_pairs(remote: RemoteBases) -> None:
    base = remote.cndbpedia()
    writer = EntityRef(base.name, WRITER, WRITER)
    assert stated(base.get_entity_triples(writer)) == {
        ("出生地", "卑尔根", False), ("代表作品", "长峡湾", False), ("代表作品", "船歌", False),
        ("类别", "人物", False), ("类别", "作家", False),
    }  # fmt: skip
    assert base.get_entity_info(writer) == "李明是一位写海的作家。"
    player = EntityRef(base.name, "李明（足球运动员）", "李明（足球运动员）")
    assert base.get_entity_info(player) == "运动员"


def test_cndbpedia_sends_its_key_and_shows_it_nowhere(
    remote: RemoteBases, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CNDBPEDIA_API_KEY", "wrong-key-0001")
    base = remote.cndbpedia()
    assert base.entity_linking("李明是谁？", ["李明"]) == []
    assert world.requests("ment2ent") == [{"q": "李明", "apikey": "wrong-key-0001"}]
    assert base.troubles == [f"127.0.0.1:{world.port} refused: apikey error."]
    monkeypatch.setenv("CNDBPEDIA_API_KEY", "right-key-0002")
    assert len(remote.cndbpedia().entity_linking("李明是谁？", ["李明"])) == 3
    remote.web.close()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "cache").iterdir())
    assert b"right-key" not in kept
    assert b"wrong-key" not in kept


def test_the_user_agent_names_the_program_and_the_contact(
    open_remote: OpenRemote, world: World
) -> None:
    remote = open_remote(contact="ops@example.org")
    remote.cndbpedia().entity_linking("李明是谁？", ["李明"])
    (agent,) = world.agents
    assert agent.startswith("Almanac/")
    assert "ops@example.org" in agent


@pytest.mark.parametrize(
    ("time", "precision", "words"),
    [
        ("+1952-03-11T00:00:00Z", 11, "1952-03-11"), ("+1952-03-00T00:00:00Z", 10, "1952-03"),
        ("+1952-00-00T00:00:00Z", 9, "1952"), ("+1950-00-00T00:00:00Z", 8, "1950s"),
        ("+1901-00-00T00:00:00Z", 7, "20th century"), ("+2000-00-00T00:00:00Z", 7, "20th century"),
        ("-0044-03-15T00:00:00Z", 11, "44 BC"), ("+0987-01-01T00:00:00Z", 11, "0987-01-01"),
        ("-13800000000-00-00T00:00:00Z", 3, "about 13800000000 BC"), ("yesterday", 11, ""),
        ("+1952-03-11T00:00:00Z", None, ""),
    ],
)  # fmt: skip
def test_times_as_precise_as_they_are_known(time: str, precision: Any, words: str) -> None:
    assert time_words(time, precision) == words


def test_statements_are_bounded() -> None:
    value = {"type": "string", "value": "x" * 10_000}
    snak = {"snaktype": "value", "datatype": "string", "datavalue": value}
    claim = {"rank": "normal", "mainsnak": snak}
    found = statements_of({f"P{number}": [claim] * 300 for number in range(1, 20)})
    assert len(found) == 500
    assert sum(one.property == "P1" for one in found) == 100
    assert len(found[0].text) == 2_000


def test_knowledge_bases_by_language(remote: RemoteBases) -> None:
    graphs: dict[str, KnowledgeBase] = {
        name: GraphKnowledgeBase.of(("a", "r", "b"), name=name, graph=name)
        for name in ("films", "corpus")
    }
    usual = KnowledgeBaseSettings()

    def names(language: str, settings: KnowledgeBaseSettings, web: Web | None) -> list[str]:
        return [one.name for one in knowledge_bases_for(language, graphs, settings, web)]

    assert names("en", usual, None) == ["corpus", "films"]
    assert names("en", remote.settings, remote.web) == ["corpus", "films", "Wikipedia/Wikidata"]
    assert names("zh", remote.settings, remote.web) == ["corpus", "films", "CN-DBpedia"]
    assert names("de", remote.settings, remote.web)[-1] == "Wikipedia/Wikidata"
    own = remote.settings.model_copy(update={"languages": {"en": ("wikidata", "films")}})
    assert names("en", own, remote.web) == ["Wikidata", "films"]
    assert names("en", own, None) == ["films"]
    wrong = usual.model_copy(update={"languages": {"en": ("flims",)}})
    with pytest.raises(UsageError, match="flims"):
        names("en", wrong, None)


def test_nothing_remote_is_asked_unless_it_is_wished(tmp_path: Path) -> None:
    assert open_web(tmp_path, KnowledgeBaseSettings()) is None
    assert list(tmp_path.iterdir()) == []


def test_settings_refuse_addresses_that_are_none() -> None:
    with pytest.raises(ValueError, match="wikidata_url"):
        KnowledgeBaseSettings(wikidata_url="file:///etc/passwd")
    with pytest.raises(ValueError, match="contact"):
        KnowledgeBaseSettings(contact="a\r\nCookie: b")
