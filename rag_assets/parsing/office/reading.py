"""What reading a Word document and a presentation have in common."""

from collections.abc import Callable
from dataclasses import replace

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.office.package import OfficePackage
from rag_assets.parsing.office.sniffing import misnamed_warning


def read_office_file(
    read: Callable[[OfficePackage], ParsedDocument], package: OfficePackage, hints: ParseHints
) -> ParsedDocument:
    """Return what `read` makes of a package, with warnings on what the file is in all.

    They name parts that the package lacks and a name of another format.

    Raises:
        ParseFailure: what `read` raises; `hostile_file` where elements lie too deep for it.
    """
    try:
        document = read(package)
    except RecursionError as error:
        raise ParseFailure(
            "hostile_file",
            "The file's elements lie hundreds of levels deep in each other, as no office program "
            "writes them: open it in its own program and save it anew.",
        ) from error
    misnamed = misnamed_warning(hints.extension, document.media_type)
    return replace(document, warnings=(*document.warnings, *package.missing_warning(), *misnamed))
