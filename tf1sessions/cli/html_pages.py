"""Pages that commands write with ``--html``: never over a file of the user's."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from tf1sessions import files

__all__ = ["check_page", "write_page"]

# What each page of ours begins with, and has in its head; see diagram.html and parity/page.html.
_PAGE_BEGINS, _PAGE_TITLE, _HEAD_SIZE = b"<!doctype html>", b"<title>tf1sessions ", 1024


def check_page(path: str, inputs: Iterable[str]) -> None:
    """Refuse a page that would be written over what is read, or over any file that is no page of tf1sessions.

    Args:
        path: The page; devices and pipes may be written to.
        inputs: Files and folders that the command reads.

    Raises:
        click.BadParameter: It must not be written there.
    """
    real = os.path.realpath(path)
    for each in inputs:
        if "://" in each:
            continue
        if real == os.path.realpath(each):
            raise _bad_page(f"{path!r} is what is read. Give another name.")
        if os.path.isdir(each) and real.startswith(os.path.join(os.path.realpath(each), "")):
            raise _bad_page(f"{path!r} is inside of {each!r}, which is read. Give a name outside of it.")
    if os.path.isfile(real) and not _is_page(path, real):
        raise _bad_page(f"{path!r} is there already, and is no page of tf1sessions. Give another name, or delete it.")


def write_page(path: str, text: str, inputs: Iterable[str]) -> None:
    """Writes a page as a whole: a reader sees the old one, or all of the new one.

    Args:
        path: Where.
        text: The page.
        inputs: As in :func:`check_page`, which is called again: a file may have come there meanwhile.
    """
    check_page(path, inputs)
    try:
        files.write_whole(path, text)
    except OSError as error:
        raise _bad_page(f"{path!r}: {error.strerror}.") from error


def _bad_page(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="'--html'")


def _is_page(path: str, real: str) -> bool:
    """Whether a file is one of our pages, or empty."""
    try:
        with open(real, "rb") as file:
            head = file.read(_HEAD_SIZE)
    except OSError as error:
        raise _bad_page(f"{path!r} is there already: {error.strerror}.") from error
    return not head or (head.startswith(_PAGE_BEGINS) and _PAGE_TITLE in head)
