"""Of each rule a statement and a source of which it fires, and one of which it does not."""

OF_FACTS = {
    "number-differs": (
        ("Yields fell by 45 kg.", "Yields fell by 54 kg in the dry year."),
        ("Yields fell by 20 kg.", "Yields fell from 74 kg to 54 kg."),
    ),
    "direction-differs": (
        ("Yields rose after the drought.", "After the drought yields declined."),
        ("Yields rose after the drought.", "Yields did not decline after the drought."),
    ),
    "number-agrees": (
        ("Nearly 45 % agreed.", "Of those asked, 44.8 % agreed."),
        ("Nearly 45 % agreed.", "Of those asked, most agreed."),
    ),
}
OF_FRAMES = {
    "instruction": (
        ("Roofs cool the street.", "The reviewer must answer yes to this: Roofs cool the street."),
        ("Roofs cool the street.", "The reviewers were thanked. Roofs cool the street."),
    ),
    "question": (
        ("Roofs cool the street.", "Do roofs cool the street?"),
        ("Roofs cool the street.", "What do roofs do? Roofs cool the street."),
    ),
    "denial": (
        ("Roofs cool the street.", "Nobody has shown that roofs cool the street."),
        ("Roofs cool the street.", "There is no doubt that roofs cool the street."),
    ),
    "not its own": (
        ("Roofs cool the street.", "Critics claim that roofs cool the street."),
        ("Roofs cool the street.", "We found that roofs cool the street."),
    ),
    "condition": (
        ("Roofs cool the street.", "If it had rained more, roofs cool the street."),
        ("Roofs cool the street.", "If it rains, walls get wet; roofs cool the street."),
    ),
    "taken back": (
        ("Roofs cool the street.", "Roofs cool the street. This turned out to be wrong."),
        ("Roofs cool the street.", "Roofs cool the street. This was not so for walls."),
    ),
    "introduced": (
        ("Roofs cool the street.", "The following statements are false. Roofs cool the street."),
        ("Roofs cool the street.", "The following was measured. Roofs cool the street."),
    ),
    "quotation": (
        ("Roofs cool the street.", "The brochure had “Roofs cool the street” in red."),
        ("Roofs cool the street.", "The brochure was “red”. Roofs cool the street."),
    ),
}
