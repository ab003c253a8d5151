"""A draft under review: what comes first, judged, edited in place, taken along."""

import codecs
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.auditing.judgements import judgements_of
from rag_assets.auditing.reviewing import (
    Item,
    Review,
    Reviews,
    SentenceEdit,
    choices_of,
    cited_sources,
    differences,
    export_standing,
    find_choice,
    kept_report,
    lay_out_draft,
    marked_sentence,
    replace_sentence,
    shown_parts,
)
from rag_assets.judging import Sign
from rag_assets.model import ChangedMeanwhileError, UsageError, hash_bytes
from rag_assets.retrieval import OpenedLibrary
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, write_raw
from rag_assets_tests.reviewing.drafts import AT, DAY, DRAFT, LEAF, NAME, checked, draft_workspace


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draft_workspace(tmp_path_factory.mktemp("reviewed") / "library").root


@pytest.fixture
def workspace(built: Path, tmp_path: Path) -> Workspace:
    return Workspace.open(shutil.copytree(built, tmp_path / "library"))


def judge(
    reviews: Reviews, library: OpenedLibrary, item: Item, decision: Any, **others: Any
) -> None:
    given = {"by": "Ana", "at": AT, "seen": item.seen, "version": item.version} | others
    reviews.judge(library, NAME, item.key, decision, **given)


def opened(reviews: Reviews) -> Review:
    review = reviews.open(NAME)
    assert review is not None
    return review


def saying(review: Review, words: str) -> Item:
    (item,) = (item for item in review.items if words in item.row.sentence)
    return item


def edit_of(review: Review, item: Item, after: str) -> SentenceEdit:
    start, end = item.row.sentence_start, item.row.sentence_end
    return SentenceEdit(review.draft.digest, start, end, review.draft.text[start:end], after)


