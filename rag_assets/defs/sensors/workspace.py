"""Sensors of the workspace: questions in queries/, drafts in drafts/."""

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets import __version__
from rag_assets.defs.assets import REASON_TAG, assets_of_question, record_noted
from rag_assets.defs.sensors.attempts import attempts_of, default_status, is_busy
from rag_assets.evidence import check_question, list_questions, read_question
from rag_assets.model import RagError, hash_fields
from rag_assets.model.settings import Watching
from rag_assets.storage import read_pointer
from rag_assets.workspace import Workspace

# What a run works on, and under which circumstances. `dagster.yaml` lets one such run at a time.
_STATE_TAG = "rag/partition"
_KEY_TAG = "dagster/partition"
_AUDITS = (dg.AssetKey("citation_audits"), dg.AssetKey("claim_audits"))
# A tick is ended after 60 s; who looks at many drafts goes on at the next.
_LOOK_SECONDS = 20

StaleLook = Callable[[Workspace, Iterable[Path]], Generator[tuple[Path, bool]]]


@dataclass(frozen=True, slots=True)
class _Watched:
    """A folder of the workspace, and the assets that are made of its files.

    Args:
        assets: all that are made of files of this folder.
        list_files: of the folder.
        read: the partition key of a file's content, and the assets that are made of it; raises
            RagError where there is none.
        check: raises RagError where a run could only fail of the file.
        look_for_stale: yields each file with whether what was made of it is out of date;
            None where it is not made again for that.
    """

    assets: Sequence[dg.AssetKey]
    partitions: dg.DynamicPartitionsDefinition
    job_name: str
    list_files: Callable[[Workspace], Sequence[Path]]
    read: Callable[[Path], tuple[str, Sequence[dg.AssetKey]]]
    check: Callable[[Workspace, Path], None]
    look_for_stale: StaleLook | None = None


@dataclass(slots=True)
class _Memory:
    """What the looks of this process found, as long as the circumstances are the same.

    Args:
        refusals: state → why no run can succeed with its file; None where nothing is known against
            it.
        current: (state, file) of which nothing is out of date.
    """

    circumstances: str = ""
    refusals: dict[str, str | None] = field(default_factory=dict)
    current: set[tuple[str, Path]] = field(default_factory=set)

    def enter(self, circumstances: str) -> None:
        """Forget what was found under others."""
        if circumstances != self.circumstances:
            self.circumstances = circumstances
            self.refusals.clear()
            self.current.clear()


