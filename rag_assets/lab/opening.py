"""A workspace's laboratory: its store with everything that is folded there."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.lab.experience import EXTRACTIONS, ITEMS, TEMPLATES, Nearness
from rag_assets.lab.feedback import FEEDBACK, REPORTS
from rag_assets.lab.preferences import PREFERENCES, read_lab_settings, settings_in_force
from rag_assets.lab.products import PRESETS, PRODUCTS
from rag_assets.lab.store import RUNS, EntityKind, Store
from rag_assets.llm import ChatModel, open_chat_model
from rag_assets.model import ConfigurationError
from rag_assets.settings import LabSettings
from rag_assets.storage import write_bytes
from rag_assets.workspace import WORKSPACE_MARKER, Workspace

KINDS: tuple[EntityKind, ...] = (
    RUNS, PRODUCTS, PRESETS, FEEDBACK, REPORTS, ITEMS, EXTRACTIONS, TEMPLATES, PREFERENCES,
)  # fmt: skip

_SECTION = """
# The laboratory. Its memory is meta/lab/lab.sqlite; `rag lab export` writes it out.
lab:
  bases:                    # namespaces of the two knowledge bases (templates of the same names)
    principles: kb_principles
    modulation: kb_modulation
  recipes:
    policy: auto            # auto: the model of `llm`, or rules where there is none; rules; model
    passages: 6             # of one search
    shown: 3                # results of so many steps stay in a prompt
    depth: 4                # tasks within tasks
    steps: 40               # of a run: actions and tasks
    calls: 60               # of a run: answers of models
    repairs: 2              # so often is one answer that cannot be used asked for again
    tokens: 400000          # of a run, prompts and answers; null: no limit
    seconds: 3600           # of a run; null: no limit
    rules: []               # further ones, for instance
                            # {tell: No lead., field: M2, none_of: [Pb]}
                            # {tell: Small numbers., field: atomic_ratio, matches: '[1-9]:[1-9]'}
                            # {tell: Solvents are water or ethanol.} is told and not checked
  comparison:
    method3: true           # a run is compared with the history of its set of products
    short_history: advise   # with fewer than two entries: advise (tell what is known), or note
  experience:
    k_role: 3               # items of the role that asks
    k_global: 2             # items that concern all roles
    near_duplicate: null    # cosine from which lessons may be the same; null: fitted to the model
    learn: true             # feedback teaches as soon as it is given
    lessons: 3              # of one text at most, where a language model writes them
"""


@dataclass(frozen=True)
class Laboratory:
    """An open laboratory; one may serve all threads of a process.

    Args:
        written: the settings of config.yaml.
        open_model: returns the language model of `llm.roles.extract`; None where there is none.
    """

    workspace: Workspace
    written: LabSettings
    store: Store
    nearness: Nearness
    open_model: Callable[[], ChatModel | None] = field(repr=False)

    @property
    def settings(self) -> LabSettings:
        """What holds now: config.yaml, with what people saved over it since."""
        with self.store.reading() as reading:
            return settings_in_force(self.written, read_lab_settings(reading))


def lab_file(workspace: Workspace) -> Path:
    """Return where a workspace's laboratory is kept."""
    return workspace.meta / "lab" / "lab.sqlite"


def open_laboratory(workspace: Workspace) -> Laboratory:
    """Return the laboratory of a workspace; its store is made where it is missing.

    Raises:
        ConfigurationError: the workspace has none.
        DamagedFileError: its store cannot be read.
    """
    settings = workspace.settings
    if settings.lab is None:
        raise ConfigurationError(
            f"{workspace.root} has no laboratory: its {WORKSPACE_MARKER} has no section 'lab'. "
            "`rag lab init` writes it."
        )
    store = Store(lab_file(workspace), KINDS)
    return Laboratory(
        workspace,
        settings.lab,
        store,
        Nearness(settings, store),
        lambda: open_chat_model(workspace, role="extract"),
    )


def init_laboratory(workspace: Workspace) -> bool:
    """Give a workspace a laboratory; return whether its settings had none.

    Raises:
        ConfigurationError: the settings cannot be written that way.
    """
    path = workspace.root / WORKSPACE_MARKER
    is_new = workspace.settings.lab is None
    if is_new:
        written = path.read_bytes()
        text = written.decode("utf-8")
        if any(line.startswith("lab:") for line in text.splitlines()):
            raise ConfigurationError(
                f"{path}: 'lab' stands there without a value. Remove the line, then do this again."
            )
        write_bytes(path, f"{text.rstrip()}\n{_SECTION}".encode())
    open_laboratory(Workspace.open(workspace.root)).store.close()
    return is_new
