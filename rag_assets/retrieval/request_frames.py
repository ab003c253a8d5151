"""The request around a topic ("I am interested in …"), which is not the topic.

Words of the request are rare in a library of papers, so BM25 takes them for the heart of the
question, and a model's vector leans towards them. A frame is here only if it helped on questions
that it was not written from; docs/evaluation.md says on which ("Words that only ask").
"""

import re

_NOUN = (
    r"(?:(?:research|journal|scientific|recent|relevant|review) )?"
    r"(?:articles?|papers?|documents?|publications?|studies|literature|references?|information|"
    r"reports?)"
)
_NOUNS = rf"{_NOUN}(?:,? (?:and|or) {_NOUN})?"
# Not "of": the sources of a river are no sources on it.
_ABOUT = (
    r"(?:which |that )?(?:are |is )?"
    r"(?:on|about|regarding|concerning|deal(?:s|ing)? with|relat(?:ed|ing) to)"
)
_SOME = r"(?:(?:all|any|some|the|an?|more|many|a few|several) )*"
_SELF = r"(?:i|we)(?: am| are|['’]m|['’]re)?(?: also)?(?: particularly| especially| mainly)?"
_WISH = (
    rf"(?:{_SELF} (?:interested in|looking for|searching for|seeking|in need of|"
    r"want(?: to find)?|need(?: to find)?)|(?:i|we)(?: would|['’]d) (?:like|love|prefer|rather)"
    r"(?: to)?(?: find| see| have| read| get)?)"
)
_NAMED = rf"{_SOME}{_NOUNS} {_ABOUT}"
_FRAME = re.compile(rf"(?:{_WISH} {_NAMED}|{_WISH}|{_NAMED}) +", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=\S)")


def strip_request(question: str) -> str:
    """Return what a question is about, without the words that only ask for it.

    Two frames are taken off the beginnings of sentences: a wish ("I am looking for …") and the
    name of what is sought ("Information on …"). A question that is nothing but a request stays as
    it is.

    Args:
        question: in English; of other languages no frame is known.
    """
    sentences = (
        sentence[match.end() :] if (match := _FRAME.match(sentence)) else sentence
        for sentence in _SENTENCE.split(question)
    )
    return " ".join(filter(None, map(str.strip, sentences))) or question
