"""Clauses as news and documentation write them: their parts, and who holds what office."""

import pytest

from tasks.extract.rules.chinese.tokens import read_sentences
from tests.passages import facts, stated
from tests.test_rules_chinese import extract, triples


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        # An adjective before a verb with an object says how, with 地 always.
        ("海河公司有效控制了成本。", ("海河公司", "控制", "成本")),
        ("白水县极大地改善了交通。", ("白水县", "改善", "交通")),
        # A number counts what belongs to a subject.
        ("白水市六个地区遭到袭击。", ("白水市六个地区", "遭到袭击", "")),
        # Something happens, to nothing.
        ("市场需求逐步恢复。", ("市场需求", "恢复", "")),
        ("双方要稳步推进合作。", ("双方", "要推进", "合作")),
        ("海河公司应当妥善保管样品。", ("海河公司", "应当保管", "样品")),
        ("幸好海河公司改善了交通。", ("海河公司", "改善", "交通")),
        # The dictionary has two verbs as one person.
        ("海河公司建立健全档案制度。", ("海河公司", "建立健全", "档案制度")),
        # Between two offices 报 is no newspaper.
        ("海关应当报财政部批准。", ("海关", "应当报", "财政部批准")),
        ("海河公司与大山公司一起隶属于河山集团。", ("海河公司", "隶属于", "河山集团")),
        ("海河公司是企业，与大山公司一起隶属于河山集团。", ("海河公司", "隶属于", "河山集团")),
        ("围绕白水县的建设，海河公司投资五万元。", ("海河公司", "投资", "五万元")),
        # A word of time between a subject and what is done then.
        ("白水协议最初由大山公司开发。", ("白水协议", "开发", "")),
        ("三月底海河公司收购了大山公司。", ("海河公司", "收购", "大山公司")),
        # What would make a wish of a clause is a noun, or stands in what somebody announces.
        ("李泽宇提交了一份建议。", ("李泽宇", "提交", "一份建议")),
        ("海河公司宣布计划增加航线。", ("海河公司", "宣布", "计划增加航线")),
        ("新的密码是必须的。", ("新的密码", "是", "必须的")),
        # A verb that belongs to a noun phrase.
        ("每部电影的下载费用为两元。", ("每部电影的下载费用", "为", "两元")),
        ("max_size 表示大小。", ("max_size", "表示", "大小")),
        ("白水软件基于大山项目构建。", ("白水软件", "构建", "")),
        ("白水软件基于大山项目。", ("白水软件", "基于", "大山项目")),
        ("白水寺旧名青山庵。", ("白水寺", "旧名", "青山庵")),
        # Two words may be verbs: the one that leads the clause is the predicate.
        ("海河公司宣布将关闭工厂。", ("海河公司", "宣布", "将关闭工厂")),
        # A quality, and a measure without a verb.
        ("编号在同一仓库中必须唯一。", ("编号", "必须唯一", "")),
        ("我县货物出口规模40亿元。", ("我县货物出口", "规模", "40亿元")),
        # An instruction or an item of a list has no subject.
        ("支持备份多个仓库的数据。", ("", "支持", "备份多个仓库的数据")),
        ("不支持指定保存路径。", ("", "不支持", "指定保存路径")),
    ],
)
def test_a_clause_has_its_parts(text: str, statement: tuple[str, str, str]) -> None:
    assert statement in stated(extract(text, "湿地条例"))


def test_a_verb_may_have_yao_within_a_noun_phrase() -> None:
    rows = extract("系统匹配要执行的操作。", "湿地条例").statements
    assert all(row["modality"] == "asserted" for row in rows)


def test_who_announces_something_is_named_without_the_verb() -> None:
    (row,) = extract("海河公司介绍称，每部电影的下载费用为两元。", "湿地条例").statements
    assert row["attribution"] == "海河公司"


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("白水有限公司的董事长李泽宇昨日没有露面。", ("李泽宇", "是", "白水有限公司董事长")),
        ("说话的是海河集团总裁李泽宇。", ("李泽宇", "是", "海河集团总裁")),
        ("到场的有诸如海河集团总裁李泽宇的客人。", ("李泽宇", "是", "海河集团总裁")),
        ("出席峰会的老挝国家副主席李泽宇到会。", ("李泽宇", "是", "老挝国家副主席")),
        ("中国驻新加坡大使李泽宇送行。", ("李泽宇", "是", "中国驻新加坡大使")),
        ("法国作家克里斯托夫·雷诺来访。", ("克里斯托夫·雷诺", "是", "法国作家")),
    ],
)
def test_an_office_before_a_name_is_stated_whatever_follows(
    text: str, triple: tuple[str, str, str]
) -> None:
    assert triple in triples(text, "湿地条例")


