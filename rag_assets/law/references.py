"""Articles that a text names, in every spelling that is in use; all that reads them is here.

《劳动合同法》第三十九条, 刑法133之一, 公司法 §21, 民法典第10、12条, Criminal Law art. 264,
[刑法 > 第二编 分则 > 第一百三十三条之一]. The law may stand behind its article; without one the
article of any law is meant.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rag_assets.law.articles import NUMBER, article_key, read_number, write_number
from rag_assets.law.names import (
    LawNames,
    english_law,
    english_words,
    fold_text,
    own_name,
    plain_name,
)
from rag_assets.model import HAN_RANGES

# Numbers as they are written behind a law: 二百六十四, 264, 1,079.
_N = (
    r"(?:[〇○零一二两三四五六七八九十百千壹贰叁肆伍陆柒捌玖拾佰仟]{1,10}|1,[0-2]\d\d|\d{1,4})(?!\d)"
)
_DASH = r"[-‐‑–—−]"
_SIGN = r"§{1,2}|(?i:(?<![a-z])(?:articles?|arts?\.?(?![a-z])|sections?|secs?\.))"
# Several paragraphs or items of an article; which, is not read.
_MORE = (
    rf"(?:\s*第?\s*\(?{_N}\)?\s*[款项目]?(?:(?:[、,和与及至到或-]|以及)\s*第?\s*\(?{_N}\)?\s*[款项目]?)+"
    rf"(?<=[款项目]))"
)
_ITEM = re.compile(
    rf"(?P<mark>第|{_SIGN}|)\s*(?P<number>{_N})(?P<letter>[a-e](?![a-zA-Z]))?"
    rf"(?:\s*(?P<unit>条))?"
    rf"(?:\s*\(?之\s*(?P<part>{_N})(?![般种间])\)?|\s*{_DASH}\s*(?P<other>{_N}))?(?:\s*(?P<unit_behind>条))?"
    # 第39条第3款第(2)项
    rf"(?P<more>[的之]?{_MORE})?"
    rf"(?(more)|(?:\s*[的之]?\s*第?\s*(?P<paragraph>{_N})\s*款)?(?P<items>{_MORE})?"
    rf"(?(items)|(?:\s*[的之]?\s*第?\s*\(?\s*(?P<item>{_N})\s*\)?\s*项)?))"
    rf"(?:\s?\((?P<bracket>{_N})\)(?:\s?\((?P<second>{_N})\))?)?"
    r"(?:,?\s*(?i:paragraphs?|paras?\.?)\s*\(?(?P<para>\d{1,2})\)?)?"
    r"(?:,?\s*(?i:items?|sub-?paragraphs?|points?)\s*\(?(?P<point>\d{1,2})\)?)?"
)
# One article in a text that is not folded, to be part of other patterns: 第39条第3款, § 21.
ONE_ARTICLE = (
    rf"(?:第?\s?{NUMBER}\s?(?:[之-]\s?{NUMBER}\s?)?[条條](?:\s?之\s?{NUMBER})?"
    rf"|(?:§{{1,2}}|(?i:art(?:icle)?\b\.?))\s?{NUMBER})"
    rf"(?:\s?第?[(（]?{NUMBER}[)）]?\s?[款项項目](?:(?:[、,，和与及至到或]|以及)\s?第?[(（]?{NUMBER}[)）]?[款项項])?){{0,3}}"
)
# Between two articles: 第10、12条, 第五条至第七条, Articles 5, 7 and 9.
_AND = re.compile(
    r"\s*(?:(?P<to>至|到|~|[-‐‑–—−]|\bto\b|\bthrough\b)|以及|[、,和与及或&]|\band\b|\bor\b)"
    r"\s*(?:(?:and|or)\b\s*)?"
)
# Paragraph and item before an English article: the second paragraph of Article 39.
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_CLAUSE_BEFORE = re.compile(
    r"(?i:(?:items?|sub-?paragraphs?|points?)\s*\(?(?P<point>\d{1,2})\)?\s*(?:of|,)?\s*(?:the\s+)?)?"
    rf"(?i:(?:paragraph|para\.?)\s*\(?(?P<para>\d{{1,2}})\)?|(?P<ordinal>{'|'.join(_ORDINALS)})\s+paragraph)"
    r"\s*(?:of|,)?\s*(?:the\s+)?$"
)
_LONGEST_RANGE = 30
# A number without 条 is an article right behind a law, unless it counts or is a date.
_COUNTED = re.compile(
    r"\s*(?:[年月日号章节编部分款项目届次版期批个名人位种类件例起宗万亿元%‰℃岁周天时点页集讲问题"
    r"课卷册级倍户家处场所条多余几余来]|公里|公斤|美元|世纪|大|项|字|本书)|[.·:/]\d|\s?[A-Za-z]"
)
_YEARS = range(1900, 2100)
_ENDS_BARE = re.compile(r"\s*(?:$|[,。、;:!?()《》\"”第]|[的是有]|规定|怎么|如何|什么|讲|说)")
_ENDS_ENGLISH = re.compile(r"\s*(?:$|[,.;:?!)\]]|(?:and|or|of|to|on|in|is|say)\b)")
# 第三条道路 is no article.
_THINGS = re.compile(
    r"\s*(?:[^\W\d]{0,3}(?:道路|路线|线路|生产线|航线|战线|防线|街|铁路|高铁|地铁|高速|跑道|管道|隧道|通道|曲线|直线)"
    r"|[路街线腿船鱼蛇狗龙河江命绳裤裙]|新闻|消息|短信|微信|微博|评论|留言|回复|弹幕|推文|视频|动态|理由|"
    r"染色体|肽链|毛巾|围巾|香烟|黄瓜|汉子|好汉|人命|性命|指令|命令|语句|建议|经验|教训)"
)
# 租赁合同第三条 is an article of no law.
_OF_NO_LAW = re.compile(r"(?:合同书?|协议书?|章程|条款|约定|保单|标书|备忘录)(?:的|中|里)?\s*$")
# 本法第三条 is of the law that speaks, whatever law was named before.
_OF_THE_TEXT = re.compile(r"[本此](?:法|条例|办法|规定|规则|细则|解释|决定)(?:的|中)?\s*$")

# Title marks stand in title marks: 《上海市实施《水法》办法》.
_TITLE = r"《(?P<law>(?:[^《》]|《[^《》]{2,80}》){2,120})》"
_TITLED_BEFORE = re.compile(rf"{_TITLE}(?P<book>[^,。;《》第]{{0,12}})$")
_TITLED_AFTER = re.compile(rf"^(?:\s|的|\(|of\b)*{_TITLE}")
_RUN = rf"(?P<run>[{HAN_RANGES}A-Za-z\d()·•《》、“”,-]{{2,120}})"
_RUN_BEFORE = re.compile(rf"{_RUN}$")
_RUN_AFTER = re.compile(rf"^(?:\s*\(|(?P<blank>\s*)(?:of\s+)?)(?!\d){_RUN}")
# law > chapter > article
_PATH_BEFORE = re.compile(
    r"(?:^|[\[\n;【〔])\s*(?P<law>[^>\[\]【〔\n;]{2,120}?)\s*(?P<path>(?:>[^>\n;]{1,120})*)>\s*$"
)
# Between a law and its article: 刑法的第三条, 刑法中 第三条, 《公司法》(2018年修正)第三条,
# 民法典第三编合同第五百六十三条.
_BETWEEN = re.compile(
    r"(?:的|中|里|内|之|规定的|[\s,:\"'”’]|\((?=[^()]*(?:\d{4}|简称|修[正订]))[^()]{0,60}\)|"
    r"\d{4}年?(?:\d{1,2}月)?(?:\d{1,2}日)?(?:修[正订]|公布|施行)?版?|"
    rf"第\s?{_N}\s?(?:分?编|章|节)\s*[{HAN_RANGES}]{{0,14}}\s*)*$"
)
_WORDING = re.compile(r"\([^()\d]{0,4}(?P<day>\d{4}(?:-\d{2}-\d{2})?)[^()]*\)\s*(?:的|中)?$")
# 刑法盗窃罪第264条
_CRIME_BEFORE = re.compile(rf"(?<=[法典])[{HAN_RANGES}]{{1,20}}罪\s*$")
# Between words of Chinese no space says anything before a book: 民法典 合同编.
_BOOK_APART = re.compile(r"\s+(?=(?:[^\s法典]{1,4}编|[总分附]则)$)")
# What names of laws end with.
_ENDS = "法典例则定释办规章程编)案排范见知复答要诉一二三四五六七八九十"
# Behind 修正案 and 解释 a number without 条 is the law's own.
_ENDS_BEFORE_BARE = re.compile(r"(?:[法典诉]|条例|细则|规则|总则|分则|附则|编)[\s)》\"”’的]*$")
_MAY_END_A_LAW = re.compile(r"[法典诉例则编)》\"”’的>A-Za-z]\s*$")
# Words that a name without title marks may stand behind. Behind others it may be the end of a
# longer one: 劳动合同法 is not 合同法, 上海市某条例 not the 某条例 of another place.
_LEADS_TO_NAME = re.compile(
    r"(?:[^\w]|[A-Za-z\d]|\d{4}年|请问|一下|看看|查看|查询|根据|依据|依照|按照|遵照|参照|违反|适用|引用|触犯|"
    r"符合|关于|对于|由于|以及|我国|中国|现行|修订后|修正后|比如|例如|知道|了解|规定|其中|解释|什么是|"
    r"[按照依据查看问在与和及或跟同的是为由从以于对即新旧原见讲说])$"
)
# A name that goes on so is another law's.
_GOES_ON = re.compile(r"(?:的?(?:实施|施行))?(?:办法|条例|细则|规则|(?:司法)?解释)")
# 《水法》办法 is not 《水法》; 《水法》规定 is.
_OF_ANOTHER = re.compile(
    r"(?:办法|条例|细则|规则|解释|意见|批复|答复|通知|规定)(?:\([^()]+\)|[一二三四五六七八九十]{1,3})?$"
)
# 上海市实施《水法》办法: the place, and whoever interprets, stand before the marks.
_LEAD_OF_TITLE = re.compile(
    rf"(?:请问|根据|依据|依照|按照|遵照|参照|违反|[^{HAN_RANGES}]|^)(?P<name>[{HAN_RANGES}]*)$"
)
# What is called so is a law, known or not; 本法 and 依法 name none.
_UNKNOWN = re.compile(
    rf"[{HAN_RANGES}]+[{HAN_RANGES}](?<![本该此依照据按])"
    r"(?:法|法典|条例|细则|规则|规程|规定|办法|解释)(?:\([^()]+\))?$"
)
# Between two names: 合同法、劳动法.
_APART = re.compile("[、,“”《》]")
_FEWEST = 2
# A law stands no further from its article, with the levels between; the longest title has 120
# characters.
_REACH = 400

# A word to its end: what could end anywhere would be tried at every letter.
_WORD = r"[A-Za-z][A-Za-z'’-]*(?![A-Za-z'’-])"
_WORDS_BEFORE = re.compile(rf"(?:(?:{_WORD}|&|P\.R\.C\.|\b(?:19|20)\d\d\b)[\s,(\"“”)]*)+$")
_WORDS_AFTER = re.compile(
    rf"^[\s,(]*(?:(?:of|in|under)\s+)?(?P<words>(?!and\b|or\b)(?:{_WORD}|P\.R\.C\.)(?:[\s,]*(?:{_WORD}|&|\b(?:19|20)\d\d\b))*)"
)
_MOST_WORDS = 28
# Before the English name of a law of China a capital begins the law of another country.
_SMALL_WORDS = re.compile(
    "an?|the|and|of|in|on|by|under|per|see|cf|vs|articles?|arts?|section|china|china's|chinese|prc|"
    "new|current|amended|revised|according|to|pursuant|compare|explain|show|find|read|cite|does|is|"
    "summari[sz]e|what|which|how|why|when|where|give|tell|quote|translate|people's|republic",
    re.IGNORECASE,
)
_COUNTRY_BEHIND = re.compile(
    r"[\s,]*(?:of|in)\s+(?:the\s+)?(?!People|PRC|China\b|P\.R|the\b)[A-Z]\w*"
)


@dataclass(frozen=True, slots=True)
class ArticleReference:
    """An article that a text names.

    Args:
        key: number, and for 之一 that behind a hyphen: `20`, `276-1`.
        shown: in Arabic or Chinese numerals as they are written: 第20条, 第一百三十三条之一.
        law: the law's name as it is written, of an English one the Chinese title; None where none
            is.
        documents: ids of the documents that it means, the newest version first; empty where no
            law is named, or none that is known.
        paragraph: 款, from 1; None where none or several are named. `item` (项) likewise.
        is_bracketed: whether the paragraph is written (2), which means an item where an article has
            one paragraph.
        version: the year or day of a wording that is named: 2018, 2018-10-26.
        path: levels between law and article in `law > chapter > article`; None in other forms.
        form: how its law is named: in title marks, by such a path, by a listed English name, or
            in words that may be no name.
        start: offset of its first character, or of its law's where that stands right before it;
            `end` that behind its last.
    """

    key: str
    shown: str
    law: str | None = None
    documents: tuple[str, ...] = ()
    paragraph: int | None = None
    item: int | None = None
    is_bracketed: bool = False
    version: str | None = None
    path: tuple[str, ...] | None = None
    form: Literal["title", "path", "english", "words"] = "words"
    start: int = field(default=-1, compare=False)
    end: int = field(default=0, compare=False)

    @property
    def clause(self) -> str:
        """The paragraph and item as they are cited behind the article."""
        shown = f"第{write_number(self.paragraph)}款" if self.paragraph else ""
        return shown + (f"第{write_number(self.item)}项" if self.item else "")


# [最高人民法院关于适用刑法第十二条几个问题的解释 > 第一条]: an article within a law's name.
_NAME_BEGINS = re.compile(r"[\[【][^\[\]【】>]*$")
_NAME_ENDS = re.compile(r"[^\[\]【】>]*>")
_NO_LAW = ArticleReference("", "")
_NO_LAWS = LawNames({})


def find_references(text: str, laws: LawNames = _NO_LAWS) -> list[ArticleReference]:
    """Return the articles that a text names, each with its law, in their order.

    A law stands before its articles, in title marks or not, or right behind the article; for
    further articles it holds on. Without 第 and without 条 a number is an article only with a law
    that is known, right behind which it stands; of an English law only where that is listed.

    Args:
        laws: names of a library; without any, only names in title marks and English ones are sure.
    """
    text = fold_text(text).replace("<<", " 《").replace(">>", "》 ")
    found: list[ArticleReference] = []
    reached, running = 0, _NO_LAW
    for items in _groups(text):
        start, end = items[0][0].start(), items[-1][0].end()
        kind = _kind(items)
        left = max(reached, start - _REACH)
        before, after = text[left:start], text[end : end + _REACH]
        if _NAME_BEGINS.search(before) and _NAME_ENDS.match(after):
            continue
        if kind == "bare" and not _MAY_END_A_LAW.search(before):
            continue
        law = _before(before, laws) or (_after(after, laws) if kind != "bare" else None)
        if law is None and _OF_THE_TEXT.search(before):
            running = _NO_LAW
        known = law or running
        if not _is_meant(items, kind, before, after, law, known):
            continue
        running = known
        first = left + law.start if law is not None and law.start >= 0 else start
        told = _CLAUSE_BEFORE.search(before) if kind == "sign" else None
        for one in _read(items, kind):
            here = replace(
                one, law=known.law, documents=known.documents, version=known.version,
                path=known.path, form=known.form, start=first,
            )  # fmt: skip
            if told is not None and one.paragraph is None:
                here = replace(here, paragraph=_clause_of(told)[0], item=_clause_of(told)[1])
            found.append(here)
        reached = end
    return list(dict.fromkeys(found))


_Item = tuple[re.Match[str], bool]


def _groups(text: str) -> Iterator[list[_Item]]:
    """Yield each list of numbers that may be articles, each with whether a range leads to it."""
    at = 0
    while (match := _ITEM.search(text, at)) is not None:
        items: list[_Item] = [(match, False)]
        while (joint := _AND.match(text, items[-1][0].end())) is not None:
            following = _ITEM.match(text, joint.end())
            if following is None:
                break
            items.append((following, joint["to"] is not None))
        marked = [at for at, (one, _) in enumerate(items) if one["unit"] or one["unit_behind"]]
        if marked:
            items = items[: marked[-1] + 1]
        elif match["mark"] in {"", "第"}:
            items = list(_not_counted(text, items))
        else:
            items = [
                one
                for at, one in enumerate(items)
                if at == 0
                or _ENDS_ENGLISH.match(text, one[0].end())
                or _AND.match(text, one[0].end())
            ]
        if items:
            yield items
        at = items[-1][0].end() if items else match.end()


def _not_counted(text: str, items: Sequence[_Item]) -> Iterator[_Item]:
    """Yield numbers without 条 up to the first that is an amount, a date or no article's number."""
    for one, is_range in items:
        number = one["number"]
        if _COUNTED.match(text, one.end()) or (number.isdecimal() and int(number) in _YEARS):
            return
        is_short = len(number) < 2 and one["mark"] != "第"
        if not number[0].isdecimal() and (is_short or not _ENDS_BARE.match(text, one.end())):
            return
        yield one, is_range


