"""Stores values of declared types as plain JSON values, and reads them again."""
