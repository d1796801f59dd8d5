"""Points in time, as a course's file names them and as a page tells them."""

import re
from datetime import date, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator

_TIME = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})[T ](?P<time>\d{2}:\d{2}(?::\d{2})?)"
    r"(?:\s?(?P<offset>Z|[+-]\d{2}:\d{2})| (?P<zone>[A-Za-z][A-Za-z_+\-0-9/]*))?"
)


def moment(value: object) -> datetime:
    """A point in time as people write it: "2026-10-12 23:59 Europe/Berlin",
    "2026-10-12T23:59+02:00", "2026-10-12T21:59Z".

    Raises:
        ValueError: if it is anything else; a time without a zone is another time in another place,
            and is refused.
    """
    if isinstance(value, datetime) and value.tzinfo:
        return value
    asked = (
        'must be a day, a time and a zone, such as "2026-10-12 23:59 Europe/Berlin" or '
        '"2026-10-12T23:59+02:00"'
    )
    match = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{asked}, and is {str(value) if isinstance(value, date) else value!r}")
    if not match["offset"] and not match["zone"]:
        raise ValueError(
            f'names no time zone: write "{value} Europe/Berlin", or whichever is yours'
        )
    try:
        zone = ZoneInfo(match["zone"]) if match["zone"] else None
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{asked}; this machine knows no zone {match['zone']!r}") from None
    try:
        when = datetime.fromisoformat(f"{match['day']}T{match['time']}{match['offset'] or ''}")
    except ValueError as error:
        raise ValueError(f"is no time that exists: {value!r} ({error})") from None
    return when.replace(tzinfo=zone) if zone else when


def told(when: datetime) -> str:
    """A point in time in words that mean the same everywhere."""
    zone = getattr(when.tzinfo, "key", "") or when.tzname()
    return f"{when:%Y-%m-%d %H:%M} {zone}"


Moment = Annotated[datetime, BeforeValidator(moment)]
