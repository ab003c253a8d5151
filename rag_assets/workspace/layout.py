"""The user's folder: where everything lies (docs/architecture.md)."""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rag_assets.model import ConfigurationError, UsageError, WorkspaceError
from rag_assets.model.settings import Keeping, Settings
from rag_assets.storage import LocalStore, ObjectStore
from rag_assets.workspace.configuration import (
    Layer,
    SettingLine,
    default_layer,
    merge_layers,
    parse_layer,
    read_layer,
    settings_with_origin,
)
from rag_assets.workspace.naming import check_namespace_name

MARKER = "config.yaml"


class _Below:
    """A path below the root of a workspace; `{}` is the name of a namespace."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, owner: "Workspace | Namespace", _: object) -> Path:
        if isinstance(owner, Namespace):
            return owner.workspace.root / self._path.format(owner.name)
        return owner.root / self._path


@dataclass(frozen=True)
class Namespace:
    """One library of the workspace: its settings and its folders."""

    workspace: "Workspace"
    name: str
    settings: Settings

    #: The folder of partition records.
    records = _Below("data/{}")
    #: The folder of attachments' contents, by their hash.
    blobs = _Below("data/{}/attachments")
    #: The folder of what cloud providers have answered, a folder for each content.
    answers = _Below("data/{}/answers")
    #: The lock of this namespace's publishing.
    publishing_lock = _Below("meta/locks/derived/{}.publishing.lock")
    #: The identity journal: the one derived-looking file that cannot be rebuilt.
    journal = _Below("meta/journal/{}.jsonl")
    #: The folder of the journals of edited chunks, beside the identity journals.
    edits = _Below("meta/journal/edits/{}")
    #: The last inventory of the raw folders.
    inventory = _Below("meta/inventory/{}.parquet")
    #: What stat said when a file was hashed, so that only changed files are hashed again.
    hash_cache = _Below("meta/inventory/{}.hashes.json")

    @property
    def roots(self) -> tuple[Path, ...]:
        """The raw folders, absolute, in the order of the configuration."""
        return tuple((self.workspace.root / raw).absolute() for raw in self.settings.raw)

    @cached_property
    def root_names(self) -> tuple[str, ...]:
        """The name of each root as it stands in a source_uri: never absolute."""
        return tuple(_root_name(raw) for raw in self.settings.raw)

    def root_of(self, source_uri: str) -> str | None:
        """Return the name of the root that holds a file, None where none does; the longest wins."""
        names = [n for n in self.root_names if source_uri == n or source_uri.startswith(f"{n}/")]
        return max(names, key=len, default=None)

    def raw_file(self, source_uri: str) -> Path | None:
        """Return the path of a file in raw/, None where no root holds it any more."""
        name = self.root_of(source_uri)
        if name is None:
            return None
        root = self.roots[self.root_names.index(name)]
        return root / source_uri.removeprefix(name).lstrip("/")

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """All partition keys, sorted: 16, 256 or 4096 of them."""
        digits = self.settings.hex_digits
        return tuple(format(number, f"0{digits}x") for number in range(16**digits))

    def partition_of(self, content_hash: str) -> str:
        """Return the partition that holds a content."""
        return content_hash[: self.settings.hex_digits]

    def record(self, stage: str, partition: str) -> Path:
        """The Parquet file of one stage's partition."""
        return self.records / stage / f"{partition}.parquet"

    def blob(self, content_hash: str) -> Path:
        """Return where an attachment's content lies, by its SHA-256."""
        return self.blobs / content_hash[:2] / content_hash

    def parsed_folder(self, partition: str) -> Path:
        """The folder of the immutable parses of one partition."""
        return self.records / "parsed" / partition

    @property
    def publications(self) -> Path:
        """The folder of this namespace's publications and their pointer.

        On a machine that only reads it is a copy of what the store has, fetched at the first look.
        """
        if self.name not in self.workspace.fetched:
            self.fetch_publication()
        return self.workspace.root / "index" / self.name

    def fetch_publication(self) -> None:
        """On a machine that only reads, have what the store shows to readers now.

        Raises:
            StorageError: the store cannot be reached, or has no whole publication.
        """
        store = self.object_store
        if store is not None and self.is_built_elsewhere:
            store.fetch(self.publishing_lock, Keeping.publications, Keeping.hours)
        self.workspace.fetched.add(self.name)

    @cached_property
    def object_store(self) -> ObjectStore | None:
        """Where readers elsewhere find publications; None without the setting `store`."""
        from rag_assets.workspace.environment_file import lend_environment

        if self.settings.store is None:
            return None
        lend_environment(self.workspace, "AWS_")  # its client reads the environment alone
        return ObjectStore(self.settings.store, self.workspace.root, self.name)

    @property
    def is_built_elsewhere(self) -> bool:
        """Whether this machine only reads: publications are in an object store, and there is
        neither a raw folder nor anything that was known of one.
        """
        return (
            self.settings.store is not None
            and not any(root.is_dir() for root in self.roots)
            and not self.inventory.is_file()
        )


