"""Elements of XML by their local names, and the settings of text in office formats.

Editions of a format have namespaces of their own, but the same local names.
"""

import re
from collections.abc import Mapping
from typing import Any

Settings = dict[str, str]
OFF = frozenset({"0", "false", "off", "none", "noStrike"})
_NUMBER = re.compile(r"-?\d{1,9}")
_VALUES = ("fill", "val", "ascii", "typeface", "dropCap")  # of settings, in this order


def local_name(element: Any) -> str:
    """Return the name of an element without namespace and prefix; empty for a comment."""
    tag = element.tag
    return tag[max(tag.rfind("}"), tag.rfind(":")) + 1 :] if isinstance(tag, str) else ""


def settings_of(element: Any, name: str) -> Settings:
    """Return the settings in the child of a name: its attributes, and the values of its elements.

    A setting without a value is "1".
    """
    settings: Settings = {}
    for properties in element.iterchildren(f"{{*}}{name}"):
        settings |= {key.rpartition("}")[2]: value for key, value in properties.attrib.items()}
        for child in properties:
            if (key := local_name(child)) == "numPr":
                settings |= settings_of(properties, key)
            else:
                settings[key] = _value(child)
    return settings


def is_on(settings: Settings, *names: str) -> bool:
    """Tell whether one of some settings is there and not switched off."""
    return any(settings.get(name, "0") not in OFF for name in names)


def attribute(element: Any, name: str) -> str:
    """Return an attribute that has no namespace or that of its element; empty if there is none."""
    return element.get(name) or element.get(f"{element.tag.partition('}')[0]}}}{name}") or ""


def number(words: str) -> int:
    """Return the whole number that a setting opens with, 0 if it does not; units are dropped."""
    digits = _NUMBER.match(words)
    return int(digits[0]) if digits else 0


def with_bases(styles: Mapping[str, Settings]) -> dict[str | None, Settings]:
    """Return the settings of each style with those of the styles that it is based on."""
    whole: dict[str | None, Settings] = {}
    for style in styles:
        chain: list[str] = []
        base = style
        while base in styles and base not in chain:
            chain.append(base)
            base = styles[base].get("base", "")
        whole[style] = {k: v for base in reversed(chain) for k, v in styles[base].items()}
    return whole


def _value(element: Any) -> str:
    values = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    return next((values[name] for name in _VALUES if name in values), "1")
