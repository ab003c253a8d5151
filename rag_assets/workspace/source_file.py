"""A file below a raw folder, as a look at it found it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file below a raw folder, as it was seen.

    Args:
        source_uri: `<root name>/<path>`, POSIX, never absolute.
        file: where it can be read now (absolute; provenance).
        status: `ok`, or `refused` with `reason_code` and `message`.
        content_hash: SHA-256 of the bytes, empty when refused.
        sidecar: canonical JSON of the sidecar without its password, empty when there is none.
        sidecar_error: why the sidecar cannot be used, empty when it can.
        password_hash: SHA-256 of the sidecar's password; it is a parse hint.
    """

    source_uri: str
    file: str
    status: str
    source_type: str
    source_subtype: str
    citable: bool
    reason_code: str = ""
    message: str = ""
    content_hash: str = ""
    size: int = 0
    sidecar: str = ""
    sidecar_error: str = ""
    password_hash: str = ""

    @property
    def content_fields(self) -> tuple[str | bool, ...]:
        """Everything that later stages may depend on; the rest is provenance."""
        return (
            self.source_uri,
            self.status,
            self.source_type,
            self.source_subtype,
            self.citable,
            self.reason_code,
            self.content_hash,
            self.sidecar,
            self.sidecar_error,
            self.password_hash,
        )
