"""Office files behind a password: decrypted in memory, then read by the format's own parser."""

import io
import struct
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from xml.parsers.expat import ExpatError

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints, Parser
from rag_assets.parsing.office.sniffing import PROTECTED_OFFICE_TYPE, zip_office_type
from rag_assets.settings import ParseSettings

PARSER_VERSION = "1"

# Excel encrypts write-protected workbooks with it and opens them without asking (MS-OFFCRYPTO).
_EXCEL_DEFAULT_PASSWORD = "VelvetSweatshop"  # noqa: S105 - public knowledge, no secret
_ZIP_SIGNATURE = b"PK\x03\x04"


class ProtectedOfficeParser:
    """Reads encrypted docx, pptx and xlsx files with the password of their sidecar.

    Args:
        readers: parsers of the formats that may be inside.
    """

    name = "office_protected"
    media_types = (PROTECTED_OFFICE_TYPE,)
    reads_stem = False

    def __init__(self, readers: Sequence[Parser]) -> None:
        self._readers = {kind: reader for reader in readers for kind in reader.media_types}

    @cached_property
    def version(self) -> str:
        """Own version, that of the decryption, those of the readers inside."""
        inner = sorted({f"{reader.name}-{reader.version}" for reader in self._readers.values()})
        return "+".join([PARSER_VERSION, f"msoffcrypto-tool-{version('msoffcrypto-tool')}", *inner])

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the document inside.

        Raises:
            ParseFailure: `password_required`, `password_wrong`, `damaged_file`,
                `unsupported_format`, and those of the inner format.
        """
        package = decrypt_package(data, hints.password)
        media_type = zip_office_type(package)
        if media_type not in self._readers:
            raise ParseFailure(
                "unsupported_format",
                f"The encrypted file holds {media_type or 'no office document'}; supported are "
                f"{', '.join(sorted(self._readers))}: convert the file.",
            )
        return self._readers[media_type].parse(package, hints, settings)


def decrypt_package(data: bytes, password: str | None) -> bytes:
    """Return the zip package inside an encrypted office file.

    Args:
        data: the OLE container.
        password: None or "" where there is none.

    Raises:
        ParseFailure: `password_required`, `password_wrong`, `damaged_file`.
    """
    package = _unlock(data, password) if password else None
    if package is not None:
        return package
    if password:
        raise ParseFailure(
            "password_wrong",
            "The password in the sidecar does not open the document: correct `password:` in "
            "<file>.meta.yaml.",
        )
    mend = "write `password: …` into its sidecar <file>.meta.yaml"
    if _unlock(data, _EXCEL_DEFAULT_PASSWORD) is not None:
        mend = (
            "it has Excel's own default password, which Excel does not ask for: write "
            f"`password: {_EXCEL_DEFAULT_PASSWORD}` into its sidecar <file>.meta.yaml"
        )
    raise ParseFailure("password_required", f"The document is protected by a password: {mend}.")


def _unlock(data: bytes, password: str) -> bytes | None:
    """Return the package, None where the password does not open it.

    The password's own check is not asked for: msoffcrypto 6.1 fails it for right passwords of
    some writers. What a wrong password makes is no zip file.

    Raises:
        ParseFailure: `damaged_file`.
    """
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError

    package = io.BytesIO()
    try:
        container = msoffcrypto.OfficeFile(io.BytesIO(data))
        container.load_key(password=password)
        container.decrypt(package)
    except InvalidKeyError:
        return None
    except (
        FileFormatError, ParseError, DecryptionError, ExpatError, struct.error, OSError, ValueError,
        KeyError, IndexError, AttributeError, TypeError, OverflowError,
    ) as error:  # fmt: skip
        raise ParseFailure(
            "damaged_file",
            f"The encrypted office file is damaged ({error}): open it in its own program, save it "
            "anew and replace it.",
        ) from error
    return package.getvalue() if package.getvalue().startswith(_ZIP_SIGNATURE) else None
