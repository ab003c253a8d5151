"""The audit itself: status, suggestions, counter-evidence, and no work done twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from rag_assets.auditing import VerdictStore, parse_draft, verify_citations
from rag_assets.auditing.claims import (
    ClaimAudit,
    ClaimRow,
    CounterMode,
    Searcher,
    SearchStore,
    make_claim_audit,
)
from rag_assets.auditing.record import audit_to_json
from rag_assets.auditing.report import render_claims
from rag_assets.judging import Judgement, PassageText, ScorerName, Sign, Thresholds, load_scorer
from rag_assets.model.settings import AuditSettings
from rag_assets.retrieval import Hit
from rag_assets_tests.auditing.world import SETTINGS, Shelf, WordEncoder, make_document

ROOFS = "Green roofs reduce the cooling load of offices in summer."
WALLS = "Planted walls do not reduce the noise of roads."
SHELF = [
    make_document("hill2020", [ROOFS, "Sedum flowers in May."], title="Roofs"),
    make_document("lane2019", [WALLS], title="Walls"),
]


class Referee:
    """Judges by words in common; a `not` on one side only is a contradiction."""

    name: ScorerName = "llm"
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
            against = (Sign("words", "", "not", "The source says not."),)
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

    shelf: Shelf = field(default_factory=lambda: Shelf(SHELF))
    referee: Any = field(default_factory=Referee)
    searches: SearchStore = field(default_factory=SearchStore)
    verdicts: VerdictStore = field(default_factory=VerdictStore)
    drawer: Drawer = field(init=False)

    def __post_init__(self) -> None:
        texts = {
            uid: " ".join(p.text for p in self.shelf.load(ref).passages)
            for _, uid in self.shelf.uids()
            for ref in self.shelf.find(uid, None)
        }
        self.drawer = Drawer(texts)

    def audit(self, text: str, mode: CounterMode = "off") -> ClaimAudit:
        settings = AuditSettings(counterevidence=mode)
        return make_claim_audit(
            parse_draft("chapter.md", text.encode()), self.shelf, WordEncoder(),
            Searcher(self.drawer, self.searches), SETTINGS, settings, namespaces=["thesis"],
            store=self.verdicts, make_scorer=lambda _settings, _encoder: self.referee,
        )  # fmt: skip


def shelf_of(*texts: str) -> Shelf:
    return Shelf([make_document(f"doc{n}", [text]) for n, text in enumerate(texts, start=1)])


def only_row(text: str, mode: CounterMode = "off") -> ClaimRow:
    (row,) = Desk().audit(text, mode).rows
    return row


def test_what_cites_something_itself_is_counted_and_not_listed() -> None:
    audit = Desk().audit(
        "Green roofs reduce the cooling load of offices {#hill2020}. Walls always stand.[^1]\n\n"
        "Planted walls reduce the noise of all roads.\n\n[^1]: See the survey. {#lane2019}\n"
    )
    assert [row.claim_text for row in audit.rows] == [
        "Planted walls reduce the noise of all roads."
    ]
    assert audit.cited == 2
    page = render_claims(audit)
    assert "2 more cite sources: `rag verify-citations` judges those." in page
    assert "load of offices {#hill2020}" not in page


def test_nothing_that_is_not_listed_is_judged() -> None:
    desk = Desk()
    desk.audit("Green roofs reduce the cooling load of offices {#hill2020}.")
    assert desk.referee.asked == []


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("Green roofs reduce the cooling load of offices.", "SUPPORTED"),
        ("Green roofs raise the rent of all landlords.", "WEAK"),
        ("Penguins always breed on sea ice.", "EVIDENCE_NEEDED"),
    ],
)
def test_the_status_follows_from_the_end_of_the_paragraph(sentence: str, status: str) -> None:
    (row,) = Desk().audit(f"{sentence} {{#hill2020}}".replace(". {", ". It ends here. {")).rows
    assert row.status == status
    (evidence,) = row.linked_evidence
    assert (evidence.linkage, evidence.verdict.doc_uid) == ("paragraph", "hill2020")
    # The words are those of the verdict, so that they cannot say otherwise than it does.
    assert evidence.verdict.reason in row.reason


def test_a_suggestion_is_the_verdict_that_a_citation_would_get() -> None:
    desk = Desk()
    claim = "Green roofs reduce the cooling load of offices."
    (row,) = desk.audit(claim).rows
    best = row.suggested_queries[0].found[0]
    cited = verify_citations(
        parse_draft("chapter.md", f"{claim[:-1]} {{#hill2020}}.".encode()), desk.shelf,
        WordEncoder(), SETTINGS, store=desk.verdicts,
        make_scorer=lambda _settings, _encoder: desk.referee,
    )  # fmt: skip
    (verdict,) = cited.rows
    assert cited.judged_now == 0
    for name in ("status", "reason", "reason_code", "score", "quote", "locator", "passages"):
        assert getattr(best, name) == getattr(verdict, name)


def test_a_suggested_query_shows_what_it_finds_and_how_to_cite_it() -> None:
    row = only_row("Green roofs reduce the cooling load of offices.")
    (query,) = row.suggested_queries
    best = query.found[0]
    assert (best.cites, best.status, best.locator) == ("hill2020", "OK", "p. 1")
    assert best.quote == ROOFS
    assert "{#hill2020} (p. 1) says it: read it and cite it." in row.reason


def test_that_nothing_citable_is_there_is_said() -> None:
    row = only_row("Penguins always breed on antarctic sea ice.")
    assert all(query.found == () for query in row.suggested_queries)
    assert "Nothing citable in the index speaks of it" in row.reason


def test_what_must_not_be_cited_is_never_suggested() -> None:
    shelf = Shelf([make_document("rubric", [ROOFS], citable=False)])
    (row,) = Desk(shelf).audit("Green roofs reduce the cooling load of offices.").rows
    assert all(query.found == () for query in row.suggested_queries)


def test_counterevidence_is_off_listed_or_counted() -> None:
    shelf = shelf_of("Green roofs do not reduce the cooling load of offices.")
    text = "Green roofs reduce the cooling load of offices."
    found = {mode: Desk(shelf).audit(text, mode).rows[0] for mode in ("off", "soft", "strict")}
    assert found["off"].counterevidence == ()
    assert [item.doc_uid for item in found["soft"].counterevidence] == ["doc1"]
    assert found["soft"].status == "EVIDENCE_NEEDED"
    assert found["strict"].status == "DISPUTED"
    assert "another document says otherwise" in found["strict"].reason.lower()
    assert only_row(text, "strict").status == "EVIDENCE_NEEDED"


FIGURES = "White roofs lower the temperature of rooms by 1.8 degrees in July."
OTHERS = "Green roofs lower the temperature of rooms by 2.1 degrees in July."


@pytest.mark.parametrize("mode", ["soft", "strict"])
def test_a_figure_about_another_subject_disputes_nothing(mode: CounterMode) -> None:
    audit = Desk(shelf_of(OTHERS), load_scorer(SETTINGS.model_copy(update={"scorer": "facts"})))
    made = audit.audit(FIGURES, mode)
    (row,) = made.rows
    assert (row.status, row.counterevidence) == ("EVIDENCE_NEEDED", ())
    (found,) = row.suggested_queries[0].found
    assert found.reason_code == "facts_differ"
    assert found.speaks_against == ()
    assert "of the same thing or of another" in found.reason
    assert "Correct" not in render_claims(made)
    assert any("Counter-evidence was not looked for" in warning for warning in made.warnings)


def test_without_a_reader_nothing_is_said_to_support() -> None:
    desk = Desk(referee=load_scorer(SETTINGS.model_copy(update={"scorer": "facts"})))
    audit = desk.audit(
        "Green roofs reduce the cooling load of all offices. It ends here. {#hill2020}\n\n"
        "Green roofs reduce the load of every office in hot summers.\n"
    )
    covered, bare = audit.rows
    assert (covered.status, covered.urgency) == ("WEAK", 4)
    assert "nobody has read it" in covered.reason
    assert "nearest, not read" in bare.reason
    assert "supports" not in covered.reason + bare.reason


def test_what_needs_eyes_first_is_shown_first_and_json_keeps_the_order_of_the_draft() -> None:
    denied = "Planted walls reduce the noise of roads."
    supported = "Green roofs reduce the cooling load of offices."
    unknown = "Penguins always breed on sea ice."
    audit = Desk().audit(f"{supported} It ends here. {{#hill2020}}\n\n{unknown}\n\n{denied}\n")
    assert [row.claim_text for row in audit.rows] == [supported, unknown, denied]
    assert [row.urgency for row in audit.rows] == [5, 2, 0]
    page = render_claims(audit)
    places = [page.index(text) for text in (denied, unknown, supported)]
    assert places == sorted(places)


def test_an_unchanged_sentence_is_neither_searched_nor_judged_again() -> None:
    desk = Desk()
    first = "Penguins always breed on sea ice."
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
    assert audit_to_json(one) == audit_to_json(other)
    assert Desk().audit(text + " More.").audit_id != one.audit_id


def test_the_page_has_the_specified_table_and_the_sources() -> None:
    audit = Desk().audit(
        "Green roofs reduce the cooling load of offices. Penguins | always * breed on ice.\n\n"
        "The end {#hill2020}.\n"
    )
    page = render_claims(audit)
    head = "| claim_id | claim_text | claim_type | linked_evidence | status | suggested_queries |"
    assert head in page
    assert "- `thesis:hill2020` Roofs" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == 2
    assert rows[1].replace("\\|", "").count("|") == 7
