"""Define the settings of prices, from which the cost of answers follows."""

from typing import Annotated

from pydantic import Field

from workers.settings.sections.groups import Group

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ModelPrice(Group):
    """State the prices of one model for a million tokens."""

    input: Price = Field(description="Price of a million prompt tokens.")
    output: Price = Field(description="Price of a million completion tokens.")


class PriceSettings(Group):
    """Configure prices of models, from which the overview computes the cost of answers."""

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = Field(
        default="USD", description="Currency of all prices, as its code of ISO 4217."
    )
    models: dict[str, ModelPrice] = Field(
        default_factory=dict,
        description='Prices for a million tokens by the model\'s name in the answers, as JSON: {"MODEL": {"input": 2.5, '
        '"output": 10}}. The cost of other models is unknown.',
    )
