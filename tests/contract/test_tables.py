"""The pages that are written from the tests say what the tests say."""

from __future__ import annotations

from tests import fault_table, field_reports


def test_the_table_of_faults_is_current() -> None:
    assert fault_table.PAGE.read_text("utf-8") == fault_table.page(), "run: python -m tests.fault_table"


def test_the_table_of_field_reports_is_current() -> None:
    assert field_reports.PAGE.read_text("utf-8") == field_reports.page(), "run: python -m tests.field_reports"
