"""What a source says around the words that a statement repeats: whether it asserts them itself.

“Nobody has shown that roofs cool streets” holds every word of “Roofs cool streets”, and so do a
question, a hypothesis, somebody else's claim and a sentence before “This is wrong”. So the whole
sentence in which the words stand is read, with the one before it, the one after it and its heading:

- what they hang on (“Nobody has shown that”) has to be an assertion of the source's own,
- no condition opens the sentence or follows (“If it rains, …”, “… only in mice”),
- nothing that points back at them takes them back (“This turned out to be wrong”),
- neither a question mark, quotation marks, a heading (“Hypotheses”) nor a sentence that introduces
  them (“The following statements are false:”) says that somebody else is speaking, or nobody.

`benchmarks/rules_ledger.py` counts how often each rule fires on true sentences (docs/judging.md).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag_assets.judging.contract import Judgement, PassageText, Sign, Thresholds
from rag_assets.judging.facts import find_repeated, is_instruction, is_long_enough
from rag_assets.judging.statement import state
from rag_assets.judging.words import is_negated
from rag_assets.model import HAN_RANGES, is_chinese
from rag_assets.retrieval.finding import PassageLike, Sentence, cites_others

# Alignment of letters (rapidfuzz partial_ratio, 0 to 100) from which a sentence of the source
# holds the words of a statement. Only the sentences that hold most of them count.
_NEAR = 80.0
# A sentence shorter than this share of the statement holds a part of it only.
_LEAST_PART = 0.7
# Characters in which what is said of a statement afterwards points back at it.
_REACH = 140
# Words, or Chinese characters, of a clause that belongs to the words behind it however it ends.
_SHORT, _SHORT_HAN = 3, 6


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around the words of a statement in their source.

    Args:
        heading: of the section; `before` the sentence before, `after` the one that follows.
        lead: what comes before the words in their sentence, `rest` what comes after them.
        claim: the sentence that repeats them; a frame that it has itself is no news.
    """

    heading: str
    before: str
    lead: str
    words: str
    rest: str
    after: str
    claim: str

    @property
    def governor(self) -> str:
        """The clause on which the words hang: “Nobody has shown that”, “H1:”, “没有证据表明”."""
        lead = re.sub(r"(?:[\s“\"‘'«「『(（]|(?<![^\s])[(（]?[ivx\d]{1,3}[)）])+$", "", self.lead)
        if _JOINS.search(lead):
            return ""
        if lead.endswith((",", "，")):
            # “有学者声称，…”: in Chinese a comma may stand where “that” does.
            clause = _CLAUSE.split(lead[:-1])[-1]
            return clause.strip() if is_chinese(clause) and _HAN_SAYS.search(clause) else ""
        clauses = _CLAUSE.split(_ASIDE.sub("", lead))
        # “One sees easily, that …”
        is_bare = len(clauses) > 1 and _BARE.fullmatch(clauses[-1])
        return " ".join(clauses[-2:] if is_bare else clauses[-1:]).strip()


