"""What sidecars say, remembered by their stat: reading one takes longer than all else of a file."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_assets import __version__
from rag_assets.model import ConfigurationError, hash_fields, hash_text
from rag_assets.workspace.listing import Listed
from rag_assets.workspace.sidecar import Sidecar, read_sidecar, state_of_broken

# A file changed so shortly before it was read could change again within the clock's grain: what
# was read is used but not remembered.
CLOCK_GRAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class SaidBeside:
    """What stands in a sidecar: its values as canonical JSON without the password, or an error."""

    values: str = ""
    error: str = ""
    password_hash: str = ""


class SidecarCache:
    """Reads sidecars, and those that have not changed since they were read only once.

    Args:
        cache: what the hash cache remembers; sidecars stand there under their own source_uri.
    """

    def __init__(self, cache: Mapping[str, list[int | str]]) -> None:
        self._cache = cache
        self.read = 0
        self.remembered: dict[str, list[int | str]] = {}
        self.is_settled = True

    def knows(self, sidecar: Listed) -> bool:
        """Say whether it was read, and has not changed since."""
        known = self._cache.get(sidecar.uri)
        # All eight parts, or it is not one that was written here.
        return known is not None and len(known) == 8 and known[:5] == [*sidecar.stat, _form()]

    def read_beside(self, sidecar: Listed) -> SaidBeside:
        """Return what a sidecar says, or why it cannot be used."""
        if self.knows(sidecar):
            known = self._cache[sidecar.uri]
            self.remembered[sidecar.uri] = known
            values, error, password_hash = (str(part) for part in known[5:])
            return SaidBeside(values, error, password_hash)
        self.read += 1
        path = Path(sidecar.path)
        try:
            said = _said(path)
        except FileNotFoundError:  # removed since it was listed
            self.is_settled = False
            return SaidBeside()
        except OSError as error:
            self.is_settled = False
            return SaidBeside(error=f"{path.name}: cannot be read ({error.strerror}).")
        if time.time() - sidecar.stat[2] / 1e9 > CLOCK_GRAIN_SECONDS:
            parts = (said.values, said.error, said.password_hash)
            self.remembered[sidecar.uri] = [*sidecar.stat, _form(), *parts]
        else:
            self.is_settled = False
        return said


def _said(path: Path) -> SaidBeside:
    try:
        values = read_sidecar(path)
    except ConfigurationError as error:
        return SaidBeside(error=f"{error}{state_of_broken(path)}")
    password = values.password.get_secret_value() if values.password else ""
    return SaidBeside(
        json.dumps(
            values.model_dump(mode="json", exclude={"password"}, exclude_defaults=True),
            sort_keys=True,
            ensure_ascii=False,
        ),
        password_hash=hash_text(password) if password else "",
    )


@cache
def _form() -> str:
    """Return what a sidecar may say in this release; another one reads all of them again."""
    return hash_fields(__version__, Sidecar.model_json_schema())[:8]
