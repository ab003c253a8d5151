"""Operations on chunks: what they do, and that they survive or wait, told and with both texts."""

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from benchmarks.edited_chunks import edited_pairs, measure, random_operations, shown, target
from rag_assets.chunking.editing.folding import Cut, Numbered, Operation, fold
from rag_assets_tests.editing.made_up import Text, make_text

SENTENCES = (
    "Cool roofs reflect sunlight and stay cooler than dark ones in every summer that was seen.",
    "Results",
    "The heat-island effect is strongest on calm nights without any wind or cloud above town.",
    "Results",
    "Stomata close when the air is dry, and the leaf saves water, as its grower would wish it.",
    "Night ventilation flushes the warmth of the day out of the walls before the morning comes.",
)
TEXT = Text(SENTENCES)


def done(cut: Cut, *operations: Operation) -> list[str]:
    edited = fold(cut, [Numbered(n, each) for n, each in enumerate(operations, start=1)])
    assert edited.conflicts == ()
    return [shown(cut, piece) for piece in edited.pieces]


def test_an_edited_text_stands_beside_the_printed_one() -> None:
    cut = TEXT.cut(1)
    edit = Operation("edit_text", target(cut, cut.chunks[2]), text="Calm nights are warm.")
    edited = fold(cut, [Numbered(1, edit)])
    assert edited.pieces[2].edited == "Calm nights are warm."
    assert cut.print.slice(*edited.pieces[2].span) == SENTENCES[2]
    back = Operation("edit_text", replace(edit.target, shown=edit.text), text=SENTENCES[2])
    assert fold(cut, [Numbered(1, edit), Numbered(2, back)]).pieces[2].edited is None


def test_split_and_merge_keep_the_printed_slices() -> None:
    cut = TEXT.cut(1)
    at = len("".join(["Cool", "roofs", "reflect"]))
    split = Operation("split_at", target(cut, cut.chunks[0]), shown_at=at, printed_at=at)
    halves = done(cut, split)[:2]
    assert halves == ["Cool roofs reflect", SENTENCES[0][len("Cool roofs reflect ") :]]
    merge = Operation("merge_with_next", target(cut, cut.chunks[4]), target(cut, cut.chunks[5]))
    assert done(cut, merge)[-1] == f"{SENTENCES[4]}\n\n{SENTENCES[5]}"


def test_what_does_not_follow_in_print_is_not_merged() -> None:
    cut = TEXT.cut(1)
    move = Operation("move_after", target(cut, cut.chunks[5]), target(cut, cut.chunks[0]))
    merge = Operation("merge_with_next", target(cut, cut.chunks[0]), target(cut, cut.chunks[5]))
    edited = fold(cut, [Numbered(1, move), Numbered(2, merge)])
    assert [conflict.number for conflict in edited.conflicts] == [2]
    assert "follow one another in print" in edited.conflicts[0].reason


def test_moves_reparents_and_switches() -> None:
    cut = TEXT.cut(1, parents=3)
    last, first = cut.chunks[5], cut.chunks[0]
    order = done(cut, Operation("move_before", target(cut, last), target(cut, first)))
    assert order == [SENTENCES[5], *SENTENCES[:5]]
    edited = fold(cut, [Numbered(1, Operation("disable", target(cut, first)))])
    assert [piece.is_enabled for piece in edited.pieces] == [False] + [True] * 5


def test_equal_texts_are_told_apart_by_what_is_printed_around_them() -> None:
    cut = TEXT.cut(1)
    disable = Operation("disable", target(cut, cut.chunks[3]))
    assert [p.is_enabled for p in fold(cut, [Numbered(1, disable)]).pieces].index(False) == 3
    # The second is gone: the first is another one, though its text is the same.
    without = Text(SENTENCES[:3] + SENTENCES[4:]).cut(1)
    edited = fold(without, [Numbered(1, disable)])
    assert edited.applied == ()
    assert all(piece.is_enabled for piece in edited.pieces)
    # The first is gone: it is the second that was meant.
    other = Text(SENTENCES[:1] + SENTENCES[2:]).cut(1)
    edited = fold(other, [Numbered(1, disable)])
    assert [p.is_enabled for p in edited.pieces] == [True, True, False, True, True]


def test_an_edited_source_makes_a_conflict_with_both_texts() -> None:
    cut = TEXT.cut(1)
    edit = Operation("edit_text", target(cut, cut.chunks[2]), text="Calm nights are warm.")
    changed = SENTENCES[2].replace("strongest", "weakest")
    now = Text((*SENTENCES[:2], changed, *SENTENCES[3:])).cut(1)
    edited = fold(now, [Numbered(1, edit)])
    (conflict,) = edited.conflicts
    assert (conflict.seen, conflict.now) == (SENTENCES[2], changed)
    assert conflict.reason == "its text is not printed any more"
    assert edited.pieces == now.chunks, "a conflict touches nothing"


@pytest.mark.parametrize(
    "now",
    [
        (*SENTENCES[:2], SENTENCES[2].replace("strongest", "weakest"), *SENTENCES[3:]),
        (SENTENCES[2].replace("calm", "still"), *SENTENCES[3:]),
        ("Other words stand before.", SENTENCES[2].replace("calm", "still"), "Others behind."),
    ],
    ids=["edited", "now the first", "alone"],
)
@pytest.mark.parametrize("size", [1, 2])
def test_what_was_disabled_stays_so_where_its_source_is_edited(
    now: tuple[str, ...], size: int
) -> None:
    cut, changed = TEXT.cut(1), Text(now).cut(size)
    disable = Operation("disable", target(cut, cut.chunks[2]))
    enable = Operation("enable", target(cut, cut.chunks[2]))
    edited = fold(changed, [Numbered(1, disable)])
    assert [conflict.number for conflict in edited.conflicts] == [1]
    assert "is disabled now" in edited.conflicts[0].reason
    off = [shown(changed, piece) for piece in edited.pieces if not piece.is_enabled]
    assert len(off) == 1
    assert "heat-island effect" in off[0]
    # Nor does what a person has taken in again go.
    again = fold(changed, [Numbered(1, disable), Numbered(2, enable)])
    assert all(piece.is_enabled for piece in again.pieces)


