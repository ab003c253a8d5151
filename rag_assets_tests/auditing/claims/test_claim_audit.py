"""The audit itself: status, suggestions, counter-evidence, and no work done twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from rag_assets.auditing import VerdictStore, parse_draft
from rag_assets.auditing.claims import ClaimAudit, ClaimRow, claims_to_json, render_claims
from rag_assets.auditing.claims.asking import PublishedStatutes
from rag_assets.auditing.claims.deciding import bearing_of, explain
from rag_assets.auditing.claims.making import make_claim_audit
from rag_assets.auditing.claims.record import CounterMode, SuggestedQuery
from rag_assets.auditing.claims.searching import Searcher, SearchStore, suggest_queries
from rag_assets.judging import Judgement, PassageText, ScorerName, Sign, Thresholds
from rag_assets.retrieval import Hit
from rag_assets.workspace.settings import AuditSettings
from rag_assets_tests.auditing.world import SETTINGS, Shelf, WordEncoder, make_document

ROOFS = "Green roofs reduce the cooling load of offices in summer."
WALLS = "Planted walls do not reduce the noise of roads."
SHELF = [
    make_document("hill2020", [ROOFS, "Sedum flowers in May."], title="Roofs"),
    make_document("lane2019", [WALLS], title="Walls"),
]


class Referee:
    """Judges by words in common; a `not` on one side only is a contradiction."""

    name: ScorerName = "model"
    fingerprint = "referee-1"
    thresholds = Thresholds(0.6, 0.3, "made up", "made up")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        self.asked.extend(claim for claim, _ in claims)
        return [self._judge(claim, passages) for claim, passages in claims]

    def _judge(self, claim: str, passages: Sequence[PassageText]) -> Judgement:
        words = set(claim.lower().strip(".").split())
        shares = [
            len(words & set(passage.text.lower().replace(".", "").split())) / len(words)
            for passage in passages
        ]
        best = max(range(len(shares)), key=lambda place: shares[place])
        text, span = passages[best].text, passages[best].sentences[0]
        score = round(shares[best], 6)
        if score >= 0.5 and (" not " in text) != (" not " in claim):
            against = (Sign("negation", "", "not", "The source says not."),)
            return Judgement(0.1, "MISSING", "contradicted", "It says no.", best, span, (), against)
        if score >= self.thresholds.ok:
            return Judgement(score, "OK", "supported", "It says so.", best, span)
        if score >= self.thresholds.weak:
            return Judgement(score, "WEAK", "weakly_supported", "In part.", best, span)
        return Judgement(score, "MISSING", "not_found", "It does not say so.", best, span)


@dataclass
class Drawer:
    """An index of a few chunks, found by words in common. Counts what it is asked."""

    texts: dict[str, str]
    fingerprint: str = "drawer-1"
    asked: list[str] = field(default_factory=list)

    def ask(self, query: str, top_k: int) -> Sequence[Hit]:
        self.asked.append(query)
        words = set(query.lower().strip(".").split())
        found = [
            (len(words & set(text.lower().strip(".").split())), uid)
            for uid, text in self.texts.items()
        ]
        return [make_hit(uid, self.texts[uid]) for n, uid in sorted(found, reverse=True) if n][
            :top_k
        ]


def make_hit(uid: str, text: str, *, citable: bool = True) -> Hit:
    plain: dict[str, Any] = {
        "namespace": "thesis", "chunk_id": f"{uid}:0", "parent_id": f"{uid}:p001",
        "doc_uid": uid, "doc_id": uid, "doc_title": uid.title(), "citation_key": None,
        "source_type": "evidence", "source_subtype": None, "citable": citable, "chunk_index": 0,
        "page_start": 1, "page_end": 1, "char_start": 0, "char_end": len(text),
        "section_path": (), "text": text, "content_hash": uid, "citation_id": f"kb:{uid}",
        "is_cut": False,
    }  # fmt: skip
    return Hit(**plain)


@dataclass
class Desk:
    """All that an audit needs, kept between audits."""

    drawer: Drawer = field(default_factory=lambda: Drawer({"hill2020": ROOFS, "lane2019": WALLS}))
    referee: Referee = field(default_factory=Referee)
    shelf: Shelf = field(default_factory=lambda: Shelf(SHELF))
    searches: SearchStore = field(default_factory=SearchStore)
    verdicts: VerdictStore = field(default_factory=VerdictStore)

    def audit(self, text: str, mode: CounterMode = "off") -> ClaimAudit:
        searcher = Searcher(
            self.drawer, PublishedStatutes(self.shelf), {"thesis": self.referee}, 3,
            0 if mode == "off" else 10, (), self.searches,
        )  # fmt: skip
        settings = AuditSettings(
            counterevidence=mode, suggestions_top_k=3, counterevidence_top_k=10
        )
        return make_claim_audit(
            parse_draft("chapter.md", text.encode()), self.shelf, WordEncoder(), searcher,
            SETTINGS.model_copy(update={"scorer": "model"}), settings, store=self.verdicts,
            make_scorer=lambda _settings, _encoder: self.referee,
        )  # fmt: skip


def only_row(text: str, mode: CounterMode = "off") -> ClaimRow:
    (row,) = Desk().audit(text, mode).rows
    return row


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("Green roofs reduce the cooling load of offices {#hill2020}.", "SUPPORTED"),
        ("Green roofs raise the rent of all landlords {#hill2020}.", "WEAK"),
        ("Penguins always breed on sea ice {#hill2020}.", "UNSUPPORTED"),
        ("Planted walls reduce the noise of roads {#lane2019}.", "CONTRADICTED"),
        ("Planted walls reduce the noise of roads {#nobody}.", "ERROR"),
        ("Green roofs reduce the cooling load of offices.", "EVIDENCE_NEEDED"),
    ],
)
def test_the_status_follows_from_the_citations(sentence: str, status: str) -> None:
    assert only_row(sentence).status == status


def test_one_supporting_citation_is_enough_and_one_contradiction_too_much() -> None:
    both = "Green roofs reduce the cooling load of offices {#hill2020} {#lane2019}."
    row = only_row(both)
    assert [item.verdict.status for item in row.linked_evidence] == ["OK", "WEAK"]
    assert row.status == "SUPPORTED"
    opposed = only_row("Planted walls reduce the noise of roads {#hill2020} {#lane2019}.")
    assert opposed.status == "CONTRADICTED"


def test_a_covering_citation_that_supports_nothing_leaves_evidence_needed() -> None:
    audit = Desk().audit(
        "Penguins always breed on sea ice. Green roofs reduce the cooling load of offices. "
        "{#hill2020}"
    )
    penguins, roofs = audit.rows
    assert penguins.status == "EVIDENCE_NEEDED"
    assert [item.linkage for item in penguins.linked_evidence] == ["paragraph"]
    assert "end of the paragraph does not support it" in penguins.reason
    assert roofs.status == "SUPPORTED"


def test_a_suggested_query_shows_what_it_finds_and_how_to_cite_it() -> None:
    row = only_row("Green roofs reduce the cooling load of offices.")
    (query,) = row.suggested_queries
    best = query.found[0]
    assert (best.cite, best.judged, best.locator) == ("hill2020", "OK", "p. 1")
    assert best.text[best.quote_start : best.quote_end] == best.quote == ROOFS
    assert "{#hill2020} supports it (p. 1)" in row.reason


def test_that_nothing_citable_is_there_is_said() -> None:
    row = only_row("Penguins always breed on antarctic sea ice.")
    assert all(query.found == () for query in row.suggested_queries)
    assert "Nothing citable in the index speaks of it" in row.reason


def test_what_must_not_be_cited_is_never_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    monkeypatch.setattr(
        desk.drawer, "ask", lambda query, top_k: [make_hit("rubric", ROOFS, citable=False)]
    )
    (row,) = desk.audit("Green roofs reduce the cooling load of offices.").rows
    assert all(query.found == () for query in row.suggested_queries)


def test_counterevidence_is_off_listed_or_counted() -> None:
    # The roofs document says it; the walls document, which is not cited, says the opposite.
    drawer = Drawer(
        {"hill2020": ROOFS, "moor2001": "Green roofs do not reduce the cooling load of offices."}
    )
    text = "Green roofs reduce the cooling load of offices {#hill2020}."
    found = {mode: Desk(drawer).audit(text, mode).rows[0] for mode in ("off", "soft", "strict")}
    assert found["off"].counterevidence == ()
    assert [item.doc_uid for item in found["soft"].counterevidence] == ["moor2001"]
    assert found["soft"].status == "SUPPORTED"
    assert found["strict"].status == "DISPUTED"
    assert "speaks against it" in found["strict"].reason
    assert only_row(text, "strict").status == "SUPPORTED"


def test_an_unchanged_sentence_is_neither_searched_nor_judged_again() -> None:
    desk = Desk()
    first = "Penguins always breed on sea ice {#hill2020}."
    second = "Green roofs reduce the cooling load of offices."
    desk.audit(f"{first} Plain words stand here too. {second}\n\nEnd of it.")
    queries, judged = list(desk.drawer.asked), list(desk.referee.asked)
    again = desk.audit(f"An opening line.\n\n{first} Plain words stand here too.\n\n{second}")
    assert (again.searched_now, again.judged_now) == (0, 0)
    assert (desk.drawer.asked, desk.referee.asked) == (queries, judged)
    changed = desk.audit(f"{first}\n\nGreen walls reduce the cooling load of offices.")
    assert changed.searched_now == 1
    assert set(desk.referee.asked[len(judged) :]) == {
        "Green walls reduce the cooling load of offices."
    }


def test_other_publications_are_searched_anew() -> None:
    desk = Desk()
    text = "Green roofs reduce the cooling load of offices."
    desk.audit(text)
    desk.drawer.fingerprint = "drawer-2"
    assert desk.audit(text).searched_now == 1


def test_a_claim_keeps_its_id_when_others_are_edited() -> None:
    claim = "Green roofs reduce the cooling load of offices."
    before = Desk().audit(f"{claim}\n\n{claim}").rows
    after = Desk().audit(f"# New\n\nWalls always stand.\n\n{claim}\n\nOther words. {claim}").rows
    assert before[0].claim_id != before[1].claim_id
    assert {row.claim_id for row in before} <= {row.claim_id for row in after}


def test_the_audit_is_the_same_for_the_same_draft_and_findings() -> None:
    text = "Green roofs reduce the cooling load of offices. They may help."
    one, other = Desk().audit(text), Desk().audit(text)
    assert one.audit_id == other.audit_id
    assert claims_to_json(one) == claims_to_json(other)
    assert Desk().audit(text + " More.").audit_id != one.audit_id


def test_the_page_has_the_specified_table_and_the_sources() -> None:
    audit = Desk().audit(
        "Green roofs reduce the cooling load of offices {#hill2020}. "
        "Penguins | always * breed on ice."
    )
    page = render_claims(audit, audit.audit_id)
    head = "| claim_id | claim_text | claim_type | linked_evidence | status | suggested_queries |"
    assert head in page
    assert "- `thesis:hill2020` Roofs" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == 2
    assert rows[1].replace("\\|", "").count("|") == 7


def test_the_shorter_query_keeps_the_words_that_tell_most() -> None:
    whole, short = suggest_queries(
        "The roof of the old library reduces evaporation of the shallow reservoir in July."
    )
    assert len(short.split()) == 5 < len(whole.split())
    assert "evaporation" in short
    assert suggest_queries("?!") == ()


@pytest.mark.parametrize(
    ("score", "against", "bearing"),
    [
        (0.46, (), "supports_in_part"),
        (0.44, (), "on_the_matter"),
        (0.59, (Sign("words", "rent", "", "Not in the passage: “rent”."),), "supports_in_part"),
        (0.59, (Sign("number", "5 %", "", "“5 %” is not there."),), "on_the_matter"),
        (0.59, (Sign("words", "", "Do roofs cool?", "It asks it."),), "on_the_matter"),
    ],
)
def test_only_what_is_near_to_ok_and_unopposed_supports_in_part(
    score: float, against: tuple[Sign, ...], bearing: str
) -> None:
    limits = Thresholds(0.6, 0.3, "made up", "made up")
    weak = Judgement(score, "WEAK", "weakly_supported", "", 0, (0, 1), (), against)
    assert bearing_of(weak, limits, "model") == bearing
    assert bearing_of(weak, limits, "similarity") == "near"


def test_a_weak_passage_on_the_subject_is_not_said_to_support() -> None:
    # 4 of the claim's 9 words: WEAK by a little.
    drawer = Drawer({"hill2020": "Green roofs reduce the rainwater."})
    audit = Desk(drawer).audit("Green roofs always reduce the noise heard inside by half.")
    (row,) = audit.rows
    (found,) = row.suggested_queries[0].found
    assert (found.judged, found.bearing) == ("WEAK", "on_the_matter")
    assert "none that plainly says it" in row.reason
    page = render_claims(audit, audit.audit_id)
    assert "**on the matter**" in page
    assert "in part" not in page


@pytest.mark.parametrize(
    "text",
    [
        "Figure 3. Green roofs and the cooling load of offices in summer.",
        "Table 2: Green roofs, cooling load, offices",
        "Green roofs and the cooling load of offices",
        "Green Roofs Versus the Cooling Load of Offices.",
        "# Green roofs reduce the cooling load of offices",
        "Department of Green Roofs, Cooling Street 12, Offices 4410. jane@hull.ac.uk",
    ],
)
def test_headings_captions_and_addresses_are_not_suggested(text: str) -> None:
    (row,) = Desk(Drawer({"hill2020": text})).audit("Green roofs reduce the cooling load.").rows
    assert all(query.found == () for query in row.suggested_queries)


def test_a_contradiction_is_quoted_in_the_sentence_that_says_otherwise() -> None:
    near = "Green roofs and the cooling load of offices were studied."
    denying = "They did not reduce the cooling load of offices."
    drawer = Drawer({"moor2001": f"{near} {denying}"})
    text = "Green roofs reduce the cooling load of offices {#hill2020}."
    (row,) = Desk(drawer).audit(text, "strict").rows
    (found,) = row.counterevidence
    assert found.quote == denying
    assert found.text[found.quote_start : found.quote_end] == denying
    assert (found.bearing, row.status) == ("contradicts", "DISPUTED")


def test_what_no_sentence_contradicts_by_itself_is_no_contradiction() -> None:
    # Half of the claim's words, and the “not”, stand in different sentences.
    drawer = Drawer({"moor2001": "Green roofs reduce it. The load was not measured."})
    text = "Green roofs reduce the cooling load of offices {#hill2020}."
    desk = Desk(drawer)
    (row,) = desk.audit(text, "strict").rows
    assert row.counterevidence == ()
    assert (row.status, "speak" in row.reason) == ("SUPPORTED", False)
    (other,) = desk.audit("Green roofs reduce the cooling load of offices.", "soft").rows
    (found,) = other.suggested_queries[0].found
    assert (found.bearing, found.reason_code) == ("on_the_matter", "not_found")


def test_nothing_speaks_of_it_is_not_said_beside_what_speaks_against_it() -> None:
    drawer = Drawer({"moor2001": "Green roofs do not reduce the cooling load of offices."})
    text = "Green roofs reduce the cooling load of offices {#nobody}."
    (row,) = Desk(drawer).audit(text, "soft").rows
    reason = explain("ERROR", "causal", (), (SuggestedQuery("roofs"),), row.counterevidence)
    assert "speaks against it" in reason
    assert "speaks of it" not in reason


def test_the_locator_of_a_statute_names_article_paragraph_and_item() -> None:
    begun = "第一条 绿化。\n第二条 维护。\n第三条 负责。\n有下列义务：\n（一）检查；"
    goes_on = "（二）green roofs reduce the cooling load of offices；\n（三）报告。\n第四条 施行。"
    passages = [begun, goes_on]
    desk = Desk(Drawer({}), shelf=Shelf([make_document("roofs-act", passages)]))
    hit = replace(
        make_hit("roofs-act", passages[1]), chunk_id="roofs-act:1", page_start=2, page_end=2
    )
    desk.drawer.ask = lambda query, top_k: [hit]  # type: ignore[method-assign]
    (row,) = desk.audit("Green roofs reduce the cooling load of offices.").rows
    (found,) = row.suggested_queries[0].found
    assert found.locator.startswith("第三条第二款第二项, p. ")
    assert "第三条第二款第二项" in row.reason
