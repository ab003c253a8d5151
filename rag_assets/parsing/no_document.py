"""What is no document though it opens: a site's refusal, and a text layer that says nothing."""

import re

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.language import is_garbled

_PDF_TYPE, _WEB_TYPE = "application/pdf", "text/html"
# A refusal is a line or two, with the site's menus a thousand characters; an abstract that speaks
# of such pages is longer, or does not begin so.
_MAX_CHARACTERS, _MAX_BEGINNING, _MAX_ONE_LINE = 1500, 120, 300
_MIN_SIGNS, _MAX_SENTENCES = 2, 2
_SENTENCE = re.compile(r"[^.!?。！？]{60,}[.!?]|[^.!?。！？]{25,}[。！？]")
_REFUSAL = re.compile(
    r"access (?:is |was )?(?:denied|forbidden|restricted)|forbidden"
    # A number alone is a dose or a year.
    r"|(?:error|http|status)(?: code)?:? ?(?:40[134]|50[0234])\b|\b(?:40[134]|50[0234])[ :–—-]+"
    r"(?:error|bad|not found|service|gateway|internal|access|unauthori)"
    r"|page (?:was )?not found|do(?:es)? ?n[o']t have (?:permission|access)|not authori[sz]ed"
    r"|unauthori[sz]ed|captcha|(?:verify|confirm|prove) (?:that )?you are (?:a |not a )?"
    r"(?:human|robot)|are you a (?:human|robot)|checking your browser|just a moment"
    r"|enable (?:javascript|cookies)|your download (?:will|should) (?:start|begin)"
    r"|(?:log|sign) ?in (?:to|with|via|through)|institution(?:al)? (?:login|access|sign)"
    r"|(?:purchase|buy|rent) (?:access|this article|the article|pdf)|subscribe to (?:read|access)"
    r"|session (?:has )?(?:expired|timed out)|too many requests|service unavailable|bad gateway"
    r"|访问被?拒绝|拒绝访问|禁止访问|无权访问|没有(?:访问)?权限|验证码|人机验证|(?:请先?|需要|先)登[录陆]"
    r"|登[录陆]后|下载(?:即将|马上|将)开始|页面不存在|找不到(?:该)?页面|服务不可用|访问过于频繁",
    re.IGNORECASE,
)
# So many characters without a Unicode value, and there is nothing to search.
_MAX_UNREADABLE_SHARE = 0.5


def check_is_document(document: ParsedDocument) -> None:
    """Refuse what nobody could cite.

    Raises:
        ParseFailure: `error_page`: a PDF of one page or a web page that holds nothing but a site's
            refusal or its form to log in; `unreadable_text`: the text layer of a PDF is not the
            text that its pages show.
    """
    text = document.text
    if (
        document.media_type in {_PDF_TYPE, _WEB_TYPE}
        and len(document.pages) <= 1
        and _is_refusal(" ".join(text.split()))
    ):
        raise ParseFailure(
            "error_page",
            f"The file is no document but a page of a web site that gave none (“{text[:80]}”): "
            "fetch the document again in a browser, logged in where that is needed.",
        )
    if document.media_type != _PDF_TYPE or not text:
        return
    if text.count("\ufffd") > _MAX_UNREADABLE_SHARE * len(text) or is_garbled(text):
        raise ParseFailure(
            "unreadable_text",
            "The text layer of the PDF is not what its pages show "
            f"(it reads “{' '.join(text[:80].split())}”): run text recognition (OCR) on the pages "
            "as pictures and replace the file, or look for another edition.",
        )


def _is_refusal(text: str) -> bool:
    signs = {sign.lower() for sign in _REFUSAL.findall(text)}
    if not signs or len(text) > _MAX_CHARACTERS:
        return False
    prose = [one for one in _SENTENCE.findall(text) if not _REFUSAL.search(one)]
    if len(prose) > _MAX_SENTENCES:
        return False
    begins = _REFUSAL.search(text[:_MAX_BEGINNING]) is not None
    return (begins and len(text) <= _MAX_ONE_LINE) or len(signs) >= _MIN_SIGNS
