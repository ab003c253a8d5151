"""What calls to services on other machines share: keys, retries, errors."""

from rag_assets.services.calling import (
    PassingError,
    RefusedContentError,
    call_with_retries,
    public_url,
    raise_for_status,
    shorten,
)
from rag_assets.services.downloading import (
    Downloaded,
    DownloadError,
    Known,
    Limits,
    PrivateAddressError,
    TooLargeError,
    TooSlowError,
    download,
    download_into,
)
from rag_assets.services.google import LOCATION_VARIABLE, GoogleAccess, find_value, google_access
from rag_assets.services.keys import hide, key_advice, missing_extra, require_key

__all__ = [
    "LOCATION_VARIABLE",
    "DownloadError",
    "Downloaded",
    "GoogleAccess",
    "Known",
    "Limits",
    "PassingError",
    "PrivateAddressError",
    "RefusedContentError",
    "TooLargeError",
    "TooSlowError",
    "call_with_retries",
    "download",
    "download_into",
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
