"""The store: several write, a kill leaves all or nothing, laboratories of before are read."""

import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.lab import store
from rag_assets.lab.experience import (
    add_note,
    delta_of,
    edit_item,
    edit_log,
    list_extractions,
    list_items,
    read_template,
    save_template,
)
from rag_assets.lab.feedback import Strategy, find_report, list_feedback
from rag_assets.lab.importing import import_experiments, read_sheet
from rag_assets.lab.laboratory import Laboratory, lab_file, open_laboratory
from rag_assets.lab.products import (
    add_product,
    find_product,
    list_presets,
    list_products,
    rename_product,
    save_preset,
)
from rag_assets.lab.runs import list_runs, read_run, record_run
from rag_assets.lab.teaching import give_feedback, withdraw_feedback
from rag_assets.model import (
    ChangedMeanwhileError,
    ConfigurationError,
    DamagedFileError,
    DiskFullError,
    LockedError,
    UsageError,
)
from rag_assets.workspace import Workspace
from rag_assets_tests.lab.laboratories import (
    AT,
    PRODUCTS,
    form,
    make_laboratory,
    make_workspace,
    put_run,
    run_of,
    stored,
)


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    made = make_laboratory(tmp_path / "lab")
    put_run(made, "r1")
    put_run(made, "r2")
    return made


def fill(lab: Laboratory) -> None:
    """Do a little of everything."""
    give_feedback(lab, "r1", form(lab, pros="Ethylene rose."), Strategy(), at=AT, by="ana")
    give_feedback(lab, "r2", form(lab, pros="Ethylene rose."), Strategy(), at=AT, by="ana")
    with lab.store.writing(AT, "bo") as writing:
        save_preset(writing, [find_product(writing, "CO").id])
        save_template(writing, "mof_expert", "{{ citation }}: {{ content }}")
        (item,) = list_items(writing, status="active")
        edit_item(writing, item.id, {"title": "mine"})
        add_note(writing, {"content": "Check the lamp."})
    give_feedback(lab, "r1", form(lab, pros="Methane rose."), Strategy(), at=AT, by="ana")
    withdraw_feedback(lab, "r2", at=AT, by="ana")


def test_an_export_makes_the_same_laboratory_again(lab: Laboratory, tmp_path: Path) -> None:
    fill(lab)
    lines = list(lab.store.export())
    other = open_laboratory(make_workspace(tmp_path / "other", {"lab": {}}))
    assert other.store.restore(lines) == len(lines)
    assert list(other.store.export()) == lines
    with pytest.raises(UsageError, match="imported into an empty one"):
        other.store.restore(lines)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda lines: [*lines[:2], "{", *lines[3:]], "line 3 is not of an export"),
        (lambda lines: [*lines[:2], "{}"], "line 3 is no row of an export"),
        (lambda lines: [lines[0].replace('"by"', '"who"'), *lines[1:]], "line 1 is no row of"),
        (lambda lines: [one for one in lines if '"runs"' not in one], "refers to what is not"),
    ],
)
def test_an_export_that_was_altered_is_refused_whole(
    lab: Laboratory, tmp_path: Path, harm: Callable[[list[str]], list[str]], told: str
) -> None:
    fill(lab)
    other = open_laboratory(make_workspace(tmp_path / "other", {"lab": {}}))
    with pytest.raises(UsageError, match=told):
        other.store.restore(harm(list(lab.store.export())))
    with other.store.reading() as reading:
        assert reading.head() == 0


LOGGED = [
    ("edited", "bo", ""),
    ("created", "bo", ""),
    ("archived", "bo", "done"),
    ("edited", "bo", ""),
    ("rolled_back", "ana", ""),
    ("rolled_back", "ana", ""),
    ("rolled_back", "ana", ""),
]
EVENTS = (Path(__file__).parent / "events.jsonl").read_text(encoding="utf-8").splitlines()


def require_old_laboratory(lab: Laboratory) -> None:
    """Require what the version that wrote `events.jsonl` said of it."""
    with lab.store.reading() as reading:
        every = list_items(reading)
        assert [(one.content, one.title, one.is_active, one.rolled_back) for one in every] == [
            ("Ethylene rose.", "mine", False, True),
            ("Check the lamp.", "", False, False),
            ("Methane fell a lot.", "Methane fell.", False, True),
            ("Ethylene rose.", "Ethylene rose.", True, False),
            ("Methane rose.", "Methane rose.", True, False),
        ]
        assert every[0].moved_to == (every[3].id,)
        assert [lesson.run_id for lesson in every[3].lessons] == ["r2"]
        assert [(one.run_id, one.version) for one in list_feedback(reading)] == [
            ("r1", 2),
            ("r2", 1),
        ]
        assert [(row["action"], row["by"], row["reason"]) for row in edit_log(reading)] == LOGGED
        assert delta_of(reading, list_extractions(reading, "r1")[0].id)[0].is_voided
        assert read_template(reading, "mof_expert").version == 1
        assert [one.name for one in list_presets(reading)] == ["CO"]
        assert find_report(reading, "r1") is not None
    assert lab.settings.experience.k_role == 5


