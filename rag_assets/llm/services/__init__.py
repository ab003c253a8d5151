"""What calls to services on other machines share: keys, retries, errors."""

from rag_assets.llm.services.calling import (
    LOCATION_VARIABLE,
    GoogleAccess,
    PassingError,
    RefusedContentError,
    call_with_retries,
    find_value,
    google_access,
    hide,
    key_advice,
    missing_extra,
    public_url,
    raise_for_status,
    require_key,
    shorten,
)
from rag_assets.llm.services.downloading import (
    Downloaded,
    DownloadError,
    Limits,
    PrivateAddressError,
    TooLargeError,
    TooSlowError,
    download,
    download_into,
)