def _kind(items: Sequence[_Item]) -> Literal["article", "sign", "bare"]:
    """Return whether a list has 条, a sign or English word, or numbers alone."""
    if any(one["unit"] or one["unit_behind"] for one, _ in items):
        return "article"
    return "bare" if items[0][0]["mark"] in {"", "第"} else "sign"


def _is_meant(
    items: Sequence[_Item],
    kind: str,
    before: str,
    after: str,
    law: ArticleReference | None,
    known: ArticleReference,
) -> bool:
    """Say whether numbers are articles.

    Args:
        law: that stands beside them; `known` that, or the one before.
    """
    is_sure = bool(known.documents) or known.form != "words"
    if kind == "bare" and (law is None or not is_sure):
        return False
    if kind == "bare" and law is not None:
        if law.form == "path":
            # x > 3 is no citation, [law > 3] is.
            return bool(law.documents) or "[" in before
        # Criminal Law 264 at the end of what is said; in Chinese see `_not_counted`.
        is_english = re.search(r"[A-Za-z]\W*$", before) is not None
        ends = _ENDS_ENGLISH.match(after) if law.form == "english" else None
        return (ends if is_english else _ENDS_BEFORE_BARE.search(before)) is not None
    if kind == "sign":
        return is_sure and (law is not None or not items[0][0]["mark"].casefold().startswith("s"))
    if not any(one["mark"] for one, _ in items):
        return is_sure
    is_other = _OF_NO_LAW.search(before) is not None or _THINGS.match(after) is not None
    return known.law is not None or not is_other


