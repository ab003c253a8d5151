"""The static text of the pages in two languages, by gettext catalogues.

What is in files, what models write and what people type is never translated.
"""

import io
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from typing import Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
COOKIE = "desk_language"


@cache
def translations(language: Language) -> NullTranslations:
    """Return the catalogue of a language; of English, in which the text is written, an empty one.

    Its files, one for each part of the desk, are compiled when they are read: what is reviewed is
    what is used.
    """
    if language == "en":
        return NullTranslations()
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    catalogue = Catalog(locale=language)
    folder = files("rag_assets.desk") / "messages" / language
    for source in sorted(folder.iterdir(), key=lambda each: each.name):
        for message in read_po(io.BytesIO(source.read_bytes()), locale=language):
            if message.id:
                catalogue[message.id] = message
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)


def as_language(name: str | None) -> Language:
    """Return the language of this name; English for any other."""
    return name if name in LANGUAGES else "en"
