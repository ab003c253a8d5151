"""What calls to services on other machines share: keys, retries, errors."""

from rag_assets.services.calling import (
    PassingError,
    RefusedContentError,
    call_with_retries,
    public_url,
    raise_for_status,
    shorten,
)
from rag_assets.services.google import LOCATION_VARIABLE, GoogleAccess, find_value, google_access
from rag_assets.services.keys import hide, key_advice, missing_extra, require_key

__all__ = [
    "LOCATION_VARIABLE",
    "GoogleAccess",
    "PassingError",
    "RefusedContentError",
    "call_with_retries",
    "find_value",
    "google_access",
    "hide",
    "key_advice",
    "missing_extra",
    "public_url",
    "raise_for_status",
    "require_key",
    "shorten",
]
