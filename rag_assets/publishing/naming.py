"""What a build is called by those who cite it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def build_id_of(manifest: Mapping[str, Any]) -> str:
    """Return the build id of a publication: `<created>-<publication>-<tool version>`.

    Args:
        manifest: of the publication; its name is the digest of inputs and configuration.
    """
    created = datetime.fromtimestamp(manifest["created_at"], UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{created}-{manifest['publication']}-{manifest['tool_version']}"
