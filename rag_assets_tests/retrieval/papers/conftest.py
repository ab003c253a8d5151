"""Five small papers, one of them in Chinese and one without an abstract."""

from collections.abc import Iterator

import pytest

from rag_assets.retrieval import Retriever
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace


def paper(title: str, abstract: str, **sections: str) -> str:
    """Return a paper as Markdown; an empty abstract leaves its section out."""
    head = f"---\ntitle: '{title}'\n---\n\n# {title}\n\n"
    parts = [("Abstract", abstract)] if abstract else []
    parts += [(name.replace("_", " "), text) for name, text in sections.items()]
    return head + "\n\n".join(f"## {name}\n\n{text}" for name, text in parts) + "\n"


PAPERS = {
    "evidence/owls.md": paper(
        "Barnowl: Hunting by Ear",
        "Barnowl is a model of owls that hunt voles by hearing in the dark.",
        Introduction="Voles move at night. " * 3 + "Hearing was thought to be of little use.",
        Methods="We trained Barnowl on forty recordings of voles in hay.\n\nMicrophones stood at "
        "four corners of the barn.",
        Results="Barnowl found 87 of 100 voles in the dark.\n\nWith earplugs it found 12.",
        Conclusion="Owls hear voles. We could not test snow.",
    ),
    "evidence/roofs-dry.md": paper(
        "Green Roofs in Dry Cities",
        "Sedum roofs in dry cities were cooler by 16 degrees at noon than bitumen.",
        Introduction="Cities heat up.",
        Methods="Thermometers lay below sedum on twelve roofs.",
        Results="Sedum was cooler by 16 degrees at noon.",
    ),
    "evidence/roofs-wet.md": paper(
        "Green Roofs in Wet Cities",
        "Sedum roofs in wet cities were cooler by 9 degrees at noon than bitumen.",
        Introduction="Cities flood.",
        Methods="Thermometers lay below sedum on nine roofs.",
        Results="Sedum was cooler by 9 degrees at noon.",
    ),
    "evidence/tides.md": paper(
        "Tides Observed",
        "",
        Observations="The tide at the pier rose by four metres within six hours.",
        Results="Four metres were the most that was seen.",
    ),
    "evidence/水稻.md": paper(
        "水稻叶片衰老的遥感监测",
        "本文用无人机影像监测水稻叶片的衰老过程。",
        引言="水稻衰老影响产量。",
        结果="监测精度达到百分之九十二。",
    ),
}


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    small = {**HASHING, "chunk": {"target_tokens": 20, "min_tokens": 1, "max_tokens": 40}}
    made = make_workspace(tmp_path_factory.mktemp("papers"), PAPERS, small)
    build(made.namespace("thesis"))
    return made


@pytest.fixture
def retriever(papers: Workspace) -> Iterator[Retriever]:
    with Retriever(papers) as opened:
        yield opened