def test_what_was_disabled_and_is_gone_disables_nothing_else() -> None:
    cut = TEXT.cut(1)
    disable = Operation("disable", target(cut, cut.chunks[2]))
    edited = fold(Text((*SENTENCES[:2], *SENTENCES[3:])).cut(1), [Numbered(1, disable)])
    assert len(edited.conflicts) == 1
    assert all(piece.is_enabled for piece in edited.pieces)


def test_an_operation_on_one_that_waits_waits_too() -> None:
    cut = TEXT.cut(1)
    edit = Operation("edit_text", target(cut, cut.chunks[0]), text="White roofs.")
    again = Operation("edit_text", replace(edit.target, shown="White roofs."), text="Roofs.")
    edited = fold(cut, [Numbered(2, again)])
    assert [conflict.number for conflict in edited.conflicts] == [2]
    assert edited.conflicts[0].seen == "White roofs."
    assert edited.conflicts[0].now == SENTENCES[0]


def test_a_passage_that_is_cut_otherwise_is_cut_out_again() -> None:
    cut, other = TEXT.cut(1), TEXT.cut(4)
    edit = Operation("edit_text", target(cut, cut.chunks[2]), text="Calm nights are warm.")
    edited = fold(other, [Numbered(1, edit)])
    assert edited.conflicts == ()
    assert [shown(other, piece) for piece in edited.pieces] == [
        "\n\n".join(SENTENCES[:2]),
        "Calm nights are warm.",
        SENTENCES[3],
        "\n\n".join(SENTENCES[4:]),
    ]
    # Larger than what is there now: it takes in several.
    wide = fold(cut, [Numbered(1, Operation("disable", target(other, other.chunks[0])))])
    assert wide.conflicts == ()
    assert [p.is_enabled for p in wide.pieces] == [False, True, True]


def test_an_operation_that_waits_leaves_no_trace() -> None:
    cut = TEXT.cut(1)
    merge = Operation("merge_with_next", target(cut, cut.chunks[4]), target(cut, cut.chunks[5]))
    # The first of the two would be cut out, the second is another one now.
    changed = Text((*SENTENCES[:5], "Nothing flushes the warmth of the day out.")).cut(3)
    edited = fold(changed, [Numbered(1, merge)])
    assert [conflict.number for conflict in edited.conflicts] == [1]
    assert edited.pieces == changed.chunks


def test_white_space_is_no_part_of_what_is_printed() -> None:
    cut = TEXT.cut(1)
    edit = Operation("edit_text", target(cut, cut.chunks[2]), text="Calm nights are warm.")
    broken = Text(tuple(s.replace(" ", "\n ") for s in SENTENCES)).cut(1)
    assert fold(broken, [Numbered(1, edit)]).pieces[2].edited == "Calm nights are warm."


@pytest.mark.parametrize("seed", range(4))
def test_operations_outlive_shifts_and_other_cuts(seed: int) -> None:
    text = make_text(seed)
    cut = text.cut(3)
    operations = random_operations(seed, cut, 60)
    front = Text(("A new preface, with words that nothing else has.", *text.sentences)).cut(3)
    for changed in (front, text.cut(2), text.cut(5)):
        became = measure(cut, operations, changed)
        assert became["unchanged"] == 60
        assert became["unchanged_applied"] >= 57
        assert_whole(changed, operations, became)


@pytest.mark.parametrize("seed", range(4))
def test_after_an_edit_of_the_source_everything_is_applied_or_told(seed: int) -> None:
    text, draw = make_text(seed), random.Random(seed)
    cut = text.cut(3)
    operations = random_operations(seed, cut, 60)
    sentences = list(text.sentences)
    for place in draw.sample(range(len(sentences)), 6):
        sentences[place] = sentences[place].replace("e", "ee") + " New."
    changed = Text(tuple(sentences)).cut(3)
    became = measure(cut, operations, changed)
    assert 0 < became["unchanged"] < 60
    assert became["unchanged_applied"] >= 0.95 * became["unchanged"]
    assert_whole(changed, operations, became)


def assert_whole(cut: Cut, operations: list[Numbered], became: Mapping[str, int]) -> None:
    """Nothing is lost, unexplained or where nobody put it; all that is printed is in one chunk."""
    assert (became["lost"], became["unexplained"], became["misplaced"]) == (0, 0, 0)
    covered = sorted(piece.span for piece in fold(cut, operations).pieces)
    assert (covered[0][0], covered[-1][1]) == (0, len(cut.print.visible))
    assert all(left[1] == right[0] for left, right in pairwise(covered))


def test_what_is_measured_can_fail() -> None:
    cut = TEXT.cut(1)
    edit = Operation("edit_text", target(cut, cut.chunks[2]), text="Calm nights are warm.")
    pieces = fold(cut, [Numbered(1, edit)]).pieces
    moved = [replace(piece, edited="Elsewhere.") if n == 0 else piece
             for n, piece in enumerate(pieces)]  # fmt: skip
    assert len(edited_pairs(cut, moved) - edited_pairs(cut, pieces)) == 1
    other = Text(("Nothing of it is here.",)).cut(1)
    became = measure(cut, [Numbered(1, edit)], other)
    assert (became["applied"], became["unchanged"], became["lost"]) == (0, 0, 0)
