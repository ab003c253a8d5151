"""Used sources, for reference managers."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware, SeparateCoAuthors, SplitNameParts
from click.testing import CliRunner, Result
from hypothesis import example, given
from hypothesis import strategies as st

from rag_assets.cli.main import build_cli
from rag_assets.evidence import Question, ask
from rag_assets.evidence.bibliography import (
    Reference,
    export_used_sources,
    make_reference,
    read_date,
    render_bibtex,
    render_csl,
    render_markdown,
    render_ris,
    with_distinct_keys,
)
from rag_assets.model import UsageError
from rag_assets.publishing import PersonName, split_name, split_names
from rag_assets.workspace import Workspace, set_metadata
from rag_assets_tests.libraries import build
from rag_assets_tests.model.markdown_reader import READER, kinds

TEXT = "How much cooler are sedum roofs in the street? 树冠"


@pytest.mark.parametrize(
    ("printed", "parts"),
    [
        ("Anna Müller", PersonName("Müller", "Anna")),
        ("J. R. R. Tolkien", PersonName("Tolkien", "J. R. R.")),
        ("Ludwig van Beethoven", PersonName("Beethoven", "Ludwig", "van")),
        ("Jean de la Fontaine", PersonName("Fontaine", "Jean", "de la")),
        ("Smith, John", PersonName("Smith", "John")),
        ("Smith, Jr., John", PersonName("Smith", "John", suffix="Jr.")),
        ("Martin Luther King Jr.", PersonName("King", "Martin Luther", suffix="Jr.")),
        ("Jane Doe, PhD", PersonName("Doe", "Jane")),
        ("Goleţ I", PersonName("Goleţ", "I.")),
        ("de Boer JK", PersonName("de Boer", "J. K.")),
        ("王小明", PersonName("王", "小明")),
        ("李白", PersonName("李", "白")),
        ("欧阳修文", PersonName("欧阳", "修文")),
        ("欧阳", PersonName("欧", "阳")),
        ("卡尔·马克思", PersonName("马克思", "卡尔")),
        ("Wang, Xiaoming", PersonName("Wang", "Xiaoming")),
        ("国家统计局", PersonName(literal="国家统计局")),
        ("教育部", PersonName(literal="教育部")),
        ("王·", PersonName(literal="王")),
        ("，王小波", PersonName(family="王", given="小波")),
        ("World Health Organization", PersonName(literal="World Health Organization")),
        ("UNESCO", PersonName(literal="UNESCO")),
        ("{World Bank}", PersonName(literal="World Bank")),
    ],
)
def test_name_is_taken_apart(printed: str, parts: PersonName) -> None:
    assert split_name(printed) == parts


@pytest.mark.parametrize(
    ("printed", "names"),
    [
        ("王, 小明", ["王小明"]),
        ("欧阳，修文", ["欧阳修文"]),
        ("王小明，李华", ["王小明", "李华"]),
        ("王小明、李华、欧阳修文", ["王小明", "李华", "欧阳修文"]),
        ("李白, 杜甫", ["李白", "杜甫"]),
        ("卡尔·马克思", ["卡尔·马克思"]),
        ("教育部, 财政部", ["教育部", "财政部"]),
        ("Müller, Anna", ["Müller, Anna"]),
    ],
)
def test_chinese_names_are_written_whole_and_a_comma_parts_people(
    printed: str, names: list[str]
) -> None:
    assert [name.inverted for name in split_names(printed)] == names


@given(st.text(max_size=40))
def test_any_printed_name_has_parts_and_no_brace(printed: str) -> None:
    name = split_name(printed)
    assert "{" not in name.inverted
    if any(map(str.isalnum, printed)):
        assert name.literal or name.family


NASTY = Reference(
    key="müller_2019, {x}",
    namespace="thesis",
    doc_uid="roofs",
    cite_as="roofs",
    kind="article",
    title="50 % of R&D: $x_1$ & #3 \\ ~ über COVID-19 — 中文（七） α-pinene",
    authors=(
        PersonName("Müller", "Anna"),
        PersonName("Beethoven", "Ludwig", "van"),
        PersonName("欧阳", "修文"),
        PersonName(literal="Bank of R&D and Roofs"),
    ),
    issued=(2019, 3, 7),
    accessed=(2024, 1, 2),
    publisher="Roofs & Sons",
    url="https://example.org/a_b?c=1&d=%20#e",
    doi="10.1000/a_b%2",
    language="en",
)


def test_bibtex_is_read_back_by_its_library() -> None:
    written = render_bibtex([NASTY])
    library = parse_string(written, append_middleware=[LatexDecodingMiddleware()])
    assert library.failed_blocks == []
    (entry,) = library.entries
    assert (entry.entry_type, entry.key) == ("article", "müller_2019-x-")
    fields = {name: field.value for name, field in entry.fields_dict.items()}
    assert fields["title"] == NASTY.title
    assert fields["publisher"] == NASTY.publisher
    assert (fields["year"], fields["urldate"]) == ("2019", "2024-01-02")
    library = parse_string(
        written, append_middleware=[LatexDecodingMiddleware(keep_braced_groups=True)]
    )
    names = SplitNameParts().transform(SeparateCoAuthors().transform(library)).entries[0]["author"]
    assert [" ".join([*name.first, *name.von, *name.last]) for name in names] == [
        "Anna Müller", "Ludwig van Beethoven", "欧阳修文", "{Bank of R&D and Roofs}",
    ]  # fmt: skip


def test_bibtex_escapes_what_tex_would_read_and_leaves_addresses_alone() -> None:
    written = render_bibtex([NASTY])
    assert r"50 {\%} of R{\&}D: {\$}x{\_}1{\$} {\&} {\#}3 {\textbackslash}" in written
    assert "{COVID-19}" in written
    assert "doi = {10.1000/a_b%2}" in written
    assert "url = {https://example.org/a_b?c=1&d=%20#e}" in written


def test_braces_of_a_title_do_not_open_or_close_the_entry() -> None:
    written = render_bibtex([replace(NASTY, title="On } and {", url="https://example.org/{a}")])
    assert r"title = {On {\textbraceright} and {\textbraceleft}}" in written
    assert written.count("{") == written.count("}")


def test_ris_is_read_back_by_its_library() -> None:
    (entry,) = rispy.loads(render_ris([NASTY]))
    assert entry["type_of_reference"] == "JOUR"
    assert entry["title"] == NASTY.title
    assert entry["authors"] == [
        "Müller, Anna", "van Beethoven, Ludwig", "欧阳修文", "Bank of R&D and Roofs",
    ]  # fmt: skip
    assert (entry["year"], entry["date"]) == ("2019", "2019/03/07/")
    assert (entry["doi"], entry["urls"]) == (NASTY.doi, [NASTY.url])


def test_csl_names_have_their_parts() -> None:
    (item,) = json.loads(render_csl([NASTY]))
    assert item["author"] == [
        {"family": "Müller", "given": "Anna"},
        {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"},
        {"family": "欧阳", "given": "修文"},
        {"literal": "Bank of R&D and Roofs"},
    ]
    assert item["issued"] == {"date-parts": [[2019, 3, 7]]}
    assert (item["type"], item["DOI"], item["id"]) == ("article-journal", NASTY.doi, NASTY.key)


@pytest.mark.parametrize(
    ("text", "parts"),
    [("2019-03-07", (2019, 3, 7)), ("2019-03", (2019, 3)), ("2019", (2019,)), ("2019-13", (2019,)),
     ("March", ()), ("", ())],
)  # fmt: skip
def test_date_is_read_as_far_as_it_goes(text: str, parts: tuple[int, ...]) -> None:
    assert read_date(text) == parts


def test_sources_of_the_latest_pack_are_written_in_four_formats_and_logged(own: Workspace) -> None:
    ask(own, "Why are white roofs cool?")
    latest = ask(own, TEXT)
    done = export_used_sources(own)
    assert done.used_by == latest.json.stem
    assert [one.doc_uid for one in done.references] == list(latest.pack.doc_uids)
    assert sorted(path.name for path in done.files.values()) == [
        "used_sources_v001.bib", "used_sources_v001.json", "used_sources_v001.md",
        "used_sources_v001.ris",
    ]  # fmt: skip
    markdown = done.files[".md"].read_text("utf-8")
    assert "Müller, Anna; 欧阳修文 (2019). *Cool roofs in warm cities*." in markdown
    assert "https://doi.org/10.1000/roofs_1%2" in markdown
    assert "Sources used (doc_uid list): " in markdown
    assert "not found in the document: author, year, DOI or URL" in markdown
    log = (own.meta / "version_log.jsonl").read_text("utf-8").splitlines()
    assert json.loads(log[-1])["file"] == "outputs/used_sources_v001.md"


def test_same_sources_are_written_once_and_others_never_over_them(own: Workspace) -> None:
    first = ask(own, TEXT)
    done = export_used_sources(own, first.markdown)
    text = done.files[".bib"].read_text("utf-8")
    again = export_used_sources(own, first.markdown)
    assert not again.is_new
    assert again.files == done.files
    set_metadata(own.namespace("thesis"), "roofs", "title", "Roofs {in} cities", "misprint")
    build(own.namespace("thesis"))
    other = export_used_sources(own, first.markdown)
    assert other.files[".bib"].name == "used_sources_v002.bib"
    assert done.files[".bib"].read_text("utf-8") == text
    assert "Roofs" in other.files[".bib"].read_text("utf-8")
    assert "*Roofs {in} cities*" in other.files[".md"].read_text("utf-8")


def test_document_that_is_gone_is_named_by_what_the_pack_knew(own: Workspace) -> None:
    outcome = ask(own, Question(question="cooling in the street", filters=("doc_uid=roofs",)))
    (own.root / "raw/evidence/roofs.pdf").unlink()
    (own.root / "raw/evidence/roofs.pdf.meta.yaml").unlink()
    build(own.namespace("thesis"))
    done = export_used_sources(own, outcome.json)
    assert done.references[0].title == "Cool roofs in warm cities"
    assert "not published in 'thesis' any more" in done.notes[0]


def audit(own: Workspace, *rows: dict[str, object]) -> Path:
    path = own.outputs / "audits" / "draft_citations_v001.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"schema": "rag-assets/citation-audit/3", "rows": rows}), "utf-8")
    return path


def test_what_only_the_list_of_sources_of_a_draft_cites_is_used(own: Workspace) -> None:
    listed = [{"line": 3, "namespace": "thesis", "doc_uid": "roofs", "title": None}]
    path = audit(own)
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "listed": listed}), "utf-8")
    assert [one.doc_uid for one in export_used_sources(own, path).references] == ["roofs"]


def test_audit_names_the_sources_that_its_sentences_cite(own: Workspace) -> None:
    path = audit(
        own,
        {"status": "OK", "namespace": "thesis", "doc_uid": "roofs", "locator": "p. 1"},
        {
            "status": "WEAK",
            "namespace": "thesis",
            "doc_uid": "roofs",
            "locator": "p. 2",
            "counterevidence": [{"namespace": "thesis", "doc_uid": "asked"}],
        },
        {"status": "ERROR", "namespace": "thesis", "doc_uid": "rofs", "locator": None},
    )
    (one,) = export_used_sources(own, path).references
    assert (one.doc_uid, one.key, one.where) == ("roofs", "mueller2019", ("p. 1", "p. 2"))


def test_source_that_nothing_knows_is_refused(own: Workspace) -> None:
    path = audit(own, {"status": "OK", "namespace": "thesis", "doc_uid": "nobody"})
    with pytest.raises(UsageError, match="'nobody', which no current publication holds"):
        export_used_sources(own, path)


def test_without_a_pack_the_command_that_makes_one_is_named(own: Workspace) -> None:
    shutil.rmtree(own.outputs, ignore_errors=True)
    with pytest.raises(UsageError, match="rag query"):
        export_used_sources(own)


def test_command_writes_one_format_where_one_is_asked_for(own: Workspace) -> None:
    ask(own, TEXT)
    arguments = ["--workspace", str(own.root), "export-used-sources", "--format", "bibtex"]
    done = CliRunner().invoke(build_cli(), arguments)
    assert done.exit_code == 0, done.output
    assert [path.name for path in own.outputs.glob("used_sources*")] == ["used_sources_v001.bib"]
    assert "not found: author, year" in done.output


def row(**given: object) -> dict[str, object]:
    names = ("citation_key", "title", "publisher", "url", "doi", "published_date", "accessed_at")
    empty = dict.fromkeys((*names, "language", "year", "authors"))
    return (
        empty
        | {"namespace": "law", "doc_uid": "civil", "cite_as": "civil", "title": "民法典"}
        | given
    )


@pytest.mark.parametrize(
    ("title", "where", "kind"),
    [
        ("劳动合同法", ("第三十九条, characters 4–9",), "statute"),
        ("中华人民共和国劳动合同法", ("characters 4–9",), "statute"),
        ("General Data Protection Regulation", ("Article 17, p. 3",), "statute"),
        ("Clean Air Act 1993", ("p. 1",), "statute"),
        ("求特征值的数值算法", ("p. 1",), "document"),
        ("On roofs", ("Article 3, characters 4–9",), "document"),
    ],
)
def test_statute_is_known_by_its_articles_or_its_title(
    title: str, where: tuple[str, ...], kind: str
) -> None:
    assert make_reference(row(title=title), where).kind == kind


def test_statute_is_exported_as_one_and_wants_no_author() -> None:
    one = make_reference(row(title="民法典", year=2020, language="zh", url="https://a.org/x"), ())
    assert (one.kind, one.missing) == ("statute", ())
    assert json.loads(render_csl([one]))[0]["type"] == "legislation"
    assert render_ris([one]).startswith("TY  - STAT")
    assert "@misc" in render_bibtex([one])
    assert "howpublished = {法律法规}" in render_bibtex([one])


def test_places_of_a_source_are_sorted() -> None:
    pages = make_reference(row(), ("p. 12", "Methods, p. 3", "pp. 3–4", "p. 1"))
    assert pages.where == ("p. 1", "Methods, p. 3", "pp. 3–4", "p. 12")
    printed = make_reference(
        row(), ("p. 2 (sheet 30)", "p. xii (sheet 9)", "pp. 9–10 (sheets 37–38)")
    )
    assert printed.where == ("p. xii (sheet 9)", "p. 2 (sheet 30)", "pp. 9–10 (sheets 37–38)")
    places = make_reference(row(), ("B, characters 120–130", "A, characters 20–30"))
    assert places.where == ("A, characters 20–30", "B, characters 120–130")


def test_documents_of_one_citation_key_are_told_apart_and_named() -> None:
    shared = [
        replace(NASTY, key=key, doc_uid=uid)
        for key, uid in (("lee2020", "one"), ("Lee2020", "two"), ("lee2020a", "three"))
    ]
    references, (note,) = with_distinct_keys(shared)
    assert [one.key for one in references] == ["lee2020b", "lee2020c", "lee2020a"]
    assert "citation key of 2 documents" in note
    assert "`thesis:two` is `lee2020c`" in note
    assert with_distinct_keys(shared[1:])[1] == ()
    spaces = [replace(NASTY, key="a", doc_uid="a", namespace=name) for name in ("x", "y")]
    references, notes = with_distinct_keys(spaces)
    assert ([one.key for one in references], notes) == (["x-a", "y-a"], ())


def test_shared_citation_key_is_said_in_the_exported_list(own: Workspace) -> None:
    set_metadata(own.namespace("thesis"), "asked", "citation_key", "mueller2019", "a slip")
    build(own.namespace("thesis"))
    ask(own, TEXT)
    done = export_used_sources(own)
    assert {"mueller2019a", "mueller2019b"} <= {one.key for one in done.references}
    assert "WARN: `mueller2019` is the citation key of 2" in done.files[".md"].read_text("utf-8")


HOSTILE = st.text('@{}%\\"#\n\r\u2028\x85\x1b[]0;m\x07abTYER -=,~&_$*`<>|é好', max_size=40)


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
@example("a\nER  - \n\nTY  - JOUR", "b\nTY  - JOUR", "@book{x,", "javascript:1\nER  - ")
def test_any_values_make_one_record_in_every_format(
    key: str, title: str, author: str, url: str
) -> None:
    values = row(citation_key=key, title=title, authors=[author], url=url, publisher=title)
    reference = make_reference(values, ("p. 1",))
    (record,) = rispy.loads(render_ris([reference]))
    assert record["id"] == reference.key
    parsed = parse_string(render_bibtex([reference]))
    assert (len(parsed.entries), parsed.failed_blocks) == (1, [])
    (csl,) = json.loads(render_csl([reference]))
    assert csl["id"] == reference.key
    page = render_markdown([reference], "pack", [title])
    assert kinds(READER.parse(page)) <= {
        "heading", "paragraph", "bullet_list", "ordered_list", "list_item", "code_inline", "em",
        "softbreak", "text", "text_special",
    }  # fmt: skip


def test_the_day_on_which_a_source_was_looked_at_stands_in_the_list() -> None:
    reference = make_reference(row(accessed_at="2026-03-01"), ())
    assert "   - looked at on 2026-03-01\n" in render_markdown([reference], "pack", ())
    unseen = make_reference(row(accessed_at=None), ())
    assert "looked at" not in render_markdown([unseen], "pack", ())


DRAFT = """Sedum roofs are cooler {#roofs, p. 1}. Streets with trees are cool {#树木}.

Nobody says so {#rofs}.

# References

- How to ask {#asked}
"""


def export_draft(own: Workspace, text: str) -> Result:
    draft = own.drafts / "chapter.md"
    draft.write_text(text, encoding="utf-8")
    arguments = ["--workspace", str(own.root), "export-used-sources", str(draft)]
    return CliRunner().invoke(build_cli(), arguments)


def test_sources_of_a_draft_are_those_that_it_cites_and_lists(own: Workspace) -> None:
    ran = export_draft(own, DRAFT)
    assert ran.exit_code == 0, ran.output
    assert "3 sources of chapter.md:" in ran.stdout
    assert "WARN: chapter.md, line 3: There is no document `rofs`" in ran.stderr
    csl = json.loads((own.outputs / "used_sources_v001.json").read_text("utf-8"))
    assert [one["id"] for one in csl] == ["mueller2019", "树木", "asked"]
    markdown = (own.outputs / "used_sources_v001.md").read_text("utf-8")
    assert "p. 1" in markdown
    assert "There is no document `rofs`" in markdown
    assert not list(own.outputs.glob("audits/*")), "nothing was judged for it"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nothing is cited.\n", "It cites nothing: write {#doc_uid} behind a sentence."),
        ("Nobody says so {#rofs}.\n", "chapter.md, line 1: There is no document `rofs`"),
    ],
)
def test_a_draft_without_sources_says_why(own: Workspace, text: str, said: str) -> None:
    ran = export_draft(own, text)
    assert ran.exit_code == 3, ran.output
    assert said in ran.output
    assert not list(own.outputs.glob("used_sources*"))


def test_an_audit_of_the_draft_is_named_by_any_of_its_files(own: Workspace) -> None:
    from rag_assets.auditing import audit_citations

    draft = own.drafts / "chapter.md"
    draft.write_text("Sedum roofs are cooler {#roofs}.\n", encoding="utf-8")
    audit = audit_citations(own, draft)
    assert export_used_sources(own, audit.markdown).used_by == "chapter_citations_v001"


def test_what_is_no_file_is_told_with_what_could_be_named(own: Workspace) -> None:
    with pytest.raises(UsageError, match=r"there is no such file\. Name a draft"):
        export_used_sources(own, own.drafts / "chaptr.md")


def test_journal_volume_and_pages_are_in_every_format() -> None:
    place = {"journal": "Journal of the ACM", "volume": "44", "issue": "4", "page_range": "585-591"}
    one = make_reference(row(title="Cuts", citation_key="stoer1997", year=1997, **place), ())
    assert one.kind == "article"
    told = render_bibtex([one])
    assert told.startswith("@article{stoer1997")
    for field in ("journal = {Journal of the {ACM}}", "volume = {44}", "number = {4}",
                  "pages = {585--591}"):  # fmt: skip
        assert field in told
    (csl,) = json.loads(render_csl([one]))
    assert (csl["container-title"], csl["volume"], csl["page"]) == (
        "Journal of the ACM", "44", "585-591",
    )  # fmt: skip
    assert {"JO  - Journal of the ACM", "VL  - 44", "IS  - 4", "SP  - 585", "EP  - 591"} <= set(
        render_ris([one]).splitlines()
    )
    assert "Journal of the ACM 44(4), 585–591." in render_markdown([one], "x", ())


def test_paper_of_a_conference_is_one_and_a_preprint_without_journal_stays_one() -> None:
    given = {"journal": "Proceedings of NAACL-HLT 2013", "page_range": "211-220"}
    one = make_reference(row(title="Retelling", **given), ())
    assert one.kind == "conference"
    assert "booktitle = {Proceedings of {NAACL-HLT} 2013}" in render_bibtex([one])
    assert json.loads(render_csl([one]))[0]["type"] == "paper-conference"
    assert "T2  - Proceedings of NAACL-HLT 2013" in render_ris([one])
    assert make_reference(row(doi="10.48550/arxiv.1706.03762"), ()).kind == "preprint"
