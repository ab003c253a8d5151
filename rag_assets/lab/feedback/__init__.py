"""What experiments gave: values, fractions, and how a run compares with others."""

from rag_assets.lab.feedback.comparing import NOTES, Comparison, Entry, Figures, compare
from rag_assets.lab.feedback.giving import (
    FEEDBACK,
    Feedback,
    FeedbackForm,
    check_form,
    delete_feedback,
    find_feedback,
    is_unchanged,
    list_feedback,
    require_feedback,
    write_feedback,
)
from rag_assets.lab.feedback.measuring import Measured, fractions, measure, signature
from rag_assets.lab.feedback.reporting import (
    REPORTS,
    Report,
    Strategy,
    find_report,
    make_comparison,
    outdated_parts,
    write_report,
)

__all__ = [
    "FEEDBACK",
    "NOTES",
    "REPORTS",
    "Comparison",
    "Entry",
    "Feedback",
    "FeedbackForm",
    "Figures",
    "Measured",
    "Report",
    "Strategy",
    "check_form",
    "compare",
    "delete_feedback",
    "find_feedback",
    "find_report",
    "fractions",
    "is_unchanged",
    "list_feedback",
    "make_comparison",
    "measure",
    "outdated_parts",
    "require_feedback",
    "signature",
    "write_feedback",
    "write_report",
]