def _read(items: Sequence[_Item], kind: str) -> Iterator[ArticleReference]:
    """Yield the articles of a list: of a range also those between its ends."""
    last = 0
    for match, is_range in items:
        number = _value(match["number"])
        other = _value(match["other"]) if match["other"] else 0
        if is_range and 0 < number - last <= _LONGEST_RANGE:
            yield from map(_plain, range(last + 1, number))
        part = match["part"] or (match["other"] if 0 < other <= number else None)
        part = part or (str("abcde".index(match["letter"]) + 1) if match["letter"] else None)
        paragraph, item = _clauses(match, kind)
        shown = f"第{match['number']}条" + (f"之{part}" if part else "")
        shown = shown.translate(_CAPITALS)
        key = article_key(str(number), str(_value(part)) if part else None)
        is_bracketed = paragraph is not None and not (match["paragraph"] or match["para"])
        one = ArticleReference(
            key, shown, paragraph=paragraph, item=item, is_bracketed=is_bracketed, end=match.end()
        )
        yield one
        if other > number:
            inner = range(number + 1, other + 1) if other - number <= _LONGEST_RANGE else [other]
            yield from (replace(_plain(value), end=match.end()) for value in inner)
        last = max(number, other)


def _plain(number: int) -> ArticleReference:
    return ArticleReference(str(number), f"第{write_number(number)}条")


