"""Addresses without what is secret in them: names and passwords, tokens, signatures."""

import re
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

# Names of parameters, in lower case and without `-`, `_` and `.`.
_SECRET = {
    "auth", "authorization", "awsaccesskeyid", "bearer", "cookie", "credential", "credentials",
    "googleaccessid", "jwt", "key", "keypairid", "pass", "passphrase", "passwd", "passwort",
    "password", "psw", "pwd", "pw", "secret", "session", "sessid", "sig", "sign", "signature",
    "token",
}  # fmt: skip
_SECRET_ENDS = (
    "accesskey", "accesskeyid", "apikey", "authkey", "credential", "jwt", "passwd", "password",
    "privatekey", "secret", "secretkey", "sessid", "sessionid", "sessionkey", "signature",
    "subscriptionkey", "token",
)  # fmt: skip
# Where a list goes on: they say which page it is.
_PAGING = frozenset({"pagetoken", "nexttoken", "nextpagetoken", "continuationtoken", "synctoken"})
# Who somebody is goes where his password goes.
_WITH_PASSWORD = frozenset({"user", "username", "login", "account", "email"})
_PASSWORDS = frozenset({"pass", "passwd", "password", "passwort", "psw", "pwd", "pw"})

# Scheme; user and password; host and port; the rest. A password may hold an apostrophe.
_ADDRESS = re.compile(
    r"((?:[a-z][a-z0-9+.\-]*:)?//)([^\s/?#\\\"<>]*@)?([^\s/?#\\\"'<>@]*)([^\s\"'<>]*)",
    re.IGNORECASE,
)
# No host: what follows its colon is no port, but the beginning of a password with a slash in it.
_HALF_PASSWORD = re.compile(r"[^:\[\]]*:\d*[^\d\]].*")
# A path without its host, as HTTP libraries put into their errors.
_PATH = re.compile(r"(?<![^\s\"'(=:])/[^\s\"'<>?]*\?[^\s\"'<>]+")
_PATH_SECRET = re.compile(r";(?:jsessionid|phpsessid|sid|token)=[^/?#;]*", re.IGNORECASE)
# A fragment that is nothing but a key: of no use to a reader, and all to whoever finds it.
_BARE_KEY = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/_=~\-]{20,}")
_DEEPEST = 3


def hide_credentials(text: str) -> str:
    """Return a text or an address without what is secret in its addresses.

    Dropped are user and password before a host, parameters that are secrets by their names
    (`token`, `api_key`, `sig`, `X-Amz-Signature` …; in a query, a fragment, or an address inside
    of a parameter), and a fragment that is a key. Everything else stays as it is written, so an
    address without secrets is the same afterwards; what is malformed raises nothing.
    """
    return _hide(text, 0)


def hide_in(value: Any) -> Any:
    """Return a value of YAML or JSON with `hide_credentials` on every text in it."""
    if isinstance(value, str):
        return hide_credentials(value)
    if isinstance(value, dict):
        return {key: hide_in(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(hide_in(each) for each in value)
    return value


def _hide(text: str, depth: int) -> str:
    if depth == _DEEPEST or not ("//" in text or "?" in text):
        return text
    cleaned = _ADDRESS.sub(lambda found: _clean_address(found, depth), text)
    return _PATH.sub(lambda found: _clean_rest(found[0], depth), cleaned)


def _clean_address(found: re.Match[str], depth: int) -> str:
    scheme, _, host, rest = found.groups()
    if _HALF_PASSWORD.fullmatch(host) and "@" in rest:
        return _hide(scheme + rest.rpartition("@")[2], depth + 1)
    return f"{scheme}{host}{_clean_rest(rest, depth)}"


def _clean_rest(rest: str, depth: int) -> str:
    """Clean path, query and fragment."""
    before, hash_sign, fragment = rest.partition("#")
    path, mark, query = before.partition("?")
    cleaned = _PATH_SECRET.sub("", path)
    if mark:
        kept = _clean_query(query, depth)
        cleaned += f"?{kept}" if kept or not query else ""
    if not hash_sign:
        return cleaned
    route, mark, pairs = fragment.rpartition("?")
    kept = _clean_query(pairs, depth) if "=" in pairs else pairs
    if _BARE_KEY.fullmatch(kept):
        kept = ""
    whole = route + (mark if kept or not pairs else "") + kept
    return cleaned + (f"#{whole}" if whole or not fragment else "")


def _clean_query(query: str, depth: int) -> str:
    parts = re.split("([&;])", query)
    names = {_plain(part) for part in parts[::2]}
    has_password = bool(names & _PASSWORDS)
    kept = ""
    for index in range(0, len(parts), 2):
        name = _plain(parts[index])
        if _is_secret(name) or (has_password and name in _WITH_PASSWORD):
            continue
        kept += (parts[index - 1] if kept else "") + _clean_value(parts[index], depth)
    return kept


def _clean_value(pair: str, depth: int) -> str:
    """Clean an address that is the value of a parameter."""
    name, equals, value = pair.partition("=")
    meant = unquote(value)
    cleaned = _hide(meant, depth + 1)
    return pair if cleaned == meant else f"{name}{equals}{quote(cleaned, safe='')}"


def _plain(pair: str) -> str:
    name = unquote_plus(pair.partition("=")[0])
    return re.sub(r"[\-_.\s\[\]]", "", name).lower()


def _is_secret(name: str) -> bool:
    return name not in _PAGING and (name in _SECRET or name.endswith(_SECRET_ENDS))
