"""Who found it: the sentence names somebody, and so does its source."""

import pytest

from rag_assets.judging import PassageText
from rag_assets.judging.contract import Judgement
from rag_assets.judging.pair_reading import BundledPairReader
from rag_assets.judging.statement import authors_of
from rag_assets.judging.support import load_support_scorer
from rag_assets.workspace.settings import SupportSettings
from rag_assets_tests.judging.sentences import passage

REVIEW = passage(
    "Smith (2010) found that night shifts raised blood pressure in nurses.",
    "Jones (2012) found no effect of night shifts on blood pressure.",
)
OWN = passage(
    "As Smith (2010) showed, night shifts raised blood pressure in nurses.",
    "We found that night shifts raised blood pressure in nurses.",
)
CLAIM = "Jones (2012) found that night shifts raised blood pressure in nurses."


VIEWS = passage(
    "张伟（2015）认为户籍制度限制了人口流动，而李强（2018）则认为收入差距才是主要原因。"
)


def _judge(sentence: str, source: PassageText) -> Judgement:
    settings = SupportSettings(threshold=None, weak_threshold=None)
    (judged,) = load_support_scorer(settings, BundledPairReader()).judge([(sentence, [source])])
    return judged


@pytest.mark.parametrize(
    ("sentence", "authors"),
    [
        ("Jones (2012) found that sales fell by half.", {"jones"}),
        ("As Smith, O'Neil and van der Berg (2011, p. 3) show, sales fell by half.",
         {"smith", "o'neil", "berg"}),
        ("Zhou et al. [12] propose a model of sales.", {"zhou"}),
        ("Smith's (2010) analysis shows that sales fell by half.", {"smith"}),
        ("Sales fell by half, as shown by Smith et al. (2012).", {"smith"}),
        ("王小明和李华等（2019）发现，睡眠影响成绩。", {"王小明", "李华"}),
        ("Sales fell by half (Jones, 2012).", set()),
        ("Unlike Smith (2010), we found that sales fell.", set()),
        ("The study found that sales fell by half.", set()),
    ],
)  # fmt: skip
def test_authors_are_those_who_say_it(sentence: str, authors: set[str]) -> None:
    assert authors_of(sentence) == authors


def test_what_the_source_has_of_another_is_reserved() -> None:
    judged = _judge(CLAIM, REVIEW)
    assert (judged.status, judged.reason_code) == ("WEAK", "weakly_supported")
    assert judged.speaks_against[0].text == "The source has it of Smith, the sentence of Jones."
    assert judged.speaks_against[0].text in judged.reason


@pytest.mark.parametrize(
    "sentence",
    [
        CLAIM.replace("Jones (2012)", "Smith (2010)"),
        CLAIM.replace("Jones (2012) found that night", "Night"),
    ],
)
def test_what_it_has_of_the_same_or_of_nobody_is_not(sentence: str) -> None:
    assert _judge(sentence, REVIEW).status == "OK"


def test_what_the_source_says_itself_comes_first() -> None:
    judged = _judge(CLAIM, OWN)
    assert (judged.status, judged.span) == ("OK", OWN.sentences[1])


@pytest.mark.parametrize(
    ("sentence", "is_ok"),
    [
        ("张伟（2015）认为户籍制度限制了人口流动。", True),
        ("李强（2018）认为户籍制度限制了人口流动。", False),
        ("张伟（2015）认为收入差距才是主要原因。", False),
    ],
)
def test_of_two_in_a_sentence_each_has_a_clause_of_their_own(sentence: str, is_ok: bool) -> None:
    assert (_judge(sentence, VIEWS).status == "OK") == is_ok