_CAPITALS = str.maketrans("○壹贰叁肆伍陆柒捌玖拾佰仟", "〇一二三四五六七八九十百千", ",")


def _value(number: str) -> int:
    return read_number(number.translate(_CAPITALS))


def _clauses(match: re.Match[str], kind: str) -> tuple[int | None, int | None]:
    """Return paragraph and item; an item of several is none, nor is any of several paragraphs."""
    if match["more"] or match["items"]:
        return None, None
    paragraph, item = match["paragraph"] or match["para"], match["item"] or match["point"]
    brackets = [one for one in (match["bracket"], match["second"]) if one]
    # In English (2) is a paragraph, behind 条 an item.
    if brackets and kind != "article" and not paragraph and len(brackets) <= 2:
        paragraph = brackets.pop(0)
    if brackets and not item:
        item = brackets.pop(0)
    return (_value(paragraph) if paragraph else None), (_value(item) if item else None)


def _clause_of(told: re.Match[str]) -> tuple[int, int | None]:
    ordinal = told["ordinal"]
    paragraph = _ORDINALS.index(ordinal.casefold()) + 1 if ordinal else int(told["para"])
    return paragraph, int(told["point"]) if told["point"] else None


def _before(text: str, laws: LawNames) -> ArticleReference | None:
    path = _PATH_BEFORE.search(text)
    if path is not None:
        levels = tuple(one for level in path["path"].split(">") if (one := level.strip()))
        law = path["law"].strip()
        day = _WORDING.search(law)
        named = _reference(law, laws) or _NO_LAW
        return replace(
            named, law=_WORDING.sub("", law).strip("《》"), path=levels, form="path",
            version=day["day"] if day is not None else None, start=path.start("law"),
        )  # fmt: skip
    return _right_before(text, laws)


