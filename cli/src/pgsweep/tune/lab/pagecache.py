"""Makes reads of a throwaway server's tables reach the disk again.

It needs no privilege, because only the pages of the server's own files leave the system's cache.
If all of the cache were emptied (drop_caches), everything else on the machine would feel it.
"""

from __future__ import annotations

import os
from pathlib import Path


def can_forget() -> bool:
    """Whether this system can be told that a file's cached pages are not needed."""
    return hasattr(os, "posix_fadvise")


def forget(folder: Path) -> int:
    """Write out and drop the cached pages of all files below a folder.

    Return how many bytes that was.
    """
    total = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        file = os.open(path, os.O_RDWR)
        try:
            # Only clean pages can be dropped.
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            total += os.fstat(file).st_size
        finally:
            os.close(file)
    return total
