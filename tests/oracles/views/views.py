"""Views that a slow reading of the same rows is compared with."""

from collections.abc import Callable

from tests.oracles.views import rebalances
from tests.oracles.views.assignments import assignment_audit
from tests.oracles.views.rebalances import Row, Rows

SLOW: dict[str, Callable[[Rows], list[Row]]] = {**rebalances.VIEWS, "v_assignment_audit": assignment_audit}
