"""What the report's tests share."""

from tests.audited_sample import audited_sample

__all__ = ["audited_sample"]
