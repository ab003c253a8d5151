"""What a question calls a paper by: an identifier, a title, authors with a year, a thing's name."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.model import HAN_RANGES

# As texts print them; what stands after the last letter or digit belongs to the sentence.
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>“”‘’|{}，。；？！、" + HAN_RANGES + r"]*[A-Za-z0-9]")
_ARXIV = re.compile(r"(?<![\w./])(\d{4}\.\d{4,5})(?:v\d{1,2})?(?![\w/])")
# A uid in braces, a key of a bibliography, a file's name: what nobody writes but as a name.
_UID = re.compile(r"\{#([^\s},]+)|(?<![\w.])@([A-Za-z][\w:-]*\w)|(?<!\w)([A-Za-z]\w*(?:_\w+)+)")
_QUOTED = re.compile('[“"„「『]([^“”"„「」『』]{4,200})[”"」』]|《([^《》]{2,200})》')
# Words that a title writes small between its capitals.
_SMALL = r"(?:a|an|and|as|at|by|for|from|in|into|is|its|of|on|or|the|to|via|with|you|we|are|not)"
_CAPITAL = r"[A-Z][\w’'-]*:?"
_TITLE_RUN = re.compile(rf"(?<![\w-]){_CAPITAL}(?: (?:{_SMALL} )*{_CAPITAL}){{2,}}(?!\w)")
_SURNAME = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'-]+"
_AUTHORS = rf"{_SURNAME}(?: et al\.?|(?:,? (?:and|&) {_SURNAME}))"
_YEAR = r"(?:1[89]|20)\d\d"
_WORK = re.compile(
    rf"({_AUTHORS})(?:['’]s)?(?:,? ?[(（]?({_YEAR})[a-z]?[)）]?)?"
    rf"|({_SURNAME}) ?[(（]?({_YEAR})[a-z]?[)）]?"
)
_CHINESE_NAME = rf"[{HAN_RANGES}]{{1,3}}"
_CHINESE_WORK = re.compile(
    rf"(?:^|[，。、\s])({_CHINESE_NAME}(?:和[{HAN_RANGES}]{{2,3}}|等人?)?)\s?[（(]?({_YEAR})[）)]?(?:\s?年的)?"
    rf"|(?:^|[，。、\s])({_CHINESE_NAME}?等人)"
)
_NOT_A_SURNAME_LIST = (
    "In On The At By For From Since Until After Before During About Between January February "
    "March April May June July August September October November December Figure Table Section "
    "Chapter Paper Version Windows Covid Web"
)
_NOT_A_SURNAME = frozenset(_NOT_A_SURNAME_LIST.split())
# A run of letters and digits that no ordinary word is: Word2Vec, GPT-3, mBERT, PageRank, DBSCAN.
_TOKEN = re.compile(r"(?<![\w.-])[A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+)*\+*(?![\w-])")
_NUMBERED = re.compile(r"(?<![\w-])([A-Z][a-zA-Z]+) (\d{1,2}(?:\.\d{1,2})?)(?![\w.%])")
_HAS_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]|^[a-z][A-Z]")
_FORMULA = re.compile(r"(?:[A-Z][a-z]?\d*){2,}[+-]?")
# Short forms of kinds of things, not of one thing; written down as they came to mind, and closed.
_KINDS_LIST = (
    "AI ML DL NLP LLM LLMS RAG QA IR CV RL CNN CNNS RNN RNNS GNN GNNS GAN GANS VAE LSTM LSTMS "
    "GRU MLP SVM SVMS KNN PCA HMM CRF MCMC OCR ASR TTS SMT NMT NER POS API APIS CPU GPU GPUS "
    "TPU SQL XML HTML JSON PDF HTTP TCP IP IOT VR AR UAV SAR GIS GPS NDVI DNA RNA MRNA PCR SNP "
    "SNPS HIV AIDS COVID-19 SARS MRI CT PET EEG ECG BMI ICU PTSD ADHD TCM TEM SEM XRD XPS FTIR "
    "NMR HPLC GC-MS GDP CEO CSR ESG ICT R&D IPO FDI SME SMES USA US UK EU UN WHO OECD BRICS PHD "
    "MOOC MOOCS STEM PM2.5 ROS ATP NGO NGOS BLEU ROUGE METEOR MAP NDCG AUC ROC RMSE MAE MSE F1 "
    "P-VALUE WER CRISPR LI-ION"
)
_KINDS = frozenset(_KINDS_LIST.split())
# What stands after these is where something is measured, or with what, not what is asked about.
_PLACED = re.compile(
    r"(?:\b(?:on|in|at|from|against|with|using|via|over|versus|vs\.?|than|for)"
    r"|在|对|于|与|和|比|跟)\s*$",
    re.IGNORECASE,
)
_ARTICLE_BEFORE = re.compile(r"\b(?:the)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """What a question calls a paper by, each as it is written there.

    Args:
        identifiers: DOIs, arXiv numbers, uids, keys of a bibliography.
        titles: quoted ones, or runs of capitalised words.
        works: authors, with the year where it is there: "Chen et al. (2021)".
        things: names of one thing: "Llama 3", "PageRank".
    """

    identifiers: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    things: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every name once, the surest first."""
        return tuple(dict.fromkeys((*self.identifiers, *self.titles, *self.works, *self.things)))


