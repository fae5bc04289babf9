"""The errors of Ringlane as exceptions.

Every error is an instance of :class:`Error`, and of the class in this module that has its name: ``except rl.errors.StaleHandle``.
``docs/errors.md`` describes each name.
"""

from __future__ import annotations

from typing import Any

from .hints import in_python, without_sites

__all__ = ["Error"]


class Error(Exception):
    """An error of Ringlane: its name, what happened with the numbers that led to it, and what to do."""

    #: The error's name, the same in Rust, in C and in ``run.json``.
    name: str
    #: What happened, in a few words that are the same for every error of this name.
    summary: str
    #: The numbers and locations that led to it.
    detail: str
    #: What to do about it.
    hint: str

    def __init__(self, name: str = "", summary: str = "", detail: str = "", hint: str = "") -> None:
        super().__init__(name, summary, detail, hint)
        self.name = name or type(self).__name__
        self.summary, self.detail, self.hint = summary, detail, hint

    def __str__(self) -> str:
        text = f"{self.name}: {self.summary}" if self.summary else self.name
        if self.detail:
            text += f": {self.detail}"
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (self.name, self.summary, self.detail, self.hint)


_CLASSES: dict[str, type[Error]] = {}


def _class_of(name: str) -> type[Error]:
    found = _CLASSES.get(name)
    if found is None:
        doc = f"The error ``{name}``; see ``docs/errors.md``."
        found = type(name, (Error,), {"__doc__": doc, "__module__": __name__})
        _CLASSES[name] = found
    return found


def make(name: str, summary: str, detail: str, hint: str) -> Error:
    """The exception for an error with these parts."""
    return _class_of(name)(name, summary, without_sites(detail), in_python(name, hint))


def __getattr__(name: str) -> type[Error]:
    # The names are those of the engine, which grow with it. A name is a word in CamelCase.
    if name[:1].isupper() and name.isidentifier():
        return _class_of(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
