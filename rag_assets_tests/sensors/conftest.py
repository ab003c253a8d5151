import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import time_machine

from rag_assets.definitions import build_definitions
from rag_assets.storage import point_at
from rag_assets.workspace import (
    Namespace,
    Workspace,
    create_workspace,
    overrides_digest,
    settings_digest,
    take_inventory,
)

# What a sensor answered: a request for a run, the sentence why not, or both kinds of requests.
Answer = dg.RunRequest | dg.SkipReason | dg.SensorResult
Ask = Callable[[str], Answer]


def at(moment: datetime) -> time_machine.travel:
    """Let the product's clock show `moment`; files keep the real one's time stamps."""
    return time_machine.travel(moment, tick=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made, _ = create_workspace(tmp_path / "library", "thesis")
    (made.root / "config.yaml").write_text("embed: {kind: hashing, model: words}\n")
    return Workspace.open(made.root)


@pytest.fixture
def namespace(workspace: Workspace) -> Namespace:
    return workspace.namespace("thesis")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def later() -> Iterator[datetime]:
    """An hour from now, when everything that a test writes has long been still."""
    moment = datetime.now(UTC) + timedelta(hours=1)
    with at(moment):
        yield moment


@pytest.fixture
def ask(workspace: Workspace, instance: dg.DagsterInstance) -> Ask:
    """Ask one of the workspace's sensors by name."""
    definitions = build_definitions(workspace)

    def evaluate(name: str) -> Answer:
        sensor = next(s for s in definitions.sensors or () if s.name == name)
        context = dg.build_sensor_context(instance=instance, sensor_name=name)
        answer = sensor(context)
        assert isinstance(answer, dg.RunRequest | dg.SkipReason | dg.SensorResult)
        return answer

    return evaluate


def publish_as_seen(workspace: Workspace) -> None:
    """Take the inventory and point at a made-up publication of it, as a whole build would."""
    namespace = Workspace.open(workspace.root).namespace("thesis")
    outcome = take_inventory(namespace, notify=lambda _: None)
    digest = outcome.inventory.digest
    namespace.publications.mkdir(parents=True, exist_ok=True)
    point_at(
        namespace.publications,
        f"p-{digest[:16]}",
        {
            "inventory": digest,
            "configuration": settings_digest(namespace),
            "overrides": overrides_digest(namespace),
        },
    )


def finish_run(
    instance: dg.DagsterInstance, request: dg.RunRequest, status: dg.DagsterRunStatus
) -> None:
    """Store a run as the daemon would have made it from a request."""
    tags = dict(request.tags)
    if request.partition_key is not None:
        tags["dagster/partition"] = request.partition_key
    run = dg.DagsterRun(
        job_name=_job_of(request), run_id=str(uuid.uuid4()), tags=tags, status=status
    )
    instance.add_run(run)


def _job_of(request: dg.RunRequest) -> str:
    """Return the job of the sensor that asks so; of a run by hand another."""
    if "dagster/asset_partition_range_start" in request.tags:
        return "thesis_ingest"
    if "rag/partition" in request.tags:
        asked = request.asset_selection or ()
        questions = {dg.AssetKey("evidence_packs"), dg.AssetKey("agent_answers")}
        return "answer_question" if questions.intersection(asked) else "audit_draft"
    return "__ASSET_JOB"
