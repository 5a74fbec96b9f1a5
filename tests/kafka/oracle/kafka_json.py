"""From the JSON that Kafka prints to the form in which the project stores the same: snake_case names, bytes as bytes.

Uuids are Kafka's 22 characters in both, and a tagged field with its default is left out of both.
"""

import base64
import re


def project_form(printed, bytes_fields, path=""):
    """`bytes_fields` holds the dotted paths of fields whose text is base64: the text itself does not show it."""
    if isinstance(printed, dict):
        return {
            snake_case(name): project_form(value, bytes_fields, f"{path}.{name}" if path else name)
            for name, value in printed.items()
        }
    if isinstance(printed, list):
        return [project_form(element, bytes_fields, path) for element in printed]
    if path in bytes_fields and printed is not None:
        return base64.b64decode(printed, validate=True)
    return printed


def snake_case(name):
    """Of camelCase as in generated classes, or of the hyphens that Connect's hand-written schemas have."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower().replace("-", "_")
