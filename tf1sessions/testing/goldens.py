"""Whether goldens are written instead of compared: what pytest's ``--update-goldens`` sets for assert_close()."""

from __future__ import annotations

__all__ = ["update"]

update = False
