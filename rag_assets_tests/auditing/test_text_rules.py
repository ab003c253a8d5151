"""Rules over words, each with what it fires on and what it does not."""

import pytest

from rag_assets.auditing.announced import ANNOUNCES
from rag_assets.model import TextRule


@pytest.mark.parametrize("rule", [ANNOUNCES], ids=lambda rule: rule.id)
def test_each_rule_fires_on_its_example_and_is_silent_on_the_other(rule: TextRule) -> None:
    assert rule.check(rule.fires)
    assert not rule.check(rule.silent)
