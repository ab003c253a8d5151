from pathlib import Path

import pytest

from rag_assets.auditing import CitationAudit, CitedDocument, VerdictStore
from rag_assets.auditing.verification import KEPT_DAYS
from rag_assets.storage import LocalStore

from .world import SETTINGS, WordEncoder, audit_of, make_document

WAGES = make_document("wages", ["Wages rose by three percent. Rents held.", "Bridges need paint."])
PRICES = make_document("prices", ["Prices fell at once."])
TEXT = "Wages rose by three percent {#wages}. Rents held {#wages}. Prices fell {#prices}."


def notify(sentence: str) -> None:
    raise AssertionError(sentence)


def stored(tmp_path: Path) -> VerdictStore:
    return VerdictStore(LocalStore(tmp_path), "judgements.jsonl", tmp_path / "lock")


def judged(
    text: str, store: VerdictStore, *documents: CitedDocument, **changes: object
) -> tuple[CitationAudit, int]:
    """Return the audit and how many texts were encoded for it."""
    encoder = WordEncoder()
    settings = SETTINGS.model_copy(update=changes)
    audit = audit_of(text, documents or (WAGES, PRICES), encoder, settings, store)
    store.save(notify)
    return audit, sum(count for _, count in encoder.batches)


def test_second_run_encodes_and_judges_nothing(tmp_path: Path) -> None:
    first, encoded = judged(TEXT, stored(tmp_path))
    assert (first.judged_now, encoded > 0) == (3, True)
    second, encoded = judged(TEXT, stored(tmp_path))
    assert (second.judged_now, encoded) == (0, 0)
    assert second == first


def test_edited_sentence_is_judged_again_and_no_other(tmp_path: Path) -> None:
    judged(TEXT, stored(tmp_path))
    edited = "A new beginning.\n\n" + TEXT.replace("Rents held", "Rents held everywhere")
    audit, _ = judged(edited, stored(tmp_path))
    assert audit.judged_now == 1
    assert audit == judged(edited, VerdictStore())[0]


def test_verdicts_are_shared_between_drafts_and_uids(tmp_path: Path) -> None:
    judged(TEXT, stored(tmp_path))
    renamed = make_document("pay-2020", [p.text for p in WAGES.passages])
    audit, _ = judged("Another draft says: rents fell. Rents held {#pay-2020}.", stored(tmp_path),
                      renamed)  # fmt: skip
    assert audit.judged_now == 0
    assert audit.rows[0].chunk_id == "pay-2020:0"


def test_changed_source_has_exactly_its_verdicts_judged_again(tmp_path: Path) -> None:
    judged(TEXT, stored(tmp_path))
    changed = make_document("prices", ["Prices fell at once. Or not."])
    audit, _ = judged(TEXT, stored(tmp_path), WAGES, changed)
    assert audit.judged_now == 1
    assert audit == judged(TEXT, VerdictStore(), WAGES, changed)[0]


@pytest.mark.parametrize("changes", [{"k": 3}, {"threshold": 0.6}, {"scorer": "facts"}])
def test_other_settings_are_other_judgements(tmp_path: Path, changes: dict[str, object]) -> None:
    judged(TEXT, stored(tmp_path))
    assert judged(TEXT, stored(tmp_path), **changes)[0].judged_now == 3


def test_other_page_of_the_same_text_is_another_judgement(tmp_path: Path) -> None:
    judged("Rents held {#wages, p. 1}.", stored(tmp_path))
    assert judged("Rents held {#wages, p. 2}.", stored(tmp_path))[0].judged_now == 1


def test_sentence_that_stands_twice_is_judged_once() -> None:
    audit, _ = judged("Rents held {#wages}. So: Rents held {#wages}.\n\nRents held {#wages}.",
                      VerdictStore())  # fmt: skip
    assert (len(audit.rows), audit.judged_now) == (3, 2)


def test_damaged_line_is_judged_again_and_the_rest_is_kept(tmp_path: Path) -> None:
    judged(TEXT, stored(tmp_path))
    path = tmp_path / "judgements.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0][:40], *lines[1:]]), encoding="utf-8")
    assert judged(TEXT, stored(tmp_path))[0].judged_now == 1


def test_two_writers_keep_what_the_other_wrote(tmp_path: Path) -> None:
    one, two = stored(tmp_path), stored(tmp_path)
    judged("Rents held {#wages}.", one)
    judged("Prices fell {#prices}.", two)
    assert (
        judged("Rents held {#wages}. Prices fell {#prices}.", stored(tmp_path))[0].judged_now == 0
    )


def test_judgement_that_nobody_asked_for_is_forgotten(tmp_path: Path) -> None:
    import datetime

    import time_machine

    judged(TEXT, stored(tmp_path))
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=KEPT_DAYS + 1)
    with time_machine.travel(later, tick=True):
        judged("Prices fell {#prices}.", stored(tmp_path))
    assert judged(TEXT, stored(tmp_path))[0].judged_now == 2