def _right_before(text: str, laws: LawNames) -> ArticleReference | None:
    trimmed = _BOOK_APART.sub("", _BETWEEN.sub("", text))
    # 关于审理…若干规定的第三条: 规定 is the name's, not a word between.
    whole = text.rstrip().removesuffix("的")
    for one in dict.fromkeys([whole, trimmed, _CRIME_BEFORE.sub("", trimmed)]):
        run = _RUN_BEFORE.search(one)
        if run is not None and (law := _whole(_suffixes(run["run"]), laws)) is not None:
            return _with_wording(replace(law, start=len(one) - len(law.law or "")), text, laws)
    titled = _TITLED_BEFORE.search(trimmed)
    if titled is not None:
        name, book = titled["law"], titled["book"].strip()
        if book != "规定" and _OF_ANOTHER.search(book):
            lead = _LEAD_OF_TITLE.search(trimmed[: titled.start()])
            whole = f"{lead['name'] if lead is not None else ''}《{name}》{book}"
            return ArticleReference("", "", whole, form="title", start=titled.start())
        law = _reference(name, laws, name + book) or ArticleReference("", "", name)
        return _with_wording(replace(law, form="title", start=titled.start()), text, laws)
    english = _english_before(text)
    if english is not None:
        return _with_documents(english, laws)
    run = _RUN_BEFORE.search(trimmed)
    return _unknown(_APART.split(run["run"])[-1]) if run is not None else None


