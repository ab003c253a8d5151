"""Which file a sidecar speaks of, and which files must wait because one cannot be heard.

A sidecar may say that its file must not be cited. So whatever looks like one, and is not read,
withholds the file beside it: published as citable it could not be taken back.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rag_assets.workspace.sidecar import SUFFIX

# `<file>.meta.yaml` in any case, with another suffix of its kind, or with one that an editor adds.
_LIKE = re.compile(
    r"(?P<target>.+)\.meta\.(?P<kind>ya?ml|json)(?P<rest>[^/]*)", re.IGNORECASE | re.DOTALL
)
# `paper.pdf.yaml`. Without the first suffix it is a document: `README.yaml` beside `README`.
_BARE = re.compile(r"(?is)(?P<target>.+[^/]\.[^./]+)\.ya?ml")


FOLDER_IN_PLACE = "a folder stands where the sidecar should; give it another name."


@dataclass(frozen=True, slots=True)
class Pairs:
    """What sidecars and files are to each other.

    Args:
        misnamed: file that is meant as a sidecar → what to call it.
        withheld: file → why its sidecar cannot be used.
    """

    misnamed: dict[str, str] = field(default_factory=dict)
    withheld: dict[str, str] = field(default_factory=dict)


def pair_sidecars(
    files: Iterable[str], sidecars: Collection[str], unusable: Mapping[str, str]
) -> Pairs:
    """Return which files are misnamed sidecars, and which are withheld.

    Args:
        files: every plain file but those of the right name, by source_uri.
        sidecars: the files that have a sidecar of the right name that is a plain file, by
            source_uri, whether they are there or not.
        unusable: what is no plain file or cannot be reached, by source_uri, with the reason.
    """
    listed = list(files)
    documents = _Documents(name for name in listed if not _LIKE.fullmatch(name))
    pairs = Pairs()
    for name in listed:
        meant = list(documents.meant_by(name))
        if meant:
            right = f"{_last(meant[0])}{SUFFIX}"
            pairs.misnamed[name] = right
            reason = f"its name is not that of a sidecar; rename it to {right}"
            _withhold(pairs, meant, name, reason, sidecars)
    for target in sorted(sidecars):
        if target not in documents.names:
            name = f"{target}{SUFFIX}"
            for document in documents.meant_by(name):
                reason = f"no file has exactly its name; rename it to {_last(document)}{SUFFIX}"
                _withhold(pairs, [document], name, reason, sidecars)
    for name, reason in unusable.items():
        _withhold(pairs, documents.meant_by(name), name, reason, sidecars)
    for name in pairs.misnamed:
        pairs.withheld.pop(name, None)
    return pairs


def orphan_warnings(files: Collection[str], sidecars: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each sidecar without its file; arguments as of `pair_sidecars`."""
    present = set(files)
    return tuple(
        f"{uri}{SUFFIX}: a sidecar without its file; remove it or bring the file back."
        for uri in sorted(sidecars)
        if uri not in present
    )


def _withhold(
    pairs: Pairs, meant: Iterable[str], name: str, reason: str, sidecars: Collection[str]
) -> None:
    for document in meant:
        # One that has the right name speaks; what lies beside it, a copy of an editor, does not.
        if document not in sidecars:
            pairs.withheld.setdefault(document, f"{_last(name)}: {reason}")


class _Documents:
    """Files by the names under which a sidecar may mean them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)

    @cached_property
    def _alike(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The names by their folded form, whole and without their suffix.

        Made when something asks that is not called exactly as it should be: most folders have
        nothing of the kind, and the sensor looks at all names.
        """
        folded, stems = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for name in sorted(self.names):
            folded[_folded(name)].append(name)
            stem, dot, suffix = name.rpartition(".")
            if dot and "/" not in suffix:
                stems[_folded(stem)].append(name)
        return folded, stems

    def meant_by(self, name: str) -> Iterator[str]:
        """Yield the files that something of this name speaks of, itself apart."""
        match = _LIKE.fullmatch(name) or _BARE.fullmatch(name)
        if match is None:
            return
        target = match["target"]
        exact = [target] if target in self.names else self._alike[0].get(_folded(target), [])
        # `paper.meta.yaml` for paper.pdf; a JSON of that name is often another tool's.
        is_plain = match.re is _LIKE and match["kind"].lower() != "json" and not match["rest"]
        by_stem = self._alike[1].get(_folded(target), []) if is_plain and not exact else []
        yield from (each for each in (*exact, *by_stem) if each != name)


def _folded(name: str) -> str:
    """Return a name without case and in one form, in its folder: macOS and Windows mix them."""
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{unicodedata.normalize('NFC', last).casefold()}"


def _last(name: str) -> str:
    return name.rpartition("/")[2]
