"""Causal wording in English: verbs of change in their grammar, and phrases of causing.

A word alone says little: "increased risk" names a level, "increases risk" claims an effect. What is
counted is therefore the form and the place of each verb: finite with an object, behind a modal, in
a passive with an agent, as a participle before a noun. The features follow the guide-lines by
which Yu, Li and Wang (EMNLP 2019) told causal from correlational conclusions; causal_model.py
weighs them.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]")
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
# The same form is a noun as well.
_ALSO_NOUNS = _words(
    "increase decrease change control cause influence impact damage harm delay benefit aid help "
    "cut double lead boost block trigger slow raise shape cure ease drive program counter offset "
    "affect"
)
# Verbs whose object stands behind a preposition.
_PREPOSITIONS_OF = {
    "lead": {"to"}, "contribute": {"to"}, "interfere": {"with"}, "predispose": {"to"},
    "protect": {"against", "from"}, "benefit": {"from"}, "help": {"to", "with", "in"},
    "slow": {"down"},
}  # fmt: skip
_NEEDS_PREPOSITION = frozenset({"lead", "contribute", "interfere", "predispose"})
_DETERMINERS = _words(
    "a an the this that these those no any its their our his her significant and or of in -"
)
_BEFORE_PLURALS = _words("the these those no any its their our his her significant of in")
_PREPOSITIONS = _words(
    "of in on with for at from between among by as into over under during within without"
)
# "have lower rates", "was slow": an adjective.
_BEFORE_NOUNS = _PREPOSITIONS | _words("have has had is are was were be a an the more most")
_MODALS = _words("may might could can would will should must does did do cannot")
_BE = _words("was were is are be been being")
_BEFORE_ADJECTIVE = _DETERMINERS | _PREPOSITIONS | _words("to , more less most <s> 's .")
# What follows a verb that has no object.
_NO_OBJECT = _words(
    "in of by over among with and or . , ; : </s> between was were is are from during at when "
    "after than - significantly substantially as to for but ) ("
)
_AMOUNT = re.compile(r"\d|(?:an?|about|around|nearly|almost|half|more|up|two|three)$")
_CORRELATION = re.compile(
    r"\b(?:associat\w+|correlat\w+|links? (?:to|between|with)|linked|relat(?:ed|ion\w*) (?:to|"
    r"between|with)|risk factors?|relationship\w*|at (?:an? )?(?:\w+ )?(?:increased|higher|greater|"
    r"lower|reduced|elevated) (?:\w+ )?risk|more likely|less likely|(?:higher|lower|"
    r"increased|decreased|greater|reduced|elevated) (?:\w+ )?(?:risk|odds|likelihood|chance|"
    r"prevalence|incidence|rate|level|concentration|mortality)s?)\b"
)
# They say outright that one thing is the reason of another.
_CONNECTIVE = re.compile(
    r"\b(?:because(?! of course)|due to|owing to|thanks to|as a (?:result|consequence) of|"
    r"caused by|(?:leads?|led) to|gives? rise to|brings? about|brought about|results? in|"
    r"resulted in)\b",
    re.IGNORECASE,
)
_PHRASES = {
    "effect on": r"\b(?:effects?|impacts?|influences?|action) (?:on|upon)\b",
    "effect of": r"\b(?:effects?|impacts?|influences?|consequences?) of\b",
    "some effect": r"\b\w+ (?:effects?|impact|influence)\b",
    "due to": r"\b(?:because of|due to|owing to|thanks to|as a (?:result|consequence) of|"
    r"attributable to|attributed to|result(?:s|ed|ing)? (?:from|in)|caused by|responsible for|"
    r"explained by|mediated by|driven by|triggered by|induced by|to blame|blamed|accounts? for|"
    r"stems? from|reason (?:why|for|behind))\b",
    "because": r"\b(?:because|hence|thereby|so that)\b",
    "effective": r"\b(?:effective|ineffective|effectively|efficacious|effectiveness|efficacy|"
    r"efficient)\b",
    "beneficial": r"\b(?:beneficial|detrimental|harmful|protective|deleterious|adverse|"
    r"favou?rable|positive|negative)\b",
    "useful": r"\b(?:useful|helpful|valuable|feasible)\b",
    "cause of": r"\b(?:causes? of|leading cause|causal|causative|cause)\b",
    "contribution": r"\b(?:contributors?|contributes?|contributed|contributing|contribution)\b",
    "lead to": r"\b(?:leads?|led|leading) to\b",
    "plays a role": r"\bplay(?:s|ed|ing)? (?:an? |the |)?(?:\w+ )?(?:roles?|part)\b",
    "role in": r"\brole (?:in|of|for)\b",
    "key to": r"\b(?:key|critical|crucial|essential|important|central|fundamental|vital) "
    r"(?:to|for|in|role|factor|element|issue)",
    "depends on": r"\bdepend(?:s|ed|ing|ent|ence|ency)? (?:\w+ ){0,4}?(?:up)?on\b",
    "determinant": r"\b(?:determinants?|drivers?|regulators?|inhibitors?|activators?|mediators?|"
    r"modulators?|suppressors?|causes?|killers?|reasons?)\b",
    "factor in": r"\bfactors? (?:in|for|behind)\b",
    "importance of": r"\bimportance of\b",
    "involved in": r"\b(?:involve[sd]?|implicated|involvement) (?:\w+ ){0,4}?in\b",
    "explains": r"\bexplain(?:s|ed|ing)?\b",
    "comes from": r"\b(?:deriv(?:e|es|ed|ing)|aris(?:e|es|ing)|arose|achieved|"
    r"obtained) (?:from|by|with|through)\b",
    "rules out": r"\brul(?:e|es|ed|ing) out\b",
    "mechanism": r"\b(?:mechanisms?|pathways?|via|through|mediat\w+|dependent|target\w*)\b",
    "raises the risk": r"\b(?:increas(?:e|es|ing)|reduc(?:e|es|ing)|rais(?:e|es|ing)|lower(?:s|"
    r"ing)?|double[sd]?|cuts?) (?:the |their |your )?(?:\w+ ){0,2}(?:risks?|odds|chances?|"
    r"likelihood)\b",
    "conditional": r"\b(?:may|might|could|potential\w*|appears?|seems?|possib\w+)\b",
    "can": r"\bcan\b",
    "needed": r"\b(?:needed|required|warranted|further (?:research|stud\w+|investigation)|future|"
    r"research is|recommend\w*)\b",
    "should": r"\b(?:should|need to|must)\b",
    "than": r"\bthan\b",
    "compared": r"\b(?:compared (?:with|to)|versus|vs)\b",
    "frequency": r"\b(?:prevalence|prevalent|incidence|common|frequent\w*)\b",
    "aim": r"\b(?:aim\w*|purpose|objective|to (?:investigate|evaluate|determine|assess|examine|"
    r"identify)|whether|we (?:investigated|examined|evaluated)|was designed)\b",
    "no difference": r"\bno (?:significant |evidence|discernible )?(?:\w+ )?(?:association|"
    r"correlation|difference|effect|increase)",
    "prediction": r"\b(?:predict\w*|predictors?|markers?|biomarkers?|identif\w+|indicators?|"
    r"diagnos\w+|detect\w*|tool)\b",
    "likely": r"\b(?:more|less|most|times as) likely\b",
    "improvement in": r"\b(?:improvements?|reductions?|increases?|decreases?|declines?|loss|gains?)"
    r" in\b",
    "results in": r"\bresult(?:s|ed|ing)? in\b",
    "makes": r"\b(?:makes?|made|keeps?|puts?|enables?|allows?|helps?|gives?) (?!up\b)\w+",
    "associated": r"\bassociat\w+\b",
    "linked": r"\blink(?:s|ed)?\b",
    "correlated": r"\bcorrelat\w+\b",
    "trend": r"\b(?:prevalence|rates?|number|proportion|levels?) (?:of .{0,40})?(?:was|were|is|are|"
    r"has|have|remain\w*|increased|decreased|rose|fell|declined)\b",
    "high risk": r"\b(?:at|have|had|has|having) (?:an? )?(?:\w+ )?(?:increased|higher|greater|"
    r"lower|reduced|elevated) (?:\w+ )?(?:risk|odds|mortality|prevalence|incidence)",
}
_PHRASE_PATTERNS = {name: re.compile(pattern) for name, pattern in _PHRASES.items()}
# Verbs in these places claim an effect of their subject or agent.
_CLAIMING = frozenset({"modal", "finite", "past", "passive by"})


def _forms(verb: str) -> tuple[str, str, str, str]:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", verb[:-1] + "ing"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    plural = "es" if re.search(r"(?:s|sh|ch|x|z)$", verb) else "s"
    return verb, verb + plural, verb + "ed", verb + "ing"


_FORMS: dict[str, tuple[str, int]] = {}
for _verb in _VERBS.split():
    for _number, _form in enumerate(_forms(_verb)):
        _FORMS.setdefault(_form, (_verb, _number))
_FORMS |= {"driven": ("drive", 2), "shrunk": ("shrink", 2), "shrunken": ("shrink", 2)}


def names_a_reason(sentence: str) -> bool:
    """Say whether a sentence says outright that one thing is the reason of another."""
    return _CONNECTIVE.search(sentence) is not None


_CUE_PHRASES = (
    "effect on|effect of|some effect|due to|because|effective|cause of|contribution|lead to|"
    "plays a role|role in|key to|raises the risk|results in|makes|beneficial|useful|depends on|"
    "determinant|factor in|importance of|involved in|explains|comes from|rules out"
)
_CUES = frozenset(_CUE_PHRASES.split("|"))


def has_causal_cue(features: frozenset[str]) -> bool:
    """Say whether a verb of change or a phrase of causing is among the features."""
    return any(
        feature.startswith("verb ") or feature.removeprefix("phrase ") in _CUES
        for feature in features
    )


def causal_features(sentence: str) -> frozenset[str]:
    """Return what the model weighs in an English sentence."""
    tokens = [token.lower() for token in _TOKEN.findall(sentence)]
    text = " ".join(tokens)
    found = _CORRELATION.search(text)
    correlated = len(text[: found.start()].split()) if found else len(tokens)
    features: set[str] = set()
    claims = False
    for place, token in enumerate(tokens):
        if token in _FORMS:
            kind = _verb_kind(tokens, place)
            if kind in _CLAIMING and place <= correlated:
                claims = True
            else:
                named = "claim" if kind in _CLAIMING else kind
                features.add(f"verb {named}{' after correlation' if place > correlated else ''}")
    if claims:
        features.add("verb claims an effect")
    elif not features:
        features.add("no verb")
    if found:
        features.add("correlation beside" if claims else "correlation alone")
    features.update(
        f"phrase {name}" for name, pattern in _PHRASE_PATTERNS.items() if pattern.search(text)
    )
    cues = sum(feature.removeprefix("phrase ") in _CUES for feature in features)
    features.update(f"{number} phrases or more" for number in (1, 2) if cues >= number)
    return frozenset(features)


def _verb_kind(tokens: list[str], place: int) -> str:
    verb, form = _FORMS[tokens[place]]
    before = place - 1
    while before >= 0 and (
        tokens[before].endswith("ly") or tokens[before] in {"not", "also", "both", "further"}
    ):
        before -= 1  # fmt: skip
    previous = tokens[before] if before >= 0 else "<s>"
    following = tokens[place + 1] if place + 1 < len(tokens) else "</s>"
    if following.endswith("ly") and place + 2 < len(tokens):
        following = tokens[place + 2]
    prepositions = _PREPOSITIONS_OF.get(verb, set[str]())
    has_object = following in prepositions or (
        verb not in _NEEDS_PREPOSITION and following not in _NO_OBJECT
    )
    if form == 2:
        return _participle_kind(tokens, place, previous, has_object=has_object)
    if form == 3:
        return _gerund_kind(previous) if has_object else "without object"
    # "this causes", "and reduces", "negatively impacts" are verbs; "the causes" is a noun.
    naming = _BEFORE_PLURALS if form == 1 else _DETERMINERS
    is_noun = (verb in _ALSO_NOUNS and previous in naming and before == place - 1) or (
        form == 0 and previous in _BEFORE_NOUNS
    )
    if previous not in _MODALS and previous != "to" and is_noun:
        return "noun"
    if not has_object:
        return "without object"
    return "modal" if previous in _MODALS else "infinitive" if previous == "to" else "finite"


def _gerund_kind(previous: str) -> str:
    if previous in {"by", "through", "via"}:
        return "means"
    return "outcome" if previous in {"thereby", "thus", ","} else "gerund"


def _participle_kind(tokens: list[str], place: int, previous: str, *, has_object: bool) -> str:
    rest = tokens[place + 1 : place + 5]
    agent = place + 2 + rest.index("by") if "by" in rest else None
    has_agent = agent is not None and not _AMOUNT.match("".join(tokens[agent : agent + 1]))
    if previous in _BE:
        return "passive by" if has_agent else "passive"
    if rest[:1] == ["by"]:
        return "passive by" if has_agent else "without object"
    if previous in _BEFORE_ADJECTIVE:
        return "participle"
    return "past" if has_object else "without object"
