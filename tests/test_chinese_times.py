"""When something happened is in the column for it, wherever the sentence says so."""

import pytest

from tests.case_tables import cases
from tests.test_rules_chinese import extract


@pytest.mark.parametrize(
    ("text", "time", "predicate"),
    cases("""
永平三年，李安国攻下许州。 | 永平三年 | 攻下
永平十四年十二月，李安国攻下许州。 | 永平十四年十二月 | 攻下
太宗十一年六月，李安国攻下许州。 | 太宗十一年六月 | 攻下
永平年间，李安国攻下许州。 | 永平年间 | 攻下
李安国于永平元年攻下许州。 | 永平元年 | 攻下
三月初六，李安国攻下许州。 | 三月初六 | 攻下
十年，李安国攻下许州。 | 十年 | 攻下
这年，李安国攻下许州。 | 这年 | 攻下
# What happened at a time does so on no condition.
当春天到来时，李安国攻下了许州。 | 当春天到来时 | 攻下
李安国即位以后，军队攻下许州。 | 李安国即位以后 | 攻下
当时李安国攻下许州。 | 当时 | 攻下
目前该软件支持插件。 | 目前 | 支持
在 5.0 版本中，该软件支持插件。 | 在5.0版本中 | 支持
2021年起，李安国担任校长。 | 2021年起 | 担任
从 5.4 版本开始，该软件支持插件。 | 从5.4版本开始 | 支持
# What recurs keeps the word that says so.
企业应当于每年3月31日前提交报告。 | 每年3月31日前 | 应当提交
企业应当在每月5日前提交报告。 | 每月5日前 | 应当提交
# Many put spaces around figures, and the hour may stand apart from the day.
2018 年 8 月 25 日晚，军队攻下许州。 | 2018 年 8 月 25 日晚 | 攻下
2018 年 8 月 25 日（周六），军队于下午 2 时攻下许州。 | 2018 年 8 月 25 日下午 2 时 | 攻下
14:00，军队攻下许州。 | 14:00 | 攻下
2018 年 8 月 25 日，2018 年运动会开始。 | 2018 年 8 月 25 日 | 开始
# What one clause says holds for the next ones, up to a semicolon.
永平三年，李安国攻下许州，王大山攻下陈州。 | 永平三年 | 攻下
"""),
)
def test_a_statement_says_when(text: str, time: str, predicate: str) -> None:
    rows = [row for row in extract(text, "史书").statements if row["predicate"] == predicate]
    assert rows
    assert {row["time"] for row in rows} == {time}


@pytest.mark.parametrize(
    "text",
    [
        "被告人被判处有期徒刑三年。",
        "李安国服务三年后离开许州。",
        "李安国攻下许州；永平三年，王大山攻下陈州。",
        "唐代诗人创作诗歌。",
        "各部门在职责范围内，做好管理工作。",
        "当用户离开时，服务器删除文件。",
        "该软件支持第 3 点要求。",
    ],
)
def test_what_says_how_long_or_belongs_elsewhere_is_no_time(text: str) -> None:
    rows = extract(text, "史书").statements
    assert not rows or rows[0]["time"] == ""


@pytest.mark.parametrize(
    "text",
    [
        "1987年，周砚出版《白塔》。",
        "1987年春，周砚出版《白塔》。",
        "1987年4月2日，在上海，周砚出版《白塔》。",
    ],
)
def test_what_says_when_lies_in_the_span_of_its_fact(text: str) -> None:
    found = extract(text, "作家录")
    facts = [*found.triples, *found.statements]
    assert facts
    assert {text[row["span_start"] : row["span_end"]][:5] for row in facts} == {"1987年"}
