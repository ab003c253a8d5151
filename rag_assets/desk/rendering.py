"""Pages by templates: escaped, in the language of the browser, whole or one block of them."""

import io
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache, partial
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args  # values of templates
from urllib.parse import quote

from fastapi import Request
from markupsafe import Markup
from starlette.responses import HTMLResponse

from rag_assets.model import drop_controls
from rag_assets.parsing import PARSE_REASONS

if TYPE_CHECKING:
    from jinja2 import Environment

    from rag_assets.desk.state import Desk

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
COOKIE = "desk_language"
# Sentences that other rooms make, with holes: status, advice, progress.
_SENTENCES = "said.po"


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
        if source.name == _SENTENCES:
            continue
        for message in read_po(io.BytesIO(source.read_bytes()), locale=language):
            if message.id:
                catalogue[message.id] = message
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def _sentences(language: Language) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of the sentences that are made below the desk, with their translations."""
    from babel.messages.pofile import read_po

    source = files("rag_assets.desk") / "messages" / language / _SENTENCES
    found = []
    for message in read_po(io.BytesIO(source.read_bytes()), locale=language):
        pieces = re.split(r"%\((\w+)\)s", str(message.id))
        holes = (
            f"(?P<{each}>.+?)" if at % 2 else re.escape(each) for at, each in enumerate(pieces)
        )
        found.append((sum(map(len, pieces[::2])), "".join(holes), str(message.string)))
    # Of two that fit, the one with more words.
    return [(re.compile(each, re.DOTALL), text) for size, each, text in sorted(found)[::-1] if size]


def tell(language: Language, sentence: str) -> str:
    """Return a sentence that was made below the desk in a language; as it is where none fits."""
    for pattern, text in _sentences(language) if language != "en" else ():
        if match := pattern.fullmatch(sentence):
            return text % {name: tell(language, held) for name, held in match.groupdict().items()}
    return sentence


def as_language(name: str | None) -> Language:
    """Return the language of this name; English for any other."""
    return name if name in LANGUAGES else "en"


PART = "X-Desk-Part"
"""The header that asks for one block of a page."""
# Characters of a uid within a line; citation keys are shorter.
_LONGEST_NAME = 32
# Path of a page, its name in English.
SECTIONS = (
    ("/", "Home"),
    ("/review", "Review"),
    ("/ask", "Ask"),
    ("/library", "Library"),
    ("/lab", "Laboratory"),
)


@cache
def _environment(language: Language) -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rag_assets.desk"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.filters["local_time"] = local_time
    environment.filters["plain_json"] = _plain_json
    environment.filters["told"] = partial(tell, language)
    environment.globals["advice"] = lambda code: PARSE_REASONS.get(code, "")
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    return environment


def language_of(request: Request) -> Language:
    """Return the language that the browser has chosen; English where it has not."""
    return as_language(request.cookies.get(COOKIE))


def page(request: Request, template: str, status_code: int = 200, **values: Any) -> HTMLResponse:
    """Return a page, or the one block of it that the request asks for by the header `PART`.

    Args:
        template: its file; extends `base.html`.
        values: what the template names. Text of any origin: it is escaped there.
    """
    desk: Desk = request.app.state.desk
    language = language_of(request)
    found = _environment(language).get_template(template)
    sections = [each for each in SECTIONS if each[0] != "/lab" or desk.has_lab]
    context = {
        "path": request.url.path,
        "address": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "language": language,
        "languages": LANGUAGES,
        "sections": sections,
        "workspace": desk.workspace.root.name,
        "form_token": desk.door.form_token,
        "document_key": partial(_document_key, cache(desk.citation_keys)),
        **values,
    }
    part = request.headers.get(PART, "")
    if part in found.blocks:
        text = "".join(found.blocks[part](found.new_context(context)))
    else:
        text = found.render(context)
    return HTMLResponse(drop_controls(text), status_code, headers={"Vary": PART})


def _document_key(
    keys: Callable[[], Mapping[tuple[str, str], tuple[str, str]]], namespace: str | None, uid: str
) -> Markup:
    """Return a link to a document by its citation key; title and uid are its tooltip.

    Templates write `{{ document_key(namespace, uid) }}`. What is not published is no link.
    """
    found = keys().get((namespace or "", uid))
    if found is None:
        name = uid if len(uid) <= _LONGEST_NAME else f"{uid[: _LONGEST_NAME - 1]}…"
        return Markup('<code class="key" title="{}">{}</code>').format(uid, name)
    key, title = found
    return Markup('<a class="key" href="/library/{}/{}" title="{}">{}</a>').format(
        namespace, quote(uid), f"{title} ({uid})" if title else uid, key
    )


def say(request: Request, sentence: str) -> str:
    """Return static text in the language of the browser, for handlers that answer with words."""
    return translations(language_of(request)).gettext(sentence)


def local_time(at: str) -> str:
    """Return a time, ISO 8601, as the clock of this machine shows it, to the minute."""
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return at


def _plain_json(value: Any) -> str:
    """Return values as JSON for people: not escaped, which is the template's task."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
