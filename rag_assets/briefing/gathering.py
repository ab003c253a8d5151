"""The texts of a workspace that instruct and never count as evidence: rubric, feedback, models."""

from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.model import Block, ParsedDocument, RagError
from rag_assets.parsing import read_parsed
from rag_assets.stages import parsed_contents
from rag_assets.workspace import Namespace, Workspace, current_identities, read_inventory

INSTRUCTION = "instruction"  # the source type that configs/rag.yaml gives raw/instruction
EXEMPLARS = "exemplars"


@dataclass(frozen=True, slots=True)
class InstructionText:
    """One parsed document below `raw/instruction/`.

    Args:
        subtype: guidance, feedback, slides, exemplars, or empty where its folder says nothing.
        path: as `source_uri`, the first of its files.
    """

    namespace: str
    doc_uid: str
    subtype: str
    path: str
    content_hash: str
    document: ParsedDocument

    def locate(self, block: Block, start: int) -> str:
        """Return where an offset in a block stands, as one looks it up: page, or section, line."""
        if block.page is not None:
            return f"p. {block.page}"
        section = next(
            (s for s in self.document.sections if s.start <= start < s.end and s.title), None
        )
        line = self.document.text.count("\n", 0, start) + 1
        return f"{section.title}, line {line}" if section else f"line {line}"


def gather_instructions(workspace: Workspace) -> tuple[list[InstructionText], list[str]]:
    """Return every instruction text that could be parsed, by subtype and path, and what is amiss.

    A file that is not parsed, or could not be, is amiss too. A file that lies both here and where
    evidence lies is not citable, and is listed too. A namespace whose configuration or records
    cannot be read gives a sentence: it must not keep the others from being built.
    """
    found: list[InstructionText] = []
    amiss: list[str] = []
    for name in workspace.namespace_names:
        try:
            namespace = workspace.namespace(name)
            found += _of_namespace(namespace)
            amiss += _unread(namespace)
        except RagError as error:
            amiss.append(f"The texts of '{name}' cannot be read: {error}")
    by_content = {(text.subtype, text.content_hash): text for text in reversed(found)}
    return sorted(by_content.values(), key=lambda text: (text.subtype, text.path)), amiss


def _unread(namespace: Namespace) -> Iterator[str]:
    inventory = read_inventory(namespace)
    if inventory is None:
        return
    for partition in namespace.partition_keys:
        parsed = parsed_contents(namespace, inventory, partition)
        for content, living in inventory.partition(namespace, partition).items():
            source = next((s for s in living.sources if s.source_type == INSTRUCTION), None)
            if source is not None and content not in parsed:
                yield (
                    f"{source.source_uri} is left out: it is not parsed yet, or could not be read. "
                    "`rag documents` says which; `rag parse` reads what is new."
                )


def _of_namespace(namespace: Namespace) -> Iterator[InstructionText]:
    inventory = read_inventory(namespace)
    if inventory is None:
        return
    uids = current_identities(namespace, inventory).uids
    for partition in namespace.partition_keys:
        for content, entry in parsed_contents(namespace, inventory, partition).items():
            living = inventory.contents[content]
            source = next((s for s in living.sources if s.source_type == INSTRUCTION), None)
            if source is None:
                continue
            parse = namespace.parsed_folder(partition) / entry.note["parsed_file"]
            yield InstructionText(
                namespace.name,
                uids.get(content, ""),
                source.source_subtype or "",
                source.source_uri,
                content,
                read_parsed(parse)[0],
            )
