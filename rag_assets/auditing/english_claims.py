"""Words by which an English sentence is a strong assertion, a hedged one, or none."""

import re
from itertools import chain

# Which English sentences claim a cause, by their words.
#
# A sentence claims a cause where it has a verb of change or a phrase of causing, unless it only
# reports an association ("is associated with") or a level ("an increased risk"). F1 on labelled
# sentences is 0.70 to 0.80 (docs/audit.md).

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


# What makes an English sentence a strong assertion, a hedged one, or none: words and patterns.


def _compiled(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def _any_of(words: str) -> str:
    return rf"\b(?:{'|'.join(words.split())})\b"


# Adjectives and adverbs of one or two syllables, which are compared by endings.
_SHORT_WORDS = (
    "big bright broad calm cheap clean clear clever close cold cool dark deep dense dry early easy "
    "fair fast few fine firm flat fresh full great happy hard healthy heavy high hot kind large "
    "late light long loose loud low narrow near neat new nice noisy old poor pretty pure quick "
    "quiet rare rich rough safe severe sharp short simple slim slow small smart smooth soft steady "
    "steep strict strong subtle sweet tall tasty thick thin tight tiny tough ugly warm weak "
    "wealthy wet wide wise young"
)


def _compared(word: str, ending: str) -> str:
    if word.endswith("e"):
        return word + ending[1:]
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i" + ending
    if re.search(r"[^aeiou][aeiou][bdgmnt]$", word) and len(word) <= 4:
        return word + word[-1] + ending
    return word + ending


_COMPARATIVES = " ".join(_compared(word, "er") for word in _SHORT_WORDS.split())
_SUPERLATIVES = " ".join(_compared(word, "est") for word in _SHORT_WORDS.split())
# Those are compared with nothing unless `than` follows.
_OF_TIME_AND_PLACE = (
    "closer earlier finer kinder later lighter nearer newer older longer fuller fairer"
)
_BARE_COMPARATIVES = " ".join(sorted(set(_COMPARATIVES.split()) - set(_OF_TIME_AND_PLACE.split())))
_QUANTITY = (
    r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|half|just|ever|an?\s+(?:third|"
    r"quarter|hundred|thousand|million|dozen|year|decade|century|month|week|day|hour|minute|few))\b"
)

COMPARATIVE = _compiled(
    rf"\b(?:more|less|fewer)\s+(?!than\b)(?:[\w'-]+,?\s+){{1,8}}?than\b(?!\s+{_QUANTITY})",
    rf"{_any_of(_COMPARATIVES)}(?:[\s,]+[\w'’&.()-]+){{0,14}}?[\s,]+(?:than|then)\b",
    r"(?<!feel )(?<!feeling )(?<!or )(?<!make it )(?<!had )(?<!get )(?<!any )\b(?:better|worse)\b"
    r"(?!\s+(?:known|understand\w*)\b)",
    r"\b(?:superior|inferior)\s+to\b|\b(?:is|are|was|were|be|clearly|far)\s+(?:\w+\s+)?(?:superior|inferior)\b",
    # Without `than` a comparison is one where it is said of something ("is faster", "runs better"),
    # or made much of ("a far better tool"); "a faster processor" compares with nothing.
    rf"{_any_of(_BARE_COMPARATIVES)}(?=\s*(?:$|[.,;:!?)\"”]|(?:for|in|to|on|at|and|with|by|"
    r"of|because|over|off|as|from|when|if|but|or|under|during|among|the)\b))",
    rf"\b(?:much|far|way|significantly|considerably|substantially|even|still|slightly|somewhat|(?:a\s+)?"
    rf"(?:little|bit|lot))\s+{_any_of(_BARE_COMPARATIVES)}",
    rf"\b(?:is|are|was|were)\s+(?:a|an|the)\s+{_any_of(_BARE_COMPARATIVES)}",
    r"\b(?:is|are|was|were|be|been|become|becomes|became|much|far|even|significantly|a\s+lot|it|them|"
    r"seems?|feels?|looks?)\s+(?:more|less)\s+(?!than\b|and\b|or\b|of\b|information\b|recent\w*\b|research\b|important\w*\b|specific\w*\b"
    r"|precisely\b|likely\b|general\w*\b|often\b)[\w-]{5,}",
    r"\b(?:more|less|higher|lower|greater|fewer|larger|smaller|better|worse)\s+than\b"
    rf"(?!\s+{_QUANTITY})",
    r"\b(?:more|less)\s+likely\b",
    r"\b(?:outperform|surpass|exceed|outweigh|outnumber|outstrip|underperform|excel|beat)"
    r"(?:s|ed|ing|en)?\b",
    r"\b(?:compared|comparable|in comparison)\s+(?:with|to)\b",
    r"\bunlike\s+\w+",
    r"\b(?:prefer\w*|preferable)\s+(?:[\w'-]+\s+){1,5}?(?:to|over|than)\b",
    r"\b(?:twice|(?:two|three|four|five|ten|\d+)[ -]?(?:times|fold))\s+(?:as|more|less|"
    r"higher|lower)\b",
    r"\bas\s+(?!well\b|soon\b|long\b|far\b|such\b|part\b|early\b)[\w-]+\s+as\b(?!\s+possible\b)",
)
SUPERLATIVE = _compiled(
    r"\b(?:the|its|their|our|his|her|world's|of|by far)\s+(?:\w+\s+)?"
    rf"(?:{'|'.join(_SUPERLATIVES.split())}|best|worst|greatest|foremost)\b"
    r"(?!\s+(?:possible|knowledge)\b)",
    r"\bthe\s+(?:\w+\s+)?(?:most|least)\s+(?!of\b|part\b|recent\b|recently\b)[a-z]{4,}",
    r"\b(?:the\s+only|the\s+first\s+(?:to|study|work|time|evidence|ever|known|systematic|attempt)|"
    r"unprecedented|unparalleled|unrivalled|unmatched|unsurpassed|second to none|number one|"
    r"the leading|state[- ]of[- ]the[- ]art|record[- ](?:high|low|breaking))\b",
    r"\b(?:are|is|was|were|remains?)\s+most\s+(?!of\b|likely\b|recently\b|often\b)[a-z]{4,}\b",
)
UNIVERSAL = _compiled(
    r"\b(?:all|every)\s+(?!of\s+(?:a\s+sudden|this)\b|in\s+all\b|rights\b|over\b|along\b|other\b|"
    r"year\b|day\b|week\b|month\b|hour\b|minute\b|second\b|few\b|now\b|too\b|at\b|the\s+more\b|"
    r"but\b|kinds\b|sorts\b|\d)[a-z]+",
    r"\b(?:everyone|everybody|everything|everywhere|nobody|no\s+one|nowhere|none\s+of)\b",
    r"\b(?:always|never|invariably|universally|without\s+exception|in\s+every\s+case|in\s+all\s+"
    r"cases|under\s+all\s+circumstances|inevitabl[ye]|unquestionably|undoubtedly|undeniabl[ye]|"
    r"certainly|indisputabl[ye]|without\s+(?:any\s+)?doubt|impossible)\b",
    r"\b(?:there\s+(?:is|are|was|were|has\s+been|have\s+been)\s+no|no\s+(?:study|studies|research|"
    r"author|work|evidence)\s+(?:has|have|exists?|shows?))\b",
    r"\b(?:completely|entirely|totally|fully|solely|exclusively)\s+[a-z]+",
    r"\b(?:only|cannot)\s+be\s+(?:achieved|explained|understood|reached|done)\b",
)
RECOMMENDATION = _compiled(
    r"\b(?:should|ought\s+to|must|shall)\s+(?:not\s+|never\s+|also\s+|therefore\s+|always\s+|only\s+"
    r"|be\s+)?(?!have\s+been)[a-z]+",
    r"\b(?:need|needs)\s+to\s+[a-z]+",
    r"\b(?:has|have)\s+to\s+be\b",
    r"\b(?:it\s+is|it's|is|are)\s+(?:\w+ly\s+)?(?:necessary|essential|imperative|advisable|vital|"
    r"crucial|urgent)\s+(?:to|that|for)\b",
    r"\b(?:recommend|recommends|recommended|advise|advises|advised|urge|urges|urged|advocate|"
    r"advocates)\b(?!\s+by\s+default)",
    r"\b(?:is|are)\s+(?:urgently\s+|clearly\s+|strongly\s+)?(?:needed|required|warranted|called\s+for)\b",
    r"\bhad\s+better\b",
)
_UNIT = (
    r"(?:percent(?:age)?|per\s?cent|pp|fold|times|°\s?[CFK]|degrees?|K|k?m²?|[cmnµμ]m|km2?|m[23]|ha|"
    r"hectares?|[mk]?g|tonnes?|tons?|[kMGT]t|[mµμ]?l|litres?|liters?|[kMGT]?Wh?|[kMG]?Pa|[kMG]?Hz|"
    r"[mk]?V|m?A|mM|µM|mol|ppm|ppb|dB|bits?|[KMGT]i?B|seconds?|secs?|ms|minutes?|min|hours?|h|days?|"
    r"weeks?|months?|years?|people|persons|patients?|participants?|adults|children|women|men|cases|"
    r"deaths|studies|countries|cities|firms|companies|students|respondents|households|samples|"
    r"thousand|million|billion|trillion|dollars?|euros?|USD|EUR|RMB|yuan|pounds?|kcal|calories)"
)
_TEENS_AND_TENS = (
    "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|"
    "forty|fifty|sixty|seventy|eighty|ninety"
)
_ONES = "one|two|three|four|five|six|seven|eight|nine|ten"
# From eleven on: “two sisters” is hardly a figure.
_IN_WORDS = (
    rf"(?:(?:(?:{_ONES}|{_TEENS_AND_TENS})[\s-]+)?(?:hundred|thousand)(?:\s+and\s+[a-z]+)?|"
    rf"(?:{_TEENS_AND_TENS})(?:-(?:{_ONES}))?)"
)
# What is counted: a plural, after an adjective or two. Names are written with capitals.
_COUNTED = (
    r"(?-i:(?:(?!(?:is|are|was|were|has|had|have|the|an?|of|in|on|at|to|and|or|for|by|with|from|as|"
    r"that|which|when|who|it|he|she|they|we)\b)[a-z][a-z-]+\s+){0,2}?"
    r"(?:sheep|cattle|fish|mice|feet|teeth|staff|aircraft|(?!(?:has|was|its|this|does|thus|plus|minus|"
    r"versus|always|perhaps|across|towards|besides|times)\b)[a-z-]{2,}(?<![su])s)\b)"
)
# Of a measure few are as good as said: “a few tenths of a degree”.
MEASURE = (
    r"(?:tenths|hundredths|thousandths|percent|per\s?cent|percentage|degrees|(?:kilo|centi|milli|"
    r"micro|nano)?(?:met(?:re|er)s|grams|grammes|lit(?:re|er)s|watts|volts|seconds)|kelvins?|"
    r"tonnes|hectares|acres|miles|inches)\b"
)
QUANTITATIVE = _compiled(
    # A number behind capitals is a name's: “USB 3 ports”.
    rf"(?<![\w.,/–-])(?<!(?-i:[A-Z]{{2}}) )\d(?:[\d,]*\d)?\s+{_COUNTED}",
    rf"\b{_IN_WORDS}\s+{_COUNTED}",
    rf"\b(?:few|several|some|{_ONES})\s+{MEASURE}",
    r"\d[\d.,]*\s?(?:%|‰)",
    rf"\b\d[\d.,]*(?:\s?(?:–|-|to)\s?\d[\d.,]*)?[\s-]?{_UNIT}\b",
    r"[$€£¥]\s?\d",
    r"\b(?:p|n|r|R2|R²|OR|HR|RR|CI|SD|d|β|α|F1)\s?[<>=≤≥≈]\s?-?\d",
    r"\b(?:one|two|three)[- ](?:third|quarter|fifth|half|thirds|quarters|fifths)s?\b",
    r"\b(?:half|a\s+(?:third|quarter|fifth|tenth)|the\s+(?:vast\s+)?majority|a\s+majority|most)\s+of\b",
    r"\b(?:doubled?|tripled?|trebled|quadrupled|halved|twofold|threefold|fourfold|tenfold)\b",
    r"\b(?:more|less|fewer)\s+than\s+(?:\d|half|one|two|three|a\s+(?:third|quarter))",
    r"\b\d{1,3}(?:,\d{3})+\b",
    r"\b\d+\.\d+\b(?!\.\d)",
    r"\b(?:hundreds|thousands|millions|billions|dozens)\s+of\b",
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred)\s+(?:percent|per\s?cent|"
    r"times|degrees|million|billion|thousand)\b",
    r"\b(?:a|an|one|half\s+a)\s+(?:hundred|thousand|million|billion|dozen)\s+[a-z]+s\b",
)
# Numbers that count nothing: years, dates, references to parts of the text, names.
NO_QUANTITY = re.compile(
    r"\b(?:fig(?:ure|s|\.)?|table|tab\.|section|sect?\.|chapter|chap\.|eq(?:uation|s|n|\.)?|"
    r"appendix|version|v\.?|page|pp?\.|no\.|number|group|class|article|"
    r"art\.|paragraph|clause|question|volume|vol\.|issue|route|room|day|chromosome|omega|clone|step|part|phase|type|grade|level|stage|python|windows)"
    r"\s?\(?[A-Z]?\d+(?:\.\d+)*[a-z]?\)?|\b(?:19|20)\d\d(?:s\b|[-–/](?:19|20)?\d\d)?|"
    r"\[\d[\d,;–\- ]*\]|^\s*\(?\d+(?:\.\d+)*[.)]?\s",
    re.IGNORECASE,
)

HEDGE = _compiled(
    r"\b(?:may|might)\b(?!\s+\d)",
    r"\b(?:could|would)\b",
    r"\b(?:perhaps|maybe|possibl[ye]|possibilit(?:y|ies)|probabl[ye]|presumabl[ye]|supposedly|"
    r"seemingly|apparent|apparently|estimated|predicted|hopefully|arguably|conceivabl[ye]|plausibl[ye]|potential|potentially|putative(?:ly)?|"
    r"tentative(?:ly)?|likelihood|unlikely|reportedly|allegedly|ostensibly|hypothetical(?:ly)?)\b",
    r"(?<!more )(?<!less )(?<!least )(?<!times as )(?<!equally )\blikely\b",
    r"\b(?:suggest(?!ion)|appear(?!ance)|seem|hint|hypothesi[sz]|speculat|conjectur|postulat|presum|"
    r"suspect(?!ed of\b)|believ|assum|impl(?=y|ies|ied))\w*\b",
    r"\b(?:is|are|was|were|been|be)\s+(?:\w+\s+)?(?:thought|considered|supposed|estimated|expected|"
    r"predicted|proposed|said|rumou?red|regarded|viewed|perceived)\b",
    r"\b(?:thought|considered|believed|said)\s+to\s+(?:be|have)\b",
    r"\bwe\s+(?:think|guess|feel|propose|expect|predict|believe|assume|hypothesi[sz]e)\b",
    r"\b(?:indicat(?:e|es|ed|ing)\s+that)\b",
    r"\b(?:tend|tends|tended|tendency)\s+to\b",
    r"\b(?:unclear|unknown|uncertain|not\s+(?:yet\s+)?(?:clear|known|certain|understood)|inconclusive|"
    r"debatable|controversial|remains?\s+to\s+be|an\s+open\s+question|controversy)\b",
    r"\b(?:whether)\b",
    r"\b(?:often|usually|typically|sometimes|occasionally|generally|in\s+general|mostly|frequently|"
    r"commonly|normally|largely|mainly|primarily|roughly\s+speaking|to\s+some\s+(?:extent|degree)|"
    r"in\s+(?:some|many|most|certain|several)\s+(?:cases|instances|situations|contexts|ways)|"
    r"(?:in|at|on|by|with|among|for)\s+(?:some|several|certain|various)\s+"
    rf"(?!{MEASURE})[a-z]+|"
    r"more\s+or\s+less|relatively\s+speaking|as\s+a\s+rule)\b",
    r"(?:^|[,;:]\s+|\b(?:and|but|that|even)\s+)(?:some|several|certain|various|many|numerous|"
    rf"few)\s+(?!{MEASURE})(?!studies|papers|works|articles|experiments|trials|of\b|\d)[a-z]+",
    r"\b(?:some|several|certain|various|few|a\s+number\s+of|many|numerous)\s+"
    rf"(?!{MEASURE})(?:\w+\s+){{0,2}}?"
    r"(?:scholars|authors|people|critics|historians|researchers|experts|sources|observers|"
    r"scientists|commentators|of)\b",
)
# Words behind which numbers, ranks and totals are the writer's impression, not a measurement.
VAGUE = _compiled(
    rf"\b(?:some|several|many|a\s+few)\b(?!\s+{MEASURE})|"
    r"\b(?:certain|various|numerous|a\s+number\s+of|a\s+variety\s+of|"
    r"widely|one\s+of\s+the|among\s+the|considered|regarded|famous|popular|notable|important|"
    r"significant(?!ly\b))\b"
)

# What all of a kind bring forth is what they are like, and no effect: “all mammals produce milk”.
BRINGS_FORTH = re.compile(
    r"^((?:[\w\s]+,\s+)?(?:all|every|each)\s+(?:[\w'’-]+\s+){1,6}?)"
    r"(?:produces?|generates?|yields?|creates?|makes?|gives?|bears?)\b(?!\s+(?:up|way|rise)\b)",
    re.IGNORECASE,
)
QUESTION = re.compile(r"[?？]\s*[\"'”’)\]]*\s*$")
DEFINITION = _compiled(
    r"\b(?:is|are)\s+(?:commonly\s+|often\s+|usually\s+|formally\s+)?(?:defined|denoted|abbreviated|"
    r"called|termed|known)\s+(?:as|by|here)\b",
    r"\b(?:refers?|referred)\s+to\s+(?:as\b|the\s+(?:process|ability|extent|degree|study|practice|use|"
    r"set|number|term))",
    r"\b(?:stands\s+for|we\s+define|is\s+defined|by\s+\w+\s+we\s+mean|the\s+term\s+\S+)\b",
    r"^\s*(?:let|suppose|assume|given|define|denote|consider)\s+(?!us\s+say)\S+",
)
STRUCTURE = _compiled(
    r"\b(?:this|the\s+(?:next|following|present|previous|last|first|second|third|fourth|remaining))\s+"
    r"(?:thesis|dissertation|chapter|section|paper|article|report|essay|work|study|subsection|part|"
    r"appendix|table|figure)\s+(?:first\s+|then\s+|also\s+|briefly\s+|therefore\s+|will\s+)*"
    r"(?:describe|discuss|present|introduce|review|explain|outline|summari[sz]e|examine|investigate|"
    r"explore|analy[sz]e|address|deal|cover|provide|begin|start|conclude|give|show|list|aim|"
    r"is\s+(?:organi[sz]ed|structured|concerned|devoted|about|as\s+follows)|contain|consist|report|"
    r"evaluate|compare|propose|seek|focus|ask|turn|proceed|demonstrate)\w*",
    r"\b(?:chapter|section|appendix|table|figure|fig\.|part)\s+[A-Z]?\d[\d.]*[a-z]?\s+(?:then\s+|also\s+|"
    r"briefly\s+|will\s+)*(?:describe|discuss|present|introduce|review|explain|outline|summari[sz]e|"
    r"examine|show|list|give|provide|compare|report|conclude|contain|evaluate|analy[sz]e|illustrate|"
    r"depict)\w*",
    r"\b(?:in|throughout)\s+(?:this|the\s+(?:next|following|present))\s+(?:thesis|dissertation|chapter|"
    r"section|paper|article|report|essay|work|study)\b,?\s+(?:we|I|it|the)\b",
    r"\b(?:is|are|will\s+be|can\s+be)\s+(?:shown|listed|given|presented|described|discussed|found|"
    r"summari[sz]ed|depicted|illustrated|explained|outlined|seen)\s+(?:in|by|below|above)\s+(?:the\s+)?"
    r"(?:next\s+|following\s+)?(?:chapter|section|appendix|table|figure|fig\b|tab\b|below|above|eq)",
    r"\b(?:as\s+(?:shown|described|discussed|mentioned|noted|stated)\s+(?:above|below|earlier|before))",
    r"\b(?:the\s+(?:aim|goal|purpose|objective|scope|structure|outline)\s+of\s+(?:this|the\s+present|my|"
    r"our))\b",
    r"\b(?:the\s+remainder|the\s+rest)\s+of\s+(?:this|the)\s+(?:thesis|chapter|paper|article|section)\b",
    r"\b(?:this\s+thesis|this\s+chapter|this\s+section|this\s+paper|this\s+study|this\s+essay)\s+"
    r"(?:asks|argues|aims|seeks|focuses|contributes|uses|tests|follows|draws)\b",
)
_METHOD_VERB = (
    r"(?:use|apply|appl|employ|adopt|collect|gather|measure|record|interview|survey|recruit|select|"
    r"sampl|train|fit|fine-tun|compute|calculate|estimate|analy[sz]e|code|annotate|implement|run|ran|"
    r"conduct|carr|perform|administer|assign|randomi[sz]e|choose|chose|chosen|split|divide|evaluat|"
    r"test|compar|describe|present|introduce|propose|discuss|review|investigate|examine|explore|"
    r"study|studied|ask|follow|focus|consider|define|denote|develop|design|build|built|construct|set|"
    r"obtain|extract|download|normali[sz]e|filter|exclude|include|assum|report|outlin|summari[sz]e|"
    r"repeat|observe|simulat|model|validat|draw|drew|took|take|wrote|write|plan|aim|intend|argue|"
    r"begin|start|turn|seek|hope|address|distinguish|restrict|limit|weigh|dissolve|incubate|place|heat)"
)
OWN_WORK = _compiled(
    rf"\b(?:we|I)\s+(?:\w+ly\s+|also\s+|then\s+|first\s+|will\s+|have\s+|can\s+|shall\s+|now\s+|do\s+|"
    rf"did\s+|not\s+|here\s+)*{_METHOD_VERB}\w*\b",
    r"\b(?:we|I)\s+(?:\w+ly\s+|also\s+|then\s+|first\s+|will\s+|have\s+|can\s+|now\s+)*"
    r"(?:find|found|show|showed|shown|demonstrate[ds]?|observe[ds]?|conclude[ds]?|see|saw|note|"
    r"achieve[ds]?|thank|acknowledge)\b",
    r"\b(?:our|my)\s+(?:\w+\s+){0,2}?(?:method|approach|model|experiment|analysis|results?|findings?|"
    r"data|sample|study|survey|interviews?|system|design|work|thesis|implementation|evaluation|"
    r"participants|algorithm|hypothes[ie]s|research|questions?)s?\b",
    r"\b(?:participants|subjects|respondents|patients|samples?|specimens?|data|interviews?|"
    r"measurements?|experiments?|questionnaires?|surveys?|images?|sequences|cells|mice|rats|animals)\s+"
    r"(?:\w+\s+){0,4}?(?:was|were)\s+(?:\w+ly\s+|then\s+|also\s+)*(?:recruited|selected|collected|"
    r"measured|recorded|conducted|carried\s+out|performed|analy[sz]ed|randomi[sz]ed|assigned|asked|"
    r"interviewed|included|excluded|obtained|extracted|used|calculated|processed|stored|prepared|"
    r"dissolved|incubated|weighed|coded|transcribed|divided|split|taken|drawn|administered|purchased|"
    r"approved|washed|stained|centrifuged|cultured|heated|dried|filtered|normali[sz]ed|invited|told)\b",
    r"\b(?:was|were)\s+(?:\w+ly\s+|then\s+|also\s+)*(?:calculated|computed|measured|performed|conducted|"
    r"carried\s+out|analy[sz]ed|implemented|recruited|randomi[sz]ed|purchased|incubated|centrifuged)\s+"
    r"(?:using|with|by|at|in|on|from|for|according|as|via|through|between|after|before)\b",
)
