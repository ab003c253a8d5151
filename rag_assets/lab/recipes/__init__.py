"""Recipes: what a proposal must hold, and how it is shown."""

from rag_assets.lab.recipes.carboxyl import Carboxyl, disagreement, find_carboxyl, has_rdkit
from rag_assets.lab.recipes.checking import (
    FIELDS,
    FIXED_RULES,
    ProposedGround,
    ProposedModifier,
    ProposedRecipe,
    check_recipe,
    show_rules,
)
from rag_assets.lab.recipes.chemistry import chemistry
from rag_assets.lab.recipes.rendering import (
    LAYOUT_VERSION,
    OWN_WORDS,
    Quoted,
    formula,
    render_recipe,
)

__all__ = [
    "FIELDS",
    "FIXED_RULES",
    "LAYOUT_VERSION",
    "OWN_WORDS",
    "Carboxyl",
    "ProposedGround",
    "ProposedModifier",
    "ProposedRecipe",
    "Quoted",
    "check_recipe",
    "chemistry",
    "disagreement",
    "find_carboxyl",
    "formula",
    "has_rdkit",
    "render_recipe",
    "show_rules",
]
