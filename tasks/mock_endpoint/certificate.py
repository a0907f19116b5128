"""A certificate that no client should trust: signed by itself, made at the start."""

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
DAYS = 1


def self_signed() -> ssl.SSLContext:
    """Return what a server needs to speak TLS with a certificate of its own making."""
    from cryptography.hazmat.primitives import serialization

    key, certificate = _key_and_certificate()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The ssl module reads certificates from files alone.
    with tempfile.TemporaryDirectory(prefix="almanac-mock-") as folder:
        path = Path(folder) / "both.pem"
        path.touch(mode=0o600)
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(path)
    return context


def _key_and_certificate() -> tuple[Any, Any]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "almanac mock endpoint")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=DAYS))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), False)
        .sign(key, hashes.SHA256())
    )
    return key, certificate
