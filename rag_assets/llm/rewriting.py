"""A Chinese question in English, so that English papers are searched in their own words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from rag_assets.llm.contract import Budget, ChatModel, ChatRequest, Message, load_prompt
from rag_assets.model import AnswerError

REWRITE_TASK = "rewrite_question"
# An English sentence has as many letters as three times a Chinese one; an answer beyond this is
# an explanation, not the question.
_LONGEST_RATIO = 12
_SHORTEST_LIMIT = 120
# Greek letters and the like may stand in a formula.
_LATIN_SHARE = 0.8
_SHOWN_CHARACTERS = 200
# Letters, digits and the marks that names, formulas, identifiers and amounts hold inside.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.,:/_+()\[\]-]*[A-Za-z0-9)\]])?")
# Chinese counts by ten thousands and names months by number: "3万" is 30,000, "5月" is May.
_REWRITTEN_NUMBERS = re.compile(r"\d[\d.,]*\s*[十百千万萬亿億月]")
_WORDS_OF_DIGITS = {
    "0": "zero no", "1": "one first a an single", "2": "two second both twice", "3": "three third",
    "4": "four fourth", "5": "five fifth", "6": "six sixth", "7": "seven seventh",
    "8": "eight eighth", "9": "nine ninth", "10": "ten tenth",
}  # fmt: skip


def rewrite_question(model: ChatModel, text: str, *, budget: Budget | None = None) -> str:
    """Return a question in English.

    Args:
        model: what is asked, at temperature 0.
        text: the question, in Chinese or mixed.

    Returns:
        One line, mostly Latin letters, with the names, formulas and numbers of `text`.

    Raises:
        AnswerError: what came back is not that; `answer` holds it.
        LanguageModelError: the model cannot be asked.
        BudgetError: the task has no tokens or seconds left.
    """
    prompt = load_prompt(REWRITE_TASK)
    request = ChatRequest(
        (Message("system", prompt.text), Message("user", text)),
        task=REWRITE_TASK,
        prompt_hash=prompt.hash,
        temperature=0.0,
    )
    completion = model.complete(request, budget)
    answer = completion.text.strip()
    fault = _fault(text, answer, is_cut=completion.finish_reason == "length")
    if fault is not None:
        raise AnswerError(
            f"{model.name} was asked to put {text!r} into English; {fault}: "
            f"{answer[:_SHOWN_CHARACTERS]!r}. The question is searched as it was asked; another "
            "model, or 'llm.roles: {rewrite: {kind: none}}', mends it.",
            completion.text,
        )
    return answer


def _fault(question: str, answer: str, *, is_cut: bool) -> str | None:
    """Return what is wrong with an answer, None where it can be used."""
    letters = [character for character in answer if character.isalpha()]
    latin = sum("LATIN" in unicodedata.name(letter, "") for letter in letters)
    lost = sorted(_names_lost(question, answer))
    longest = max(_SHORTEST_LIMIT, _LONGEST_RATIO * len(question))
    faults = {
        "the answer is empty": not answer,
        "the answer was cut at 'llm.max_tokens'": is_cut,
        "the answer has several lines": len(answer.splitlines()) > 1,
        "the answer is far longer than the question": len(answer) > longest,
        "the answer is not mostly Latin letters": latin < _LATIN_SHARE * max(1, len(letters)),
        f"the answer has lost {', '.join(lost)}": bool(lost),
    }
    return next((fault for fault, is_so in faults.items() if is_so), None)


def _names_lost(question: str, answer: str) -> Iterator[str]:
    """Yield the names, formulas and numbers of the question that the answer does not have."""
    asked = _REWRITTEN_NUMBERS.sub(" ", unicodedata.normalize("NFKC", question))
    said = _plain(answer)
    words = Counter(re.findall(r"[a-z]+", said))
    for match in _NAME.finditer(asked):
        name = _plain(match[0])
        spelled = any(words[word] for word in _WORDS_OF_DIGITS.get(name, "").split())
        if not spelled and not re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![0-9])", said):
            yield match[0]


def _plain(text: str) -> str:
    """Return lower-case text in which numbers have no marks between thousands."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", folded)