def test_a_laboratory_of_events_is_read_when_it_is_opened(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "old", {"lab": {}})
    path = lab_file(workspace)
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as old:
        old.execute("CREATE TABLE alembic_version (version_num TEXT)")
        old.execute("CREATE TABLE runs (id TEXT)")
        names = ("seq", "id", "at", "by", "entity", "subject", "kind", "cause", "body")
        old.execute(f"CREATE TABLE events ({', '.join(names[:-1])}, body JSON)")
        for line in EVENTS:
            event = json.loads(line)
            event["body"] = json.dumps(event["body"])
            old.execute(f"INSERT INTO events VALUES ({', '.join('?' * 9)})",
                        [event[name] for name in names])  # fmt: skip
    require_old_laboratory(open_laboratory(workspace))
    require_old_laboratory(open_laboratory(workspace))


NOWHERE = {"entity": "item", "kind": "joined", "subject": "x", "at": "", "by": "", "body": {}}


def test_an_export_of_events_is_imported(tmp_path: Path) -> None:
    lab = open_laboratory(make_workspace(tmp_path / "new", {"lab": {}}))
    with pytest.raises(UsageError, match="of item 'x' does not follow"):
        lab.store.restore([EVENTS[0], json.dumps(NOWHERE)])
    assert lab.store.restore(EVENTS) == len(EVENTS)
    require_old_laboratory(lab)


def test_a_run_is_stored_whole_and_changes_by_version(lab: Laboratory) -> None:
    queued = run_of("r9", recipes=0, state="queued")
    with lab.store.writing(AT, "program") as writing:
        assert record_run(writing, queued) == 1
        assert record_run(writing, run_of("r9"), seen=1) == 2
    with lab.store.reading() as reading:
        assert read_run(reading, "r9") == (run_of("r9"), 2)
    with (
        pytest.raises(ChangedMeanwhileError, match="run 'r9' is at version 2, and you have seen 1"),
        lab.store.writing(AT, "program") as writing,
    ):
        record_run(writing, queued, seen=1)


def test_what_fails_in_a_transaction_leaves_nothing_of_it(lab: Laboratory) -> None:
    before = stored(lab)
    with pytest.raises(UsageError, match="already"), lab.store.writing(AT, "ana") as writing:
        add_product(writing, "H2")
        add_product(writing, "c2h4")
    assert stored(lab) == before


def test_products_are_told_apart_by_version(lab: Laboratory) -> None:
    with lab.store.writing(AT, "ana") as writing:
        product = find_product(writing, "CO")
        rename_product(writing, product.id, "carbon monoxide", seen=1)
    with (
        pytest.raises(ChangedMeanwhileError, match="name: 'CO' → 'carbon monoxide'"),
        lab.store.writing(AT, "bo") as writing,
    ):
        rename_product(writing, product.id, "C=O", seen=1)


def test_a_preset_is_called_after_its_products(lab: Laboratory) -> None:
    with lab.store.writing(AT, "ana") as writing:
        ids = [find_product(writing, name).id for name in ("CO", "C2H4")]
        assert save_preset(writing, ids).name == "CO + C2H4"
        assert save_preset(writing, ids, "mine").name == "mine"


def test_a_store_of_another_version_is_refused_and_a_broken_one(lab: Laboratory) -> None:
    with sqlite3.connect(lab.store.path) as connection:
        connection.execute("PRAGMA user_version = 9999")
    with pytest.raises(DamagedFileError, match="A newer one wrote it"):
        open_laboratory(lab.workspace)
    for file in lab.store.path.parent.iterdir():
        file.write_bytes(b"no store at all" * 100)
    with pytest.raises(DamagedFileError, match="no store that SQLite can read"):
        open_laboratory(lab.workspace)


def write_many(root: str, name: str, count: int) -> None:
    lab = open_laboratory(Workspace.open(root))
    for number in range(count):
        with lab.store.writing(AT, name) as writing:
            add_note(writing, {"content": f"{name} {number}"})


