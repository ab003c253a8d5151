"""Objects that are sent in parts: for keys that name their content, of any size."""

from collections.abc import Mapping
from typing import Any, Final

from rag_assets.model import StorageError
from rag_assets.storage.s3_content import Content
from rag_assets.storage.s3_server import Server, Stored, read_stored
from rag_assets.storage.s3_trouble import client_errors, is_absence

# Read into memory one at a time. S3 takes 10,000 parts of one object: 640 GB.
PART_BYTES: Final = 64 * 1024**2


def upload_in_parts(
    server: Server, key: str, content: Content, metadata: Mapping[str, str]
) -> Stored:
    """Store an object, whatever its key has, and return what is known of it.

    What a crash leaves of the parts is no object, and is paid for until a rule of the bucket takes
    it away (`AbortIncompleteMultipartUpload`).

    Raises:
        StorageError: the server does not take it; the object is as it was.
    """
    begun = server.attempt(
        key, lambda: server.ask("create_multipart_upload", key, Metadata=metadata)
    )
    upload = {"UploadId": begun["UploadId"]}
    try:
        parts = [
            {"PartNumber": number, "ETag": _send(server, key, data, PartNumber=number, **upload)}
            for number, data in enumerate(content.parts(PART_BYTES), 1)
        ]
        return server.attempt(key, lambda: _complete(server, key, parts, content, upload))
    except BaseException as error:
        try:
            server.ask("abort_multipart_upload", key, **upload)
        except client_errors() as other:
            error.add_note(f"Its parts stay until the bucket's rules take them away: {other}")
        raise


def _send(server: Server, key: str, data: bytes, **options: Any) -> str:
    md5 = Content.of(data).content_md5
    answer = server.attempt(
        key, lambda: server.ask("upload_part", key, Body=data, ContentMD5=md5, **options)
    )
    return str(answer["ETag"])


def _complete(
    server: Server,
    key: str,
    parts: list[dict[str, Any]],
    content: Content,
    upload: Mapping[str, str],
) -> Stored:
    gone: Exception | None = None
    try:
        server.ask("complete_multipart_upload", key, MultipartUpload={"Parts": parts}, **upload)
    except client_errors() as error:
        if not is_absence(error):
            raise
        gone = error  # made whole by an earlier try, or given up by somebody
    stored = read_stored(server.ask("head_object", key))
    if gone is not None and stored.sha256 != content.sha256:
        raise StorageError(
            f"{server.describe(key)}: its upload was taken away at the server before it was "
            "whole. Run the command again."
        ) from gone
    return stored