def _root_name(raw: str) -> str:
    """A relative root is named by its path, an absolute one by its last folder."""
    path = Path(raw)
    return path.name if path.is_absolute() else path.as_posix().strip("/") or "raw"


@dataclass(frozen=True)
class Workspace:
    """A workspace folder. `Workspace.find()` looks for it the way the commands do."""

    root: Path

    #: Journal, inventory, Dagster home, query runs.
    meta = _Below("meta")
    #: The Dagster instance of this workspace.
    dagster_home = _Below("meta/dagster")
    #: What audits keep of earlier ones; a reserved name, so that no namespace has it.
    judgements = _Below("data/citation_audits")
    #: What people have decided on citations; as little rebuilt as the identity journals.
    judgement_journal = _Below("meta/journal/judgements/citations.jsonl")
    #: Which documents people have said that entries of reference lists mean.
    reference_journal = _Below("meta/journal/judgements/references.jsonl")
    #: BibTeX, CSL-JSON and RIS files of the user, for keys that drafts cite.
    bibliographies = _Below("bibliographies")
    #: Tables of retracted works that the user puts there (Retraction Watch CSV).
    retractions = _Below("retractions")
    #: The user's questions.
    queries = _Below("queries")
    #: The user's drafts.
    drafts = _Below("drafts")
    #: The user's evaluation sets; most workspaces have none.
    evaluations = _Below("evaluations")
    #: Why the settings are what they are, one numbered file a decision.
    decisions = _Below("decisions")
    #: Versioned evidence packs and audits.
    outputs = _Below("outputs")
    #: Lock files; each is held by a living process or by none.
    locks = _Below("meta/locks")
    #: Locks of what lies in data/ and index/.
    derived_locks = _Below("meta/locks/derived")

    @classmethod
    def open(cls, root: Path | str) -> "Workspace":
        """Return the workspace at `root`.

        Raises:
            WorkspaceError: there is none; the text says how to make one.
        """
        folder = Path(root).expanduser().absolute()
        if not (folder / MARKER).is_file() or not (folder / "namespaces").is_dir():
            raise WorkspaceError(
                f"{folder} is not a workspace: {MARKER} or namespaces/ is missing. "
                f"`rag init {folder}` makes one."
            )
        return cls(folder)

    @classmethod
    def find(cls, given: Path | str | None = None) -> "Workspace":
        """Return the workspace given, named by RAG_WORKSPACE, or around the current folder.

        Raises:
            WorkspaceError: none of the three leads to a workspace.
        """
        if given is not None:
            return cls.open(given)
        if named := os.environ.get("RAG_WORKSPACE"):
            return cls.open(named)
        here = Path.cwd()
        if found := cls.around(here):
            return found
        made = sorted(path.parent for path in here.glob(f".rag/*/{MARKER}"))
        kept = f" `rag check` keeps one in {made[0].relative_to(here)}." if made else ""
        raise WorkspaceError(
            f"no workspace in {here} or above it. `rag init DIR` makes one; --workspace DIR or "
            "RAG_WORKSPACE names one elsewhere."
            f"{kept}"
        )

    @classmethod
    def around(cls, place: Path) -> "Workspace | None":
        """Return the workspace that a folder, given as a whole path, is or lies in."""
        for folder in (place, *place.parents):
            if (folder / MARKER).is_file() and (folder / "namespaces").is_dir():
                return cls(folder)
        return None

    @cached_property
    def store(self) -> LocalStore:
        """Derived files by their keys, which are their paths from the workspace's folder."""
        return LocalStore(self.root)

    @cached_property
    def fetched(self) -> set[str]:
        """Namespaces whose publication was looked for in the object store."""
        return set()

    def key_of(self, path: Path) -> str:
        """Return the key of a derived file by where it lies."""
        return path.relative_to(self.root).as_posix()

    def draft_stem(self, draft: Path) -> str:
        """Return how the outputs of a draft are called, without what they are and their version.

        By its name; of a draft in a folder under drafts/ the folders stand before it, so that two
        chapters of one name have outputs of their own.
        """
        path = draft.absolute()
        inside = path.is_relative_to(self.drafts)
        parts = path.relative_to(self.drafts).with_suffix("").parts if inside else (draft.stem,)
        return "--".join(re.sub(r"[^\w.\-]+", "_", part) or "draft" for part in parts)

    @cached_property
    def settings(self) -> Settings:
        """The settings of the workspace itself, for what spans namespaces."""
        return merge_layers([default_layer(), read_layer(self.root / MARKER)])

    def settings_stamp(self) -> tuple[int, int]:
        """Return what changes when somebody writes the workspace's own settings."""
        stat = (self.root / MARKER).stat()
        return stat.st_mtime_ns, stat.st_size

    def namespace_file(self, name: str) -> Path:
        """The YAML file that declares a namespace."""
        return self.root / "namespaces" / f"{name}.yaml"

    @property
    def namespace_names(self) -> tuple[str, ...]:
        """All declared namespaces, sorted; one whose file is misnamed is refused when opened.

        A name that begins with a dot declares none: such are what a crash, an editor or another
        system leaves beside a file.
        """
        named = [*(self.root / "namespaces").glob("[!.]*.yaml"), *self._misnamed_files()]
        return tuple(sorted({path.stem for path in named}))

    def _misnamed_files(self) -> list[Path]:
        """Return files in namespaces/ that are meant as one, but that nothing would read."""
        return [
            path
            for path in sorted((self.root / "namespaces").glob("[!.]*"))
            if path.suffix.lower() in {".yml", ".yaml"} and path.suffix != ".yaml"
        ]

    def check_namespace_file(self, name: str) -> None:
        """Refuse a namespace file with another suffix, which would be passed over in silence.

        Raises:
            ConfigurationError: names the file and what to call it.
        """
        path = self.namespace_file(name)
        misnamed = next((each for each in self._misnamed_files() if each.stem == name), None)
        if misnamed is not None:
            what = (
                f"it is not read, {path.name} beside it is. Keep one of the two, as {path.name}."
                if path.exists()
                else f"a namespace's file ends in .yaml. Rename it to {path.name}."
            )
            raise ConfigurationError(f"{misnamed}: {what}")

    def namespace(self, name: str) -> Namespace:
        """Return one namespace with its merged settings.

        Raises:
            UsageError: no such namespace; the text lists those that exist.
            ConfigurationError: one of its files has a wrong key or value.
        """
        if name not in self.namespace_names:
            known = ", ".join(self.namespace_names) or "none yet"
            raise UsageError(
                f"unknown namespace '{name}' in {self.root} (known: {known}). "
                f"`rag namespace add {name}` declares it."
            )
        self.check_namespace_file(name)
        return self.declared_namespace(name)

    def declared_namespace(self, name: str, data: bytes | None = None) -> Namespace:
        """Return the namespace that a file declares, or is to declare.

        Args:
            data: what the file is to hold; what it holds where None.

        Raises:
            ConfigurationError: the name cannot be used, or a file has a wrong key or value.
        """
        path = self.namespace_file(name)
        check_namespace_name(name, path)
        namespace = Namespace(self, name, merge_layers(self._layers(path, data)))
        names = namespace.root_names
        if len(set(names)) != len(names):
            raise ConfigurationError(
                f"{self.namespace_file(name)}: 'raw': two folders are called "
                f"'{next(n for n in names if names.count(n) > 1)}'; ids need names that differ. "
                "Rename one, or name a common parent folder."
            )
        return namespace

    def _layers(self, path: Path, data: bytes | None = None) -> list[Layer]:
        own = read_layer(path) if data is None else parse_layer(path, data)
        if "store" in own.values:
            raise ConfigurationError(
                f"{path}: 'store' holds for the whole workspace. Write it into "
                f"{self.root / MARKER}."
            )
        shared = self.root / MARKER
        # The workspace of a namespace that is to be declared may be to come, too.
        is_to_come = data is not None and not shared.is_file()
        return [default_layer(), *([] if is_to_come else [read_layer(shared)]), own]

    def settings_of(self, name: str) -> list[SettingLine]:
        """Return the settings of a namespace, each with the file that decides it.

        Raises:
            UsageError, ConfigurationError: as `namespace`.
        """
        self.namespace(name)
        return settings_with_origin(self._layers(self.namespace_file(name)))

    def sound_namespaces(self) -> tuple[tuple[Namespace, ...], tuple[str, ...]]:
        """Return the namespaces that can be read, and a sentence for each that cannot.

        Raises:
            ConfigurationError: the workspace's own settings are wrong, on which all depend.
        """
        _ = self.settings
        sound, troubles = list[Namespace](), list[str]()
        for name in self.namespace_names:
            try:
                sound.append(self.namespace(name))
            except ConfigurationError as error:
                troubles.append(str(error))
        return tuple(sound), tuple(troubles)

    def namespaces(self) -> tuple[Namespace, ...]:
        """Return all declared namespaces, sorted by name."""
        return tuple(self.namespace(name) for name in self.namespace_names)
