"""The repository does not grow: what rises needs a reason in the message of its commit."""

import pytest

from benchmarks.code_size import count_code, measure

LIMITS = {
    "code lines": 81_400,
    "modules": 422,
    "functions": 6_670,
    "packages": 22,
    "lines of tests": 75_200,
    "code lines of benchmarks": 8_000,
    "words of docs": 35_000,
}
# A limit follows what has become smaller: it may be so much above it.
_SLACK = 1.03


def test_nothing_has_grown_and_limits_follow_what_shrinks() -> None:
    found = measure()
    assert found.keys() == LIMITS.keys()
    grown = {name: count for name, count in found.items() if count > LIMITS[name]}
    assert not grown, f"larger than {LIMITS}: remove something, or raise the limit with a reason"
    loose = {name: count for name, count in found.items() if count * _SLACK < LIMITS[name]}
    assert not loose, "smaller than the limits say: lower them"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("", 0),
        ('"""Doc."""\nimport os\nfrom a import (\n    b,\n)\n\n# why\nx = 1\n', 1),
        ('def f():\n    """Doc\n    more."""\n    return """a\n    b"""\n', 3),
    ],
)
def test_code_is_what_is_not_blank_comment_docstring_or_import(source: str, lines: int) -> None:
    assert count_code(source)[0] == lines