def _with_wording(law: ArticleReference, text: str, laws: LawNames) -> ArticleReference:
    """Return a law with the wording that is named behind it: 《公司法》(2018年修正)."""
    day = _WORDING.search(text)
    if day is None or law.law is None:
        return law
    name = _WORDING.sub("", law.law)
    written = name + day.group().rstrip("的中 ")
    documents = tuple(laws.find(written)) if law.documents else ()
    if own_name(written) != plain_name(written):
        return replace(law, law=written, documents=documents)
    return replace(law, law=name, version=day["day"], documents=documents)


def _english_before(text: str) -> ArticleReference | None:
    """Return the listed law whose English name stands at the end of a text."""
    run = _WORDS_BEFORE.search(text)
    if run is None:
        return None
    words = list(re.finditer(_WORD, run.group()))[-_MOST_WORDS:]
    starts = [place for place, word in enumerate(words) if english_words(word.group())]
    for place in starts:
        name = run.group()[words[place].start() :]
        title = english_law(name)
        if title is not None:
            lead = words[place - 1].group() if place else ""
            if lead[:1].isupper() and not _SMALL_WORDS.fullmatch(lead):
                return ArticleReference("", "", f"{lead} {name.strip()}")
            start = run.start() + words[place].start()
            return ArticleReference("", "", title, form="english", start=start)
    return None


