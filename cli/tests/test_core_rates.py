"""How fast transaction ids are used, by what core's views say."""

from __future__ import annotations

from datetime import timedelta

import samples
from pgsweep.model import core_rates as rates


def test_the_epoch_of_the_control_file_counts() -> None:
    before = {"at": samples.NOW - timedelta(seconds=100), "next_xid": "1:4294967290"}
    now = {"at": samples.NOW, "next_xid": str(2 * 2**32 + 994)}
    rate = rates.since_checkpoint(before, now)
    assert rate is not None
    assert rate.per_s == 10.0
    assert rate.basis == "since the checkpoint 100 s ago"
