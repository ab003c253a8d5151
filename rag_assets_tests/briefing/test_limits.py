"""Chinese limits are no bans."""

import pytest

from rag_assets.briefing import demands


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("参考文献不得少于20篇。", "demand"),
        ("论文必须包含中文摘要，不得少于300字。", "length"),
        ("正文不得超过8000字。", "length"),
        ("查重率不得高于两成。", "demand"),
        ("不得抄袭。", "prohibition"),
    ],
)
def test_limit_is_no_ban(sentence: str, kind: str) -> None:
    assert demands._kind_of(sentence, is_feedback=False) == kind
