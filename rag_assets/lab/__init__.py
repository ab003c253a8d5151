"""The laboratory: runs with their recipes, what experiments gave, what was learned of them."""

# Its modules, one a subject; others import them by name.
PUBLIC_MODULES = (
    "acids",
    "chemistry",
    "collecting",
    "differences",
    "engine",
    "evidence",
    "experience",
    "feedback",
    "importing",
    "laboratory",
    "opinion",
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
