"""A small identity provider for tests: a server in a thread, with keys that are made at run time.

It signs what it is asked to sign, and signs everybody in who comes with a browser. `documents` replaces what it
publishes, so that it can be hostile.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

__all__ = ["AUDIENCE", "CLIENT", "Answer", "IdentityProvider", "SigningKey"]

AUDIENCE = "https://memory.example/mcp"
CLIENT = "keepmum-dashboard"
Answer = Callable[[BaseHTTPRequestHandler], None]


class SigningKey:
    """A key pair with an id."""

    def __init__(self, algorithm: str = "ES256", ident: str = "", size: int = 2048) -> None:
        self.algorithm = algorithm
        self.ident = ident or secrets.token_hex(4)
        self.private: Any
        if algorithm.startswith("ES"):
            self.private = ec.generate_private_key(ec.SECP256R1())
        elif algorithm == "EdDSA":
            self.private = ed25519.Ed25519PrivateKey.generate()
        else:
            self.private = rsa.generate_private_key(65537, size)

    def jwk(self, **more: object) -> dict[str, object]:
        """The public key as a provider publishes it."""
        made = jwt.get_algorithm_by_name(self.algorithm).to_jwk(self.private.public_key(), as_dict=True)
        return {**made, "kid": self.ident, "alg": self.algorithm, "use": "sig", **more}


class IdentityProvider:
    """A provider that runs from the start to the end of a `with` block."""

    def __init__(self, tls: ssl.SSLContext | None = None, name: str = "127.0.0.1") -> None:
        """With `tls`, a provider by HTTPS; `name` is the host in its address."""
        self.keys = [SigningKey()]
        self.documents: dict[str, Answer] = {}  # by path, in the place of its own answers
        self.client_secret = ""
        self.names_itself = True  # whether an answer of the sign-in holds `iss` (RFC 9207)
        self.claims: dict[str, object] = {"sub": "ada-1", "preferred_username": "ada", "groups": ["developers"]}
        self.id_token: Callable[[dict[str, object]], dict[str, object]] = lambda claims: claims
        self.asked: list[str] = []  # the paths of requests
        self.resources: list[str] = []  # for which clients asked (RFC 8707)
        self._clients = [CLIENT]
        self._codes: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                provider._answer(self)

            do_POST = do_GET  # noqa: N815 - the name of a method of the base class

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.issuer = f"{'https' if tls else 'http'}://{name}:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def token(
        self,
        *,
        key: SigningKey | None = None,
        headers: Mapping[str, object] | None = None,
        without: str = "",
        **claims: object,
    ) -> str:
        """An access token of the person, with other claims and headers."""
        signing = key or self.keys[0]
        said = {**self._standard(), "aud": AUDIENCE, **self.claims, **claims}
        said.pop(without, None)
        head = {"kid": signing.ident, "typ": "at+jwt", **(headers or {})}
        return jwt.encode(said, signing.private, signing.algorithm, {k: v for k, v in head.items() if v is not None})

    def settings(self, **more: object) -> dict[str, object]:
        """Settings of a server that trusts this provider, by field."""
        from keepmum.server.people.oidc.claims import parse_target

        targets = {"developers": "writer api", "readers": "reader api", "owners": "admin"}
        return {
            "oidc_issuer": self.issuer,
            "oidc_audience": (AUDIENCE,),
            "oidc_roles_claim": "groups",
            "oidc_map": {value: parse_target(target) for value, target in targets.items()},
            "oidc_client_id": CLIENT,
            "oidc_client_secret": self.client_secret,
            **more,
        }

    def environ(self) -> dict[str, str]:
        """The same settings as variables of a process."""
        return {
            "KEEPMUM_SERVER_OIDC_ISSUER": self.issuer,
            "KEEPMUM_SERVER_OIDC_AUDIENCE": AUDIENCE,
            "KEEPMUM_SERVER_OIDC_ROLES_CLAIM": "groups",
            "KEEPMUM_SERVER_OIDC_MAP": json.dumps(
                {"developers": "writer api", "readers": "reader api", "owners": "admin"}
            ),
            "KEEPMUM_SERVER_OIDC_CLIENT_ID": CLIENT,
        }

    def metadata(self, **more: object) -> dict[str, object]:
        """The discovery document."""
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/keys",
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            **more,
        }

    def publish(self, path: str, value: object) -> None:
        """Answer requests for a path with JSON."""
        self.documents[path] = lambda request: _send(request, 200, json.dumps(value).encode())

    def _standard(self) -> dict[str, object]:
        now = int(time.time())
        return {"iss": self.issuer, "iat": now, "exp": now + 300}

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        path = urlsplit(request.path).path
        self.asked.append(path)
        if path in self.documents:
            self.documents[path](request)
        elif path == "/.well-known/openid-configuration":
            _send(request, 200, json.dumps(self.metadata()).encode())
        elif path == "/keys":
            _send(request, 200, json.dumps({"keys": [key.jwk() for key in self.keys]}).encode())
        elif path == "/authorize":
            self._authorize(request)
        elif path == "/token":
            self._exchange(request)
        elif path == "/register":
            self._register(request)
        else:
            _send(request, 404, b"{}")

    def _authorize(self, request: BaseHTTPRequestHandler) -> None:
        """Sign the person in, and lead the browser back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        self.resources += [asked["resource"]] if "resource" in asked else []
        back = {"code": code, "state": asked["state"], **({"iss": self.issuer} if self.names_itself else {})}
        _send(request, 302, b"", location=f"{asked['redirect_uri']}?{urlencode(back)}")

    def _exchange(self, request: BaseHTTPRequestHandler) -> None:
        """The tokens for a code, which counts once."""
        raw = request.rfile.read(int(request.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(raw).items()}
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked is None
            or not self._is_client(request, form)
            or form["redirect_uri"] != asked["redirect_uri"]
            or asked["code_challenge"] != challenge
        ):
            _send(request, 400, b'{"error": "invalid_grant"}')
            return
        answer = {"access_token": self.token(), "token_type": "Bearer", "expires_in": 300}
        if "nonce" in asked:
            claims = {**self._standard(), "aud": CLIENT, "nonce": asked["nonce"], **self.claims}
            key = self.keys[0]
            answer["id_token"] = jwt.encode(self.id_token(claims), key.private, key.algorithm, {"kid": key.ident})
        _send(request, 200, json.dumps(answer).encode())

    def _register(self, request: BaseHTTPRequestHandler) -> None:
        """A client id for a client that brings its metadata (RFC 7591)."""
        asked = json.loads(request.rfile.read(int(request.headers["content-length"])))
        self._clients.append(secrets.token_hex(8))
        _send(request, 201, json.dumps({**asked, "client_id": self._clients[-1]}).encode())

    def _is_client(self, request: BaseHTTPRequestHandler, form: Mapping[str, str]) -> bool:
        if not self.client_secret:
            return form.get("client_id") in self._clients
        _, _, given = request.headers.get("authorization", "").partition(" ")
        name, _, password = base64.b64decode(given).decode().partition(":")
        return (unquote(name), unquote(password)) == (CLIENT, self.client_secret)


def _send(request: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    request.send_response(status)
    for name, value in {"content-type": "application/json", "content-length": str(len(body)), **headers}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)
