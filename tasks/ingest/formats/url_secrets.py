"""Passwords and signatures in URLs: removed before a URL is stored, restored to open it.

Tables, logs, messages and the orchestrator see only the URL without secrets. It also identifies
its documents, so they stay the same when a signature is renewed.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from schemas.errors import UsageError
from tasks.text.languages import word_set

# Words in the names of parameters: `api_key`, `X-Amz-Signature`, `AWSAccessKeyId`.
_SECRET_WORDS = word_set(
    "auth authorization credential credentials expires hmac jsessionid jwt key keyid pass passwd "
    "password phpsessid policy pwd sas secret session sessionid sig sign signature signed ticket "
    "token"
)
_SECRET_ENDINGS = ("key", "keyid", "accessid", "password", "secret", "signature", "token")
_SECRET_STARTS = ("x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-obs-")
# Parameters of Azure's signed URLs; in other URLs these names may mean anything.
_WITH_SIG = word_set("se si sip skoid sks skt sktid ske skv sp spr sr srt ss st sv")
_LONG_CODE = re.compile(r"(?i:code)=(?=.*\d)(?=.*[A-Z]).{16}")  # no country's, but a key
_PATH_PARAMETER = re.compile(r";([^;/=]+=[^;/]*)")
_SECRET_VALUE = re.compile(r"eyJ[\w-]{8}|(sk|pk|ghp|gho|glpat|xox[abprs])[-_]")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
_PORT = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:\d*)?")

_given: dict[str, str] = {}  # the complete URLs of this process, by the URL without secrets


def hide_secrets(sources: Sequence[str]) -> list[str]:
    """Return the sources without secrets; in this process `with_secrets` restores them.

    Raises UsageError if two sources differ only in their secrets.
    """
    hidden: dict[str, str] = {}
    for source in sources:
        name = without_secrets(source) if "://" in source else source
        if hidden.setdefault(name, source) != source:
            raise UsageError(f"Two sources differ only in their passwords or keys: {name}.")
    _given.update((name, source) for name, source in hidden.items() if source != name)
    return [without_secrets(source) if "://" in source else source for source in sources]


def with_secrets(source: str) -> str:
    """Return a source as it was given to `hide_secrets`."""
    return _given.get(source, source)


def without_secrets(url: str) -> str:
    """Return a URL without user, password, signature parameters and keys."""
    return "::".join(map(_without_secrets, url.split("::")))


def scrubbed(message: str, url: str) -> str:
    """Return a message without a URL's secrets, even where it quotes only parts of the URL."""
    message = without_secret_urls(message.replace(url, without_secrets(url)))
    for secret in sorted(_secrets(url), key=len, reverse=True):
        message = message.replace(secret, "…")
    return message


def without_secret_urls(text: str) -> str:
    """Return a text whose URLs have no secrets."""
    return _URL.sub(lambda match: without_secrets(match.group()), text)


def _without_secrets(url: str) -> str:
    before, mark, fragment = url.partition("#")
    place, question, query = before.partition("?")
    scheme, colon, rest = place.partition("://")
    kept = f"{scheme}{colon}{_without_user(rest)}" if colon else place
    kept = _PATH_PARAMETER.sub(lambda one: "" if _is_secret(one[1]) else one[0], kept)
    parts = (question + _harmless(query), mark + _harmless(fragment))
    return kept + "".join(part for part in parts if len(part) > 1)


def _without_user(rest: str) -> str:
    host, slash, path = rest.partition("/")
    if "@" in host:
        return host.rpartition("@")[2] + slash + path
    # If no host with a port precedes the slash, the slash belongs to a password.
    return rest if _PORT.fullmatch(host) else rest.rpartition("@")[2]


def _harmless(query: str) -> str:
    """Return a query without the parameters that hold secrets."""
    parameters = query.split("&")
    signed = any(part.partition("=")[0].lower() == "sig" for part in parameters)
    return "&".join(part for part in parameters if not _is_secret(part, signed))


def _is_secret(parameter: str, signed: bool = False) -> bool:
    name, _, value = map(unquote, parameter.partition("="))
    signs = signed and name.lower() in _WITH_SIG
    return signs or is_secret(name, value) or bool(_LONG_CODE.match(parameter))


def is_secret(name: str, value: str) -> bool:
    """Tell whether a parameter's name is that of a secret, or its value looks like one."""
    lower = name.lower()
    words = {word.lower() for word in _WORDS.findall(name)} | {lower}
    return bool(
        words & _SECRET_WORDS
        or lower.endswith(_SECRET_ENDINGS)
        or lower.startswith(_SECRET_STARTS)
        or _SECRET_VALUE.match(value or name)
    )


def _secrets(url: str) -> Iterator[str]:
    """Yield the secrets that `without_secrets` removes, both raw and decoded."""
    for part in url.split("::"):
        rest = part.partition("?")[0].partition("://")[2]
        user = rest.removesuffix(_without_user(rest)).rstrip("@")
        values = [user, user.partition(":")[2]]
        kept = re.split("[?&#]", without_secrets(part))
        found = [*_PATH_PARAMETER.findall(part.partition("?")[0]), *re.split("[?&#]", part)]
        values += [one.partition("=")[2] for one in found if one not in kept]
        for value in values:
            if len(value) > 3:
                yield value
                yield unquote(value)
