"""The answers to statements over the warehouse of a module's cases, which all of its tests share."""

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.findings.cases")

from tests.findings.cases import Answer, answers  # noqa: E402


@pytest.fixture(scope="module")
def answer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answer]:
    with answers(tmp_path_factory.mktemp("cases") / "w", request.module.CASES) as answer:
        yield answer
