"""Times some way off from others."""

from datetime import datetime, timedelta


def moved(time: datetime, by: timedelta) -> datetime:
    """No further than the first or the last time that there is: records may have any time."""
    try:
        return time + by
    except OverflowError:
        return (datetime.max if by > timedelta() else datetime.min).replace(tzinfo=time.tzinfo)
