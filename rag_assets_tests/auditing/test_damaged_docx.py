"""A file called .docx that is none must not pass as a draft without citations."""

import pytest

from rag_assets.auditing.draft import parse_draft
from rag_assets.model import UsageError


@pytest.mark.parametrize("data", [b"PK garbage", b"Plain words.", b""])
def test_bytes_that_are_no_word_document_are_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"bad\.docx.*damaged_file"):
        parse_draft("bad.docx", data)
