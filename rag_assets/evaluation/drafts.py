"""How well an audit judges drafts with known truth, through the audit itself."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from rag_assets.auditing import (
    Citation,
    CitationVerdict,
    CitedSentence,
    Draft,
    VerdictStore,
    verify_citations,
)
from rag_assets.evaluation.claims_encoder import FirstModel
from rag_assets.evaluation.drafts_figures import (
    FOLDS,
    Judged,
    choice_table,
    figures,
    group_table,
    judge_by_wording,
    kind_table,
)
from rag_assets.evaluation.drafts_rows import GROUPS, DraftRow, read_draft_rows
from rag_assets.evaluation.drafts_sources import DraftLibrary, read_sources, sources_beside
from rag_assets.evaluation.report import EvaluationReport, Figure, ReportTable, settings_digest
from rag_assets.evaluation.scorers import draw, open_scorer, with_scorer
from rag_assets.judging import Scorer
from rag_assets.model import Progress
from rag_assets.settings import ScorerName, Settings
from rag_assets.storage import LocalStore

_AGAINST = frozenset({"contradicted", "facts_differ", "wrong_article"})


def evaluate_drafts(
    files: Sequence[Path],
    settings: Settings,
    scorer: ScorerName | None = None,
    *,
    sources: Sequence[Path] = (),
    limit: int | None = None,
    cache: Path | None = None,
    beside: bool = True,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Have the audit judge every row of some files, and compare with its label.

    What is judged, and how, is what `rag verify-citations` does: the finder chooses passages of
    the cited document, the scorer judges them, the program checks numbers, quotations, articles.

    Args:
        files: JSON lines of `DraftRow`.
        scorer: in the place of `verify.scorer`.
        sources: folders and archives with the cited documents; those beside each file where none
            are named.
        limit: rows of a file at most, drawn with a seed.
        cache: where sources and verdicts are kept, so that a run that was stopped goes on.
        beside: whether `similarity` at its own threshold and the wording alone are shown too.

    Raises:
        UsageError: a file holds no rows, a line is none, or a source is not there.
        ConfigurationError: the scorer cannot be loaded.
    """
    rows: list[DraftRow] = []
    places: dict[Path, None] = dict.fromkeys(sources)
    for file in files:
        rows += draw(read_draft_rows(file), limit)
        places.update(dict.fromkeys(sources or sources_beside(file)))
    documents = read_sources(
        (row.paper for row in rows), list(places), settings,
        None if cache is None else cache / "sources", on_progress,
    )  # fmt: skip
    library = DraftLibrary(documents)
    chosen = with_scorer(settings, scorer)
    judge = open_scorer(chosen)
    store = _open_store(cache)
    judged = _judge(rows, library, chosen, judge, store, on_progress)
    compared: dict[str, list[Judged]] = {judge.name: judged}
    if beside:
        if judge.name != "similarity":
            simple = with_scorer(settings, "similarity")
            compared["similarity"] = _judge(
                rows, library, simple, open_scorer(simple), store, on_progress
            )
        compared["sentence alone"] = judge_by_wording(rows)
    return EvaluationReport(
        "drafts",
        settings_digest(chosen),
        {
            **figures(judged),
            "scorer": judge.name,
            "threshold": judge.thresholds.ok,
            "weak_threshold": judge.thresholds.weak,
        },
        {"files": len(files), "rows": len(rows), "sources": len(documents)},
        (
            group_table(judged), kind_table(judged), choice_table(judged),
            *([_table_of_scorers(compared)] if beside else []),
        ),
        {
            "scorer_fingerprint": judge.fingerprint,
            "threshold_origin": judge.thresholds.ok_origin,
            "folds": FOLDS,
            "compared": {name: figures(of) for name, of in compared.items()},
        },
    )  # fmt: skip


def _open_store(cache: Path | None) -> VerdictStore:
    if cache is None:
        return VerdictStore()
    cache.mkdir(parents=True, exist_ok=True)
    return VerdictStore(LocalStore(cache), "verdicts.jsonl", cache / "verdicts.lock")


def _judge(
    rows: Sequence[DraftRow],
    library: DraftLibrary,
    settings: Settings,
    scorer: Scorer,
    store: VerdictStore,
    on_progress: Progress | None,
) -> list[Judged]:
    """Return the rows with their verdicts, in order; source by source, each kept when it is done.

    A source is opened once.
    """
    encoder = FirstModel(settings.embed.models[0])
    found: dict[str, Judged] = {}
    ordered = sorted(rows, key=lambda row: row.paper)
    for _, group in groupby(ordered, key=lambda row: row.paper):
        of_source = list(group)
        audit = verify_citations(
            _draft(of_source), library, encoder, settings.verify, store=store,
            make_scorer=lambda *_: scorer,
        )  # fmt: skip
        store.save(lambda _: None)
        found |= {
            row.id: _judged(row, verdict)
            for row, verdict in zip(of_source, audit.rows, strict=True)
        }
        if on_progress is not None:
            on_progress(f"verdicts of {scorer.name}", len(found), len(rows))
    return [found[row.id] for row in rows]


def _draft(rows: Sequence[DraftRow]) -> Draft:
    """Return a draft of sentences that cite one source each."""
    sentences = []
    for number, row in enumerate(rows):
        citation = Citation(None, row.paper, number, number)
        sentences.append(
            CitedSentence(
                number, number + 1, number, number, row.sentence, row.sentence, (citation,)
            )
        )
    return Draft("drafts", "", "", (), tuple(sentences))


def _judged(row: DraftRow, verdict: CitationVerdict) -> Judged:
    shown = tuple(passage.text for passage in verdict.passages)
    is_opposed = verdict.reason_code in _AGAINST
    return Judged(row, verdict.status, verdict.score or 0.0, shown, is_opposed)


def _table_of_scorers(compared: Mapping[str, Sequence[Judged]]) -> ReportTable:
    return ReportTable(
        "Beside it",
        ("what", *(f"AUC {group}" for group in ("all", *GROUPS)), "OK of supported", "OK of not"),
        tuple(tuple(_cells(name, judged)) for name, judged in compared.items()),
    )


def _cells(name: str, judged: Sequence[Judged]) -> Iterator[Figure]:
    found = figures(judged)
    yield name
    for group in ("all", *GROUPS):
        yield found.get(f"auc_{group}")
    yield found["ok_supported_all"]
    yield found["ok_unsupported_all"]
