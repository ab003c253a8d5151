"""How large a file may be that is read."""

_BYTES_PER_MEGABYTE = 1_000_000


def size_problem(size: int, max_megabytes: int) -> str | None:
    """Say why a file of `size` bytes is not read; None where it is. A megabyte is 10⁶ bytes.

    Args:
        max_megabytes: the setting `parse.max_megabytes`.
    """
    if size <= max_megabytes * _BYTES_PER_MEGABYTE:
        return None
    return (
        f"The file has {size / _BYTES_PER_MEGABYTE:.1f} MB, parse.max_megabytes allows "
        f"{max_megabytes}: raise the setting in config.yaml or split the document, then build "
        "again."
    )
