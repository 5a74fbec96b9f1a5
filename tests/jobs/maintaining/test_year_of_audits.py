"""Hourly audits with a `maintain` a day leave no more after a year than after the term: files, bytes, seconds."""

import pytest

from benchmarks.year_of_audits import AfterDayOfAudits, AuditedYear
from benchmarks.year_of_runs import RUNS_OF_A_YEAR, measured_days

LONG = (RUNS_OF_A_YEAR, 24, 7)


@pytest.mark.parametrize(("runs", "runs_a_day", "keep_days"), [(4, 1, 1), pytest.param(*LONG, marks=pytest.mark.soak)])
def test_audits_of_a_maintained_warehouse_leave_no_more_and_more(tmp_path, runs, runs_a_day, keep_days):
    # The second half goes on where the first one ended.
    ends = runs // 2, runs
    days = [day for end in ends for day in measured_days(tmp_path, end, runs_a_day, keep_days, AuditedYear)]
    days = [day for day in days if isinstance(day, AfterDayOfAudits)]
    assert [day.runs for day in days] == [*range(runs_a_day, runs + 1, runs_a_day)]
    settled = days[keep_days + 1 :]
    early, late = settled[: len(settled) // 2], settled[len(settled) // 2 :]
    assert max(day.files - day.log_files for day in late) <= 1.2 * max(day.files - day.log_files for day in early)
    assert max(day.other_bytes for day in late) <= 1.3 * max(day.other_bytes for day in early)
    if len(early) > 100:
        # Before, logs that only few runs write to have no checkpoint yet.
        assert max(day.log_files for day in late) <= 1.2 * max(day.log_files for day in early)
        assert max(day.log_bytes for day in late) <= 1.5 * max(day.log_bytes for day in early)
        assert min(day.open_seconds for day in late) <= 2 * min(day.open_seconds for day in early)
        assert min(day.audit_seconds for day in late) <= 1.5 * min(day.audit_seconds for day in early)