def build_workspace_sensors(
    workspace: Workspace,
    questions: tuple[dg.DynamicPartitionsDefinition, str],
    drafts: tuple[dg.DynamicPartitionsDefinition, str],
) -> Sequence[dg.SensorDefinition]:
    """Return the sensors that answer new questions and audit new revisions of drafts."""
    interval = Watching.interval_seconds

    def build(name: str, description: str, watched: _Watched) -> dg.SensorDefinition:
        memory = _Memory()

        @dg.sensor(
            name=name,
            job_name=watched.job_name,
            minimum_interval_seconds=interval,
            default_status=default_status(),
            description=description,
        )
        def watch(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
            try:
                fresh = Workspace.open(workspace.root)
                record_noted(fresh, context.instance)
                memory.enter(_circumstances(fresh))
                files = _read_files(watched.list_files(fresh), watched.read)
                return _Look(fresh, context, watched, files, memory).answer()
            except RagError as error:
                return dg.SkipReason(str(error))

        return watch

    return [
        build("questions", "Makes an evidence pack, or with `mode: answer` an answer, for every "
              "new question in queries/. A file that cannot be asked is named and gets no run.",
              _Watched([dg.AssetKey("evidence_packs"), dg.AssetKey("agent_answers")],
                       questions[0], questions[1], list_questions, _read_question,
                       lambda fresh, path: check_question(fresh, read_question(path).question))),
        build("drafts", "Verifies the citations of every new revision of a draft in drafts/, and "
              "audits its claims; again where a changed source made a verdict stale. A draft that "
              "cannot be read is named and gets no run.",
              _Watched(_AUDITS, drafts[0], drafts[1], _of_auditing("list_drafts"), _read_draft,
                       _of_auditing("check_draft"), _look_for_stale)),
    ]  # fmt: skip


def _read_question(path: Path) -> tuple[str, Sequence[dg.AssetKey]]:
    saved = read_question(path)
    return saved.key, assets_of_question(saved)


def _read_draft(path: Path) -> tuple[str, Sequence[dg.AssetKey]]:
    key: str = _of_auditing("draft_key")(path)
    return key, _AUDITS


def _look_for_stale(workspace: Workspace, drafts: Iterable[Path]) -> Generator[tuple[Path, bool]]:
    """Look for audits that are out of date today, as `rag_assets.auditing.look_for_stale`."""
    yield from _of_auditing("look_for_stale")(workspace, drafts, date.today())


def _of_auditing(name: str) -> Callable[..., Any]:
    """Return a function of `rag_assets.auditing` that is imported when it is first called.

    Every command that runs something builds the sensors, and auditing takes half as long to import
    as Dagster.
    """

    def call(*given: object) -> Any:
        return getattr(import_module("rag_assets.auditing"), name)(*given)

    return call


@dataclass(frozen=True, slots=True)
class _Files:
    """What one look at queries/ or drafts/ found.

    Args:
        by_key: the files that rest, by their key; equal copies of one name share it.
        assets: that are made of the files of a key.
        moving: names of files that were changed a moment ago; their keys are not known.
        troubles: what is wrong with the others.
    """

    by_key: Mapping[str, tuple[Path, ...]]
    assets: Mapping[str, Sequence[dg.AssetKey]]
    moving: tuple[str, ...]
    troubles: tuple[str, ...]


def _read_files(
    paths: Sequence[Path],
    read: Callable[[Path], tuple[str, Sequence[dg.AssetKey]]],
) -> _Files:
    by_key, moving, troubles = dict[str, tuple[Path, ...]](), list[str](), list[str]()
    assets = dict[str, Sequence[dg.AssetKey]]()
    rest = Watching.rest_seconds
    for path in paths:
        try:
            if abs(time.time() - path.stat().st_ctime) < rest:
                moving.append(path.name)
            else:
                key, made = read(path)
                assets[key] = made
                by_key[key] = (*by_key.get(key, ()), path)
        except FileNotFoundError:
            continue  # removed since it was listed
        except RagError as error:
            troubles.append(str(error))
        except OSError as error:  # of this file alone: the others are looked at
            troubles.append(f"{path.name}: cannot be read ({error.strerror}).")
    return _Files(by_key, assets, tuple(moving), tuple(troubles))


def _circumstances(workspace: Workspace) -> str:
    """Return what a run depends on beside its file: under others, one that failed may succeed."""
    sound, troubles = workspace.sound_namespaces()
    pointers = [read_pointer(namespace.publications) for namespace in sound]
    published = [pointer.current if pointer else "" for pointer in pointers]
    settings = {each.name: each.settings.model_dump(mode="json") for each in sound}
    shared = workspace.settings.model_dump(mode="json")
    return hash_fields(__version__, shared, settings, list(troubles), published)[:8]


class _Look:
    """One tick: what is new, what is to be made, and what is not tried, in sentences."""

    def __init__(
        self,
        workspace: Workspace,
        context: dg.SensorEvaluationContext,
        watched: _Watched,
        files: _Files,
        memory: _Memory,
    ) -> None:
        self._workspace = workspace
        self._context = context
        self._instance = context.instance
        self._watched = watched
        self._files = files
        self._memory = memory
        self._given_up: list[str] = []

    def answer(self) -> dg.SensorResult | dg.SkipReason:
        """Register new keys, take away dead ones, and ask for one run at most."""
        files, partitions = self._files, self._watched.partitions
        known = set(self._instance.get_dynamic_partitions(str(partitions.name)))
        sound, unread = self._workspace.sound_namespaces()
        is_published = any(read_pointer(namespace.publications) for namespace in sound)
        requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
        new = [key for key in files.by_key if key not in known]
        # A file that is not still may be one whose key is known (it was touched, not changed).
        dead = [] if files.moving else sorted(known.difference(files.by_key))
        if new:
            requests.append(partitions.build_add_request(new))
        if dead:
            requests.append(partitions.build_delete_request(dead))
        run = self._next_run() if is_published else None
        if not requests and run is None:
            waiting = [f"{name} is still being written" for name in files.moving]
            said = [*unread, *files.troubles, *self._given_up, *waiting]
            if not said:
                said = ["nothing new" if is_published else "nothing is published yet"]
            return dg.SkipReason("; ".join(said))
        return dg.SensorResult(
            run_requests=[run] if run else [], dynamic_partitions_requests=requests
        )

    def _next_run(self) -> dg.RunRequest | None:
        """Return a request for the first key that lacks something or is out of date."""
        done = {
            asset: set[object](self._instance.get_materialized_partitions(asset))
            for asset in self._watched.assets
        }
        made = {
            key
            for key, assets in self._files.assets.items()
            if all(key in done[asset] for asset in assets)
        }
        for key in sorted(set(self._files.by_key) - made):
            # A run by hand may have made one asset of several; only those of the job make all.
            job_name = self._watched.job_name
            has_run = attempts_of(self._instance, _KEY_TAG, key, job_name).succeeded
            if has_run or self._is_busy(key):
                continue
            refusal = self._refusal(key)
            if refusal is not None:
                self._given_up.append(refusal)
                continue
            lacking = [asset for asset in self._files.assets[key] if key not in done[asset]]
            request = self._request(key, lacking, "not made yet")
            if request is not None:
                return request
        return self._stale_run(sorted(set(self._files.by_key).intersection(made)))

    def _stale_run(self, keys: Sequence[str]) -> dg.RunRequest | None:
        """Return a request for the first of the made `keys` that is out of date."""
        if self._watched.look_for_stale is None:
            return None
        to_look_at = {
            path: key
            for key in keys
            for path in self._files.by_key[key]
            if (self._state(key), path) not in self._memory.current
        }
        for key in {key for key in to_look_at.values() if self._was_made_now(key)}:
            for path in self._files.by_key[key]:
                to_look_at.pop(path, None)
        if not to_look_at:
            return None
        until = time.monotonic() + _LOOK_SECONDS
        with closing(self._watched.look_for_stale(self._workspace, to_look_at)) as looked:
            for path, is_stale in looked:
                key = to_look_at[path]
                if is_stale:
                    request = self._request(
                        key, self._files.assets[key], "its audit is out of date"
                    )
                    if request is not None:
                        return request
                else:
                    self._memory.current.add((self._state(key), path))
                if time.monotonic() > until:
                    break
        return None

    def _was_made_now(self, key: str) -> bool:
        """Say whether a run under the present circumstances has made it, or is about to."""
        state = self._state(key)
        return attempts_of(self._instance, _STATE_TAG, state).succeeded > 0 or self._is_busy(key)

    def _is_busy(self, key: str) -> bool:
        return is_busy(self._instance, tags={_KEY_TAG: key})

    def _state(self, key: str) -> str:
        # A copy that was added to a draft is made by a run of its own.
        copies = len(self._files.by_key[key])
        count = f"x{copies}" if copies > 1 else ""
        return f"{key}@{self._memory.circumstances}{count}"

    def _refusal(self, key: str) -> str | None:
        """Return why no run is asked for; a file is read once, and its trouble logged once."""
        state, refusals = self._state(key), self._memory.refusals
        if state not in refusals:
            refusals[state] = None
            for path in self._files.by_key[key]:
                try:
                    self._watched.check(self._workspace, path)
                except RagError as error:
                    refusals[state] = f"no run for {self._named(path)}: {error}"
                    self._context.log.warning(refusals[state])
                    break
        return refusals[state]

    def _named(self, path: Path) -> str:
        return path.relative_to(self._workspace.root).as_posix()

    def _request(
        self, key: str, assets: Sequence[dg.AssetKey], reason: str
    ) -> dg.RunRequest | None:
        state = self._state(key)
        attempts = attempts_of(self._instance, _STATE_TAG, state)
        if attempts.is_exhausted:
            self._given_up.append(
                f"'{key}' is not tried again: its last {attempts.failed} runs failed (run "
                f"{attempts.last_run_id}). Mend what it names, then edit the file or materialize "
                "the partition by hand."
            )
            return None
        return dg.RunRequest(
            run_key=f"{state}-{attempts.number}",
            partition_key=key,
            tags={_STATE_TAG: state, REASON_TAG: attempts.describe(reason)},
            asset_selection=list(assets),
        )
