"""Which English sentences have a word of causing at all; causal_model.py reads their meaning.

A word alone says little: "increased risk" names a level, "increases risk" claims an effect. So it
only decides whether a sentence is read. One rule; `python -m benchmarks.rules_ledger --causes` says
what it is worth (docs/judging.md).
"""

import re
from itertools import chain

from rag_assets.model import TextRule

_VERBS = (
    "cause induce trigger provoke prevent inhibit suppress block abolish attenuate ameliorate "
    "alleviate mitigate exacerbate aggravate impair worsen disrupt enhance improve promote "
    "stimulate modulate mediate regulate facilitate reverse restore accelerate delay slow prolong "
    "diminish reduce lower elevate boost cure eradicate eliminate curb weaken strengthen affect "
    "influence alter harm damage kill halve offset minimize minimise maximize maximise counteract "
    "protect activate deteriorate shorten extend ease relieve confer exert hinder hamper deplete "
    "normalize normalise optimise optimize downregulate upregulate potentiate save disturb "
    "compromise raise stop evoke elicit combat tackle impact moderate preclude precipitate "
    "stabilize stabilise sensitize sensitise maintain preserve render spur fuel foster shape "
    "govern undermine jeopardize jeopardise avert avoid predispose double triple cut increase "
    "decrease change control drive determine enable benefit aid contribute lead help heal repair "
    "destroy degrade contaminate erode tighten expand shrink stunt unlock program decelerate "
    "impede interfere counter underlie underpin engender excite yield quadruple lengthen hasten "
    "treat prompt produce generate lessen heighten intensify amplify dampen augment reinforce "
    "necessitate inflict impose pose kill convey"
)
_IRREGULAR = {
    "cut": ("cut", "cuts", "cut", "cutting"),
    "stop": ("stop", "stops", "stopped", "stopping"),
    "drive": ("drive", "drives", "drove", "driving"),
    "lead": ("lead", "leads", "led", "leading"),
    "curb": ("curb", "curbs", "curbed", "curbing"),
    "control": ("control", "controls", "controlled", "controlling"),
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
    r"\b(?:effective|ineffective|effectively|efficacious|effectiveness|efficacy|"
    r"efficient)\b|\b(?:beneficial|detrimental|harmful|protective|deleterious|adverse|"
    r"favou?rable|positive|negative)\b|\b(?:useful|helpful|valuable|feasible)\b|"
    r"\b(?:causes? of|leading cause|causal|causative|cause)\b|\b(?:contributors?|"
    r"contributes?|contributed|contributing|contribution)\b|\bplay(?:s|ed|ing)? (?:an? |"
    r"the |)?(?:\w+ )?(?:roles?|part)\b|\brole (?:in|of|for)\b|\b(?:key|critical|crucial|"
    r"essential|important|central|fundamental|vital) (?:to|for|in|role|factor|element|"
    r"issue)|\bdepend(?:s|ed|ing|ent|ence|ency)? (?:\w+ ){0,4}?(?:up)?on\b|"
    r"\b(?:determinants?|drivers?|regulators?|inhibitors?|activators?|mediators?|"
    r"modulators?|suppressors?|causes?|killers?|reasons?)\b|\bfactors? (?:in|for|behind)\b|"
    r"\bimportance of\b|\b(?:involve[sd]?|implicated|involvement) (?:\w+ ){0,4}?in\b|"
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


def has_causal_cue(sentence: str) -> bool:
    """Say whether a sentence has a verb of change or a phrase of causing."""
    text = sentence.lower()
    return not _FORMS.isdisjoint(_WORD.findall(text)) or _PHRASES.search(text) is not None


CAUSAL_CUE = TextRule(
    id="causal-cue",
    languages=("en",),
    says="The sentence may claim a cause, and is read.",
    fires="Planted roofs reduce the cooling load.",
    silent="Planted roofs were cooler at noon.",
    check=has_causal_cue,
)