@dataclass(frozen=True, slots=True)
class FrameRule:
    """One kind of frame.

    Args:
        id: stable name, as the ledger and the docs call it.
        says: what the source does with the words, for the reader.
        find: the words of the frame; None where it does not fire.
    """

    id: str
    says: str
    find: Callable[[Around], str | None]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that was found.

    Args:
        cue: the words of the source that show it; `sentence` that in which the statement stands.
    """

    rule: FrameRule
    cue: str
    sentence: str

    @property
    def told(self) -> str:
        """A sentence for the reader."""
        return f"{self.rule.says}: “{self.cue}”."


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Where a clause ends, and what only joins the next one to it.
_CLAUSE = re.compile(r"[,;](?=\s)|[，；。]|\s[—–]\s|[:：](?=\s*\S)")
_BARE = _any(r"\W*(?:that|whether|if)\W*")
_ASIDE = _any(r",\s(?:as|so|in|at|to|for|however)\b[^,]{0,60},")
_JOINS = _any(
    r"(?:^|[\s,;])(?:and|but|so|or|while|whereas|because|since|yet)\W*$", r"[但而且故]\W*$"
)
_HAN_BLANK = re.compile(rf"(?<=[{HAN_RANGES}，。：；])\s+(?=[{HAN_RANGES}“])")
_QUOTES = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("„", "“"))

# What a statement is called where it is spoken of.
_THING = (
    r"(?:claims?|hypothes[ei]s|views?|ideas?|notion|statements?|assertions?|assumptions?|beliefs?|"
    r"theory|predictions?|expectations?|conclusions?|findings?|results?|reports?|opinions?|"
    r"arguments?|conjectures?|figures?|sentences?|numbers?|effects?)"
)
# Words that make of an assertion something else: supposed, wanted, planned, asked, made up.
_SUPPOSED = _any(
    r"\b(?:hypothes[ie]\w*|conjectur\w*|postulat\w*|expect\w*|predict\w*|forecast\w*|anticipat\w*|"
    r"aim\w*|goals?|objectives?|purpose|set\s+out|sought|seeks?|tr(?:y|ies|ied)|attempt\w*|"
    r"intend\w*|designed|hop(?:e|es|ed|ing|eful)|wish\w*|wants?|wanted|suspect\w*|speculat\w*|"
    r"assum\w+|suppos\w+|presum\w*|guess\w*|believ\w*|beliefs?|thinks?|thought|convinced|sure|"
    r"confident|optimistic|afraid|fear\w*|feels?|felt|possib(?:le|ility)|plausib\w+|conceivabl\w+|"
    r"likel[yi]\w*|theori[sz]\w+|imagin(?:es?|ed|ing|ary)|pretend\w*|dream\w*|"
    r"sentences?(?=\W*$)|examples?\s+of|may|might|would|should|(?<!\bwe\s)(?:will|shall)|future|plan(?:s|ned)?|yet\s+to|remains?\s+to|before\s+(?:it|we|they|this)|used\s+to|"
    r"whether|questions?|ask(?:s|ed)?|wonder\w*|unclear|unknown|"
    r"items?|questionnaire|statements?|agree\w*|tick|rate|answer\w*|reply|mark|treat)\b",
    r"\b(?:H|Q|RQ)\d{1,2}[a-z]?\W*$",
    r"假设|假定|假说|猜测|猜想|推测|预计|(?<![与和同如])预期|预测|预言|期望|希望|期待|旨在|目的|意在|试图|设想|试想|"
    r"假想|虚构|相信|以为|担心|是否|能否|问题|有待|尚待|未来|今后|下一步|将|拟|考察|检验|例句|例子|题项|题目|陈述|"
    r"说法|判断|回答|判定",
)
# Verbs and nouns of saying without showing: of the source itself they assert.
_SAID = _any(
    r"\b(?:claim(?:s|ed)?(?!\s*\d)|argue[sd]?|assert\w*|contend\w*|maintain(?:s|ed)?|alleg\w+|sa(?:ys?|id)|"
    r"insist\w*|advertis\w+|promise[sd]?|holds?|held|states?|stated|writes?|wrote|written|reads?|told|"
    r"rumou?r\w*|opinions?|views?|ideas?|notion|theory|proposed?)\b",
    r"认为|声称|宣称|宣传|主张|^据|据[称说报]|传言|提出|写道|表示|报道|所谓|断言|断定|网传|相传|盛传|指出",
)
# What a model or a writer may put down: before a colon or “e.g.”, examples of output and prompts.
_MADE_UP = _any(
    r"\b(?:(?<!for\s)examples?|samples?|outputs?|inputs?|prompt(?:s|ed)?|dummy|mock|fictitious|invented|"
    r"made.?up|(?:model|bot|chatbot|assistant|system|LLM|GPT[\w.-]*)s?\b[^.:]{0,30}(?:generat|repl|"
    r"respond|output|text)\w*|generated|user|assistant|translate|paraphrase|write|typical\s+\w+\s+is)"
    r"(?:\s+(?:\d+|is|was|are|were|(?:the\s+)?following|as\s+follows|the\s+\w+\s+with|texts?|claims?|"
    r"sentences?|abstracts?|summar(?:y|ies)|answers?|outputs?)){0,3}"
    r"(?:\s*:|,?\s+(?:e\.g\.|for\s+(?:example|instance)|such\s+as),?)\W*$",
    r"(?:输出|输入|提示词|生成|示例|样例|例子|虚构|可以?(?:这样)?写)[^，。：:]{0,6}[:：]\W*$",
)
# Words that deny by themselves, and those that deny nothing.
_DENIES = _any(
    r"\b(?:false(?:ly|hood)?(?!\s+(?:positive|negative|alarm|discovery))|wrong(?:ly)?|untrue|"
    r"incorrect(?:ly)?|mistaken(?:ly)?|mistakes?|myths?|misconceptions?|fallac(?:y|ies)|fiction|"
    r"contrary\s+to|far\s+from|doubt\w*|den(?:y|ies|ied)|refut\w+|disprov\w+|reject\w*|debunk\w*|"
    r"few|little|hardly|rarely|seldom|minority|unlikely|impossible)\b",
    r"误以为|误认为|错误|谎称|谣言|误区|谣传|驳斥|反驳|怀疑|否认|很少|鲜有|尚无|难以",
)
_NO_DOUBT = _any(
    r"\b(?:no|little|without|beyond)\s+(?:\w+\s+)?doubt\b",
    r"\bcannot\s+be\s+(?:denied|doubted|overlooked|ignored)\b",
    r"\b(?:not|un)\s*surpris\w+",
    r"毫无疑问|无疑|不可否认|不难(?:看出|发现)|众所周知",
)
_FACT = _any(
    r"\b(?:facts?|phenomenon|observation|finding|issue|problem|reason|difference|advantage|so|such|"
    r"except|despite|given|now|namely|especially|aware)\s+that\W*$"
)
# What asserts: findings, and clauses that only weigh what follows.
_ASSERTS = _any(
    r"\b(?:show\w*|find(?:s|ings?)?|found|demonstrat\w+|reveal\w*|confirm\w*|indicat\w+|establish\w*|"
    r"prove[dns]?|proof|observ\w+|not(?:e|es|ed|ing)|conclu\w+|evident|evidence|clear\w*|obvious\w*|"
    r"known|know|facts?|turn(?:s|ed)?\s+out|mean(?:s|ing)?|impl(?:y|ies|ied)|follows?|ensur\w+|"
    r"guarantee\w*|see|seen|saw|detect\w*|discover\w*|learn\w*|result\w*|suggest\w*|report(?:s|ed)?|"
    r"emphasi[sz]\w+|stress\w*|highlight\w*|recall|remember|mention\w*|point(?:s|ed)?\s+out|"
    r"recogni[sz]\w+|notice\w*|remark\w*|apparent\w*|appear\w*|seem\w*|document\w*|estimat\w+|calculat\w+|provides?|requires?|stipulat\w+|so|such|given|"
    r"now|except)\b",
    r"\b(?:is|was|are|were)\s+(?:\w+ly\s+)?(?:important|interesting|remarkable|worth\s+\w+|true|certain|"
    r"notable|noteworthy|striking|essential|crucial|surprising)?\s*that\W*$",
)
_OTHERS = _any(
    r"\b(?:(?:other|earlier|early|previous|prior|past|some|many|several|most|various|numerous)\s+"
    r"(?:\w+\s+)?(?:authors?|stud(?:y|ies)|researchers?|works?|papers?|reports?|reviews?|scholars?|"
    r"people|experts?|trials?)|critics|opponents|supporters|proponents|respondents|residents|"
    r"participants|manufacturers?|press|media)\b",
    r"有人|有学者|前人|以往|先前|早期|传统|批评者|反对者|支持者|受访者|厂家|厂商|媒体",
)
_WE = _any(r"\b(?:we|our|i)\b|本文|本研究|我们|笔者")
_OWN = _any(
    r"\b(?:this\s+(?:study|paper|work|article|thesis|review|analysis)|the\s+present|authors?|"
    r"results?|data|figure|table|law|statute|regulations?|(?:article|section|clause)\s+\d+)\b",
    r"结果",
)
# What hangs a clause on the words before it.
_THAT = _any(r"\b(?:that|whether|if|in\s+which)(?:\s+(?:the|an?|all|any))?\W*$")
_HAN_SAYS = _any(
    r"证据|证明|证实|表明|显示|认为|声称|宣称|宣传|主张|据|传言|指出|提出|相信|以为|预计|预期|假设|表示|报道|"
    r"说|称|问|得出|检验|验证|所谓|发现|疑问|断定|肯定|确定|推断|网传|相传|盛传"
)

# “If it had rained more, …”, “… only in mice”.
_OPENS = _any(
    r"(?<!as\s)(?<!even\s)(?<!what\s)\bif\b(?!\s+(?:any|not|anything|only\s+if)\b)",
    r"\bunless\b|\bassuming\b|\bprovided\s+that\b",
    r"^\W*(?:had|were)\s+(?:it|the|we|they|there|every|all|he|she)\b",
    r"^\W*(?:given\s+(?:enough|sufficient)|in\s+an?\s+(?:ideal\s+)?world|under\s+(?:ideal|the\s+assumption)|"
    r"hypothetically|in\s+theory|allegedly|supposedly|reportedly|purportedly)\b",
    r"(?:^|,\s*)(?:according\s+to\s+(?!(?:this|these|our|eq|fig|tab|sec|(?:the\s+)?(?:\w+\s+)?"
    r"(?:results?|calculations?|data|analysis|methods?|models?|definition))\b)|"
    r"in\s+the\s+(?:eyes|opinion|view)\s+of\b)",
    r"如果|假如|假使|倘若|要是|(?:^|，)若(?!干)|只要|一旦|除非|理论上|理想情况|^据(?!此|表|图)",
)
_FOLLOWS = _any(
    r"^\W*(?:but\s+)?(?:only\s+(?:if|when|where|in|for|after|among|with|under|at|on)|if|unless|provided|"
    r"as\s+long\s+as|assuming|except(?!ional)|but\s+not|would\s+be)\b(?!\s+any\b)",
    r"^\W*(?:according\s+to|(?:or\s+so\s+|as\s+)?(?:he|she|they|it|people|some|many|critics|others|the\s+\w+"
    r"(?:'s\s+\w+)?)\s+(?:(?:is|was|are|were|has|have|been|often|once|\w+ly)\s+)*(?:claim\w*|sa(?:ys?|id)|"
    r"argue\w*|believe\w*|assert\w*|state[sd]|thought|hoped|assumed|supposed|wrote|writes|reads))\b",
    r"^\W*(?:sa(?:id|ys)|wrote|claimed)\s+(?:the|an?|one|he|she|[A-Z])",
    r"^\W*(?:is|was|were|are)\s+(?:our|the|an?|their|one|still|an\s+open)?\s*(?:\w+\s+)?"
    r"(?:hypothes[ei]s|conjecture|expectation|aim|goal|assumption|question|unclear|unknown|open)\b",
    r"\b(?:remains?|has|have|is|are)\s+(?:yet\s+|still\s+)?to\s+be\s+(?:shown|seen|tested|proven?|"
    r"confirmed|established|demonstrated|investigated)",
    r"^\W*(?:will|would)\s+be\s+(?:studied|tested|investigated|examined|addressed)",
    r"^[，,]?(?:如果|只要|除非|前提是|但须)|^的(?:假设|假说|猜想|设想|预期|问题)|^这一(?:假设|问题)",
    r"有待|尚待|尚未(?:证实|验证)|尚不清楚|仍不清楚",
)
# A Chinese provision states its condition so, too: 感情确已破裂，调解无效的，应当准予离婚 is what
# 如果感情确已破裂，调解无效的，应当准予离婚 says. 他提出的，是… is none.
_LEGAL_CONDITION = re.compile(r"的，(?:应当|应|可以|不得|必须|准予|不予|由|处|依法|视为|有权|免除)")
# What takes a statement back that was made before: it, or the thing that it is called, is wrong; or
# somebody refutes it. “This was not the case for walls” and “This contradicts Lee” do not.
_IS_WRONG = (
    r"(?:wrong|false(?!\s+(?:positive|negative))|incorrect|mistaken|untrue|unfounded|untenable|"
    r"inaccurate|erroneous|invalid|nonsense|(?:an?|the|in)\s+(?:\w+\s+)?(?:myth|error|mistake|"
    r"misconception|misunderstanding|fallacy|artefact|artifact|fabrication|hoax|legend|[\w'’\s]{0,12}tale|rumou?r|exaggeration)|refuted|"
    r"rejected|disproved|disproven|debunked|falsified|fabricated|invented|retracted|withdrawn|"
    r"overturned|discredited|contradicted|abandoned|"
    r"(?:not|never|n[o']t|hardly|cannot|no\s+longer)\s+(?:\w+\s+){0,2}?(?:(?:the\s+case|so|true|hold)\b"
    r"(?!\s+(?:for|in|with|when|at|on|of))|correct|supported|confirmed|borne\s+out|bear\s+out|"
    r"reproduced|replicated|substantiated|tenable|upheld|what\s+happened|been\s+(?:confirmed|shown|"
    r"replicated|reproduced|proven)))"
)
_POINTER = (
    rf"(?:this|that|it|these|those|they|which|none\s+of\s+\w+|"
    rf"(?:the\s+)?(?:{_THING}|paper|study|article))"
)
_OBJECT = rf"(?:this|that|it|these|them|(?:the|this|that)\s+(?!null)(?:\w+\s+)?{_THING})\b"
_TAKES_BACK = _any(
    rf"\b{_POINTER}\b[^.;,]{{0,50}}?\s{_IS_WRONG}",
    rf"\b{_POINTER},\s(?:however|though),\s[^.;,]{{0,30}}?{_IS_WRONG}",
    r"^\W*none\s+of\s+(?:this|these|it)\s+(?:is|was|are|were)\s+(?:true|so|correct)",
    rf"^\W*(?:{_IS_WRONG}|(?:is|was|are|were)\s+(?:\w+\s+)?{_IS_WRONG})",
    r"\b(?:reject(?:s|ed)?|refute[sd]?|disprove[sd]?|contradict(?:s|ed)?|retract(?:ed)?|withdr(?:ew|awn)|"
    rf"overturn(?:s|ed)?|debunk(?:s|ed)?)\s+{_OBJECT}",
    r"\b(?:not|n[o']t|nobody|no\s+one|unable|fail(?:s|ed)?|never)\b[^.;,]{0,30}?\b(?:confirm|reproduce|"
    rf"replicate|support|find|verify|repeat|show|bear)(?:ed)?\s+{_OBJECT}",
    rf"\b(?:no|little|without)\s+(?:\w+\s+)?(?:evidence|support|basis|foundation)\s+(?:for|of)\s+{_OBJECT}",
    rf"\ba\s+(?:{_THING}|myth)\s+(?:without|that\s+(?:is|was|we)\b|for\s+which\s+there\s+is\s+no)",
    r"^\W*(?:far\s+from\s+it|(?:quite\s+)?(?:the|on\s+the)\s+(?:opposite|reverse|contrary)(?=\s+(?:is|was|holds)|\W*$)|"
    r"we\s+(?:now\s+)?know\s+better)",
    r"^\W*(?:in\s+(?:truth|reality|fact)|actually)\b[^.]{0,60}\b(?:no|not|never)\b",
    r"^\W*(?:(?:but|yet|and)\s+)?(?:is|was|are|does|did)\s+(?:this|that|it|they)\b[^.]{0,60}\?",
    r"\bshow\w*\s+the\s+(?:opposite|reverse|contrary)\b",
    r"(?:说法|观点|结论|假设|看法|假说|论断|这|此|该|传言|实验|研究|后来|事实|但|然而|论文|文章)[^。；]{0,16}"
    r"(?:错误|错的|不成立|不正确|不实|推翻|否定|证伪|拒绝|撤回|撤稿|伪造|造假|站不住脚|有误|误解|假的|"
    r"没有依据|没有根据|缺乏依据|并非如此|(?:与[之此]|恰恰|正好)相反|(?:未能|无法|没有|不能|不|未)(?:得到[^，。]{0,6})?"
    r"(?:重复|证实|验证|支持|再现))",
    r"并非如此|拒绝(?:该|这一|此)?假设|不支持\s?H\d|^\W*(?:是|为|实为|纯属|属于)?(?:错误的|不成立|谣言|误解|谎言|误传)",
)
_POINTS_BACK = _any(
    r"^\W*(?:(?:however|but|yet|later|today|now|unfortunately|in\s+fact|as\s+it\s+turned\s+out|a\s+\w+\s+"
    r"(?:shows?|showed)\s+that)\W+)?(?:this|that|these|those|it|both|neither|none|nobody|no|such|here|"
    r"we|our|they|he|she|(?:the\s+)?authors?|in\s+(?:truth|reality)|actually|is|was|are|does|did|later|subsequent|further|more|wrong|false|not|nonsense|far|quite|on|(?:the\s+)?(?:data|"
    rf"paper|study|article|opposite|reverse|contrary|{_THING}))\b",
    r"^\W*(?:该|这|此|上述|事实|但|然而|后来|检验|结果|拒绝)",
)
# “It is not true that …” speaks of what follows.
_POINTS_ON = _any(
    r"^\W*it\s+(?:is|was|turned\s+out)\s+(?:\w+\s+){0,3}that\b"
    r"(?!\s+(?:this|that|it|these)\b)"
)
# What introduces the sentence behind it, and a section of what nobody asserts.
_LABEL = _any(
    r"\W*(?:hypothesis|H|RQ|Q|item|question|statement|myth|false|wrong|fiction|conjecture|prediction|"
    r"expectation|假设|假说|问题|题项|题目|陈述|误区)s?\s*[\d一二三四五六七八九十]{0,3}[a-z]?\s*[.:：)、]?\s*"
)
_INTRODUCES = _any(
    rf"\b(?:{_THING}|myths?|misconceptions?|questions?|items?|claimed|believed|argued|said|wrote|asserted|"
    r"told|asked|thought|suppose|agree|假设|假说|观点|说法|误区|谣言|题项|陈述|问题|认为|声称|宣称|写道|指令)"
    r"[^.。]{0,60}(?:[:：]|(?:the\s+following|as\s+follows|如下|以下)\W*)$",
    r"\bthe\s+following\W*$|\btreat\s+the\s+following\b",
    rf"\bthe\s+following\s+(?:\w+\s+)?(?:{_THING}|questions?|items?|myths?)\b[^.]{{0,20}}\W*$",
    r"(?:以下|下列)[^，。]{0,4}(?:假设|观点|说法|陈述|题项|问题)",
    r"^\W*(?:for\s+example,?\s+)?(?:suppose|imagine)\b[^,]*$|^\W*(?:假设|试想|设想)[^，]*$",
    r"^\W*true\s+or\s+false\W*$",
)
_SHOWS_EXAMPLE = _any(
    r"^\W*(?:here|below|the\s+following)\s+(?:is|are)\b[^.]{0,30}\b(?:examples?\s+of|generated|invented)\b"
)
_HEADING = _any(
    r"[\d.\sA-Z]{0,8}(?:(?:our|the|research|working|common|popular|survey|questionnaire)\s+)*"
    r"(?:hypothes[ie]s|questions?|myths?|misconceptions?|questionnaire|items?|statements?)\W*",
    r"[\d.\s一二三四五六七八九十、]{0,6}(?:研究|常见|调查)?(?:假设|假说|问题|误区|谣言|问卷|题项|量表)(?:题项|题目)?\W*",
)
# Words that confirm what was supposed or asked.
_SETTLED = _any(
    r"\b(?:confirm(?:s|ed)|support(?:s|ed)|prove[dns]|verified|corroborate[sd]|upheld|borne\s+out|"
    r"accepted|(?:was|is)\s+(?:true|so|correct))\b",
    r"证实了|得到了?(?:证实|支持|验证)|成立",
)


def _is_said(pattern: re.Pattern[str], around: Around) -> bool:
    """Say whether the claim has such words itself, beside those that it repeats."""
    return bool(pattern.search(state(around.claim))) and not pattern.search(around.words)


def _asks(around: Around) -> str | None:
    is_question = f"{around.words}{around.rest}".rstrip(' ”"’)）】」』。').endswith(
        ("?", "？", "吗")
    )
    is_told = not is_question or re.search("[?？]", around.claim)
    return None if is_told else f"{around.words}{around.rest}"


def _instructs(around: Around) -> str | None:
    texts = (around.before, f"{around.lead}{around.words}{around.rest}")
    return next((text for text in texts if is_instruction(text)), None)


def _hangs(clause: str) -> bool:
    if is_chinese(clause):
        return len(clause) <= _SHORT_HAN or bool(_HAN_SAYS.search(clause)) or clause.endswith("：")
    return len(clause.split()) <= _SHORT or bool(_THAT.search(clause)) or clause.endswith(":")


def _ends_with(pattern: re.Pattern[str], clause: str) -> bool:
    found = list(pattern.finditer(clause))
    return bool(found) and not clause[found[-1].end() :].strip(" .")


def _denies(around: Around) -> str | None:
    clause = _NO_DOUBT.sub("", around.governor)
    denies = is_negated(clause) or _DENIES.search(clause)
    if not denies or _FACT.search(clause) or is_negated(around.claim) or _is_said(_DENIES, around):
        return None
    return around.governor if _hangs(clause) or _ends_with(_DENIES, clause) else None


def _only_says(around: Around) -> str | None:
    clause = around.governor
    if _is_said(_SUPPOSED, around) or _OTHERS.search(around.claim):
        return None
    if _MADE_UP.search(around.lead):
        return around.lead.strip()
    of_others = bool(_OTHERS.search(clause)) or cites_others(clause)
    is_own = bool(_WE.search(clause)) or (not of_others and bool(_OWN.search(clause)))
    of_others = of_others and not is_own
    if is_chinese(clause):
        is_said = _SAID.search(clause) and not is_own
        doubtful = _SUPPOSED.search(clause) or is_said or (of_others and _HAN_SAYS.search(clause))
        return clause if doubtful else None
    patterns = (_SUPPOSED,) if is_own else (_SUPPOSED, _SAID)
    if _FACT.search(clause):
        return None
    if _THAT.search(clause):
        asserts = is_own or _ASSERTS.search(clause) or _NO_DOUBT.search(clause)
        is_doubtful = of_others or not asserts
        return clause if is_doubtful or any(each.search(clause) for each in patterns) else None
    end = clause.rstrip(":")
    is_label = clause.endswith(":")
    is_doubtful = any(
        each.search(clause) if is_label else _ends_with(each, end) for each in patterns
    )
    return clause if is_doubtful else None


def _conditions(around: Around) -> str | None:
    opening = re.split("[;；]", around.lead)[-1]
    if _OPENS.search(opening):
        is_said = _is_said(_OPENS, around) or _LEGAL_CONDITION.search(around.claim)
        return None if is_said else opening.strip()
    if _FOLLOWS.search(around.rest[:_REACH]):
        return None if _is_said(_OPENS, around) else around.rest.strip()
    return None


def _takes_back(around: Around) -> str | None:
    if is_negated(around.claim) and not is_negated(around.words):
        return None
    if _TAKES_BACK.search(around.rest[:_REACH]):
        return around.rest.strip()
    is_back = _POINTS_BACK.search(around.after) and not _POINTS_ON.search(around.after)
    return around.after if is_back and _TAKES_BACK.search(around.after[:_REACH]) else None


def _introduces(around: Around) -> str | None:
    if _is_said(_SUPPOSED, around):
        return None
    if _HEADING.fullmatch(around.heading):
        return around.heading
    before = around.before
    patterns = (_SUPPOSED, _SAID, _DENIES)
    is_framed = _SHOWS_EXAMPLE.search(before) or (
        _INTRODUCES.search(before) and any(each.search(before) for each in patterns)
    )
    return before if is_framed else None


def _quotes(around: Around) -> str | None:
    ahead = f"{around.before} {around.lead}"
    is_open = ahead.count('"') % 2 == 1 or any(
        ahead.count(opens) > ahead.count(closes) for opens, closes in _QUOTES
    )
    return f"{around.lead}{around.words}" if is_open and not _OTHERS.search(around.claim) else None


RULES = (
    FrameRule("instruction", "It is an instruction to a reviewer of citations", _instructs),
    FrameRule("question", "The source asks it", _asks),
    FrameRule("denial", "The source denies it", _denies),
    FrameRule(
        "not its own",
        "The source supposes it, plans to show it, or reports it of others",
        _only_says,
    ),
    FrameRule(
        "condition", "The source says it under a condition, or as somebody's word", _conditions
    ),
    FrameRule("taken back", "The source takes it back", _takes_back),
    FrameRule("introduced", "The source lists it and does not assert it", _introduces),
    FrameRule("quotation", "The source quotes it", _quotes),
)


def find_frame(
    statement: str, claim: str, sentences: Sequence[Sentence], passages: Sequence[PassageLike]
) -> Frame | None:
    """Return how a document frames the words of a statement.

    Args:
        statement: what is sought; a quotation without its marks.
        claim: the sentence that says it, without anchors.
        sentences: of one document in its order, read from its `passages`.

    Returns:
        None where the document asserts them at one place at least, or has them nowhere.
    """
    stated = _plain(state(statement)).rstrip(".!。！")
    if not is_long_enough(stated):
        return None
    frames = [
        _frame_at(_around(sentences, passages, index, span, _plain(claim)), sentences[index])
        for index, span in _places(stated, sentences)
    ]
    return frames[0] if frames and all(frames) else None


def _places(stated: str, sentences: Sequence[Sentence]) -> list[tuple[int, tuple[int, int]]]:
    """Return the sentences that hold most of the words of a statement, and where."""
    from rapidfuzz import fuzz

    wanted, best = stated.lower(), _NEAR
    found: list[tuple[float, int, tuple[int, int]]] = []
    for index, sentence in enumerate(sentences):
        text = _plain(sentence.text)
        if len(text) < _LEAST_PART * len(wanted):
            continue
        aligned = fuzz.partial_ratio_alignment(wanted, text.lower(), score_cutoff=best)
        if aligned is not None and aligned.dest_end > aligned.dest_start:
            best = aligned.score
            found.append((best, index, _whole_words(text, aligned.dest_start, aligned.dest_end)))
    return [(index, span) for score, index, span in found if score == best]


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the word that it cuts at its beginning, with the one at its end."""
    while 0 < start < end and text[start - 1].isalnum() and text[start].isascii():
        start -= 1
    while 0 < end < len(text) and text[end].isalnum() and text[end - 1].isascii():
        end += 1
    return start, end


