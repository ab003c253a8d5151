"""`rag init --template lab`, and what `make demo-lab` does with it: no model, one whole round."""

import shutil
from pathlib import Path

from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.lab.laboratory import open_laboratory
from rag_assets.lab.queue import requested_runs
from rag_assets.lab.showing import replay_run, view_run
from rag_assets.workspace import Workspace

MODIFIER = "small_molecule_modifier"
SAMPLES = Path(__file__).parents[2] / "samples" / "lab"


def rag(*arguments: str, text: str = "") -> Result:
    ran = CliRunner().invoke(build_cli(), arguments, input=text)
    assert ran.exit_code == 0, ran.output
    return ran


def test_a_new_laboratory_has_its_two_bases_and_no_other_namespace(tmp_path: Path) -> None:
    root = tmp_path / "my-lab"
    said = rag("init", str(root), "--template", "lab").stdout
    assert "raw/kb_modulation and " in said
    workspace = Workspace.open(root)
    assert {one.name: one.roots for one in workspace.namespaces()} == {
        name: (root / "raw" / name,) for name in ("kb_modulation", "kb_principles")
    }
    assert sorted(path.name for path in (root / "raw").iterdir()) == [
        "kb_modulation", "kb_principles",
    ]  # fmt: skip
    assert workspace.settings.lab is not None
    # The form asks for nothing until somebody takes its signs away.
    form, troubles = root / "requests" / "example.yaml", list[str]()
    assert list(requested_runs(workspace, troubles)) == []
    kept = [line for line in form.read_text("utf-8").splitlines() if line.startswith("# ")][2:]
    form.write_text("\n".join(line.removeprefix("# ") for line in kept), encoding="utf-8")
    (asked,) = requested_runs(workspace, troubles)
    assert (asked[1].n, asked[1].policy, troubles) == (1, "collect", [])
    again = rag("init", str(root), "--template", "lab").stdout
    assert "already; nothing was changed" in again


def test_the_demo_proposes_from_its_papers_and_learns_from_a_feedback(tmp_path: Path) -> None:
    root = tmp_path / "demo-lab"
    rag("init", str(root), "--template", "lab")
    shutil.copytree(SAMPLES / "raw", root / "raw", dirs_exist_ok=True)
    shutil.copy(SAMPLES / "answers.yaml", root)
    with (root / "config.yaml").open("a", encoding="utf-8") as config:
        config.write((SAMPLES / "llm.yaml").read_text("utf-8"))
    here = ("--workspace", str(root))
    rag(*here, "ingest")
    rag(*here, "lab", "edit", "-", text="products: [C2H4, CO, CH4]")
    ran = rag(*here, "lab", "request", "A recipe for ethylene from CO2", "--recipes", "2", "--run")
    run_id = ran.stdout.split()[1]
    assert "tokens  search_principles " in ran.stderr
    lab = open_laboratory(Workspace.open(root))
    view = view_run(lab, run_id)
    # Each ground cites the paper that says it, and nothing that a paper says is denied.
    found = [
        {g.field: Path(view.sources[c].name).stem for g in one.grounds for c in g.citations}
        for one in view.run.recipes
    ]
    coupling, vacancies = "coupling-at-copper-molybdenum", "copper-cerium-vacancies"
    fields = ("M1", "M2", "atomic_ratio")
    assert found == [
        {**dict.fromkeys(fields, coupling), MODIFIER: "aminobenzoic-acid-on-zr-nodes"},
        {**dict.fromkeys(fields, vacancies), MODIFIER: "histidine-relays-protons"},
    ]
    verdicts = {g.support.verdict for r in view.run.recipes for g in r.grounds if g.support}
    assert "not_supported" not in verdicts
    assert replay_run(lab, run_id).is_same
    told = rag(
        *here, "lab", "feedback", run_id, "--score", "8", "--product", "C2H4=6", "--product",
        "CO=2", "--pros", "4-Aminobenzoic acid beside copper and molybdenum raised ethylene.",
    ).stdout  # fmt: skip
    assert "compared (report 1" in told
    assert "success: 4-Aminobenzoic acid" in told
