"""Find years of a reign, and months and days without a year."""

import re
from collections.abc import Iterator

from tasks.extract.rules.chinese.lexicon import TAGS
from tasks.text.chinese_words import tag_of
from tasks.text.languages import HAN_CLASS

NUMERAL = "[一二三四五六七八九十]{1,3}"
BRANCH = "[甲乙丙丁戊己庚辛壬癸][子丑寅卯辰巳午未申酉戌亥]"
MONTH = f"闰?(?:正|腊|{NUMERAL})月"
DAY = f"(?:初?{NUMERAL}日|初{NUMERAL}|{BRANCH}日?)"
WITHIN_YEAR = f"(?:[春夏秋冬]天?|{MONTH}{DAY}?(?:初|末|[上中下]旬)?)"
DYNASTY = "[秦楚齐燕赵魏韩周鲁晋吴越唐宋元明清汉隋梁陈辽金]"
# Where a time expression may begin, and what may not follow it, since it makes it a duration.
BEGINS = r"(?:(?<=[\s。，；：！？“”（）、])|^)"
LASTING = "(?!以?[后内来前上下]|间|多|之|的|左右)"
REIGN = re.compile(
    f"{DYNASTY}?(?:[{HAN_CLASS}][宗祖帝])?([{HAN_CLASS}]{{2}})"
    f"(?:(元|{NUMERAL})年({WITHIN_YEAR})?|(年间|初年|末年))"
)
MOMENT = re.compile(
    f"{BEGINS}(?:"
    f"(?:(?:[这当同次]年|{NUMERAL}年)的?)?{WITHIN_YEAR}{LASTING}"
    f"|(?<![，；：！？“”（）、]){NUMERAL}年{LASTING}"
    f"|{DAY}{LASTING}(?=[，{HAN_CLASS}])"
    "|(?:[这那]一?|[当同次翌])[年月日天](?![的空气])[春夏秋冬]?"
    ")",
    re.MULTILINE,
)
NO_REIGN = re.compile(
    "[一二三四五六七八九十零百的了过用在于至到从第这那每几数多]|[期约近有满共需长任仅足整逾超刑前后余达]$"
)


def find_times(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of years of a reign, and of months and days without a year."""
    for match in REIGN.finditer(text):
        if _is_reign(text, match):
            yield match.span()
    for match in MOMENT.finditer(text):
        yield match.span()


def _is_reign(text: str, match: re.Match[str]) -> bool:
    """Return whether the name before 三年 is a reign or ruler, not something of three years."""
    name, dated = match[1], match[2] == "元" or match[4] or "月" in (match[3] or "")
    tag = TAGS.get(name) or tag_of(name)
    before = text[match.start() - 1 : match.start()]
    if NO_REIGN.search(name) or tag[:1] in {*"vdprcfmq"}:
        return False
    if tag == "n" and match[2] != "元" and before not in ("", "\n", "。"):
        return False
    if dated:
        return True
    if re.match(LASTING, text[match.end() :]) is None:
        return False
    return name[-1] in "宗帝王祖公" or not before or before in "\n。，；：“（在自从到于以"