def test_the_preposition_after_a_transliterated_name_is_no_part_of_it() -> None:
    text = "克里斯托夫·雷诺于1983年发起海河项目。"
    assert ("克里斯托夫·雷诺", "发起", "海河项目") in triples(text, "湿地条例")


@pytest.mark.parametrize(
    "text",
    [
        "副校长李泽宇送行。",
        "发展与新闻部部长李泽宇送行。",
        "国家李泽宇送行。",
        "上海大同中学的校长李泽宇送行。",
        "李泽宇目前位列第三，白水球队风格迷人。",
    ],
)
def test_half_an_office_is_none(text: str) -> None:
    assert triples(text, "湿地条例") == set()


def test_a_clause_to_the_reader_spoils_no_other() -> None:
    text = "海河软件支持加密，你可以联系白水公司，白水公司提供服务。"
    subjects = [row["subject"] for row in extract(text, "湿地条例").statements]
    assert subjects == ["海河软件", "白水公司"]


def test_a_demonstrative_means_the_topic_of_that_kind() -> None:
    rows = extract("白水统计局成立独立委员会。该机构发布年报。", "湿地条例").statements
    assert rows[-1]["subject_name"] == "白水统计局"


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("白水县是行政区，面积为30平方公里。", ("白水县的面积", "为", "30平方公里")),
        ("白水县，旧称青山。", ("白水县", "旧称", "青山")),
        ("白水县的面积是30平方公里。", ("白水县的面积", "是", "30平方公里")),
        ("语言学是热门的学科。", ("语言学", "是", "热门的学科")),
        ("白水县的古桥代表——青石桥，是最长的石桥。", ("青石桥", "是", "最长的石桥")),
    ],
)
def test_an_attribute_is_stated_of_whose_it_is(text: str, statement: tuple[str, str, str]) -> None:
    assert statement in stated(extract(text, "白水县"))


def test_what_was_once_so_is_not_said_of_today() -> None:
    found = extract("青山曾是白水县的首府，李安国曾经担任县长。", "青山")
    assert ("青山", "曾是", "白水县的首府") in stated(found)
    assert ("李安国", "曾经担任", "县长") in stated(found)
    relations = {row["relation"] for row in found.triples}
    assert "曾是" in relations
    assert relations.isdisjoint({"是", "首府", "担任"})
    (row,) = extract("曾任县长的李安国获得奖章。", "青山").statements
    assert row["predicate"] == "获得"


def test_what_is_forbidden_is_read_rightly_or_not_at_all() -> None:
    assert stated(extract("禁止商户雇用应当上学的儿童。", "条例")) == []
    assert stated(extract("禁止商户雇用童工。", "条例")) == [("商户", "禁止雇用", "童工")]


def test_what_is_done_with_somebody_is_no_name() -> None:
    assert not triples("白水县宣布与青山县合作。", "白水县")


def test_what_is_denied_is_never_affirmed() -> None:
    (row,) = extract("海河公司不敢隐瞒。", "湿地条例").statements
    assert row["polarity"] == "negative"


def test_a_verb_with_its_object_before_the_predicate_says_how() -> None:
    (row,) = extract("部队在白水县使用新坦克进行演习。", "湿地条例").statements
    assert (row["predicate"], row["place"]) == ("进行演习", "白水县")
    assert row["arguments"] == ["使用新坦克"]


def test_what_happens_first_is_a_time() -> None:
    (row,) = extract("回国后任教于白水大学。", "湿地条例").statements
    assert (row["predicate"], row["time"]) == ("任教于", "回国后")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1元即可报名。", "a number is no subject"),
        ("每小时消毒1万平米。", "a time is no subject"),
        ("安装步骤如下。", "it only points at something"),
        ("说明如下：", "it only points at something"),
        ("在恢复过程中。", "it only says when"),
        ("本政策不适用于以下情况。", "what is denied is never affirmed"),
        ("我的钱用于旅行，白水公司提供服务。", "the writer spoils it"),
        ("你认为，白水公司提供服务。", "the reader spoils it"),
        ("李泽宇说： 白水公司提供服务，您放心。", "the reader spoils it"),
    ],
)
def test_a_clause_that_states_nothing(text: str, why: str) -> None:
    assert extract(text, "湿地条例").statements == [], why


