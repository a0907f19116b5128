"""What carries over from clause to clause, and from what announces a list to its items."""

import pytest

from tests.passages import Fact, stated
from tests.test_rules_chinese import extract


def statements(text: str) -> list[Fact]:
    return stated(extract(text, "湿地条例"))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        # Who does what is named once, after 由.
        (
            "商户未备案的，由商务部门责令改正；拒不改正的，处二万元以上十万元以下罚款。",
            ("商务部门", "处", "二万元以上十万元以下罚款"),
        ),
        ("商户删除评论的，应当保存日志。", ("商户", "应当保存", "日志")),
        ("公园的树木，由林业部门负责养护。", ("林业部门", "负责养护", "公园的树木")),
        ("任何单位和个人，不得占用湿地。", ("任何单位和个人", "不得占用", "湿地")),
        # A word that may be a noun acts after a modal word.
        ("游客不得危害野生动物。", ("游客", "不得危害", "野生动物")),
        # What is done is described by a verb of its own, and done by nobody here.
        ("渔业机构对污染海港的船舶，可以扣留一日。", ("渔业机构", "可以扣留", "一日")),
        (
            "石城法院作出（2015）石民7号判决。",
            ("石城法院", "作出", "（2015）石民7号判决"),
        ),
        ("渔业部门印制《船员名册》。", ("渔业部门", "印制", "《船员名册》")),
        ("本条例所称的船员，是指在船上工作的人。", ("船员", "是指", "在船上工作的人")),
        # What stands before a modal word names, whatever the dictionary has it as.
        ("任何组织或者个人不得以任何形式占用湿地。", ("任何组织或者个人", "不得占用", "湿地")),
        ("劳动保障部门应当及时向投诉人说明理由。", ("劳动保障部门", "应当说明", "理由")),
        ("商户不得在商品中掺杂、掺假。", ("商户", "不得掺杂、掺假", "")),
        ("不正确的设置可能导致数据丢失。", ("设置", "可能导致", "数据丢失")),
        ("停车场提供下列服务，不得收费：", ("停车场", "不得收费", "")),
        ("该软件已停止更新，且不支持新系统。", ("该软件", "不支持", "新系统")),
        # What an object is described by may be denied.
        ("该版本修复了无法停止服务的问题。", ("该版本", "修复", "无法停止服务的问题")),
        ("李安国以早期软件的界面为蓝本设计了图标。", ("李安国", "设计", "图标")),
        ("该程序更新至3.2版本。", ("该程序", "更新至", "3.2版本")),
        # The dictionary has 知识 as a verb only.
        ("基础知识包括药品名称。", ("基础知识", "包括", "药品名称")),
        ("2019年代表大会第八次会议通过。", ("代表大会第八次会议", "通过", "")),
        ("活动由李安国主持。", ("活动", "主持", "")),
        ("该软件上线于 2013 年，是一款免费的软件。", ("该软件", "是", "一款免费的软件")),
        # What the rules can not read stands in the predicate, if it is sure which word that is.
        ("剧院大约每 3 周上演一部新剧。", ("剧院", "大约每 3 周上演", "一部新剧")),
        ("文件已保存到备份文件夹中。", ("文件", "保存到", "备份文件夹中")),
        ("一个码头应用可以管理多个泊位。", ("一个码头应用", "可以管理", "多个泊位")),
        ("该船已报废，且不会被拖到港口中。", ("该船", "不会拖到", "港口中")),
        ("涨潮是指海水上升，而退潮则是指海水下降。", ("退潮", "是指", "海水下降")),
        # A line break ends no sentence in a paragraph of wrapped lines.
        ("昨天下班前，\n李安国发布了\n新的安装程序。", ("李安国", "发布", "新的安装程序")),
        # 只 and 仅 stay with their verb.
        ("海港系统仅支持一种语言。", ("海港系统", "仅支持", "一种语言")),
        ("海港系统只会删除旧的文件。", ("海港系统", "只会删除", "旧的文件")),
        ("管理员可以结束掉指定任务。", ("管理员", "可以结束掉", "指定任务")),
        # In traditional texts 著 is also a particle.
        ("白塔鎮至今沿用著古老的曆法。", ("白塔鎮", "沿用", "古老的曆法")),
        ("隨著時間過去，海港完成了新的碼頭。", ("海港", "完成", "新的碼頭")),
        # Who writes may act, and what is done for the readers is done.
        ("我们采用开源软件作为服务器。", ("我们", "采用", "开源软件作为服务器")),
        ("李安国为大家介绍了该软件。", ("李安国", "介绍", "该软件")),
        # Offices and qualities belong to whom they are stated of.
        ("朝廷封他为越国公。", ("朝廷", "封", "他为越国公")),
        ("李安国攻下许州，封为越国公。", ("李安国", "封为", "越国公")),
        ("该软件是免费的。", ("该软件", "是", "免费的")),
    ],
)
def test_a_clause_has_its_own_parts_and_the_subject_of_what_goes_before(
    text: str, statement: tuple[str, str, str]
) -> None:
    assert statement in statements(text)


