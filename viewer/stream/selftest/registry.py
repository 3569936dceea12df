"""All self-tests, by their subjects."""

from __future__ import annotations

from viewer.stream.selftest import machines, masks, numbers, outputs, storage
from viewer.stream.selftest.check import Check

GROUPS: dict[str, tuple[Check, ...]] = {
    "masks": masks.CHECKS,
    "outputs": outputs.CHECKS,
    "storage": storage.CHECKS,
    "numbers": numbers.CHECKS,
    "machines": machines.CHECKS,
}
CHECKS: dict[str, Check] = {check.name: check for checks in GROUPS.values() for check in checks}
