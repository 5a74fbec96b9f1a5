"""What the tests of redacted copies share."""

from tests.audited_sample import audited_sample

__all__ = ["audited_sample"]
