"""What looks like a citation in a draft and was not read as one, told to its writer."""

from collections.abc import Iterator

from rag_assets.auditing.drafts.anchors import Citation, split_namespace
from rag_assets.auditing.drafts.draft import Draft
from rag_assets.auditing.drafts.office import unit_of
from rag_assets.auditing.library import Library
from rag_assets.auditing.resolving import look_up

_SHOWN = 40


def warn_of_unread(draft: Draft, library: Library) -> Iterator[str]:
    """Yield a sentence for each word of a draft that may have been meant as a citation.

    A name between braces or behind `#` in brackets is told where a document is called so. A mention
    in Chinese letters is always told: where its name ends cannot be seen.
    """
    lines: dict[tuple[str, str], list[int]] = {}
    for unread in draft.unread:
        lines.setdefault((unread.written, unread.name), []).append(unread.line)
    for (written, name), where in lines.items():
        is_mention = written.startswith(("@", "＠"))
        known = _longest_known(name, draft, library) if is_mention else _known(name, draft, library)
        if known is None and not is_mention:
            continue
        numbers = ", ".join(map(str, dict.fromkeys(where)))
        several = "" if len(set(where)) == 1 else "s"
        line = f"{draft.name}, {unit_of(draft.name)}{several} {numbers}"
        shown = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"
        told = f"{line}: “{shown}” was not read as a citation"
        if known is None:
            yield (
                f"{told}: in running text a name in Chinese letters has no end, and no document "
                "has the name that stands here. A citation is written @{key} or {#key}; a mention "
                "that cites nothing \\@."
            )
        elif is_mention:
            yield (
                f"{told}: in running text a name in Chinese letters has no end. Write @{{{known}}} "
                f"or {{#{known}}}, or \\@ if it cites nothing."
            )
        else:
            yield f"{told}, but a document has this name. Write {{#{known}}} if it cites it."


def _known(name: str, draft: Draft, library: Library) -> str | None:
    citation = Citation(*split_namespace(name), 0, 0)
    found = look_up(citation, library, draft.namespaces) if citation.doc_uid else []
    return name if any(not ref.is_removed for ref in found) else None


def _longest_known(name: str, draft: Draft, library: Library) -> str | None:
    ends = range(len(name), 0, -1)
    return next((name[:end] for end in ends if _known(name[:end], draft, library)), None)