def hold_under(lab: Laboratory, count: int) -> None:
    """Let four processes write at once: none of their writes is lost, none is refused."""
    context = multiprocessing.get_context("spawn")
    root = str(lab.workspace.root)
    writers = [context.Process(target=write_many, args=(root, f"w{n}", count)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    with lab.store.reading() as reading:
        contents = {item.content for item in list_items(reading)}
    assert contents == {f"w{n} {number}" for n in range(4) for number in range(count)}


def test_four_processes_write_at_once(lab: Laboratory) -> None:
    hold_under(lab, 10)


@pytest.mark.slow
def test_four_processes_write_a_thousand_times_each(lab: Laboratory) -> None:
    hold_under(lab, 1000)


def _feedback(lab: Laboratory) -> None:
    give_feedback(lab, "r2", form(lab, pros="Ethylene rose."), Strategy(), at=AT, by="ana")


def _edit(lab: Laboratory) -> None:
    give_feedback(lab, "r1", form(lab, cons="Methane fell."), Strategy(), at=AT, by="ana")


def _withdraw(lab: Laboratory) -> None:
    withdraw_feedback(lab, "r1", at=AT, by="ana")


def _product(lab: Laboratory) -> None:
    with lab.store.writing(AT, "ana") as writing:
        save_preset(writing, [add_product(writing, "H2").id])


def _preset(lab: Laboratory) -> None:
    with lab.store.writing(AT, "ana") as writing:
        save_preset(writing, [find_product(writing, name).id for name in ("CO", "CH4")])


def _template(lab: Laboratory) -> None:
    with lab.store.writing(AT, "ana") as writing:
        save_template(writing, "mof_expert", "{{ citation }}: {{ content }}")


def _run(lab: Laboratory) -> None:
    put_run(lab, "r3")


def _item(lab: Laboratory) -> None:
    with lab.store.writing(AT, "ana") as writing:
        (item,) = list_items(writing, status="active")
        edit_item(writing, item.id, {"content": "Mine."})


def count_statements(monkeypatch: Any, count: Callable[[], None]) -> None:
    """Let `count` be called before each statement of each connection, BEGIN and COMMIT too."""
    connect = sqlite3.connect

    def traced(*given: Any, **more: Any) -> sqlite3.Connection:
        connection = connect(*given, **more)
        connection.set_trace_callback(lambda _: count())
        return connection

    monkeypatch.setattr(store.sqlite3, "connect", traced)


def run_and_die(root: Path, work: Callable[[Laboratory], object], at: int) -> int:
    """Do the work in a child that is killed before statement or commit `at`; say how it ended."""
    child = os.fork()
    if child == 0:
        lab = open_laboratory(Workspace.open(root))
        seen = iter(range(1_000_000))

        def count() -> None:
            if next(seen) == at:
                os.kill(os.getpid(), signal.SIGKILL)

        count_statements(pytest.MonkeyPatch(), count)
        work(lab)
        os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.mark.parametrize(
    "work",
    [
        _product,
        _preset,
        _template,
        _run,
        *(
            pytest.param(work, marks=pytest.mark.slow)
            for work in (_feedback, _edit, _withdraw, _item)
        ),
    ],
)
def test_a_kill_in_any_statement_leaves_all_or_nothing(
    lab: Laboratory, work: Callable[[Laboratory], None]
) -> None:
    give_feedback(lab, "r1", form(lab, pros="Ethylene rose."), Strategy(), at=AT, by="ana")
    heads = kill_everywhere(lab, work)
    # Before the commit there is nothing of it, after it everything, and never a part.
    assert len(heads) > 5
    assert len(set(heads)) == 2


@pytest.mark.slow
def test_a_kill_while_an_export_is_imported_leaves_all_or_nothing(
    lab: Laboratory, tmp_path: Path
) -> None:
    fill(lab)
    lines = list(lab.store.export())
    other = open_laboratory(make_workspace(tmp_path / "other", {"lab": {}}))
    heads = kill_everywhere(other, lambda empty: empty.store.restore(lines))
    assert len(set(heads)) == 2
    assert len(heads) > len(lines)
    assert stored(other) == stored(lab)


@pytest.mark.slow
def test_a_kill_while_a_sheet_is_imported_is_made_good_by_importing_it_again(
    lab: Laboratory, tmp_path: Path
) -> None:
    sheet = tmp_path / "past.csv"
    sheet.write_text(
        "M1,M2,ratio,modifier,C2H4,score,pros\n"
        "Cu,Mo,1:1,glycine,3,7,Ethylene rose.\nCu,Zn,1:1,glycine,2,5,Ethylene fell.\n",
        encoding="utf-8",
    )
    found = read_sheet(sheet.name, sheet.read_bytes(), PRODUCTS, lab.workspace.settings.parse)
    assert len(found.experiments) == 2

    def read_in(into: Laboratory) -> None:
        import_experiments(into, found, at=AT, by="ana", learn=True)

    def look(at: Laboratory) -> tuple[set[str], dict[str, int], list[str]]:
        with at.store.reading() as reading:
            runs = {run.id for run, _ in list_runs(reading)}
            given = {one.run_id: one.version for one in list_feedback(reading)}
            return runs, given, sorted(item.content for item in list_items(reading))

    ends: list[object] = []

    def again(after: Laboratory) -> None:
        read_in(after)
        ends.append(look(after))

    heads = kill_everywhere(lab, read_in, again)
    assert len(set(heads)) > 4
    assert all(end == ends[-1] for end in ends)
    assert ends[-1] == look(lab)
    assert len(look(lab)[1]) == 2


def kill_everywhere(
    lab: Laboratory,
    work: Callable[[Laboratory], object],
    then: Callable[[Laboratory], object] = lambda lab: None,
) -> list[int]:
    """Kill `work` before each of its statements, each time from the same beginning.

    Args:
        then: is done after each kill, when the store was looked at.

    Returns:
        The newest change after each kill, and at last after the whole of it.
    """
    kept = {path.name: path.read_bytes() for path in lab.store.path.parent.iterdir()}
    before, ended, heads = stored(lab), signal.SIGKILL.value, list[int]()
    while ended:
        for path in lab.store.path.parent.iterdir():
            path.unlink()
        for name, data in kept.items():
            (lab.store.path.parent / name).write_bytes(data)
        ended = run_and_die(lab.workspace.root, work, len(heads))
        after = stored(lab)
        with lab.store.reading() as reading:
            heads.append(reading.head())
        assert heads[-1] > heads[0] or after == before, len(heads)
        then(lab)
    assert heads == sorted(heads)
    return heads


@pytest.mark.slow
def test_a_kill_while_a_laboratory_is_made_leaves_one_that_can_be_made(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "new", {"lab": {}})
    ended, at = signal.SIGKILL.value, 0
    while ended:
        shutil.rmtree(workspace.meta, ignore_errors=True)
        child = os.fork()
        if child == 0:
            seen = iter(range(1_000_000))

            def count(seen: Iterator[int] = seen, at: int = at) -> None:
                if next(seen) == at:
                    os.kill(os.getpid(), signal.SIGKILL)

            count_statements(pytest.MonkeyPatch(), count)
            open_laboratory(workspace)
            os._exit(0)
        ended = os.waitpid(child, 0)[1]
        lab = open_laboratory(workspace)
        put_run(lab, "r1")
        at += 1
    assert at > 20


def test_who_waits_too_long_is_told(lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.001)
    with sqlite3.connect(lab.store.path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockedError, match="another process has been writing"):
            put_run(lab, "r3")
        with lab.store.reading() as reading:  # a reader waits for nobody
            assert reading.head() == 5


def test_a_full_disk_is_told_as_one_and_what_was_there_stays(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stored(lab)
    connect = sqlite3.connect

    def full(*given: Any, **more: Any) -> sqlite3.Connection:
        connection = connect(*given, **more)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        # As few pages as there are: the next one is refused as a full disk refuses it.
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(store.sqlite3, "connect", full)
    with pytest.raises(DiskFullError, match="no room left"):
        put_run(lab, "big", request={"text": "x" * 1_000_000})
    monkeypatch.undo()
    assert stored(lab) == before


def test_a_value_that_json_does_not_know_is_refused(lab: Laboratory) -> None:
    with (
        pytest.raises(UsageError, match="not one that JSON knows"),
        lab.store.writing(AT, "ana") as writing,
    ):
        writing.change("item", "m", "created", {"content": float("nan")})


_LOADED = """
import sys
from rag_assets.cli import main
from rag_assets.definitions import build_definitions
from rag_assets.tracing.querying import create_laboratory_tables
from rag_assets.tracing.chain import find_grounds
from rag_assets.workspace import Workspace
workspace = Workspace.open(sys.argv[1])
build_definitions(workspace)
assert find_grounds(workspace, "run#1") is None
create_laboratory_tables(None, workspace)
sys.argv = ["rag", "--workspace", sys.argv[1], "status"]
try:
    main()
except SystemExit:
    pass
print([name for name in sys.modules if name.startswith("rag_assets.lab")])
"""


def test_a_workspace_without_the_section_loads_nothing_of_it(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "plain")
    with pytest.raises(ConfigurationError, match="`rag lab init` writes it"):
        open_laboratory(workspace)
    ran = subprocess.run(
        [sys.executable, "-c", _LOADED, str(workspace.root)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (ran.stdout.splitlines()[-1], workspace.settings.lab) == ("[]", None)
    assert not (workspace.root / "meta/lab").exists()


def test_the_store_is_on_disk_before_a_write_returns(lab: Laboratory) -> None:
    with lab.store.reading() as reading:
        pragmas = {
            name: reading.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    with lab.store.reading() as reading:
        assert [one.name for one in list_products(reading)] == ["C2H4", "CH4", "CO"]
