"""The confidence of Chinese triples: its features, and how it is fitted to judged facts."""

import pytest

from recipes import judged_facts
from tasks.extract.rules.chinese.passage import WEIGHTS
from tasks.extract.rules.chinese.read import read_passage
from tasks.extract.rules.confidence import probability
from tests.passages import passage

TEXT = "天坛位于北京市，面积约273万平方米。\n\n| 名称 | 高度 |\n| --- | --- |\n| 祈年殿 | 38米 |\n"


def test_each_triple_has_features_and_the_confidence_they_give() -> None:
    reading = read_passage(passage(TEXT, "天坛", language="zh"))
    triples = reading.extracted.triples
    assert reading.patterns[-1] == "record"
    assert [t["confidence"] for t in triples] == [
        probability(values, WEIGHTS) for values in reading.features
    ]
    located = reading.features[[t["relation"] for t in triples].index("位于")]
    assert (located["head is the subject"], located["tail is cut"]) == (1.0, 0.0)


def test_judged_chinese_facts_are_met_again_with_their_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judged_facts, "_document", lambda name: ("天坛", TEXT))
    place = {"corpus": "zh_parks", "document": "a.md", "start": 0, "end": 7}
    met = {"head": "天坛", "relation": "位于", "tail": "北京市", "verdicts": ["useful"]}
    record = {"head": "祈年殿", "relation": "高度", "tail": "38米", "verdicts": ["useless"]}
    gone = {"head": "天坛", "relation": "吃", "tail": "米饭", "verdicts": ["wrong"]}
    samples = judged_facts.judged_samples([place | fact for fact in (met, record, gone)])
    assert [(s.corpus, s.verdict) for s in samples] == [
        ("zh_parks", "useful"),
        ("zh_parks", "useless"),
    ]
    assert samples[0].features["rule object"] == samples[1].features["rule record"] == 1.0
