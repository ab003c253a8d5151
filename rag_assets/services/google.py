"""Access to Google Cloud: application default credentials, and the project."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.model import ConfigurationError
from rag_assets.services.keys import missing_extra
from rag_assets.workspace import find_secret

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

# Where Google's own clients look, in this order of ours: settings, environment, `.env`.
CREDENTIALS_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
PROJECT_VARIABLE = "GOOGLE_CLOUD_PROJECT"
LOCATION_VARIABLE = "GOOGLE_CLOUD_LOCATION"
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


@dataclass(frozen=True)
class GoogleAccess:
    """Who asks, and for which project."""

    credentials: "Credentials"
    project: str


def google_access(project: str | None, what: str) -> GoogleAccess:
    """Return credentials and project, from settings, environment, `.env` or Google's own files.

    Args:
        project: from the settings; None looks for GOOGLE_CLOUD_PROJECT, then in the credentials.
        what: what needs them, for the error.

    Raises:
        ConfigurationError: the extra is not installed, or there are no credentials or no project;
            the text says what to do.
    """
    try:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError
    except ImportError as error:
        raise missing_extra("vertex", what) from error
    file = find_secret(CREDENTIALS_VARIABLE)
    try:
        if file is not None:
            load: Any = google.auth.load_credentials_from_file  # untyped
            credentials, owner = load(file.get_secret_value(), scopes=list(_SCOPES))
        else:
            credentials, owner = google.auth.default(scopes=list(_SCOPES))
    except DefaultCredentialsError as error:
        raise ConfigurationError(
            f"{what} needs Google credentials ({error}). Run `gcloud auth application-default "
            f"login`, or write {CREDENTIALS_VARIABLE}=<file of a service account> into the "
            "workspace's .env."
        ) from error
    chosen = project or find_value(PROJECT_VARIABLE) or owner
    if not chosen:
        raise ConfigurationError(
            f"{what} needs the name of a Google Cloud project: set `project`, or write "
            f"{PROJECT_VARIABLE}=… into the workspace's .env."
        )
    return GoogleAccess(credentials, chosen)


def find_value(variable: str) -> str | None:
    """Return a variable that is no secret, from the environment or the workspace's `.env`."""
    found = find_secret(variable)
    return found.get_secret_value() if found else None
