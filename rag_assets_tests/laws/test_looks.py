"""A look that recalls the last one equals a scan that reads every byte, after any history."""

import datetime
import itertools
import os
import shutil
import tempfile
from pathlib import Path
from unittest import mock

import pytest
import time_machine
import yaml
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from rag_assets.workspace import (
    Look,
    look_at_raw,
    read_inventory,
    scan_raw,
    sources_digest,
    take_inventory,
    watching,
)
from rag_assets_tests.laws.driver import SMALL, make_workspace, put, silent
from rag_assets_tests.laws.strategies import paths, sidecars, texts

SETTINGS: tuple[dict[str, object], ...] = (
    {},
    {"ignore": ["*.csv"]},
    {"places": {"instruction": {"source_type": "evidence", "citable": True}}},
)
_EXAMPLES = int(os.environ.get("RAG_LOOK_EXAMPLES", "400"))


class Looks(RuleBasedStateMachine):
    """What people do to raw/, with a look after each step, as a sensor looks."""

    files = Bundle("files")
    # Each write gets a time of its own: two of them may be made within one tick of the kernel's.
    times = itertools.count(10**18, 10**9)

    def __init__(self) -> None:
        super().__init__()
        self.scratch = Path(tempfile.mkdtemp(prefix="looks-"))
        self.workspace = make_workspace(self.scratch / "library", lib={})
        self.namespace = self.workspace.namespace("lib")
        self.raw = self.workspace.root / "raw"
        self.published: str | None = None
        self.last = ""

    def write(self, path: str, content: str | bytes) -> None:
        moment = next(self.times)
        os.utime(put(self.workspace, path, content), ns=(moment, moment))

    @rule(target=files, path=paths, text=texts())
    def add_or_edit(self, path: str, text: bytes) -> str:
        self.write(path, text)
        return path

    @rule(path=files)
    def edit_within_its_size(self, path: str) -> None:
        if (self.raw / path).is_file():
            self.write(path, (self.raw / path).read_bytes()[::-1])

    @rule(path=files)
    def touch(self, path: str) -> None:
        if (self.raw / path).is_file():
            self.write(path, (self.raw / path).read_bytes())

    @rule(target=files, source=consumes(files), path=paths, with_sidecar=st.booleans())
    def rename(self, source: str, path: str, with_sidecar: bool) -> str:
        (self.raw / path).parent.mkdir(parents=True, exist_ok=True)
        for suffix in ("", ".meta.yaml") if with_sidecar else ("",):
            if (self.raw / f"{source}{suffix}").is_file():
                (self.raw / f"{source}{suffix}").replace(self.raw / f"{path}{suffix}")
        return path

    @rule(source=files, path=paths)
    def copy(self, source: str, path: str) -> None:
        if (self.raw / source).is_file() and source != path:
            self.write(path, (self.raw / source).read_bytes())

    @rule(one=files, other=files)
    def exchange_names(self, one: str, other: str) -> None:
        if (self.raw / one).is_file() and (self.raw / other).is_file() and one != other:
            (self.raw / one).replace(self.raw / "between")
            (self.raw / other).replace(self.raw / one)
            (self.raw / "between").replace(self.raw / other)

    @rule(path=consumes(files))
    def remove(self, path: str) -> None:
        (self.raw / path).unlink(missing_ok=True)

    @rule(path=files, fields=sidecars)
    def write_sidecar(self, path: str, fields: str | dict[str, object]) -> None:
        text = fields if isinstance(fields, str) else yaml.safe_dump(fields, allow_unicode=True)
        self.write(f"{path}.meta.yaml", text)

    @rule(path=files)
    def remove_sidecar(self, path: str) -> None:
        (self.raw / f"{path}.meta.yaml").unlink(missing_ok=True)

    @rule(folder=st.sampled_from(["evidence", "instruction"]))
    def remove_folder(self, folder: str) -> None:
        shutil.rmtree(self.raw / folder, ignore_errors=True)

    @rule(other=st.sampled_from(SETTINGS))
    def change_settings(self, other: dict[str, object]) -> None:
        text = yaml.safe_dump({**SMALL, **other}, allow_unicode=True)
        self.workspace.namespace_file("lib").write_text(text, encoding="utf-8")
        self.namespace = self.workspace.namespace("lib")

    @rule()
    def take_stock(self) -> None:
        take_inventory(self.namespace, notify=silent)

    @initialize(text=texts())
    def begin(self, text: bytes) -> None:
        self.write("evidence/first.md", text)
        self.publish()

    @rule()
    def publish(self) -> None:
        take_inventory(self.namespace, notify=silent)
        inventory = read_inventory(self.namespace)
        self.published = inventory.digest if inventory else None

    @rule()
    def lose_the_cache(self) -> None:
        self.namespace.hash_cache.unlink(missing_ok=True)

    @invariant()
    def the_look_equals_a_scan_that_reads_everything(self) -> None:
        with time_machine.travel(datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)):
            look = look_at_raw(self.namespace, self.published, last=self.last)
            cache = self.namespace.hash_cache
            kept = cache.read_bytes() if cache.exists() else None
            everything = scan_raw(self.namespace, rehash=True)
            assert look.digest == sources_digest(everything.sources)
            assert look.files == len(everything.sources)
            if kept is None:
                cache.unlink(missing_ok=True)
            else:
                cache.write_bytes(kept)
            anew = look_at_raw(self.namespace, self.published)
            assert ends(look) == ends(anew)
            assert not look.pending and look.is_complete
            self.last = look.to_text()
            # Nothing happens, and nothing is opened.
            with mock.patch.object(watching, "scan_raw", side_effect=AssertionError("opened")):
                again = look_at_raw(self.namespace, self.published, last=self.last)
            assert (again.digest, again.files, ends(again)) == (look.digest, look.files, ends(look))

    def teardown(self) -> None:
        shutil.rmtree(self.scratch)


def ends(look: Look) -> tuple[str, ...]:
    """Return the first and the last partition: a sensor asks for what lies between."""
    return (*look.partitions[:1], *look.partitions[-1:])


def _run(examples: int, steps: int, *, fixed: bool) -> None:
    run_state_machine_as_test(
        Looks,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=fixed,
            database=None,
            deadline=None,
            phases=[Phase.explicit, Phase.generate] + ([] if fixed else [Phase.shrink]),
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_looks_equal_scans_in_short_histories() -> None:
    _run(15, 12, fixed=True)


@pytest.mark.slow
def test_looks_equal_scans_in_long_histories() -> None:
    """RAG_LOOK_EXAMPLES sets how many; other ones each time."""
    _run(_EXAMPLES, 40, fixed=False)


def test_an_inventory_that_nobody_published_is_seen_though_no_file_changed(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, lib={})
    namespace = workspace.namespace("lib")
    put(workspace, "evidence/a.md", "a")
    with time_machine.travel(datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)):
        published = take_inventory(namespace, notify=silent).inventory.digest
        put(workspace, "evidence/b.md", "b")
        look = look_at_raw(namespace, published)
        assert len(look.partitions) == 1
        take_inventory(namespace, notify=silent)
        after = look_at_raw(namespace, published, last=look.to_text())
        assert ends(after) == ("0", "f")
        # And once it is published, there is nothing to do.
        assert look_at_raw(namespace, after.digest, last=after.to_text()).partitions == ()
