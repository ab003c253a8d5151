"""What holds for the uids of every library, whatever came before."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.workspace import (
    Binding,
    Claim,
    reconcile,
)
from rag_assets_tests.laws.strategies import bindings, raw_folders

EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True, database=None)


@EXAMPLES
@given(bindings, raw_folders())
def test_every_content_has_one_uid_of_its_own_or_is_withheld(
    journal: list[Binding], claims: list[Claim]
) -> None:
    found = reconcile(journal, claims)
    living = {claim.content_hash for claim in claims}
    assert living == found.uids.keys() | found.withheld.keys()
    assert not found.uids.keys() & found.withheld.keys()
    assert len(set(found.uids.values())) == len(found.uids)


@EXAMPLES
@given(st.lists(raw_folders(), min_size=1, max_size=5))
def test_reconciling_again_changes_nothing(folders: list[list[Claim]]) -> None:
    journal: list[Binding] = []
    for claims in folders:
        found = reconcile(journal, claims)
        journal += found.events
        again = reconcile(journal, claims)
        assert again.events == ()
        assert (again.uids, again.withheld) == (found.uids, found.withheld)


@EXAMPLES
@given(bindings, raw_folders())
def test_order_of_arrival_decides_nothing(journal: list[Binding], claims: list[Claim]) -> None:
    assert reconcile(journal, claims) == reconcile(journal, claims[::-1])


@EXAMPLES
@given(st.lists(raw_folders(), min_size=2, max_size=5))
def test_living_content_keeps_its_uid_unless_a_pin_moves_it(folders: list[list[Claim]]) -> None:
    journal: list[Binding] = []
    before: dict[str, str] = {}
    for claims in folders:
        found = reconcile(journal, claims)
        pinned = {claim.content_hash for claim in claims if claim.pin}
        for content, uid in before.items():
            if content in found.uids and content not in pinned:
                assert found.uids[content] == uid
        journal += found.events
        before = found.uids


@EXAMPLES
@given(st.lists(raw_folders(), min_size=2, max_size=5))
def test_uid_goes_on_to_other_content_only_by_an_edit_at_its_path_or_a_pin(
    folders: list[list[Claim]],
) -> None:
    journal: list[Binding] = []
    for claims in folders:
        owners = {binding.doc_uid: binding.content_hash for binding in journal}
        at_path = {binding.path: binding.doc_uid for binding in journal}
        known = {binding.content_hash for binding in journal}
        pins = {(claim.content_hash, claim.pin) for claim in claims}
        found = reconcile(journal, claims)
        for content, uid in found.uids.items():
            before = {b.doc_uid for b in journal if b.content_hash == content}
            if owners.get(uid) in {None, content} or uid in before or (content, uid) in pins:
                continue
            paths = [claim.path for claim in claims if claim.content_hash == content]
            assert content not in known
            assert any(at_path.get(path) == uid for path in paths)
        journal += found.events
