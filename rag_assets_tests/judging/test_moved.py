"""What a claim takes over and attaches to something else."""

import pytest

from rag_assets.judging.comparing import compare
from rag_assets.judging.moved import find_moved

PAIN = "Patients who took the drug reported less pain but more nausea than the others."
ROOFS = "Of all households 38 per cent had insulated their roof, most of them after 2015."
IMAGES = "They trained it on 12,000 images and reached an accuracy of 91.3 % on the held-out set."


@pytest.mark.parametrize(
    ("claim", "sentence", "kind"),
    [
        ("Patients who took the drug reported less nausea than the others.", PAIN, "direction"),
        ("Most households had insulated their roof.", ROOFS, "words"),
        ("They trained it on 91.3 % of the images.", IMAGES, "number"),
        ("The questionnaire was answered by 480 teachers.",
         "The questionnaire was answered by 312 of 480 teachers.", "number"),
    ],
)  # fmt: skip
def test_what_the_source_has_of_something_else_is_told(
    claim: str, sentence: str, kind: str
) -> None:
    assert [sign.kind for sign in find_moved(claim, sentence)] == [kind]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The drug brought less pain and more nausea.", PAIN),
        ("Thirty-eight per cent of all households had insulated their roof.", ROOFS),
        ("An accuracy of 91.3 % was reached.", IMAGES),
        ("Most trees survived.", "Most urban trees survived the drought."),
        ("In 2015, prices fell.", "Prices fell, in 2015, by a third."),
        ("Sales fell by half in Norway.", "In Norway, sales fell by half."),
        ("Of 480 teachers, 312 answered.", "It was answered by 312 of 480 teachers."),
    ],
)
def test_what_it_has_of_the_same_is_not(claim: str, sentence: str) -> None:
    assert list(find_moved(claim, sentence)) == []


def test_clauses_may_change_places_with_their_directions() -> None:
    source = "Although the policy lowered emissions in transport, total emissions went on to grow."
    claim = "Total emissions went on to grow although the policy lowered emissions in transport."
    assert all(fact.agreement > 0 for fact in compare(claim, [source]).directions)
    turned = "Although the policy raised emissions in transport, total emissions went on to shrink."
    assert any(fact.agreement < 0 for fact in compare(turned, [source]).directions)
