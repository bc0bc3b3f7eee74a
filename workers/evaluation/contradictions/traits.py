"""Colours and materials, of which a thing has one: what is red is not green."""

Trait = tuple[int, int]
"""Class and side of a word."""

_ROWS = (
    "red | green | blue | yellow | orange | purple violet | pink | brown | black | white | grey gray",
    "concrete | earthen earth-filled | brick bricks | granite | marble | slate | sandstone | limestone | wood wooden timber"
    " | steel | aluminium aluminum | copper | bronze | brass | plastic | leather | cotton | wool woollen woolen | silk | linen"
    " | polyester | cardboard | clay | thatch thatched",
)
TRAITS: dict[str, Trait] = {
    word: (row, side)
    for row, text in enumerate(_ROWS)
    for side, words in enumerate(text.split("|"))
    for word in words.split()
}
"""By word its class and its side there; two sides of a class exclude each other for one thing."""


def exclude(one: str, two: str) -> bool:
    """Return true if two words are different colours, or different materials."""
    mine, theirs = TRAITS.get(one), TRAITS.get(two)
    return mine is not None and theirs is not None and mine[0] == theirs[0] and mine != theirs
