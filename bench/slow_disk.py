"""A file system on a device of chosen bandwidth, and a limit of memory, for measurements.

SlowDisk is a loop device over a file, throttled by cgroup v1's blkio controller. The
throttle is set in the root group. There it also holds for what the kernel writes back on
behalf of all.

RootDisk is a folder of an ordinary file system. The throttle of its device is set in a group
of the server's own, so that nothing else becomes slow. What the kernel writes back belongs
to no group of cgroup v1, and is as fast as the device.

Both need root and cgroup v1. SlowDisk also needs loop devices and ext4's mkfs. `missing()` says
what is not there.

Everything is taken down by one small shell script, which waits for the end of its input.
That comes at the end of the block, after Ctrl-C and after kill -9 alike.
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

import lib

BLKIO = Path("/sys/fs/cgroup/blkio")
MEMORY = Path("/sys/fs/cgroup/memory")
MB = 1024 * 1024
SECTOR = 512
READ_AHEAD_KB = 128  # as Linux sets a disk

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


CLEAN_UP_ROOT = """
cat >/dev/null
trap '' INT TERM HUP
for group in {groups}; do
    i=0
    while [ -d $group ] && ! rmdir $group 2>/dev/null; do
        i=$((i + 1)); [ $i -gt 600 ] && break; sleep 0.1
    done
done
rm -rf {folder}
"""


def missing(*, loop: bool) -> str:
    """Return what this machine lacks, or an empty text. `loop`: for a SlowDisk."""
    if os.geteuid() != 0:
        return "loop devices and cgroups need root"
    for file in (BLKIO / "blkio.throttle.write_bps_device", MEMORY / "memory.limit_in_bytes"):
        if not file.exists():
            return f"{file} does not exist: this needs cgroup v1"
    if not loop:
        return ""
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


class Disk:
    """What both kinds have in common. Each is for the length of a `with` block."""

    def __init__(self, memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self._cleaner: subprocess.Popen[str] | None = None
        self._throttle = BLKIO  # the group in which the throttle is set
        self._group = Path()
        self.mount = Path()
        self.device = ""  # major:minor

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take everything down, and wait until it is."""
        if self._cleaner is not None:
            assert self._cleaner.stdin is not None
            self._cleaner.stdin.close()
            self._cleaner.wait(timeout=130)

    def _start_script(self, script: str) -> None:
        self._cleaner = subprocess.Popen(
            ["/bin/sh", "-c", script],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd="/",
        )

    @staticmethod
    def _folder() -> Path:
        folder = Path(tempfile.mkdtemp(prefix="pgsweep-disk-", dir="/tmp"))
        folder.chmod(0o755)
        return folder

    def _make_memory_group(self, name: str) -> None:
        self._group = MEMORY / name
        self._group.mkdir()
        self._write(self._group / "memory.limit_in_bytes", str(self._memory_mb * MB))

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
        """Limit reads to that much, and writes to as much. 0 is no limit."""
        for what in ("read", "write"):
            file = self._throttle / f"blkio.throttle.{what}_bps_device"
            self._write(file, f"{self.device} {int(mb_per_s * MB)}")

    def confine(self, pids: Iterable[int]) -> None:
        """Put processes, and what they start later, under the limits."""
        for pid in pids:
            self._write(self._group / "cgroup.procs", str(pid))
            if self._throttle != BLKIO:
                self._write(self._throttle / "cgroup.procs", str(pid))

    def traffic(self) -> Traffic:
        """Return what the device has read and written, for whomever."""
        stat = Path("/sys/dev/block", self.device, "stat").read_text().split()
        return Traffic(int(stat[2]) * SECTOR / MB, int(stat[6]) * SECTOR / MB)

    def settle(self) -> None:
        """Write out what the kernel still holds for this file system."""
        self._call(["sync", "-f", str(self.mount)])


class RootDisk(Disk):
    """A folder of the file system that is there. It starts without a throttle."""

    def __enter__(self) -> RootDisk:
        folder = self._folder()
        self.mount = folder / "mnt"
        self._group = MEMORY / folder.name
        self._throttle = BLKIO / folder.name
        groups = " ".join(shlex.quote(str(group)) for group in (self._group, self._throttle))
        self._start_script(CLEAN_UP_ROOT.format(groups=groups, folder=shlex.quote(str(folder))))
        try:
            self.mount.mkdir()
            self.mount.chmod(0o777)
            self.device = self._whole_device(folder)
            self._make_memory_group(folder.name)
            self._throttle.mkdir()
        except BaseException:
            self.close()
            raise
        return self

    @staticmethod
    def _whole_device(folder: Path) -> str:
        number = folder.stat().st_dev
        known = Path("/sys/dev/block", f"{os.major(number)}:{os.minor(number)}").resolve()
        if not (known / "dev").exists():
            raise lib.MeasurementError(f"{folder} is not on one block device")
        if (known / "partition").exists():
            known = known.parent
        return (known / "dev").read_text().strip()


class SlowDisk(Disk):
    """The loop device. It starts without a throttle."""

    def __init__(self, size_mb: int, memory_mb: int) -> None:
        super().__init__(memory_mb)
        self._size_mb = size_mb
        self.loop = ""

    def __enter__(self) -> SlowDisk:
        folder = self._folder()
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
            self._make_memory_group(folder.name)
        except BaseException:
            self.close()
            if self._cleaner is None:
                if self.loop:
                    subprocess.run(["losetup", "-d", self.loop], check=False)
                shutil.rmtree(folder, ignore_errors=True)
            raise
        self.mount.chmod(0o777)
        return self

    def _start_cleaner(self, folder: Path) -> None:
        script = CLEAN_UP.format(
            device=self.device,
            blkio=BLKIO,
            folder=shlex.quote(str(folder)),
            loop=self.loop,
            group=shlex.quote(str(self._group)),
        )
        self._start_script(script)

    def _attach(self, image: Path) -> str:
        command = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
        loop = self._call(command).strip()
        # newer kernels read 2.5 MB ahead, of which others have a sixth of a second's wait
        ahead = Path("/sys/block", Path(loop).name, "queue/read_ahead_kb")
        ahead.write_text(f"{READ_AHEAD_KB}\n", "ascii")
        return loop
