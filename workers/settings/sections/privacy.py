"""Define the settings of masking."""

from pydantic import (
    Field,
    SecretStr,
    model_validator,
)

from workers.masking.personal_data import MaskRules

MIN_KEY = 16
"""Minimum length of the key of masks, characters: a shorter key can be found by trying all keys."""


class PrivacySettings(MaskRules):
    """Configure the masking of personal data and secrets before they are stored, shown or exported; off while ``mask`` is empty."""

    key: SecretStr | None = Field(
        default=None, description="Key of the digests in masks; after a change, equal values get different masks."
    )
    tenants: dict[str, MaskRules] = Field(
        default_factory=dict, description="Rules of single tenants as JSON, which replace the rules for all tenants."
    )

    @model_validator(mode="after")
    def _has_a_key(self) -> "PrivacySettings":
        if self.is_on and len(self.key.get_secret_value() if self.key else "") < MIN_KEY:
            raise ValueError(
                f"masking needs a key of at least {MIN_KEY} characters; set TOUCHSTONE_PRIVACY__KEY, or "
                "TOUCHSTONE_PRIVACY__KEY_FILE to a file that contains it"
            )
        return self

    @property
    def is_on(self) -> bool:
        """Return true if any data of any tenant is masked."""
        return any(rules.detectors for rules in (self, *self.tenants.values()))

    def rules_of(self, tenant: str) -> MaskRules:
        """Return the masking rules of a tenant."""
        return self.tenants.get(tenant, self)
