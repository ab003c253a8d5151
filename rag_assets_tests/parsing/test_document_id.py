"""The normalisation behind `doc_id`, which works in pieces and must not show it."""

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from rag_assets.model import hashing, normalise_text


@given(
    st.text(st.sampled_from("ab \n\u3000\u0301\u00b4\ufdfa\u00a0\u2028ﬁe\u1100\u1161"), max_size=14)
)
@rules(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_are_normalised_as_the_whole(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(hashing, "_PIECE_CHARACTERS", 3)
    whole = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip()
    assert normalise_text(text) == whole
