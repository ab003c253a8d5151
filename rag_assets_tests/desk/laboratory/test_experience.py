"""Experience by its pages: filters, items with their sources, edits of two people, the log."""

from pathlib import Path

from rag_assets.lab.experience import Item, add_note
from rag_assets_tests.desk.laboratory.visits import HOSTILE, Visit, text_of
from rag_assets_tests.lab.laboratories import AT, put_run


def note(visited: Visit, content: str, **values: object) -> Item:
    with visited.lab.store.writing(AT, "ana") as writing:
        return add_note(writing, {"content": content, **values})


def form_of(item: Item, **more: str) -> dict[str, str]:
    values = {"seen": str(item.version), "do": "edit", "role": item.role, "kind": item.kind,
              "title": item.title, "description": item.description, "content": item.content,
              "reason": ""}  # fmt: skip
    return {**values, **more}


def test_items_are_found_by_role_status_and_type(visited: Visit) -> None:
    note(visited, "For all.")
    note(visited, "For the MOF.", role="mof_expert")
    gone = note(visited, "Gone.", role="mof_expert")
    visited.post(f"/lab/experience/mem:{gone.id}", **form_of(gone, do="archive", reason="wrong"))
    put_run(visited.lab, "r1")
    visited.give("r1")
    for query, there, missing in (
        ("", ("For all.", "For the MOF.", "Copper helps."), ("Gone.",)),
        ("?role=mof_expert&status=", ("For the MOF.", "Gone."), ("For all.",)),
        ("?status=archived", ("Gone.",), ("For all.", "Copper helps.")),
        ("?type=reasoningbank_item", ("Copper helps.", "r1"), ("For all.",)),
        ("?type=manual_note&role=global", ("For all.",), ("Copper helps.", "For the MOF.")),
    ):
        text = visited.see(f"/lab/experience{query}")
        assert all(each in text for each in there), query
        assert not any(each in text for each in missing), query
    given = visited.see("/lab/experience?role=mof_expert&question=For+the+MOF")
    assert "What an agent would be given" in given
    assert "Gone." not in given


def test_an_item_is_written_by_hand_with_further_fields(visited: Visit) -> None:
    form = {"seen": "0", "do": "field", "role": "tio2_expert", "kind": "failure", "title": HOSTILE,
            "description": "", "content": "Too much Mo.", "reason": "seen twice"}  # fmt: skip
    answer = visited.post("/lab/experience/new", **form, field=["solvent"], field_text=["water"])
    assert answer.text.count('name="field"') == 2
    answer = visited.post(
        "/lab/experience/new", **{**form, "do": "add"}, field=["solvent", ""],
        field_text=["water", ""],
    )  # fmt: skip
    (item,) = visited.items()
    assert (item.role, item.kind, item.type) == ("tio2_expert", "failure", "manual_note")
    assert item.extra == {"solvent": "water"}
    assert HOSTILE in text_of(answer)
    assert "<img" not in answer.text
    assert "seen twice" in visited.see("/lab/experience/log")
    empty = visited.post("/lab/experience/new", 400, **{**form, "do": "add", "content": " "})
    assert "needs a &#39;content&#39;" in empty.text
    twice = visited.post(
        "/lab/experience/new", 400, **{**form, "do": "add"}, field=["a", "a"], field_text=["1", "2"]
    )
    assert "occurs twice" in twice.text


def test_an_edit_keeps_what_the_form_does_not_show_and_is_logged(visited: Visit) -> None:
    put_run(visited.lab, "r1")
    visited.give("r1")
    (item,) = visited.items()
    assert item.extra["recipe"]["M1"] == "Cu"
    answer = visited.post(
        f"/lab/experience/mem:{item.id}", **form_of(item, content="Copper helps a lot.",
                                                    reason="clearer")
    )  # fmt: skip
    (edited,) = visited.items()
    assert (edited.content, edited.extra) == ("Copper helps a lot.", item.extra)
    text = text_of(answer)
    assert "Copper helps. → Copper helps a lot. clearer" in text
    assert "r1 ( comparison and what was learned )" in text
    assert "version 2" in text


def test_the_second_editor_is_told_and_overwrites_on_purpose_only(visited: Visit) -> None:
    item = note(visited, "Old.")
    path = f"/lab/experience/mem:{item.id}"
    visited.post(path, **form_of(item, content="First."))
    answer = visited.post(path, 409, **form_of(item, content="Second."))
    text = text_of(answer)
    assert "content: 'Old.' → 'First.'" in text
    assert "Second." in answer.text
    assert visited.items()[0].content == "First."
    assert 'name="seen" value="2"' in answer.text
    visited.post(path, **form_of(item, content="Second.", seen="2"))
    assert visited.items()[0].content == "Second."
    assert "you have seen 1" in visited.post(path, 409, **form_of(item, do="archive")).text


def test_archived_items_open_and_come_back(visited: Visit) -> None:
    item = note(visited, "Old.")
    path = f"/lab/experience/mem:{item.id}"
    text = text_of(visited.post(path, **form_of(item, do="archive", reason="wrong")))
    assert "It is archived" in text
    assert "wrong" in text
    visited.post(path, **form_of(item, do="restore", seen="2"))
    assert visited.items()[0].is_active
    # By its id alone, as old links name it.
    assert "Old." in visited.see(f"/lab/experience/{item.id}")


def test_a_form_without_its_version_writes_nothing(visited: Visit, root: Path) -> None:
    item = note(visited, "Old.")
    path = f"/lab/experience/mem:{item.id}"
    assert "which version" in visited.post(path, 400, **form_of(item, content="x", seen="")).text
    assert visited.items()[0].content == "Old."
    stranger = visited.client.post(
        path, data=form_of(item, content="x"), headers={"X-Desk-Form": "made up"}
    )
    assert stranger.status_code == 400
    assert visited.items()[0].content == "Old."