def test_a_definition_goes_on_to_its_end() -> None:
    text = "本条例所称湿地公园，是指以保护湿地为主，在城镇举办的公园；所称湿地，是指沼泽。"
    found = triples(text, "湿地条例")
    assert ("湿地公园", "是指", "以保护湿地为主，在城镇举办的公园") in found
    assert ("湿地", "是指", "沼泽") in found
    described = [row["text"] for row in extract(text, "湿地条例").descriptions]
    assert "湿地公园，是指以保护湿地为主，在城镇举办的公园" in described


def test_what_somebody_has_to_do_is_a_fact_if_nothing_limits_it() -> None:
    text = "煤矿企业应当建立信息公开制度。煤矿企业不得向个人收取费用。"
    assert triples(text, "湿地条例") == {("煤矿企业", "建立", "信息公开制度")}


def test_what_is_said_of_a_share_is_not_true_of_the_whole() -> None:
    assert not triples("Linux约一半代码是驱动程序。", "Linux")
    assert triples("Linux是操作系统。", "Linux")


def test_what_only_says_when_something_has_to_be_done_is_no_fact() -> None:
    assert not triples("商务部举办现场招聘会，应当制定应急预案。", "湿地条例")
    found = extract("商户应当自收到通知之日起10日内提出书面意见。", "湿地条例")
    assert stated(found) == [("商户", "应当提出", "书面意见")]
    assert found.statements[0]["time"] == "收到通知之日起10日内"


@pytest.mark.parametrize(
    ("text", "aliases"),
    [
        ("灯塔协会（字幕软件可打开）在白水县。", []),  # 字 is a label, 字幕 is a word
        ("李泽宇（字海山）在白水县。", [("李泽宇", "海山")]),
        ("登山者乔塔斯（Jotas）在白水县。", [("乔塔斯", "Jotas")]),
        ("其首都君士坦丁堡（Constantinople）在海边。", [("君士坦丁堡", "Constantinople")]),
    ],
)
def test_parentheses_name_what_stands_before_them(
    text: str, aliases: list[tuple[str, str]]
) -> None:
    assert [(a["name"], a["alias"]) for a in extract(text, "报告").aliases] == aliases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("海河公司和大山公司分别收购了青湖公司和白湖公司。", set()),
        ("海河公司、大山公司、白水公司分别收购了青湖公司和白湖公司。", set()),
        ("海河公司和大山公司的总部分别是白水县和石城县。", set()),
        (
            "海河公司和大山公司收购了青湖公司。",
            {("海河公司", "收购", "青湖公司"), ("大山公司", "收购", "青湖公司")},
        ),
    ],
)
def test_what_holds_of_each_apart_holds_of_no_other(
    text: str, expected: set[tuple[str, str, str]]
) -> None:
    found = extract(text, "报告")
    assert facts(found) == expected
    assert found.statements


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("海港日志保存在 /data/harbour/log 中。", "/data/harbour/log"),
        ("海港日志为/data/log。", "/data/log"),
        ("请把密钥放到 ~/.keys/boat。", "~/.keys/boat"),
        ("这台 3Boat 服务器很快。", "3Boat"),
        ("Boats/Ships 都有输入/输出。", "Boats/Ships"),
    ],
)
def test_a_path_begins_with_its_slash_and_a_name_with_its_number(text: str, token: str) -> None:
    sentence, *_ = read_sentences(text, [""])
    assert [t.text for t in sentence.tokens if t.tag == "latin"] == [token]


def test_a_path_or_command_is_no_name() -> None:
    names = extract("运行 cat /data/boat 后，Harbour 会读取 /data/log。", "").names
    assert [row["name"] for row in names] == ["Harbour"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("李海山的弟弟李强是工程师。", {("李海山", "弟弟", "李强"), ("李强", "是", "工程师")}),
        ("长江大学前身是荆州学院。", {("长江大学", "前身", "荆州学院")}),
        ("青山镇旧称是白湖镇。", {("青山镇", "旧称", "白湖镇")}),
        ("青山总部是一家公司。", {("青山总部", "是", "公司")}),
        ("海河公司的北京总部是白水县。", {("海河公司", "北京总部", "白水县")}),
    ],
)
def test_who_holds_a_role_is_no_part_of_it_and_the_role_no_part_of_a_name(
    text: str, expected: set[tuple[str, str, str]]
) -> None:
    assert triples(text, "报告") == expected


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("青山", "其分号遍布全国30余个城市，远及欧美。"),
        ("细胞", "髓鞘质则是包裹在神经纤维上的一层层绝缘物质。"),
    ],
)
def test_words_that_run_together_are_no_head(title: str, text: str) -> None:
    assert triples(text, title) == set()