def _around(
    sentences: Sequence[Sentence],
    passages: Sequence[PassageLike],
    index: int,
    span: tuple[int, int],
    claim: str,
) -> Around:
    own = sentences[index]
    beside = {
        step: _plain(sentences[index + step].text)
        for step in (-1, 1)
        if 0 <= index + step < len(sentences) and sentences[index + step].run == own.run
    }
    text, before = _plain(own.text), beside.get(-1, "")
    lead = text[: span[0]]
    passage, start, _ = own.parts[0]
    # “H2.” is too short for a sentence, and is none.
    reached = max((end for i, _, end in _parts_of(sentences, index - 1) if i == passage), default=0)
    for label in (_plain(passages[passage].text[reached:start]), before):
        if label and _LABEL.fullmatch(label):
            lead, before = f"{label.rstrip('. :')}: {lead}", ""
    return Around(
        (passages[passage].section_path or ("",))[-1],
        own.told if own.kind == "item" else before,
        lead, text[slice(*span)], text[span[1] :], beside.get(1, ""), claim,
    )  # fmt: skip


def _parts_of(sentences: Sequence[Sentence], index: int) -> tuple[tuple[int, int, int], ...]:
    return sentences[index].parts if index >= 0 else ()


def _frame_at(around: Around, sentence: Sentence) -> Frame | None:
    settled = any(
        _SETTLED.search(text) and not is_negated(text)
        for text in (around.governor, around.rest[:_REACH], around.after[:_REACH])
    )
    for rule in RULES:
        cue = rule.find(around)
        if cue is None or cue.lower() in around.claim.lower():
            continue
        if not (settled and rule.id in _SETTLEABLE):
            return Frame(rule, cue, _plain(sentence.text))
    return None


