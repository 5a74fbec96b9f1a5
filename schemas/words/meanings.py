"""Enumerated values with what each means: code takes the values from here, `dim_enum` and the docs the meanings."""

from enum import StrEnum


class Meant(StrEnum):
    meaning: str

    def __new__(cls, value: str, meaning: str) -> "Meant":
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member
