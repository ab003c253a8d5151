"""Files, names and histories of them, for hypothesis."""

from hypothesis import strategies as st

from rag_assets.workspace import Binding, Claim

SENTENCES = (
    "Cool roofs reflect sunlight and stay cooler than dark ones.",
    "The heat-island effect is strongest on calm nights.",
    "Stomata close when the air is dry, and the leaf saves water.",
    "Dr. Vance measured 3.5 degrees at 14.2 metres on average.",
    "In Paris Dr. Vance and the Paris Observatory saw TiO2 on the “cool roof” of 《城市气候》.",
    "二氧化碳浓度升高使植物叶片的气孔导度下降。",
    "当事人一方不履行合同义务的，应当承担违约责任。",
    "行道树在夏季为行人提供遮荫，降低体感温度。",
    "Night ventilation flushes the warmth of the day out of the walls.",
)
# Few names that meet: equal slugs, equal stems, other parsers, two scripts.
NAMES = ("roofs.md", "Roofs.txt", "cool roofs.md", "叶片.md", "table.csv", "notes.txt")
FOLDERS = ("evidence", "evidence/deep", "instruction/guidance", "instruction", "")
PINS = ("roofs", "pinned", "叶片", "roofs-2")

_HEADINGS = ("", "# Roofs\n\n", "# 叶片\n\n## 气孔\n\n", "Introduction\n\n")
# Equal texts, other bytes.
_ENDINGS = ("", "\n", "\n\n", " \n")

paths = st.builds(lambda *parts: "/".join(filter(None, parts)), st.sampled_from(FOLDERS),
                  st.sampled_from(NAMES))  # fmt: skip


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """A few paragraphs, now and then a table, nothing, or bytes that are no text."""
    kind = draw(st.sampled_from(["text"] * 8 + ["table", "empty", "binary"]))
    if kind == "empty":
        return b""
    if kind == "binary":
        return b"\x00\x01\xff" + draw(st.binary(max_size=3))
    if kind == "table":
        years = draw(st.lists(st.integers(1990, 1999), min_size=1, max_size=3))
        return ("year,temperature\n" + "".join(f"{y},{y / 100}\n" for y in years)).encode()
    sentences = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6))
    joined = draw(st.sampled_from([" ", "\n\n", "\n"])).join(sentences)
    text = draw(st.sampled_from(_HEADINGS)) + joined + draw(st.sampled_from(_ENDINGS))
    return text.replace("\n", "\r\n").encode() if draw(st.booleans()) else text.encode()


sidecars = st.one_of(
    st.just("citable: maybe\n"),
    st.just("title: [broken\n"),
    st.fixed_dictionaries(
        {},
        optional={
            "citable": st.booleans(),
            "title": st.sampled_from(["A title", "标题"]),
            "doc_uid": st.sampled_from(PINS),
            "tags": st.lists(st.sampled_from(["roof", "leaf"]), max_size=2),
            "year": st.integers(1999, 2001),
        },
    ).filter(bool),
)

# For `reconcile` alone: few contents at few paths, so that all of them meet.
contents = st.sampled_from("ABCDE")
claim_paths = st.sampled_from(["raw/a.md", "raw/b.md", "raw/sub/a.md", "raw/b-2.md"])
uids = st.sampled_from(["a", "a-2", "b", "b-2", "pinned"])


@st.composite
def raw_folders(draw: st.DrawFn) -> list[Claim]:
    """What stands below raw/ at one moment: each path once; a content's pin stands at its path."""
    files = draw(st.dictionaries(claim_paths, contents, max_size=4))
    pins = draw(st.dictionaries(st.sampled_from(sorted(files) or ["raw/a.md"]), uids, max_size=2))
    return [Claim(path, content, pins.get(path)) for path, content in files.items()]


bindings = st.lists(st.builds(Binding, st.just("bind"), contents, claim_paths, uids), max_size=6)