# What is asked, supposed or listed and then confirmed is asserted after all.
_SETTLEABLE = frozenset({"question", "not its own", "introduced"})


def _plain(text: str) -> str:
    return _HAN_BLANK.sub("", " ".join(text.split()))


def hold_to_source(
    judgement: Judgement,
    thresholds: Thresholds,
    frame: Frame | None,
    statement: str,
    passages: Sequence[PassageText],
) -> Judgement:
    """Return a judgement that is WEAK at best where the source does not assert what was found.

    Args:
        frame: of the statement in its source.
        statement: as it was judged, over `passages`: where these give orders to a reviewer, no
            reading of them counts.
    """
    if judgement.reason_code not in {"supported", "weakly_supported", "unread"}:
        return judgement
    order = _find_order(statement, passages) if judgement.status == "OK" else None
    if frame is not None:
        said, shown = frame.told, frame.sentence
        reason = (
            f"The source has these words and does not assert them. {said} Say so in your sentence, "
            "or cite what the source asserts."
        )
    elif order is not None:
        said, shown = f"The source tells its reviewer what to answer: “{order}”.", order
        reason = f"{said} So no reading of it counts. Read the passage yourself."
    else:
        return judgement
    return replace(
        judgement,
        score=min(judgement.score, max(thresholds.weak, thresholds.ok - 0.01)),
        status="WEAK",
        reason_code="framed",
        reason=reason,
        speaks_for=tuple(sign for sign in judgement.speaks_for if sign.kind != "words"),
        speaks_against=(*judgement.speaks_against, Sign("words", "", shown, said)),
    )


def _find_order(statement: str, passages: Sequence[PassageText]) -> str | None:
    """Return a sentence of the passages that tells a reviewer what to say, None where there is
    none or the statement is there word for word.
    """
    sentences = (_plain(said) for passage in passages for said in passage.said)
    order = next(filter(is_instruction, sentences), None)
    if order is None or find_repeated(state(statement), passages) is not None:
        return None
    return order
