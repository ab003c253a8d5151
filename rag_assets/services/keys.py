"""Keys of services, and the words for one that is missing."""

from pydantic import SecretStr

from rag_assets.model import ConfigurationError, hide_credentials
from rag_assets.workspace import find_secret


def require_key(variable: str, what: str) -> SecretStr:
    """Return the key of that variable's name, from the environment or the workspace's `.env`.

    Args:
        what: what needs it, for the error: "embedding by text-embedding-3-small".

    Raises:
        ConfigurationError: it is not set; the text says where to write it.
    """
    key = find_secret(variable)
    if key is None:
        raise ConfigurationError(f"{what} needs a key. {key_advice(variable)}")
    return key


def key_advice(variable: str) -> str:
    """Return the sentence that says where a key is to be written."""
    return (
        f"Write {variable}=… into the workspace's .env (or set it in the environment), then run "
        "the command again."
    )


def hide(text: str, key: SecretStr | None) -> str:
    """Return `text` without the key and what is secret in addresses; errors repeat both."""
    return hide_credentials(text.replace(key.get_secret_value(), "…") if key else text)


def missing_extra(extra: str, what: str) -> ConfigurationError:
    """Return the error for an optional package that is not installed."""
    return ConfigurationError(f"{what} is an extra: run `pip install 'rag-assets[{extra}]'`.")
