"""The laboratory: runs with their recipes, what experiments gave, what was learned of them."""

# Its modules, one a subject; others import them by name.
PUBLIC_MODULES = (
    "chemistry",
    "collecting",
    "differences",
    "engine",
    "experience",
    "feedback",
    "importing",
    "laboratory",
    "products",
    "prompts",
    "queue",
    "recall",
    "recipes",
    "runs",
    "showing",
    "store",
    "teaching",
    "tools",
    "trace",
    "weighing",
    "worlds",
)