def test_what_needs_eyes_comes_first_and_stays_in_its_place(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    assert [item.row.status for item in review.items] == ["MISSING", "ERROR", "OK", "OK"]
    first = review.items[0]
    judge(reviews, library, first, "supported")
    now = opened(reviews)
    assert [item.key for item in now.items] == [item.key for item in review.items]
    assert (now.items[0].row.status, now.items[0].machine.status) == ("OK", "MISSING")
    assert (review.open_count, now.open_count) == (4, 3)


def test_next_previous_and_next_open(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    one, two, three, four = review.items
    judge(reviews, library, two, "needs_work")
    judge(reviews, library, four, "accepted")
    now = opened(reviews)
    assert now.first() == now.items[0]
    assert [item and item.key for item in (now.beside(one.key, 1), now.beside(one.key, -1))] == [
        two.key,
        None,
    ]
    ahead = now.beside(three.key, 1, only_open=True)
    assert ahead is not None
    assert ahead.key == one.key
    judge(reviews, library, one, "supported")
    assert opened(reviews).beside(three.key, 1, only_open=True) is None


def test_a_sentence_is_replaced_and_judged_again_at_once(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    wrong, roofs = saying(review, "trains"), saying(review, "Cool roofs")
    judge(reviews, library, roofs, "needs_work")
    after = "Bridges rust where salt lies in the air {#leaf}."
    now, item = reviews.edit(library, NAME, edit_of(review, wrong, after), by="Ana", at=AT)
    assert item is not None
    assert (item.row.claim, item.row.status) == (after.replace(" {#leaf}", ""), "OK")
    assert now.audit.judged_now == 1
    text = (workspace.drafts / NAME).read_text(encoding="utf-8")
    assert text == DRAFT.replace("Nobody paints trains on Sundays {#leaf}.", after)
    assert saying(now, "Cool roofs").row.status == "WEAK"
    log = (workspace.meta / "version_log.jsonl").read_text(encoding="utf-8").splitlines()
    entry = json.loads(log[-1])
    assert (entry["file"], entry["from"], entry["to"]) == (
        "drafts/chapter.md",
        "Nobody paints trains on Sundays {#leaf}.",
        after,
    )
    assert entry["sha256"]["after"] == hash_bytes(text.encode())


def test_a_draft_that_changed_meanwhile_is_not_written(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    path = workspace.drafts / NAME
    path.write_text("Another hand {#roofs}.\n" + DRAFT, encoding="utf-8")
    before = path.read_bytes()
    edit = edit_of(review, review.items[0], "New {#leaf}.")
    with pytest.raises(ChangedMeanwhileError, match="was edited since this page was loaded"):
        reviews.edit(library, NAME, edit, by="Ana", at=AT)
    assert path.read_bytes() == before
    present = reviews.open(NAME)
    assert present is not None
    assert present.is_edited


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_line_ends_and_byte_order_mark_stay(workspace: Workspace, mark: bytes) -> None:
    path = workspace.drafts / NAME
    path.write_bytes(mark + DRAFT.replace("\n", "\r\n").encode())
    _, _, review = checked(workspace)
    edit = edit_of(review, saying(review, "trains"), "One\ntwo {#leaf}.")
    replace_sentence(workspace, path, edit, by="Ana", at=AT)
    expected = DRAFT.replace("Nobody paints trains on Sundays {#leaf}.", "One\ntwo {#leaf}.")
    assert path.read_bytes() == mark + expected.replace("\n", "\r\n").encode()


def test_what_cannot_be_edited_is_refused_and_left_as_it_was(workspace: Workspace) -> None:
    _, _, review = checked(workspace)
    path = workspace.drafts / NAME
    edit = edit_of(review, review.items[0], "x")
    for other, said in (
        (replace(edit, after=" \n"), "got 0"),
        (replace(edit, after="x" * 20_001), "got 20001"),
        (replace(edit, before="something else"), "is not where it was read"),
    ):
        with pytest.raises(UsageError, match=said):
            replace_sentence(workspace, path, other, by="Ana", at=AT)
    with pytest.raises(UsageError, match="only drafts in Markdown"):
        replace_sentence(workspace, workspace.drafts / "a.docx", edit, by="Ana", at=AT)
    assert path.read_text(encoding="utf-8") == DRAFT


def test_a_judgement_on_what_is_not_there_any_more_is_told(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    item = saying(review, "trains")
    with pytest.raises(ChangedMeanwhileError, match="`leaf` has changed since"):
        judge(reviews, library, item, "supported", version="0" * 64)
    reviews.edit(library, NAME, edit_of(review, item, "Other words {#leaf}."), by="Bo", at=AT)
    with pytest.raises(ChangedMeanwhileError, match="does not hold this sentence"):
        judge(reviews, library, item, "supported")
    judge(reviews, library, saying(review, "Stomata"), "needs_work")
    assert [one.decision for one in judgements_of(workspace).every] == ["needs_work"]


def test_two_windows_the_second_judgement_is_told(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    item = review.items[0]
    judge(reviews, library, item, "supported", by="Bo", comment="p. 3")
    with pytest.raises(ChangedMeanwhileError, match=r"Bo has judged .*p\. 3"):
        judge(reviews, library, item, "unsupported")
    judge(reviews, library, opened(reviews).items[0], "unsupported")
    assert opened(reviews).items[0].row.status == "MISSING"


def test_another_passage_is_chosen_among_those_of_the_source(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    item = saying(review, "trains")
    document = reviews.document(library, item)
    assert document is not None
    every, count = choices_of(document, item.row)
    assert count == len(every) == len(document.passages)
    (choice,), one = choices_of(document, item.row, "SALT winter")
    assert (one, choice.text in LEAF) == (1, True)
    assert find_choice(document, choice.chunk_id) == replace(choice, is_shown=False)
    assert shown_parts(item, choice)[1] == choice.text
    judge(reviews, library, item, "supported", chosen=choice.chunk_id)
    row = opened(reviews).items[0].row
    assert row.person is not None
    assert (row.person.passage, row.person.locator) == (choice.text, choice.locator)
    with pytest.raises(UsageError, match="has no passage 'roofs:0'"):
        judge(reviews, library, opened(reviews).items[0], "supported", chosen="roofs:0")


def test_no_other_file_is_ever_opened(workspace: Workspace) -> None:
    reviews = Reviews(workspace)
    for name in ("../config.yaml", str(workspace.root / "config.yaml"), "", ".", "a.md\0"):
        with pytest.raises(UsageError, match="has no draft"):
            reviews.path(name)


def test_sources_that_stand_are_exported_in_the_order_of_citing(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    found = cited_sources(review.audit)
    assert [(one.doc_uid, one.standing) for one in found] == [
        ("roofs", "stands"),
        ("leaf", "stands"),
        ("nowhere", "falls"),
        ("moss", "uncited"),
    ]
    judge(reviews, library, saying(review, "Cool roofs"), "unsupported")
    made = export_standing(workspace, opened(reviews))
    text = made.files[".bib"].read_text(encoding="utf-8")
    assert "leaf" in text
    assert "roofs" not in text
    assert any("`roofs` (line 3) is left out" in note for note in made.notes)
    judge(reviews, library, saying(review, "Stomata"), "unsupported")
    with pytest.raises(UsageError, match="no source stands yet"):
        export_standing(workspace, opened(reviews))


def test_a_review_opens_with_what_was_kept(workspace: Workspace) -> None:
    reviews, library, review = checked(workspace)
    assert Reviews(workspace).open(NAME) is None
    assert [one.counts for one in Reviews(workspace).summaries()] == [{}]
    outcome = reviews.keep(library, NAME, as_of=DAY)
    again = Reviews(workspace)
    kept = opened(again)
    assert kept.audit.audit_id == outcome.audit.audit_id
    assert kept_report(workspace, kept) == outcome.html
    (summary,) = again.summaries()
    assert (summary.counts["OK"], summary.is_edited, summary.is_outdated) == (2, False, False)
    judge(reviews, library, review.items[0], "supported")
    assert again.summaries()[0].attention == summary.attention - 1
    assert opened(again).items[0].row.status == "OK"


def test_a_library_that_was_published_since_is_told(workspace: Workspace) -> None:
    reviews, _, review = checked(workspace)
    assert review.is_current
    write_raw(workspace, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    build(workspace.namespace("thesis"))
    assert not opened(reviews).is_current


def test_differences_are_what_speaks_against_and_then_for(workspace: Workspace) -> None:
    (workspace.drafts / NAME).write_text('Roofs "stay warmer than dark ones" {#roofs}.\n')
    _, _, review = checked(workspace)
    found = differences(review.items[0].row)
    assert found[0].speaks == "against"
    assert [one.speaks for one in found] == sorted(one.speaks for one in found)


@pytest.mark.parametrize(
    ("sentence", "claims", "marked"),
    [
        ("It fell by 5 % to 58.3 and 5.5.", ["5", "58.3"], ["5", "58.3"]),
        ("降温 5 度，再降 5 度。", ["5 度"], ["5 度", "5 度"]),
        ("A <b> stands here.", ["<b>", " ", "nowhere"], ["<b>"]),
        ("One two three.", ["two three", "three"], ["two three"]),
        ("Nothing.", [], []),
    ],
)
def test_the_words_that_the_source_does_not_say_are_marked(
    workspace: Workspace, sentence: str, claims: list[str], marked: list[str]
) -> None:
    _, _, review = checked(workspace)
    signs = tuple(Sign("number", claim, "", "") for claim in claims)
    row = replace(review.items[0].row, sentence=sentence, speaks_against=signs, quotations=())
    pieces = marked_sentence(row)
    assert "".join(text for text, _ in pieces) == sentence
    assert [text for text, is_against in pieces if is_against] == marked


def test_the_draft_is_laid_out_with_the_items_of_each_sentence(workspace: Workspace) -> None:
    _, _, review = checked(workspace)
    laid = lay_out_draft(review)
    assert [len(items) for items in laid.sentences] == [1, 1, 1, 1]
    notes = [
        piece.note for block in laid.blocks for piece in block.pieces if piece.note is not None
    ]
    assert notes == [0, 1, 2, 3]