def test_who_did_something_before_is_not_what_another_does_something_to() -> None:
    rows = statements("林业部门可以提出方案，由代表大会审议。")
    assert ("林业部门", "可以提出", "方案") in rows
    assert all(subject != "代表大会" for subject, _, _ in rows)


def test_a_consequence_names_its_condition() -> None:
    (row,) = extract("商户未备案的，由商务部门给予警告。", "湿地条例").statements
    assert row["arguments"] == ["商户未备案的"]
    assert row["modality"] == "conditional"


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "报名截止时间：2018 年 7 月 10 日 24:00",
            ("报名截止时间", "是", "2018 年 7 月 10 日 24:00"),
        ),
        (
            "- **病程**：持续至少一年。若症状轻可缩短。",
            ("病程", "是", "持续至少一年。若症状轻可缩短"),
        ),
        (
            "| 参数 | 说明 |\n| --- | --- |\n| 密码 | 登录的密码，不可为空。 |\n",
            ("密码", "说明", "登录的密码，不可为空"),
        ),
        ("作品发至邮箱：a@b.org。", ("作品", "发至", "邮箱：a@b.org")),
        ("网站的地址是 https://a.org/b。", ("网站的地址", "是", "https://a.org/b")),
        # What a list completes is said of each of its items.
        ("该软件提供以下服务：\n\n- 网站；\n- 邮箱；\n", ("该软件", "提供", "邮箱")),
    ],
)
def test_labels_cells_and_items_are_stated_with_what_leads_to_them(
    text: str, statement: tuple[str, str, str]
) -> None:
    assert statement in statements(text)


@pytest.mark.parametrize(
    "text", ["注意：请勿重复投票。", "结论：该软件支持插件。", "效果如下：截图。"]
)
def test_a_label_before_a_whole_sentence_or_an_order_names_nothing(text: str) -> None:
    assert all(predicate != "是" for _, predicate, _ in statements(text))


def test_a_list_of_conditions_states_nothing() -> None:
    text = "有下列情形之一的：\n\n（一）擅自采砂；"
    assert all("采砂" not in item for _, _, item in statements(text))


def test_a_clause_that_only_begins_like_a_noun_is_no_subject() -> None:
    assert all(
        "深化" not in subject for subject, _, _ in statements("深化互利合作，扩大人文交流。")
    )


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("将洗好后的船帆在码头上晾晒 5 分钟。", "asserted"),
        ("海港将采用更好的技术修理船只。", "future"),
        ("如需更换船帆，可以联系码头。", "conditional"),
    ],
)
def test_what_is_handled_is_not_to_come_and_what_may_be_needed_is_a_condition(
    text: str, modality: str
) -> None:
    (row,) = extract(text, "湿地条例").statements
    assert row["modality"] == modality


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("船东出租渔船，应当告知港口。", "supposed"),
        ("白水公司出租了渔船，应当告知港口。", "asserted"),
        ("该渔船使用帆布，不得进港。", "asserted"),
        ("渔船载有酒精，不得进港。", "asserted"),
    ],
)
def test_what_a_duty_depends_on_is_only_supposed(text: str, modality: str) -> None:
    assert extract(text, "湿地条例").statements[0]["modality"] == modality


@pytest.mark.parametrize(
    "text", ["白水河流经石城。其全长3公里。", "白水河流经石城。它全长约三公里。"]
)
def test_a_pronoun_may_stand_before_a_measure(text: str) -> None:
    assert extract(text, "白水河").failed is None


def test_a_preposition_that_leads_to_nothing_leaves_its_sentence_readable() -> None:
    rows = statements("到现在为止差不多 1 年 2 个月的时间，已经开源了十几个项目。")
    assert ("开源", "十几个项目") in [row[1:] for row in rows]
