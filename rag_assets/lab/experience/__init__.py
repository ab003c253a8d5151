"""What was learned: items that are searched, joined, edited and taken back."""

from rag_assets.lab.experience.editing import add_note, archive_item, edit_item, restore_item
from rag_assets.lab.experience.extracting import Extracted, Teaching, extract_lessons
from rag_assets.lab.experience.items import KINDS, ROLES, Item, Lesson, fold_item
from rag_assets.lab.experience.learning import teach
from rag_assets.lab.experience.nearness import Nearness
from rag_assets.lab.experience.recalling import Recalled, recall
from rag_assets.lab.experience.stored import (
    CITATION,
    EXTRACTIONS,
    ITEMS,
    Delta,
    Extraction,
    delta_of,
    edit_log,
    experience_digest,
    find_item,
    list_extractions,
    list_items,
    living_extraction,
)
from rag_assets.lab.experience.templates import (
    DEFAULT_TEMPLATE,
    TEMPLATES,
    Template,
    list_templates,
    read_template,
    save_template,
)

__all__ = [
    "CITATION",
    "DEFAULT_TEMPLATE",
    "EXTRACTIONS",
    "ITEMS",
    "KINDS",
    "ROLES",
    "TEMPLATES",
    "Delta",
    "Extracted",
    "Extraction",
    "Item",
    "Lesson",
    "Nearness",
    "Recalled",
    "Teaching",
    "Template",
    "add_note",
    "archive_item",
    "delta_of",
    "edit_item",
    "edit_log",
    "experience_digest",
    "extract_lessons",
    "find_item",
    "fold_item",
    "list_extractions",
    "list_items",
    "list_templates",
    "living_extraction",
    "read_template",
    "recall",
    "restore_item",
    "save_template",
    "teach",
]
