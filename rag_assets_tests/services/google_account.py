"""A made-up service account of Google, whose tokens a loopback server gives out."""

import json
from functools import cache
from pathlib import Path

TOKEN = "made-up-access-token"


@cache
def _private_key() -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def write_account(path: Path, server_url: str, project: str = "project-of-the-account") -> Path:
    """Write the file that GOOGLE_APPLICATION_CREDENTIALS may name."""
    account = {
        "type": "service_account",
        "project_id": project,
        "private_key_id": "1",
        "private_key": _private_key(),
        "client_email": "tester@made-up.invalid",
        "client_id": "1",
        "token_uri": f"{server_url}/token",
    }
    path.write_text(json.dumps(account), encoding="utf-8")
    return path


def answer_token() -> dict[str, object]:
    """Answer `POST /token`."""
    return {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"}