def find_names(question: str, known: Collection[str] = ()) -> Names:
    """Return the names in a question.

    Args:
        question: English or Chinese.
        known: names that the library gives its papers (uids, keys, names that titles announce):
            they are found wherever they stand alone, whatever they look like.
    """
    return _find_names(question, tuple(known))


def without_names(question: str) -> str:
    """Return a question without what it calls its paper by; what finds it finds no passage in it.

    Names of things stay: the paper speaks of them.
    """
    names = find_names(question)
    rest = question
    for name in (*names.identifiers, *names.titles, *names.works):
        rest = rest.replace(name, " ")
    return rest


@lru_cache(maxsize=256)
def _find_names(question: str, known: tuple[str, ...]) -> Names:
    rest = question
    found: dict[str, list[str]] = {"identifiers": [], "titles": [], "works": [], "things": []}
    for kind, matches in (
        ("identifiers", lambda text: _texts(_DOI, text)),
        ("identifiers", lambda text: _texts(_ARXIV, text)),
        ("identifiers", lambda text: _texts(_UID, text)),
        ("titles", lambda text: _texts(_QUOTED, text)),
        ("works", _works),
        ("titles", _title_runs),
        ("things", lambda text: _things(text, known)),
    ):
        for shown, start, end in list(matches(rest)):
            found[kind].append(shown)
            # Nothing is found twice, and nothing across what was found.
            rest = rest[:start] + "\0" * (end - start) + rest[end:]
    return Names(**{kind: tuple(dict.fromkeys(texts)) for kind, texts in found.items()})


def _texts(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int, int]]:
    for match in pattern.finditer(text):
        shown = next((group for group in match.groups() if group), match[0])
        yield " ".join(shown.split()), match.start(), match.end()


def _works(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _WORK.finditer(text):
        first = re.split(r"[^\w’'-]", match[0])[0]
        others = [word for word in re.findall(r"[\w’'-]+", match[0])[1:] if word[0].isupper()]
        is_thing = any(_is_thing(word) or _is_kind(word) for word in (first, *others))
        if first not in _NOT_A_SURNAME and ("et al" in match[0] or not is_thing):
            yield " ".join(match[0].split()), match.start(), match.end()
    for match in _CHINESE_WORK.finditer(text):
        yield match[0].strip("，。、 "), match.start(), match.end()


def _title_runs(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _TITLE_RUN.finditer(text):
        yield match[0].removesuffix("'s").removesuffix("’s").strip(":"), match.start(), match.end()


def _things(text: str, known: tuple[str, ...]) -> Iterator[tuple[str, int, int]]:
    taken: list[tuple[int, int]] = []
    for name in known:
        pattern = rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])"
        for match in re.finditer(pattern, text):
            taken.append(match.span())
            yield name, match.start(), match.end()
    for match in _NUMBERED.finditer(text):
        if match[1] not in _NOT_A_SURNAME and not _is_kind(match[0]):
            taken.append(match.span())
            yield match[0], match.start(), match.end()
    for match in _TOKEN.finditer(text):
        is_free = all(match.end() <= start or end <= match.start() for start, end in taken)
        before = text[: match.start()]
        if is_free and _is_thing(match[0]) and not _PLACED.search(before):
            yield match[0], match.start(), match.end()


def _is_thing(token: str) -> bool:
    """Say whether a token looks like the name of one thing."""
    if len(token) < 3 or _is_kind(token):
        return False
    bare = token.rstrip("+")
    if _FORMULA.fullmatch(bare) and any(sign.isdigit() for sign in bare) and "-" not in bare:
        return False
    capitals = sum(sign.isupper() for sign in bare)
    has_digit = any(sign.isdigit() for sign in bare)
    is_spelled = bare.isupper() and len(bare) > 2
    return is_spelled or bool(_HAS_INNER_CAPITAL.search(bare)) or (has_digit and capitals > 0)


def _is_kind(token: str) -> bool:
    return token.upper() in _KINDS or token.upper().split("-")[0].rstrip("S") in _KINDS
