"""A draft of 40 pages with 300 citations: seconds to verify it, again, and after one edit.

    python benchmarks/draft_audit.py [--workspace DIR | --papers N] [--citations N] [--scorer NAME]

Without --workspace, N papers of RAG_SHARED_DATA (default ../shared/data) are ingested first, which
is not timed. The draft is made of sentences of the papers: cited with their clauses turned round,
as somebody's finding, or quoted; every tenth from another paper than it cites; and sentences
without a citation between.
"""

import argparse
import json
import os
import random
import re
import shutil
import tempfile
import time
from pathlib import Path

from processes import RAG, run

from rag_assets.auditing import audit_citations
from rag_assets.auditing.library import CitedDocument
from rag_assets.auditing.published import PublishedLibrary
from rag_assets.chunking import split_sentences
from rag_assets.workspace import Workspace

_SEED = 12
_WORDS_A_PAGE = 350
_PAGES = 40
_FRAMES = ("It was reported that", "Moreau et al. (2019) found that")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workspace", type=Path, help="copied, not written into")
    parser.add_argument("--papers", type=int, default=12, help="ingested without --workspace")
    parser.add_argument("--citations", type=int, default=300)
    parser.add_argument("--scorer", help="in the place of verify.scorer")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()


def _prepare(given: argparse.Namespace, folder: Path) -> Workspace:
    target = folder / "workspace"
    if given.workspace:
        shutil.copytree(given.workspace, target)
        shutil.rmtree(target / "data" / "citation_audits", ignore_errors=True)
    else:
        papers = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "papers"
        files = sorted(papers.rglob("*.pdf"), key=lambda path: path.stat().st_size)
        if not files:
            raise SystemExit(f"{papers}: no papers; set RAG_SHARED_DATA or give --workspace.")
        run([RAG, "init", target, "--template", "papers"])
        middle = len(files) // 2
        for path in files[middle : middle + given.papers]:
            shutil.copyfile(path, target / "raw" / "evidence" / path.name)
        run([RAG, "--workspace", target, "ingest"])
    if given.scorer:
        with (target / "config.yaml").open("a", encoding="utf-8") as config:
            config.write(f"\nverify:\n  scorer: {given.scorer}\n")
    return Workspace.open(target)


def _sentences(document: CitedDocument) -> list[str]:
    found = []
    for passage in document.passages:
        for start, end in split_sentences(passage.text):
            text = " ".join(passage.text[start:end].split())
            is_plain = not re.search(r"[{}@\\\[\]<>*_`|#“”\"]", text)
            if is_plain and 12 <= len(text.split()) <= 35 and text[-1] == ".":
                found.append(text)
    return found


def _draft(workspace: Workspace, citations: int) -> tuple[str, set[str]]:
    """Return the draft and those of its sentences that cite another paper than theirs."""
    random_ = random.Random(_SEED)
    with PublishedLibrary(workspace) as library:
        refs = [library.find(uid, namespace)[0] for namespace, uid in library.uids()]
        shelves = {ref.doc_uid: _sentences(library.load(ref)) for ref in refs if ref.citable}
    shelves = {uid: sentences for uid, sentences in shelves.items() if len(sentences) >= 10}
    uids, lines, words, wrong = sorted(shelves), list[str](), 0, set[str]()
    for number in range(citations):
        uid = random_.choice(uids)
        cited = random_.choice(uids) if number % 10 == 9 else uid
        sentence = random_.choice(shelves[uid])
        body = sentence.rstrip(".")
        if number % 8 == 7:
            line = f"The authors write: “{body}” {{#{cited}}}."
        elif number % 3 == 2:
            who = _FRAMES[number % len(_FRAMES)]
            line = f"{who} {body[0].lower()}{body[1:]} {{#{cited}}}."
        else:
            turned = ", ".join(reversed(body.split(", ")))
            line = f"{turned[0].upper()}{turned[1:]} {{#{cited}}}."
        lines.append(line)
        if cited != uid:
            wrong.add(line)
        words += len(line.split())
        while words < (number + 1) / citations * _PAGES * _WORDS_A_PAGE:
            filler = random_.choice(shelves[random_.choice(uids)])
            lines.append(filler)
            words += len(filler.split())
    paragraphs = [" ".join(lines[i : i + 6]) for i in range(0, len(lines), 6)]
    return "# A thesis\n\n" + "\n\n".join(paragraphs) + "\n", wrong


def main() -> None:
    """Print the seconds of three runs and their ratios."""
    given = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        workspace = _prepare(given, Path(folder))
        path = workspace.drafts / "thesis.md"
        drafted, wrong = _draft(workspace, given.citations)
        path.write_text(drafted, encoding="utf-8")
        figures: dict[str, float | int | str] = {"scorer": workspace.settings.verify.scorer}
        text = path.read_text(encoding="utf-8")
        figures["words"], figures["pages"] = len(text.split()), len(text.split()) // _WORDS_A_PAGE
        for name in ("first", "second", "edited"):
            if name == "edited":
                changed = text.replace("It was reported that ", "It was recently reported that ", 1)
                path.write_text(changed, encoding="utf-8")
            started = time.perf_counter()
            outcome = audit_citations(workspace, path)
            figures[f"{name}_s"] = round(time.perf_counter() - started, 2)
            figures[f"{name}_judged"] = outcome.judged
            figures["rows"] = len(outcome.audit.rows)
            print(name, figures[f"{name}_s"], "s", outcome.judged, "judged", outcome.audit.counts)
        for kind, rows in (
            ("misattributed", [row for row in outcome.audit.rows if row.sentence in wrong]),
            ("rightly cited", [row for row in outcome.audit.rows if row.sentence not in wrong]),
        ):
            figures[kind] = len(rows)
            figures[f"{kind}, OK"] = sum(row.status == "OK" for row in rows)
        for name in ("second", "edited"):
            ratio = float(figures[f"{name}_s"]) / float(figures["first_s"])
            figures[f"{name}_ratio"] = round(ratio, 4)
        print(json.dumps(figures, indent=1))
        if given.json:
            given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
