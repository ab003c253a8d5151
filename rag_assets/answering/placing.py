"""The words that decide, compared with their source, and the page on which they stand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.agents import CheckedStatement, CitedQuote, Passage
from rag_assets.agents.statements import Claim, StatementJudge
from rag_assets.evidence.locating import locate
from rag_assets.evidence.quoting import QuoteFinder

if TYPE_CHECKING:
    from rag_assets.retrieval import Retriever


class PlacingJudge:
    """Lets another judge decide, and looks each quote up in the parse that it was cut from.

    A quote is cut behind a clause where it has more than 60 words, and compared with what is
    printed, as those of packs are.

    Args:
        retriever: entered.
    """

    def __init__(self, judge: StatementJudge, retriever: "Retriever") -> None:
        self._judge = judge
        self._readers = {reader.namespace: reader for reader in retriever.readers}
        self._quotes = QuoteFinder(retriever.workspace.root / "data")
        self._parses: dict[tuple[str, str], str] = {}

    def judge(self, claims: Sequence[Claim]) -> list[CheckedStatement]:
        """Return what becomes of each claim.

        Raises:
            DamagedFileError: a quote is not what stands in its source.
        """
        return [
            replace(one, quote=one.quote and self._placed(one.quote, claim))
            for claim, one in zip(claims, self._judge.judge(claims), strict=True)
        ]

    def _placed(self, quote: CitedQuote, claim: Claim) -> CitedQuote:
        passage = claim.passages[claim.citations.index(quote.alias)]
        start = passage.char_start
        found = self._quotes.find(
            self._parse_of(passage), passage.chunk_key, passage.text, start,
            (quote.char_start - start, quote.char_end - start),
        )  # fmt: skip
        place = locate(
            found.page_start, found.page_end, found.char_start, found.char_end,
            passage.section_path, has_boxes=bool(found.boxes),
        )  # fmt: skip
        where = place.text if place else quote.place
        return replace(
            quote,
            text=found.text,
            char_end=found.char_end,
            place=f"{found.article}, {where}" if found.article else where,
            check=found.check,
        )

    def _parse_of(self, passage: Passage) -> str:
        key = passage.namespace, passage.doc_uid
        if key not in self._parses:
            (row,) = self._readers[passage.namespace].fetch_documents([key[1]]).to_pylist()
            self._parses[key] = row["content_ref"]
        return self._parses[key]
