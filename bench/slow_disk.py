"""A file system on a device of chosen bandwidth, and a limit of memory, for measurements.

A loop device over a file, throttled by cgroup v1's blkio controller. The throttle is set
in the root group: there it also holds for what the kernel writes back on behalf of all.
Needs root, loop devices, ext4's mkfs and cgroup v1; `missing()` says what is not there.

Everything is taken down by one small shell script, which waits for the end of its input:
it comes at the end of the block, after Ctrl-C and after kill -9 alike.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import lib

BLKIO = Path("/sys/fs/cgroup/blkio")
MEMORY = Path("/sys/fs/cgroup/memory")
MB = 1024 * 1024
SECTOR = 512

CLEAN_UP = """
cat >/dev/null
trap '' INT TERM HUP
echo "{device} 0" >{blkio}/blkio.throttle.write_bps_device
echo "{device} 0" >{blkio}/blkio.throttle.read_bps_device
i=0
while mountpoint -q {folder}/mnt && ! umount {folder}/mnt 2>/dev/null; do
    i=$((i + 1)); [ $i -gt 600 ] && umount -l {folder}/mnt; sleep 0.1
done
losetup -d {loop}
i=0
while [ -d {group} ] && ! rmdir {group} 2>/dev/null; do
    i=$((i + 1)); [ $i -gt 600 ] && break; sleep 0.1
done
rm -rf {folder}
"""


def missing() -> str:
    """Return what this machine lacks, or an empty text."""
    if os.geteuid() != 0:
        return "loop devices and cgroups need root"
    for file in (BLKIO / "blkio.throttle.write_bps_device", MEMORY / "memory.limit_in_bytes"):
        if not file.exists():
            return f"{file} does not exist: this needs cgroup v1"
    for program in ("losetup", "mkfs.ext4", "mount", "mountpoint"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if not Path("/dev/loop-control").exists():
        return "/dev/loop-control does not exist"
    return ""


@dataclass(frozen=True)
class Traffic:
    """What a device has done since it was there."""

    read_mb: float
    written_mb: float


class SlowDisk:
    """The device, for the length of a `with` block; starts without a throttle."""

    def __init__(self, size_mb: int, memory_mb: int) -> None:
        self._size_mb = size_mb
        self._memory_mb = memory_mb
        self._cleaner: subprocess.Popen[str] | None = None
        self.mount = Path()
        self.loop = ""
        self.device = ""
        self._group = Path()

    def __enter__(self) -> SlowDisk:
        folder = Path(tempfile.mkdtemp(prefix="pgsweep-disk-", dir="/tmp"))
        folder.chmod(0o755)
        image = folder / "image"
        self.mount = folder / "mnt"
        self.mount.mkdir()
        self._group = MEMORY / folder.name
        try:
            self._call(["fallocate", "-l", f"{self._size_mb}M", str(image)])
            options = "lazy_itable_init=0,lazy_journal_init=0"
            self._call(["mkfs.ext4", "-q", "-F", "-m", "0", "-E", options, str(image)])
            self.loop = self._attach(image)
            self.device = Path("/sys/block", Path(self.loop).name, "dev").read_text().strip()
            self._start_cleaner(folder)
            self._call(["mount", "-o", "noatime", self.loop, str(self.mount)])
            self._group.mkdir()
            self._write(self._group / "memory.limit_in_bytes", str(self._memory_mb * MB))
        except BaseException:
            self.close()
            if self._cleaner is None:
                if self.loop:
                    subprocess.run(["losetup", "-d", self.loop], check=False)
                shutil.rmtree(folder, ignore_errors=True)
            raise
        self.mount.chmod(0o777)
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take everything down, and wait until it is."""
        if self._cleaner is not None:
            assert self._cleaner.stdin is not None
            self._cleaner.stdin.close()
            self._cleaner.wait(timeout=130)

    def _start_cleaner(self, folder: Path) -> None:
        script = CLEAN_UP.format(
            device=self.device,
            blkio=BLKIO,
            folder=shlex.quote(str(folder)),
            loop=self.loop,
            group=shlex.quote(str(self._group)),
        )
        self._cleaner = subprocess.Popen(
            ["/bin/sh", "-c", script],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd="/",
        )

    def _attach(self, image: Path) -> str:
        command = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
        return self._call(command).strip()

    @staticmethod
    def _call(command: Iterable[str]) -> str:
        done = subprocess.run([*command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise lib.MeasurementError(f"{shlex.join(command)}: {done.stderr.strip()}")
        return done.stdout

    @staticmethod
    def _write(file: Path, text: str) -> None:
        try:
            file.write_text(text)
        except OSError as exc:
            raise lib.MeasurementError(f"{file}: {exc.strerror}") from exc

    def throttle(self, mb_per_s: float) -> None:
        """Limit reads, and writes, to that much each; 0: no limit."""
        for what in ("read", "write"):
            file = BLKIO / f"blkio.throttle.{what}_bps_device"
            self._write(file, f"{self.device} {int(mb_per_s * MB)}")

    def limit_memory(self, pids: Iterable[int]) -> None:
        """Put processes, and what they start later, under the limit."""
        for pid in pids:
            self._write(self._group / "cgroup.procs", str(pid))

    def traffic(self) -> Traffic:
        """Return what the device has read and written."""
        stat = Path("/sys/block", Path(self.loop).name, "stat").read_text().split()
        return Traffic(int(stat[2]) * SECTOR / MB, int(stat[6]) * SECTOR / MB)

    def settle(self) -> None:
        """Write out what the kernel still holds for this file system."""
        self._call(["sync", "-f", str(self.mount)])
