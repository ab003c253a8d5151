"""How wordings of laws of a real vault stand on chosen days, where it is at hand.

The table was written by reading the heads and the last articles of these texts (RAG_SHARED_DATA,
by default ../shared/data): what they state, and where they state nothing, that it is not known for
a year.
"""

import json
import os
import tarfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pytest

from rag_assets.law import plain_name
from rag_assets.law.metadata import read_facts
from rag_assets.law.structure import read_laws
from rag_assets.law.versions import LAWS_KEY, describe_laws
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.retrieval import HeldLaws
from rag_assets.retrieval.laws import PublishedLaws
from rag_assets.workspace import shipped_settings

ROOT = Path(__file__).parents[2]
ARCHIVE = (
    Path(os.environ.get("RAG_SHARED_DATA", ROOT.parent / "shared" / "data"))
    / "retrieval/law/law_vault.tar.xz"
)

# Where a file's title stands.
_TITLE_BYTES = 300
FUTURE, HOLDS, PAST, OPEN = "not_yet_in_force", "in_force", "superseded", "unknown"
# Law → day → standing of each wording; wordings by day, in the order of the first line.
TABLE: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    # Amended by a decision in 2018, whose day of effect its text does not tell; whole in 2023.
    "公司法": (
        ("2018-10-26", "2023-12-29"),
        {
            "2018-12-01": (OPEN, FUTURE),
            "2020-01-01": (HOLDS, FUTURE),
            "2024-06-30": (HOLDS, FUTURE),
            "2024-07-01": (PAST, HOLDS),
        },
    ),
    "行政复议法": (
        ("2017-09-01", "2023-09-01"),
        {
            "2017-08-31": (FUTURE, FUTURE),
            "2019-01-01": (HOLDS, FUTURE),
            "2023-12-31": (HOLDS, FUTURE),
            "2024-01-01": (PAST, HOLDS),
        },
    ),
    # Its last article gives no day of these wordings; by the decision of 2023 it is 2024-01-01.
    "民事诉讼法": (
        ("2021-12-24", "2023-09-01"),
        {
            "2023-08-31": (HOLDS, FUTURE),
            "2023-10-01": (OPEN, OPEN),
            "2024-08-31": (PAST, HOLDS),
        },
    ),
    # The last article of both still gives 2000-07-01.
    "立法法": (
        ("2015-03-15", "2023-03-13"),
        {
            "2014-01-01": (FUTURE, FUTURE),
            "2016-06-01": (HOLDS, FUTURE),
            "2023-03-14": (OPEN, OPEN),
            "2025-01-01": (PAST, HOLDS),
        },
    ),
    "野生动物保护法": (
        ("2018-10-26", "2022-12-30"),
        {
            "2018-10-25": (FUTURE, FUTURE),
            "2023-04-30": (HOLDS, FUTURE),
            "2023-05-01": (PAST, HOLDS),
        },
    ),
    # The first holds from its publication.
    "反间谍法": (
        ("2014-11-01", "2023-04-26"),
        {
            "2014-10-31": (FUTURE, FUTURE),
            "2014-11-01": (HOLDS, FUTURE),
            "2023-06-30": (HOLDS, FUTURE),
            "2023-07-01": (PAST, HOLDS),
        },
    ),
    "反洗钱法": (
        ("2006-10-31", "2024-11-08"),
        {
            "2006-12-31": (FUTURE, FUTURE),
            "2007-01-01": (HOLDS, FUTURE),
            "2024-12-31": (HOLDS, FUTURE),
            "2025-01-01": (PAST, HOLDS),
        },
    ),
    "统计法": (
        ("2009-06-27", "2024-09-13"),
        {
            "2009-12-31": (FUTURE, FUTURE),
            "2010-01-01": (HOLDS, FUTURE),
            "2024-10-01": (OPEN, OPEN),
            "2025-09-13": (PAST, HOLDS),
        },
    ),
    # Of 1982 no day of effect; of 2024 that of its publication.
    "国务院组织法": (
        ("1982-12-10", "2024-03-11"),
        {
            "1983-01-01": (OPEN, FUTURE),
            "1990-01-01": (HOLDS, FUTURE),
            "2024-03-10": (HOLDS, FUTURE),
            "2024-03-11": (PAST, HOLDS),
        },
    ),
    "商用密码管理条例": (
        ("1999-10-07", "2023-04-27"),
        {
            "1999-10-06": (FUTURE, FUTURE),
            "1999-10-07": (HOLDS, FUTURE),
            "2023-07-01": (PAST, HOLDS),
        },
    ),
    # All by decisions, two of which are called “on amending and repealing”.
    "道路运输条例": (
        ("2019-03-02", "2022-03-29", "2023-07-20"),
        {
            "2021-01-01": (HOLDS, FUTURE, FUTURE),
            "2022-06-01": (OPEN, OPEN, FUTURE),
            "2023-06-01": (PAST, HOLDS, FUTURE),
            "2025-01-01": (PAST, PAST, HOLDS),
        },
    ),
    "矿产资源法": (
        ("2009-08-27", "2024-11-08"),
        {
            "2009-01-01": (FUTURE, FUTURE),
            "2025-06-30": (HOLDS, FUTURE),
            "2025-07-01": (PAST, HOLDS),
        },
    ),
    # The older file has no day in its name.
    "北京市安全生产条例": (
        ("2016-11-25", "2022-05-25"),
        {
            "2016-11-24": (FUTURE, FUTURE),
            "2022-07-31": (HOLDS, FUTURE),
            "2022-08-01": (PAST, HOLDS),
        },
    ),
    # The older text has no history at all, but says since when it holds.
    "上海市殡葬管理条例": (
        ("", "2024-08-22"),
        {
            "1997-12-31": (FUTURE, FUTURE),
            "1998-01-01": (HOLDS, FUTURE),
            "2024-09-01": (OPEN, OPEN),
            "2026-01-01": (PAST, HOLDS),
        },
    ),
    # Two files of 2022 hold one wording.
    "最高人民法院关于审理人身损害赔偿案件适用法律若干问题的解释": (
        ("2020-12-29", "2022-04-04", "2022-04-24"),
        {
            "2021-06-01": (OPEN, FUTURE, FUTURE),
            "2022-04-30": (HOLDS, FUTURE, FUTURE),
            "2022-05-01": (PAST, HOLDS, HOLDS),
        },
    ),
    # The day of effect stands in the head.
    "最高人民法院关于适用《中华人民共和国民事诉讼法》的解释": (
        ("2020-12-29", "2022-04-01", "2022-04-02"),
        {
            "2020-12-28": (FUTURE, FUTURE, FUTURE),
            "2022-04-09": (HOLDS, FUTURE, FUTURE),
            "2022-04-10": (PAST, HOLDS, HOLDS),
        },
    ),
    # Says nothing of it; the other books of the code do.
    "中华人民共和国民法典婚姻家庭编": (
        ("2020-05-28",),
        {"2020-05-27": (FUTURE,), "2020-12-31": (FUTURE,), "2021-01-01": (HOLDS,)},
    ),
    "中华人民共和国民法典侵权责任编": (
        ("2020-05-28",),
        {"2020-05-27": (FUTURE,), "2020-12-31": (FUTURE,), "2021-01-01": (HOLDS,)},
    ),
    # Later amendments take the place of none before.
    "宪法修正案（1988年）": (
        ("1988-04-12",),
        {"1988-04-11": (FUTURE,), "1988-04-12": (HOLDS,), "2024-01-01": (HOLDS,)},
    ),
    # Its file is named by the wording before it.
    "上海市住宅物业管理规定": (
        ("2018-11-22", "2020-12-30"),
        {
            "2018-11-21": (FUTURE, FUTURE),
            "2020-01-01": (HOLDS, FUTURE),
            "2021-06-01": (OPEN, OPEN),
            "2022-01-01": (PAST, HOLDS),
        },
    ),
    "慈善法": (
        ("2016-03-16", "2023-12-29"),
        {
            "2016-08-31": (FUTURE, FUTURE),
            "2016-09-01": (HOLDS, FUTURE),
            "2024-06-01": (OPEN, OPEN),
            "2025-01-01": (PAST, HOLDS),
        },
    ),
    "职业教育法": (
        ("1996-05-15", "2022-04-20"),
        {
            "1996-08-31": (FUTURE, FUTURE),
            "2022-04-30": (HOLDS, FUTURE),
            "2022-05-01": (PAST, HOLDS),
        },
    ),
    # One of the decisions in its head is called “on repealing and amending”: it repeals others.
    "国家科学技术奖励条例": (
        ("2020-10-07", "2024-05-26"),
        {
            "2020-11-30": (FUTURE, FUTURE),
            "2020-12-01": (HOLDS, FUTURE),
            "2025-05-26": (PAST, HOLDS),
        },
    ),
    "畜牧法": (
        ("2015-04-24", "2022-10-30"),
        {
            "2015-04-23": (FUTURE, FUTURE),
            "2023-02-28": (HOLDS, FUTURE),
            "2023-03-01": (PAST, HOLDS),
        },
    ),
}


pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"no {ARCHIVE}; set RAG_SHARED_DATA")


@pytest.fixture(scope="module")
def vault() -> HeldLaws:
    """Return the laws of the table, and the other books of the code, as a publication has them."""
    by_text: dict[bytes, list[str]] = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".md") else None
            if file is not None:
                by_text.setdefault(file.read(), []).append(member.name)
    wanted = [plain_name(title) for title in TABLE]
    rows = [
        _row(text, sorted(paths))
        for text, paths in by_text.items()
        if any(one in text[:_TITLE_BYTES].decode("utf-8", "ignore") for one in wanted)
        or "民法典" in PurePosixPath(paths[0]).parts
    ]
    return HeldLaws([PublishedLaws("vault", pa.Table.from_pylist(rows))])


def _row(data: bytes, paths: list[str]) -> dict[str, object]:
    """Return the row of `documents` that a publication has, by the same functions."""
    document = parse_document(data, ParseHints(extension="md"), shipped_settings().parse)
    facts = [read_facts(document.text, law).to_record() for law in read_laws(document.text)]
    laws = [one.to_record() for one in describe_laws(facts, paths)]
    return {
        "doc_uid": paths[0],
        "title": document.title or PurePosixPath(paths[0]).stem,
        "source_uri": paths[0],
        "content_hash": paths[0],
        "chunks": 1,
        "metadata": json.dumps({LAWS_KEY: laws}, ensure_ascii=False),
    }


def _asked() -> Iterator[tuple[str, str]]:
    yield from ((title, day) for title, (_, days) in TABLE.items() for day in days)


@pytest.mark.parametrize(("title", "day"), _asked())
def test_how_the_wordings_of_a_law_stand_on_a_day(vault: HeldLaws, title: str, day: str) -> None:
    versions, days = TABLE[title]
    keys = vault.names.find(title)
    stand = sorted(
        (
            str((law.wording and law.wording.version_date) or ""),
            vault.judge(law, date.fromisoformat(day)).standing,
        )
        for law in map(vault.__getitem__, keys)
    )
    assert stand == sorted(zip(versions, days[day], strict=True))


def test_no_law_of_the_vault_says_that_it_was_repealed(vault: HeldLaws) -> None:
    """Nor does any of these texts; decisions in their heads repeal others."""
    laws = (law for title in TABLE for law in map(vault.__getitem__, vault.names.find(title)))
    assert {law.wording.repealed_on for law in laws if law.wording} == {None}


def test_the_table_has_at_least_twenty_laws_and_three_days_each() -> None:
    assert len(TABLE) >= 20
    assert min(len(days) for _, days in TABLE.values()) >= 3
