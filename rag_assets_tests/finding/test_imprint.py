"""What a publisher prints about a work is no evidence; what a work says of such things is."""

import pytest

from rag_assets.evidence.quoting import first_span
from rag_assets.retrieval.finding import is_imprint, read_sentences
from rag_assets_tests.finding.test_sentences import Passage

IMPRINTS = [
    # Licences and copyright, also where other words come first.
    "This work is licensed under a Creative Commons Attribution 4.0 International License.",
    (
        "Attribution License 4.0, which permits unrestricted use, distribution, and reproduction "
        "in any medium, provided the original work is properly cited."
    ),
    "978-1-2345-6789-7/10 $26.00 © 2010 IEEE",
    "pages 9–16, Hill, June 2005. c⃝2005 Association for Computing",
    "Copyright 2011 by the author(s)/owner(s).",
    "This paper is freely available online under the journal's unlocked scheme, see http://x.org/u.",
    "To view a copy of this license, visit http://creativecommons.org/licenses/by/4.0/",
    "See rights and permissions.",
    "Re-use permitted under CC BY-NC.",
    # Addresses.
    "BMJ Open 2021;11:e044190. doi:10.1136/ bmjopen-2020-044190",
    "MINI REVIEW published: 25 February 2020 doi: 10.3389/fchem.2020.00125",
    "DOI 10.1109/DSDE.2010.49",
    "www.nature.com/scientificreports",
    "1https://github.com/redpony/cdec",
    "{fay,jeff,sanjay}@example.com",
    "Prof Dr Anna Muster; anna.muster@uk-example.de",
    (
        "Department of Towns, University of Hill, Hill, and the Institute of Roofs and Streets of "
        "the same place (anna|ben)@hill.example.org"
    ),
    # Dates, publishers, how to cite.
    "Received 25 July 2008",
    "accepted: 21 February 2017",
    "(Received February 28, 2020; Revised March 28, 2020; Accepted —)",
    "Published by Wolters Kluwer Health, Inc.",
    "Preprint submitted to Elsevier September 3, 2016",
    "Under review by the International Conference on Machine Learning (ICML).",
    "Submitted to 31st Conference on Neural Information Processing Systems (NIPS 2017).",
    "Proceedings of the 52nd Annual Meeting of the Association for Computing, pages 624–633,",
    "How to cite this article: Li X, Du G. Music improves the status of patients.",
    "Edited by:",
    "Correspondence to",
    "收稿日期：2017-03-16；定稿日期：2017-04-13",
    "通讯作者：李华，教授。",
]
STATEMENTS = [
    "The author of a work holds the copyright in it for seventy years.",
    "A licence is required for every stall that sells food in the street.",
    "This dataset is available at http://clic.example.org/composes.",
    "Wages rose in all the towns that were looked at (see www.example.org for the tables).",
    (
        "The trial was registered before it began, under the number DOI 10.17605/OSF.IO/QHW86, and "
        "no change was made to its outcomes after that."
    ),
    "The papers were published in 2010 and received little attention.",
    "More than 14 million abstracts are available online.",
    "In the proceedings of the court nothing was said of rents.",
    "We accepted 21 patients in February 2017.",
    "The corresponding threshold is 0.9.",
    "著作权人可以许可他人使用其作品。",
]


@pytest.mark.parametrize("line", IMPRINTS)
def test_a_publishers_line_is_never_evidence(line: str) -> None:
    assert is_imprint(line)
    passage = Passage(f"{line}\n\nWages rose.", 0)
    assert [sentence.text for sentence in read_sentences([passage])] == ["Wages rose."]


@pytest.mark.parametrize("line", STATEMENTS)
def test_a_sentence_of_the_work_stays(line: str) -> None:
    assert not is_imprint(line)


def test_a_passage_of_a_publishers_lines_has_nothing_to_quote() -> None:
    assert first_span("© 2020 The Authors\n\nReceived 25 July 2008") is None
    text = "Received 25 July 2008\n\n3 Wages"
    assert first_span(text) == (23, 30)
