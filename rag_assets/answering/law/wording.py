"""What a page about law calls its parts, in the language of the question."""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.answering.law.record import LawSource, Precedence
from rag_assets.law.metadata import LawLevel
from rag_assets.law.versions import Standing
from rag_assets.model import is_chinese


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language.

    Args:
        precedence: sentences with `first`, which prevails, and `second`.
        wording: what stands behind the standing; `unstated` where no text says since when.
    """

    answer: str
    articles: str
    as_of: str
    applicable: str
    points: str
    exception: str
    conflicts: str
    dropped: str
    steps: str
    levels: Mapping[LawLevel | None, str]
    standings: Mapping[Standing, str]
    precedence: Mapping[Precedence, str]
    wording: str
    unknown_day: str
    unstated: str

    def standing(self, source: LawSource, as_of: str) -> str:
        """Return how the wording of an article stands on a day."""
        told = self.standings[source.standing].format(day=as_of)
        day = source.version_date or self.unknown_day
        since = "" if source.is_stated else self.unstated
        by = f"; {source.repealed_by}" if source.repealed_by else ""
        return told + self.wording.format(day=day) + since + by


_ENGLISH = Words(
    answer="Answer",
    articles="Articles",
    as_of="Wordings have to hold on {day}.",
    applicable="Ranks, the highest first",
    points="Points",
    exception="The article excepts",
    conflicts="Provisions that read otherwise, and other wordings of the same law",
    dropped="Dropped: not supported by an article in force that it cites",
    steps="How it was found",
    levels={
        LawLevel.CONSTITUTION: "constitution",
        LawLevel.LAW: "law",
        LawLevel.ADMINISTRATIVE: "administrative regulation",
        LawLevel.INTERPRETATION: "judicial interpretation",
        LawLevel.LOCAL: "local regulation",
        LawLevel.DEPARTMENT: "department rule",
        None: "rank not known",
    },
    standings={
        "in_force": "in force on {day}",
        "not_yet_in_force": "NOT YET IN FORCE on {day}",
        "superseded": "SUPERSEDED on {day}",
        "repealed": "REPEALED on {day}",
        "unknown": "standing UNKNOWN on {day}",
    },
    precedence={
        "wording": "{first} is another wording of {second}; the first holds.",
        "rank": "{first} prevails over {second}: the higher rank.",
        "date": "{first} prevails over {second}: of one rank, the newer. A special provision may "
        "prevail over a general one; that was not looked at.",
        "undecided": "{first} and {second}: neither rank nor day says which prevails.",
    },
    wording=", wording of {day}",
    unknown_day="a day that is not known",
    unstated="; the text does not say since when it holds",
)
_CHINESE = Words(
    answer="回答",
    articles="法条全文",
    as_of="以{day}有效的文本为准。",
    applicable="效力层级（由高到低）",
    points="要点",
    exception="该条的例外规定",
    conflicts="不一致的规定与同一法律的其他文本",
    dropped="未采纳：所引现行法条不支持",
    steps="检索过程",
    levels={
        LawLevel.CONSTITUTION: "宪法",
        LawLevel.LAW: "法律",
        LawLevel.ADMINISTRATIVE: "行政法规",
        LawLevel.INTERPRETATION: "司法解释",
        LawLevel.LOCAL: "地方性法规",
        LawLevel.DEPARTMENT: "部门规章",
        None: "层级不明",
    },
    standings={
        "in_force": "{day}有效",
        "not_yet_in_force": "【{day}尚未施行】",
        "superseded": "【{day}已被新文本取代】",
        "repealed": "【{day}已废止】",
        "unknown": "【{day}是否有效不明】",
    },
    precedence={
        "wording": "{second}是同一法律的另一文本，与{first}不同；以后者为准。",
        "rank": "{first}优先于{second}：层级较高。",
        "date": "{first}优先于{second}：层级相同，文本较新。特别规定可能优先于一般规定，"
        "此处未作判断。",
        "undecided": "{first}与{second}：依层级和日期均无法判断何者优先。",
    },
    wording="，{day}文本",
    unknown_day="日期不明的",
    unstated="；文本未写明自何时起施行",
)


def words_for(question: str) -> Words:
    """Return the words for the language of a question."""
    return _CHINESE if is_chinese(question) else _ENGLISH


def show_source(source: LawSource, as_of: str, words: Words) -> str:
    """Return the citation of an article with its rank and standing."""
    return f"{source.citation} ({words.levels[source.level]}, {words.standing(source, as_of)})"
