"""Which English sentences claim a cause, by their words.

A sentence claims a cause where it has a verb of change or a phrase of causing, unless it only
reports an association ("is associated with") or a level ("an increased risk"). F1 on labelled
sentences is 0.70 to 0.80 (docs/audit.md).
"""

import re
from itertools import chain

_VERBS = (
    "cause induce trigger provoke prevent inhibit suppress block abolish attenuate ameliorate "
    "alleviate mitigate exacerbate aggravate impair worsen disrupt enhance improve promote "
    "stimulate modulate mediate regulate facilitate reverse restore accelerate delay slow prolong "
    "diminish reduce lower boost cure eradicate eliminate curb weaken strengthen affect "
    "influence alter harm damage kill halve offset minimize minimise maximize maximise counteract "
    "protect activate deteriorate shorten extend ease relieve confer exert hinder hamper deplete "
    "normalize normalise optimise optimize downregulate upregulate potentiate save disturb "
    "compromise raise stop evoke elicit combat tackle impact preclude precipitate "
    "stabilize stabilise sensitize sensitise maintain preserve render spur fuel foster shape "
    "govern undermine jeopardize jeopardise avert avoid predispose double triple cut increase "
    "decrease drive enable benefit aid contribute lead help heal repair "
    "destroy degrade contaminate erode tighten expand shrink stunt unlock decelerate "
    "impede interfere counter underlie underpin engender excite yield quadruple lengthen hasten "
    "prompt produce generate lessen heighten intensify amplify dampen augment reinforce "
    "necessitate inflict impose pose kill convey"
)
_IRREGULAR = {
    "cut": ("cut", "cuts", "cut", "cutting"),
    "stop": ("stop", "stops", "stopped", "stopping"),
    "drive": ("drive", "drives", "drove", "driving"),
    "lead": ("lead", "leads", "led", "leading"),
    "curb": ("curb", "curbs", "curbed", "curbing"),
    "confer": ("confer", "confers", "conferred", "conferring"),
    "offset": ("offset", "offsets", "offset", "offsetting"),
    "shrink": ("shrink", "shrinks", "shrank", "shrinking"),
}
_PHRASES = re.compile(
    r"\b(?:effects?|impacts?|influences?|action) (?:on|upon)\b|\b(?:effects?|impacts?|"
    r"influences?|consequences?) of\b|\b\w+ (?:effects?|impact|influence)\b|\b(?:because of|"
    r"due to|owing to|thanks to|as a (?:result|consequence) of|attributable to|"
    r"attributed to|result(?:s|ed|ing)? (?:from|in)|caused by|responsible for|explained by|"
    r"mediated by|driven by|triggered by|induced by|to blame|blamed|accounts? for|"
    r"stems? from|reason (?:why|for|behind)|brings? about|brought about)\b|"
    r"\b(?:because|hence|thereby|so that)\b|"
    r"\b(?:effective|ineffective|effectively|efficacious|efficient|detrimental|protective|"
    r"deleterious)\b|"
    r"\b(?:causes? of|leading cause|causal|causative|cause)\b|\b(?:contributors?|"
    r"contributes?|contributed|contributing|contribution)\b|\bplay(?:s|ed|ing)? (?:an? |"
    r"the |)?(?:\w+ )?(?:roles?|part)\b|\brole (?:in|of|for)\b|\b(?:key|critical|crucial|"
    r"essential|central|fundamental|vital) (?:to|for|in|role|factor|element|"
    r"issue)|\bdepend(?:s|ed|ing|ent|ence|ency)? (?:\w+ ){0,4}?(?:up)?on\b|"
    r"\b(?:determinants?|drivers?|regulators?|inhibitors?|activators?|mediators?|"
    r"modulators?|suppressors?|causes?|killers?|reasons?)\b|"
    r"\b(?:involve[sd]?|implicated|involvement) (?:\w+ ){0,4}?in\b|"
    r"\bexplain(?:s|ed|ing)?\b|\b(?:deriv(?:e|es|ed|ing)|aris(?:e|es|ing)|arose|achieved|"
    r"obtained) (?:from|by|with|through)\b|\brul(?:e|es|ed|ing) out\b|\b(?:makes?|made|"
    r"keeps?|puts?|enables?|allows?|helps?|gives?) (?!up\b)\w+"
)


def _forms(verb: str) -> tuple[str, ...]:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", verb[:-1] + "ing"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    plural = "es" if re.search(r"(?:s|sh|ch|x|z)$", verb) else "s"
    return verb, verb + plural, verb + "ed", verb + "ing"


_FORMS = frozenset(chain(*map(_forms, _VERBS.split()), ("driven", "shrunk", "shrunken")))
_WORD = re.compile(r"[a-z]+")


# "is associated with", "predicts": what goes together is not said to bring about.
_ASSOCIATION = re.compile(
    r"\b(?:associat\w+|correlat\w+|link(?:s|ed)? (?:to|with|between)|predict\w*|risk factors?|"
    r"relat(?:ed|ion(?:ship)?s?) (?:to|with|between)|(?:more|less) likely)\b"
)
# "an increased risk" names a level, "increases the risk" claims an effect.
_LEVEL = re.compile(
    r"\b(?:an?|the|of|with|at|for|to|had) (?:\w+ly )?"
    r"(?:(?:in|de)creased|reduced|improved|raised|lower(?:ed)?|impaired|heightened)\b"
)


def find_cause(sentence: str) -> str | None:
    """Return the words by which an English sentence claims a cause; None where it claims none."""
    text = sentence.lower()
    if _ASSOCIATION.search(text):
        return None
    text = _LEVEL.sub(" ", text)
    phrase = _PHRASES.search(text)
    if phrase is not None:
        return phrase.group()
    return next((word for word in _WORD.findall(text) if word in _FORMS), None)