def _after(text: str, laws: LawNames) -> ArticleReference | None:
    titled = _TITLED_AFTER.search(text)
    if titled is not None:
        law = _reference(titled["law"], laws) or ArticleReference("", "", titled["law"])
        return replace(law, form="title")
    english = _english_after(text)
    if english is not None:
        return _with_documents(english, laws)
    run = _RUN_AFTER.search(text)
    if run is None:
        return None
    name = run["run"]
    prefixes = [name[:end] for end in range(len(name), _FEWEST - 1, -1)]
    whole = _whole(prefixes, laws)
    if run["blank"] == "":
        # 第39条劳动合同法 names it where nothing follows.
        named = whole is not None and whole.documents and whole.law == name.rstrip(")")
        return whole if named else None
    if whole is not None:
        return whole
    apart = len(_APART.split(name)[0])
    return next(filter(None, (_unknown(one) for one in prefixes if len(one) <= apart)), None)


def _english_after(text: str) -> ArticleReference | None:
    """Return the listed law whose English name begins a text."""
    run = _WORDS_AFTER.match(text)
    words = list(re.finditer(_WORD, run["words"]))[:_MOST_WORDS] if run is not None else []
    for word in reversed(words):
        end = word.end() + text.index(words[0].group())
        name = text[end - word.end() : end]
        title = english_law(name) if english_words(word.group()) else None
        if title is not None:
            country = _COUNTRY_BEHIND.match(text, end)
            if country is not None:
                return ArticleReference("", "", name + country.group())
            return ArticleReference("", "", title, form="english")
    return None


def _suffixes(run: str) -> list[str]:
    return [run[start:] for start in range(len(run) - _FEWEST + 1)]


def _whole(names: Sequence[str], laws: LawNames) -> ArticleReference | None:
    """Return the longest of these names that is a law's own, and no part of a longer name."""
    longest = names[0] if names else ""
    for name in names:
        if name[-1] not in _ENDS or not (documents := laws.find(name)):
            continue
        if longest.startswith(name):
            goes_on = _GOES_ON.match(longest, len(name))
            return ArticleReference("", "", longest[: goes_on.end()]) if goes_on else (
                ArticleReference("", "", name, tuple(documents))
            )  # fmt: skip
        if _LEADS_TO_NAME.search(longest.removesuffix(name)):
            return ArticleReference("", "", name, tuple(documents))
        return ArticleReference("", "", _APART.split(longest)[-1])
    return None


def _unknown(name: str) -> ArticleReference | None:
    """Return a law that no document is, where a name is called as laws are."""
    return ArticleReference("", "", name) if _UNKNOWN.fullmatch(name) else None


def _reference(name: str, laws: LawNames, longer: str = "") -> ArticleReference | None:
    """Return the law of a name without an article yet."""
    for written in (longer, name):
        if written and (documents := laws.find(written)):
            return ArticleReference("", "", name, tuple(documents))
    return None


def _with_documents(law: ArticleReference, laws: LawNames) -> ArticleReference:
    return replace(law, documents=tuple(laws.find(law.law or "")))
