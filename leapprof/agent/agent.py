"""What runs on the observed host: a dumb reader that does what its plan says and sends frames.

One file, Python 3.6 or newer, run from memory; nothing is installed and nothing is written (but a spool, when
asked for). It knows no nodeos option and no metric. The plan's form is in plan.py, the frames' in frame.py;
this file imports nothing of the package.

Messages on stdin: ``plan <bytes>\\n<plan>``, ``beat\\n``, ``end\\n``, ``stop\\n`` (ends a spooling sampler).
Exit status: 0 ended as asked, by end of input or without heartbeat; 2 a bad plan or message.
"""

import errno
import os
import select
import socket
import sys
import time
import zlib

CLOCK_BOOTTIME = 7  # time.CLOCK_BOOTTIME exists since Python 3.7
NS = 1000000000
SURE_BYTES = 2048  # a /proc read shorter than this is whole: seq_file fills a page of 4096 first
CHUNK_BYTES = 65536
DICTIONARY_BYTES = 32768
KEY_EVERY = 60
TINY_BYTES = 440  # a read of so many needs no memory but Python's own for small objects
LOOK_AGAIN = 60  # ticks after which lines are looked for where they did not stand before
NEWLINE = b"\n"
MAX_KEPT_FDS = 400
KEPT_TICKS = 10  # what is read as often stays open
MAX_GLOB = 4096
MAX_RAW_BYTES = 12 << 20
MAX_FRAME_BYTES = 4 << 20
MAX_MESSAGE_BYTES = 1 << 20
MAX_VALUE_BYTES = 1024
LOG_HEAD_BYTES, LOG_TAIL_BYTES = 65536, 262144  # what is read of a log at first; later what was added
MAX_LOG_LINE_BYTES = 65536
MAX_MESSAGE_BYTES_SHOWN = 200
MAX_PEEK_BYTES = 16
MAX_STRETCH = 64
MAX_THREADS = 20000
COMMAND_BYTES = 1 << 20
COMMAND_TIMEOUT_NS = 30 * NS
MAX_CONNECTIONS = 20000
MAX_AT_ONCE = 64  # frames of one write
HELD_BYTES = 262144  # of text that waits to be sent with the next
AT_ONCE_TICKS = 3  # the first frames of a plan are sent as they are made
HOLD_NS = 200000000  # how long a frame waits for answers that were asked for in it
END_TIMEOUT_NS = 10 * NS
KEY_RUN_CHARS = 40  # a run of so many letters and digits is taken for a key (WIF has 51, hex keys 64)
NEVER_ROOTS = (b"oc-compile", b"oc-monitor", b"oc-trampoline")
# programs whose command line may name nodeos without being it
CARRIERS = frozenset(
    b"sh bash dash zsh fish csh tcsh ksh busybox ash sudo su doas runuser ssh sshd sshd-session login screen tmux"
    b" tail less more cat grep vi vim nano env nohup setsid timeout strace gdb perf journalctl systemctl".split()
)
ABSENT_ERRORS = (errno.ENOENT, errno.ESRCH, errno.ENODEV, errno.ENOTDIR, errno.ENXIO)
DENIED_ERRORS = (errno.EACCES, errno.EPERM)
OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
CGROUP1_FILES = {  # the nearest of cgroup v1: controller, files
    b"cpu.stat": (b"cpuacct", (b"cpuacct.usage",)),
    b"io.stat": (
        b"blkio",
        (
            b"blkio.throttle.io_service_bytes_recursive",
            b"blkio.throttle.io_service_bytes",
            b"blkio.throttle.io_serviced_recursive",
            b"blkio.throttle.io_serviced",
        ),
    ),
    b"memory.stat": (b"memory", (b"memory.stat",)),
    b"memory.current": (b"memory", (b"memory.usage_in_bytes",)),
    b"memory.swap.current": (b"memory", (b"memory.memsw.usage_in_bytes",)),
}

if hasattr(time, "clock_gettime_ns"):

    def boottime_ns():
        return time.clock_gettime_ns(CLOCK_BOOTTIME)

    wall_ns = time.time_ns
    cpu_ns = time.process_time_ns
else:

    def boottime_ns():
        return int(time.clock_gettime(CLOCK_BOOTTIME) * NS)

    def wall_ns():
        return int(time.time() * NS)

    def cpu_ns():
        return int(time.process_time() * NS)


class BadPlanError(Exception):
    """The plan or a message cannot be obeyed."""


def status_of(error):
    """Return the status and text of a reading that failed."""
    if error.errno in ABSENT_ERRORS:
        return b"absent", b""
    if error.errno in DENIED_ERRORS:
        return b"denied", b""
    return b"failed", (os.strerror(error.errno) if error.errno else "failed").encode("ascii", "replace")


def read_fd(fd, cap):
    """Return a file's bytes from its start, at most cap + 1."""
    data = os.pread(fd, CHUNK_BYTES, 0)
    size = len(data)
    if size < SURE_BYTES:
        return data
    parts = [data]
    while size <= cap:
        data = os.pread(fd, CHUNK_BYTES, size)
        if not data:
            break
        parts.append(data)
        size += len(data)
    return b"".join(parts)[: cap + 1]


def read_file(path, cap):
    """Return a file's bytes, at most cap + 1; raises OSError."""
    fd = os.open(path, OPEN_FLAGS)
    try:
        return read_fd(fd, cap)
    finally:
        os.close(fd)


def keep_lines(data, keep):
    """Return the lines that begin with one of the prefixes."""
    lines = [line for line in data.split(b"\n") if line.startswith(keep)]
    lines.append(b"")
    return b"\n".join(lines)


def bounded(data, cap, keep):
    """Return the status and text of what was read: whole lines up to the cap, those of the plan."""
    status = b"ok"
    if len(data) > cap:
        status = b"cut"
        data = data[: data.rfind(b"\n", 0, cap) + 1] or data[:cap]
    if keep:
        data = keep_lines(data, keep)
    return status, data


def clean(name):
    """Return a name fit for a section's head."""
    if name.isalnum():
        return name
    return bytes(c if c > 32 and c != 127 else (32 if c == 32 else 63) for c in name)


def key_shaped(value):
    """Return whether a value may be, or hold, a key, a signature or a password."""
    upper = value.upper()
    for mark in (b"PVT_", b"PUB_", b"SIG_", b"KEY:", b"PRIVATE KEY", b"PRIVATE_KEY", b"PRIVATE-KEY"):
        if mark in upper:
            return True
    _, found, rest = value.partition(b"://")
    if found and b"@" in rest.split(b"/", 1)[0]:
        return True
    run = 0
    for c in value:
        if 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122:
            run += 1
            if run >= KEY_RUN_CHARS:
                return True
        else:
            run = 0
    return False


def may_leave(value):
    """Return whether the value of an allowed option may leave the host."""
    return len(value) <= MAX_VALUE_BYTES and not key_shaped(value) and b"\t" not in value and b"\n" not in value


def plain_name(name):
    """Return an option's name if it can be nothing else, or a question mark."""
    rest = name.replace(b"-", b"").replace(b"_", b"").replace(b".", b"")
    return name if rest.isalnum() and len(name) <= 100 and not key_shaped(name) else b"?"


def filter_config(data, allowed):
    """Return the lines of a nodeos config file that may leave: number, option, and value if allowed.

    The grammar is boost's basic_config_file_iterator: # begins a comment anywhere, [section] prefixes names.
    """
    out = []
    prefix = b""
    for number, line in enumerate(data.split(b"\n"), 1):
        line = line.split(b"#", 1)[0].strip()
        if not line:
            continue
        if line.startswith(b"[") and line.endswith(b"]"):
            prefix = line[1:-1].strip().rstrip(b".") + b"."
            continue
        name, equals, value = line.partition(b"=")
        name = prefix + name.strip()
        value = value.strip()
        if equals and name in allowed and may_leave(value):
            out.append(b"%d\t%s\t%s\n" % (number, name, value))
        else:
            out.append(b"%d\t%s\t\n" % (number, plain_name(name) if equals else b"?"))
    return b"".join(out)


def filter_option(word, allowed):
    """Return an option word fit to leave, and whether the next word may as its value."""
    if word.startswith(b"--"):
        name, equals, value = word[2:].partition(b"=")
        known = name in allowed
        shown = b"--" + plain_name(name)
        if not equals:
            return shown, known
        return shown + b"=" + (value if known and may_leave(value) else b"***"), False
    letter, value = word[1:2], word[2:]
    known = letter in allowed
    if not value:
        return word if letter.isalpha() else b"***", known
    return b"-" + (letter if letter.isalpha() else b"?") + (value if known and may_leave(value) else b"***"), False


def filter_cmdline(data, allowed):
    """Return a command line (words ended by NUL) without any value that may not leave."""
    words = data.split(b"\0")
    if words and not words[-1]:
        words.pop()
    out = []
    open_value = False
    for index, word in enumerate(words):
        if index == 0:
            out.append(word if may_leave(word.rsplit(b"/", 1)[-1]) and len(word) <= 4096 else b"***")
        elif word.startswith(b"-") and len(word) > 1:
            word, open_value = filter_option(word, allowed)
            out.append(word)
        else:
            out.append(word if open_value and may_leave(word) else b"***")
            open_value = False
    return b"\0".join(out)


def log_time(head):
    """Return the time of a log line, 2026-01-31T12:00:00.000, or -."""
    for word in head.split()[:12]:
        if len(word) == 23 and word[10:11] == b"T" and word[4:5] == b"-" and word[:4].isdigit():
            return word if not word.translate(None, b"0123456789-:T.") else b"-"
    return b"-"


def filter_options_line(message, mark, allowed):
    """Return the ``name = value`` pairs of a log line that may leave."""
    shown = []
    for pair in message[len(mark) :].split(b","):
        name, equals, value = pair.strip().partition(b" = ")
        if name in allowed and may_leave(value):
            shown.append(name + equals + value)
    return mark + b" " + b", ".join(shown)


def filter_message(message):
    """Return a message up to its first word that may be a key, and not longer than some words."""
    shown = []
    for word in message[:MAX_LOG_LINE_BYTES].split(b" "):
        if key_shaped(word):
            break
        shown.append(word)
    return b" ".join(shown)[:MAX_MESSAGE_BYTES_SHOWN]


def filter_log(data, marks, allowed):
    """Return the lines of a log that hold one of the marks: time, tab, message from the mark on.

    A line without a time has ~ and that of the line before it, or - where there is none.
    """
    out = []
    last = b"-"
    if not any(mark in data for _, mark in marks):  # by far the most
        return b""
    for line in data.split(b"\n"):
        line = line[:MAX_LOG_LINE_BYTES].rstrip(b"\r").replace(b"\t", b" ")
        own = log_time(line[:200])
        if own != b"-":
            last = b"~" + own
        for kind, mark in marks:
            at = line.find(mark, 0, 400)
            if at >= 0:
                message = line[at:]
                shown = filter_options_line(message, mark, allowed) if kind == b"options" else filter_message(message)
                out.append(b"%s\t%s\n" % (own if own != b"-" else last, clean(shown)))
                break
    return b"".join(out)


def expand(pattern, root):
    """Return the paths that a pattern with * in its components names, sorted, without the root."""
    if b"*" not in pattern:
        return [pattern]
    found = [b""]
    for part in pattern.split(b"/")[1:]:
        if b"*" not in part:
            found = [path + b"/" + part for path in found]
            continue
        deeper = []
        for path in found:
            try:
                names = os.listdir(root + path + b"/")
            except OSError:
                continue
            deeper += [path + b"/" + name for name in names if fits(name, part)]
            if len(deeper) > MAX_GLOB:
                break
        found = deeper[:MAX_GLOB]
    return sorted(path for path in found if os.path.lexists(root + path))


def fits(name, pattern):
    """Return whether a name fits a pattern with stars."""
    parts = pattern.split(b"*")
    first, last = parts[0], parts[-1]
    if name.startswith(b".") and not first:
        return False
    if not name.startswith(first) or not name.endswith(last) or len(name) < len(first) + len(last):
        return False
    at = len(first)
    for part in parts[1:-1]:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return at <= len(name) - len(last)


class Reading:
    """One thing to read; the base reads a file, and keeps it open when it is due often.

    Where the lines of the plan stood is remembered as runs of whole lines (start, end, prefix of the first): a run
    that begins with its prefix and ends with a line end holds the same lines again, since numbers grow by single
    characters. ``size`` is what is asked of the kernel, and ``sure`` how long an answer can be that is known to be
    whole.
    """

    __slots__ = ("cap", "every", "fd", "head", "keep", "length", "name", "path", "runs", "size", "sure")

    kept = 0

    def __init__(self, name, path, every, keep, cap):
        self.name, self.path, self.every, self.keep, self.cap = clean(name), path, every, keep, cap
        self.fd = -1
        self.size, self.sure = CHUNK_BYTES, SURE_BYTES
        self.runs = ()  # None: nothing to look for, all of it is sent
        self.head, self.length = b"", -1

    def read(self):
        """Return (status, text); never raises OSError."""
        try:
            if self.fd >= 0:
                try:
                    text = self.again()
                    if text is not None:
                        return b"ok", text
                    data = read_fd(self.fd, self.cap)
                except OSError as error:
                    self.close()
                    if error.errno == errno.ESRCH:
                        return b"absent", b""
                    data = self.fetch()
            else:
                data = self.fetch()
        except OSError as error:
            return status_of(error)
        if self.fd >= 0:
            self.learn(data)
        return bounded(data, self.cap, self.keep)

    def again(self):
        """Return the text, read in one go as it was before; None when it has to be read anew. Raises OSError."""
        if self.runs == ():
            return None
        data = os.pread(self.fd, self.size, 0)
        if self.runs is None:
            return data if len(data) < self.sure else None
        pieces = []
        for start, end, prefix in self.runs:
            if data[end - 1 : end] != NEWLINE or not data.startswith(prefix, start):
                return None
            pieces.append(data[start:end])
        return b"".join(pieces)

    def learn(self, data):
        """Remember where the lines of the plan stand in what was read whole."""
        if not self.keep:
            self.runs = None
            self.size = TINY_BYTES if len(data) < TINY_BYTES - 100 else CHUNK_BYTES
            self.sure = min(self.size, SURE_BYTES)
            return
        self.runs, at, inside = [], 0, False
        for line in data.split(NEWLINE)[:-1]:
            end = at + len(line) + 1
            if not line.startswith(self.keep):
                inside = False
            elif inside:
                self.runs[-1] = (self.runs[-1][0], end, self.runs[-1][2])
            else:
                inside = True
                prefix = next(prefix for prefix in self.keep if line.startswith(prefix))
                self.runs.append((at, end, prefix))
            at = end
        if self.runs:  # and some lines more, for numbers that grow: the kernel writes no further than it is asked
            self.size = self.runs[-1][1] + 64

    def title(self, length):
        """Make the head of the section for texts of a length."""
        self.length = length
        self.head = b"%s\tok\t%d\n" % (self.name, length)

    def fetch(self):
        if not 0 < self.every <= KEPT_TICKS or Reading.kept >= MAX_KEPT_FDS:
            return read_file(self.path, self.cap)
        fd = os.open(self.path, OPEN_FLAGS)
        try:
            data = read_fd(fd, self.cap)
        except OSError:
            os.close(fd)
            raise
        if self.path.startswith((b"/proc/", b"/sys/")):
            self.fd = fd
            Reading.kept += 1
        else:  # may be replaced under its name
            os.close(fd)
        return data

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            Reading.kept -= 1


class ListReading(Reading):
    __slots__ = ()

    def fetch(self):
        return b"".join(clean(name) + b"\n" for name in sorted(os.listdir(self.path)))


class LinkReading(Reading):
    __slots__ = ()

    def fetch(self):
        return os.readlink(self.path)


class VfsReading(Reading):
    __slots__ = ()

    def fetch(self):
        vfs = os.statvfs(self.path)
        names = ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree", "f_flag")
        return "".join("%s %d\n" % (name, getattr(vfs, name)) for name in names).encode("ascii")


class PeekReading(Reading):
    """Size of a file, and a few bytes of it where it may be read; keep holds offset and count."""

    __slots__ = ()

    def read(self):
        try:
            info = os.stat(self.path)
            text = "size %d\nallocated %d\n" % (info.st_size, info.st_blocks * 512)
            if info.st_mode & 0o170000 != 0o100000:
                return b"failed", b"not a regular file"
            try:
                fd = os.open(self.path, OPEN_FLAGS)
                try:
                    data = os.pread(fd, min(int(self.keep[1]), MAX_PEEK_BYTES), int(self.keep[0]))
                finally:
                    os.close(fd)
                text += "bytes%s\n" % "".join(" %d" % byte for byte in data)
            except OSError:
                text += "bytes denied\n"
        except OSError as error:
            return status_of(error)
        return b"ok", text.encode("ascii")


class LogReading(Reading):
    """What a process has added to its log, as far as it may leave: its standard error or output, where that is a file.

    A pipe or a socket is never opened: what we read there would be missing elsewhere.
    """

    __slots__ = ("allowed", "at", "log", "marks", "rest")

    FILE_KINDS = {0o140000: b"a socket", 0o010000: b"a pipe", 0o020000: b"a device"}

    def read(self):
        try:
            if self.log < 0:
                kind = self.start()
                if kind is not None:
                    return b"failed", b"its log goes to " + kind
            data = self.rest + self.news()
        except OSError as error:
            return status_of(error)
        whole = data.rfind(b"\n") + 1
        self.rest = data[whole:][-MAX_LOG_LINE_BYTES:]
        return bounded(filter_log(data[:whole], self.marks, self.allowed), self.cap, ())

    def start(self):
        """Open the log; return what it is when it is no file."""
        kind = b"nowhere"
        for name in (b"2", b"1"):
            path = self.path + name
            mode = os.stat(path).st_mode & 0o170000
            if mode == 0o100000:
                fd = os.open(path, OPEN_FLAGS)
                if os.fstat(fd).st_mode & 0o170000 == mode:
                    self.log, self.at = fd, -1
                    return None
                os.close(fd)
            elif name == b"2":
                kind = self.FILE_KINDS.get(mode, b"something else")
        return kind

    def news(self):
        size = os.fstat(self.log).st_size
        if self.at < 0 and size > LOG_HEAD_BYTES + LOG_TAIL_BYTES:
            head = os.pread(self.log, LOG_HEAD_BYTES, 0)
            tail = os.pread(self.log, LOG_TAIL_BYTES, size - LOG_TAIL_BYTES)
            self.at = size
            return head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]
        start = 0 if size < self.at else max(self.at, 0)
        if size < self.at:  # truncated, as logrotate's copytruncate does
            self.rest = b""
        skipped = max(0, size - start - LOG_HEAD_BYTES - LOG_TAIL_BYTES)
        data = os.pread(self.log, size - start - skipped, start + skipped) if size > start else b""
        self.at = start + skipped + len(data)
        if skipped:
            self.rest = b""
            data = data[data.find(b"\n") + 1 :]
        return data

    def close(self):
        if self.log >= 0:
            os.close(self.log)
            self.log = -1


class CmdlineReading(Reading):
    __slots__ = ("allowed",)

    def fetch(self):
        data = read_file(self.path, self.cap)
        if len(data) > self.cap:  # the last word may be a piece of a key
            data = data[: data.rfind(b"\0", 0, self.cap) + 1]
        return filter_cmdline(data, self.allowed)


class ConfigReading(Reading):
    __slots__ = ("allowed",)

    def read(self):
        try:
            data = read_file(self.path, self.cap)
        except OSError as error:
            return status_of(error)
        status = b"ok"
        if len(data) > self.cap:  # the last line may hold a piece of a key
            status, data = b"cut", data[: data.rfind(b"\n", 0, self.cap) + 1]
        return status, filter_config(data, self.allowed)


class ThreadsReading(Reading):
    """CPU of a process's threads summed by thread name."""

    __slots__ = ()

    def fetch(self):
        sums = {}
        for tid in os.listdir(self.path)[:MAX_THREADS]:
            try:
                data = read_file(self.path + b"/" + tid + b"/stat", 4096)
            except OSError:
                continue
            end = data.rfind(b")")
            name = clean(data[data.find(b"(") + 1 : end])
            words = data[end + 2 :].split(None, 13)
            if len(words) < 13:
                continue
            total = sums.setdefault(name, [0, 0, 0])
            total[0] += int(words[11])
            total[1] += int(words[12])
            total[2] += 1
        rows = [b"%s %d %d %d\n" % ((name,) + tuple(total)) for name, total in sorted(sums.items())]
        return b"".join(rows)


PROCESS_FILES = frozenset(b"stat status io schedstat limits cgroup cmdline threads exe cwd log mountinfo".split())
PROCESS_READINGS = {
    b"threads": ThreadsReading,
    b"exe": LinkReading,
    b"cwd": LinkReading,
    b"cmdline": CmdlineReading,
    b"log": LogReading,
}
PROCESS_PATHS = {b"threads": b"task", b"log": b"fd/"}


class Target:
    """A matched process, or a child of one, with what is read of it."""

    def __init__(self, agent, pid, start, match_id, child):
        plan = agent.plan
        self.pid, self.match_id, self.child, self.fresh = pid, match_id, child, True
        base = agent.proc + b"/%d/" % pid
        self.stat_path = base + b"stat"
        self.start = start
        prefix = b"%s/%s/%d/%d/" % (b"child" if child else b"nodeos", match_id, pid, start)
        self.readings = []
        for every, name, keep in plan.child_files if child else plan.process_files:
            kind = PROCESS_READINGS.get(name, Reading)
            reading = kind(prefix + name, base + PROCESS_PATHS.get(name, name), every, keep, plan.read_bytes)
            if kind is CmdlineReading or kind is LogReading:
                reading.allowed = plan.allowed
            if kind is LogReading:
                reading.marks, reading.log, reading.rest = plan.marks, -1, b""
            self.readings.append(reading)

    def last_words(self):
        """Return (name, answer) of what can still be read when the process has ended: the end of its log."""
        return [(r.name, r.read()) for r in self.readings if type(r) is LogReading and r.log >= 0]

    def alive(self):
        try:
            data = read_file(self.stat_path, 4096)
            return parse_stat(data)[2] == self.start and not is_zombie(data)
        except (OSError, ValueError, IndexError):
            return False

    def close(self):
        for reading in self.readings:
            reading.close()


def parse_stat(data):
    """Return (comm, ppid, start ticks) of /proc/PID/stat; comm may hold blanks and parentheses."""
    end = data.rindex(b")")
    words = data[end + 2 :].split(None, 20)
    return data[data.index(b"(") + 1 : end], int(words[1]), int(words[19])


def is_zombie(stat):
    """Return whether /proc/PID/stat is of a process that has ended and was not waited for."""
    end = stat.rfind(b")")
    return stat[end + 2 : end + 3] in (b"Z", b"X")


YOUNG_S = 60  # a process that was started so lately is not yet what it will be
LOOKS, TURNS = 3, 30  # it is looked at in its first scans, and every process in one of so many


class Process:
    """What matching needs to know of a process."""

    __slots__ = ("comm", "ids", "is_kernel", "looked", "pid", "ppid", "start")

    def __init__(self, pid, comm, ppid, start):
        self.pid, self.comm, self.ppid, self.start = pid, comm, ppid, start
        self.ids = ()
        self.is_kernel = pid == 2 or ppid == 2  # kthreadd and its children never exec
        self.looked = 0


class Matcher:
    """Finds the processes of the plan's matches; looks closely at new processes only."""

    def __init__(self, proc, matches):
        self.proc, self.matches = proc, matches
        self.known = {}
        self.names = set()
        self.claimed = set()  # pids of processes that fit a match
        self.young = set()  # those that were looked at less than three times since they were started
        self.wheel = [set() for _ in range(TURNS)]  # by which turn all are looked at again
        self.clock_hz = os.sysconf("SC_CLK_TCK")
        self.children = {}  # pids by parent
        self.sorted = None
        self.scans = 0

    def scan(self):
        """Return ({pid: match id} of roots, {pid: match id} of children)."""
        self.scans += 1
        try:
            names = set(os.listdir(self.proc))
        except OSError:
            return {}, {}
        changed = names != self.names
        for name in self.names.difference(names):
            if name.isdigit():
                self.forget(int(name))
        fresh = [int(name) for name in names - self.names if name.isdigit()]
        self.names = names
        # A process may exec after it was first seen, and a pid may be used again.
        for pid in list(self.young | self.wheel[self.scans % TURNS]) + fresh:
            changed |= self.look(pid, self.known.get(pid))
        if changed or self.sorted is None:
            self.sorted = self.sort()
        return self.sorted

    def look(self, pid, process):
        """Take a closer look at a process; return whether it is not what it was."""
        try:
            stat = read_file(self.proc + b"/%d/stat" % pid, 4096)
            comm, ppid, start = parse_stat(stat)
        except (OSError, ValueError, IndexError):
            return self.forget(pid)
        before = process and (process.comm, process.ppid, process.ids)
        if process is None or process.start != start:
            before = None
            self.forget(pid)
            process = self.known[pid] = Process(pid, comm, ppid, start)
            self.names.add(b"%d" % pid)
            if not process.is_kernel:
                if boottime_ns() // NS * self.clock_hz < start + YOUNG_S * self.clock_hz:
                    self.young.add(pid)
                self.wheel[pid % TURNS].add(pid)
        elif ppid != process.ppid:
            self.leave(pid, process.ppid)
        self.children.setdefault(ppid, set()).add(pid)
        process.comm, process.ppid = comm, ppid
        process.looked += 1
        if process.looked >= LOOKS:
            self.young.discard(pid)
        process.ids = () if process.is_kernel or is_zombie(stat) else self.match(process)
        (self.claimed.add if process.ids else self.claimed.discard)(pid)
        return before != (comm, ppid, process.ids)

    def forget(self, pid):
        """Look anew at what has that pid at the next scan; return whether it was known."""
        process = self.known.pop(pid, None)
        self.names.discard(b"%d" % pid)
        for pids in (self.claimed, self.young, self.wheel[pid % TURNS]):
            pids.discard(pid)
        if process is not None:
            self.leave(pid, process.ppid)
        self.sorted = None
        return process is not None

    def leave(self, pid, ppid):
        """Take a process from the children of its parent."""
        pids = self.children.get(ppid, set())
        pids.discard(pid)
        if not pids:
            self.children.pop(ppid, None)

    def match(self, process):
        """Return the ids of the matches that a process fits; of its files only what they need is read."""
        self.line = self.exe = None
        return tuple(m[0] for m in self.matches if self.fits(m, process))

    def fits(self, match, process):
        kind, value = match[1], match[2]
        if kind == b"pid":
            return process.pid == int(value)
        if kind == b"exe_name":
            return self.exe_of(process) == value
        if kind == b"comm":
            return process.comm == value[:15]
        if kind == b"cmdline":
            return value in self.line_of(process).replace(b"\0", b" ") and not self.carries(process)
        try:
            cgroup = read_file(self.proc + b"/%d/cgroup" % process.pid, 65536)
        except OSError:
            return False
        found = any((b"/" + value + b"/") in row + b"/" for row in cgroup.split(NEWLINE))
        return found and not self.carries(process)

    def line_of(self, process):
        """Return the command line, words ended by NUL."""
        if self.line is None:
            try:
                self.line = read_file(self.proc + b"/%d/cmdline" % process.pid, 65536)
            except OSError:
                self.line = b""
        return self.line

    def exe_of(self, process):
        """Return the name of the program: of its file, or where that may not be known, as it was called."""
        if self.exe is None:
            try:
                exe = os.readlink(self.proc + b"/%d/exe" % process.pid)
                if exe.endswith(b" (deleted)"):
                    exe = exe[:-10]
            except OSError:
                exe = self.line_of(process).split(b"\0", 1)[0]
            self.exe = exe.rsplit(b"/", 1)[-1] or process.comm
        return self.exe

    def carries(self, process):
        """Return whether it is a program whose command line may name nodeos without being it."""
        called = self.line_of(process).split(b"\0", 1)[0].rsplit(b"/", 1)[-1].lstrip(b"-")
        return called in CARRIERS or self.exe_of(process) in CARRIERS

    def ancestors(self, pid):
        """Return the known ancestors of a process, nearest first."""
        found = []
        process = self.known.get(pid)
        while process is not None and process.ppid and process.ppid not in found and len(found) < 64:
            found.append(process.ppid)
            process = self.known.get(process.ppid)
        return found

    def sort(self):
        own = os.getpid()
        mine = set(self.ancestors(own))
        mine.add(own)
        matched = {}
        for pid in self.claimed:
            process = self.known[pid]
            if pid not in mine and process.comm not in NEVER_ROOTS and own not in self.ancestors(pid):
                matched[pid] = process.ids[0]
        roots = {}
        for pid, match_id in matched.items():
            if not any(parent in matched for parent in self.ancestors(pid)):
                roots[pid] = match_id
        return roots, self.below(roots)

    def below(self, roots):
        """Return {pid: match id} of what descends from the roots, one generation after the other."""
        found = {}
        parents = roots
        while parents:
            born = [(pid, match_id) for at, match_id in parents.items() for pid in self.children.get(at, ())]
            parents = dict((pid, match_id) for pid, match_id in born if pid not in roots and pid not in found)
            found.update(parents)
        return found


def unescape(field):
    """Return a field of mountinfo without its octal escapes."""
    for escape, char in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        field = field.replace(escape, char)
    return field


class Cgroups:
    """Where the cgroups of a process are: v2, v1 or both beside each other."""

    def __init__(self, agent):
        self.proc, self.root = agent.proc, agent.plan.root
        self.unified = None
        self.controllers = {}
        try:
            mounts = read_file(agent.proc + b"/self/mountinfo", 4 << 20)
        except OSError:
            mounts = b""
        for line in mounts.split(b"\n"):
            left, _, right = line.partition(b" - ")
            left, right = left.split(b" "), right.split(b" ")
            if len(left) < 5 or len(right) < 3:
                continue
            place = (unescape(left[3]), unescape(left[4]))
            if right[0] == b"cgroup2":
                self.unified = self.unified or place
            elif right[0] == b"cgroup":
                for controller in right[2].split(b","):
                    self.controllers.setdefault(controller, place)

    def folders(self, pid):
        """Return ({controller, "" for v2: folder}, path of the process's cgroup)."""
        found, shown = {}, b"/"
        for line in read_file(self.proc + b"/%d/cgroup" % pid, 65536).split(b"\n"):
            words = line.split(b":", 2)
            if len(words) != 3:
                continue
            if not words[1] and self.unified:
                found[b""] = self.folder(self.unified, words[2])
            for controller in words[1].split(b","):
                if controller in self.controllers:
                    found[controller] = self.folder(self.controllers[controller], words[2])
            if len(words[2]) > len(shown):
                shown = words[2]
        return found, shown

    def folder(self, place, path):
        base, point = place
        if base != b"/" and (path + b"/").startswith(base + b"/"):
            path = path[len(base) :]
        return self.root + point.rstrip(b"/") + path.rstrip(b"/")

    def pids_below(self, folder):
        """Return the pids in a cgroup and the cgroups below it, or None if that cannot be read."""
        pids, stack, seen = set(), [folder], 0
        while stack:
            folder = stack.pop()
            seen += 1
            if seen > 100:
                return None
            try:
                pids.update(int(word) for word in read_file(folder + b"/cgroup.procs", 1 << 20).split())
                if os.stat(folder).st_nlink == 2:  # the kernel counts the folders in it
                    continue
                for name in os.listdir(folder):
                    if os.path.isdir(folder + b"/" + name):
                        stack.append(folder + b"/" + name)
            except (OSError, ValueError):
                return None
        return pids


class CgroupTarget:
    """The cgroup of a matched process, with what is read of it."""

    def __init__(self, agent, target):
        plan, cgroups = agent.plan, agent.cgroups
        self.match_id, self.pid, self.fresh = target.match_id, target.pid, True
        self.prefix = b"cgroup/" + target.match_id + b"/"
        self.readings = []
        try:
            self.folders, self.path = cgroups.folders(target.pid)
        except OSError:
            self.folders, self.path = {}, b""
        for every, name, keep in plan.cgroup_files:
            for path, kept in self.places(name, keep):
                real = path.rsplit(b"/", 1)[-1]
                self.readings.append(Reading(self.prefix + real, path, every, kept, plan.read_bytes))

    def places(self, name, keep):
        """Return the files to read for a v2 name, with the lines to keep of each."""
        unified = self.folders.get(b"")
        if unified and os.path.lexists(unified + b"/" + name):
            return [(unified + b"/" + name, keep)]
        controller, names = CGROUP1_FILES[name]
        folder = self.folders.get(controller)
        found = [folder + b"/" + n for n in names if os.path.lexists(folder + b"/" + n)] if folder else []
        if found:  # the v2 prefixes do not fit here; a sum over the groups below holds what its twin without them has
            return [(path, ()) for path in found if path + b"_recursive" not in found]
        return [((unified or b"/nonexistent") + b"/" + name, keep)]

    def hint(self, cgroups, family):
        """Return whether the cgroup holds this process and its children alone."""
        folder = self.folders.get(b"memory") or self.folders.get(b"cpuacct") or self.folders.get(b"")
        pids = cgroups.pids_below(folder) if folder and self.path != b"/" else None
        return b"own %d\npath %s\n" % (pids is not None and bool(pids) and pids <= family, clean(self.path))

    def close(self):
        for reading in self.readings:
            reading.close()


HTTP_REQUEST = (
    b"GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: leapprof\r\nAccept: */*\r\nConnection: close\r\n\r\n"
)


def place_of(address):
    """Return (family, place) of the address of an HTTP server, or None when it is none that is numeric."""
    if address.startswith(b"/"):
        return socket.AF_UNIX, address
    host, _, port = address.decode("ascii", "replace").rpartition(":")
    host = {"localhost": "127.0.0.1", "0.0.0.0": "127.0.0.1", "": "127.0.0.1", "[::]": "::1"}.get(host, host).strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.inet_pton(family, host)
    except OSError:
        return None
    return (family, (host, int(port))) if port.isdigit() and 0 < int(port[:6]) < 65536 else None


class HttpCall:
    """One GET, bounded in bytes and time."""

    def __init__(self, spec, now):
        _, self.name, self.place, self.request, self.max_bytes, timeout_ms, self.keep = spec
        self.started = now
        self.deadline = now + timeout_ms * 1000000
        self.data = b""
        self.fields, self.body_at = None, 0
        self.result = None
        self.sock = None
        if self.place is None:
            self.result = b"failed", b"not a numeric address"
            return
        try:
            self.connect()
        except OSError as error:
            self.fail(error)

    def connect(self):
        # the type below socket.socket, whose methods are written in Python
        self.sock = socket.SocketType(self.place[0], socket.SOCK_STREAM)
        self.sock.setblocking(False)
        code = self.sock.connect_ex(self.place[1])
        if code not in (0, errno.EINPROGRESS):
            raise OSError(code, os.strerror(code))
        self.ready(self.started)  # a server of the same machine can be written to at once

    def fileno(self):
        return self.sock.fileno()

    @property
    def writes(self):
        return bool(self.request)

    def ready(self, now):
        """Go on: write the request, then read the answer."""
        try:
            if self.request:
                self.request = self.request[self.sock.send(self.request) :]
                return
            data = self.sock.recv(CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.fail(error)
            return
        self.data += data
        if len(self.data) > self.max_bytes:
            self.data = self.data[: self.max_bytes]
            self.finish(now, False)
        elif not data or self.whole():
            self.finish(now, not data)

    def whole(self):
        if self.fields is None:
            head, found, _ = self.data.partition(b"\r\n\r\n")
            if not found:
                return False
            self.fields, self.body_at = header_fields(head), len(head) + 4
        if self.fields.get(b"transfer-encoding", b"").lower() == b"chunked":
            return dechunk(self.data[self.body_at :])[1]
        length = self.fields.get(b"content-length", b"")
        return length.isdigit() and len(length) < 16 and len(self.data) - self.body_at >= int(length)

    def finish(self, now, closed):
        self.close()
        head, found, body = self.data.partition(b"\r\n\r\n")
        words = head.split(b"\r\n", 1)[0].split(None, 2)
        if not found or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
            self.result = b"failed", b"not an HTTP answer"
            return
        fields = header_fields(head) if self.fields is None else self.fields
        status = b"ok"
        if fields.get(b"transfer-encoding", b"").lower() == b"chunked":
            body, complete = dechunk(body)
            status = b"ok" if complete else b"cut"
        elif fields.get(b"content-length", b"").isdigit():
            length = int(fields[b"content-length"][:16])
            status = b"ok" if len(body) >= length else b"cut"
            body = body[:length]
        elif not closed:
            status = b"cut"
        if status == b"cut":
            body = body[: body.rfind(b"\n") + 1] or body
        if self.keep:
            body = keep_lines(body, self.keep)
        server = clean(fields.get(b"server", b""))[:200]
        self.result = status, b"%s %d %s\n" % (words[1][:3], (now - self.started) // 1000, server) + body

    def check(self, now):
        if self.result is None and now >= self.deadline:
            self.close()
            self.result = b"failed", b"no answer within %d ms" % ((self.deadline - self.started) // 1000000)

    def fail(self, error):
        self.close()
        self.result = b"failed", (os.strerror(error.errno) if error.errno else "failed").encode("ascii", "replace")

    def close(self):
        if self.sock is not None:
            self.sock.close()


def header_fields(head):
    """Return the fields of a response head, names in small letters."""
    fields = {}
    for line in head.split(b"\r\n")[1:200]:
        name, _, value = line.partition(b":")
        fields[name.strip().lower()] = value.strip()
    return fields


def dechunk(body):
    """Return the bytes of a chunked body, and whether its last chunk is there."""
    parts, at = [], 0
    while True:
        end = body.find(b"\r\n", at)
        if end < 0:
            return b"".join(parts), False
        try:
            size = int(body[at:end].split(b";", 1)[0].strip() or b"x", 16)
        except ValueError:
            return b"".join(parts), False
        if size <= 0:
            return b"".join(parts), size == 0
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
        if at > len(body):
            return b"".join(parts), False


class CommandCall:
    """A command that the operator allowed: its words as they are, no shell, bounded in bytes and time."""

    writes = False
    kind = b"command/"

    def __init__(self, name, work, now, timeout_ns=COMMAND_TIMEOUT_NS):
        self.name = clean(self.kind + name)
        self.work = work
        self.started, self.deadline = now, now + timeout_ns
        self.parts, self.size, self.result = [], 0, None
        self.log = None
        self.fd, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self.become(writer)
        os.close(writer)
        os.set_blocking(self.fd, False)

    def become(self, writer):
        """Do the work in the child; never returns."""
        run_child(self.work, writer)

    def fileno(self):
        return self.fd

    def ready(self, now):
        try:
            data = os.read(self.fd, CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self.parts.append(data)
        self.size += len(data)
        if not data or self.size > COMMAND_BYTES:
            self.finish(b"ok" if not data else b"cut")

    def finish(self, status):
        if status != b"ok":
            self.kill()
        os.close(self.fd)
        # stdout is closed: the command has ended or is about to
        code, limit = None, boottime_ns() + NS
        while code is None:
            pid, ended = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = -(ended & 127) if ended & 127 else ended >> 8
            elif boottime_ns() > limit:
                self.kill()
                limit += NS
            else:
                time.sleep(0.001)
        self.result = status, self.told(b"".join(self.parts), code)[:COMMAND_BYTES]

    def told(self, text, code):
        """Return what may leave of what the child wrote."""
        if self.log is not None:  # whole lines only: half of one may be half of a key
            text = filter_log(text[: text.rfind(b"\n") + 1], *self.log)
        return b"exit %d\n" % code + text

    def check(self, now):
        if self.result is None and now >= self.deadline:
            self.finish(b"failed")
            self.result = b"failed", b"did not end within %d s" % ((self.deadline - self.started) // NS)

    def kill(self):
        try:
            os.killpg(self.pid, 9)
        except OSError:
            pass

    def close(self):
        if self.result is None:
            self.finish(b"failed")


class ConnectCall(CommandCall):
    """TCP connections to the one address that the operator named, in a child so that nothing else delays them."""

    kind = b"connect/"

    def become(self, writer):
        make_connections(self.work, writer)

    def told(self, text, code):
        return text[: text.rfind(b"\n") + 1]


def make_connections(work, writer):
    """Connect so many times and write how long each took; never returns.

    Lines ``family 4`` or ``family 6``, then ``<boottime_ns> <ns, timeout, or the name of the error>`` a try.
    """
    try:
        leave(writer)
        address, count, interval_ms, timeout_ms, wanted = work
        host, _, port = address.rpartition(b":")
        families = {b"4": socket.AF_INET, b"6": socket.AF_INET6}
        start = boottime_ns()
        try:
            wanted = families.get(wanted, socket.AF_UNSPEC)
            found = socket.getaddrinfo(host.strip(b"[]"), int(port), wanted, socket.SOCK_STREAM)[0]
        except (OSError, ValueError):
            os.write(1, b"%d name\n" % start)
            os._exit(0)
        os.write(1, b"family %d\n" % (6 if found[0] == socket.AF_INET6 else 4))
        start = boottime_ns()
        for number in range(count):
            left = start + number * interval_ms * 1000000 - boottime_ns()
            if left > 0:
                time.sleep(left / 1e9)
            at = boottime_ns()
            os.write(1, b"%d %s\n" % (at, connect_once(found[0], found[4], timeout_ms / 1e3)))
    finally:
        os._exit(0)


def connect_once(family, place, timeout_s):
    """Return how long a connection took to be made, in nanoseconds, or why it was not."""
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        return errno.errorcode.get(error.errno, "failed").encode("ascii")
    try:
        sock.settimeout(timeout_s)
        began = boottime_ns()
        sock.connect(place)
        return b"%d" % (boottime_ns() - began)
    except socket.timeout:
        return b"timeout"
    except OSError as error:
        return errno.errorcode.get(error.errno, "failed").encode("ascii")
    finally:
        sock.close()


def leave(writer):
    """Become a session of its own that holds nothing of the agent's but the pipe, as its output."""
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(writer, 1)
    os.dup2(null, 2)
    os.closerange(3, 1024)  # the pipe's other end too: without it a write fails when the agent is gone


def run_child(argv, writer):
    """Become the command; never returns."""
    try:
        leave(writer)
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        os.execvpe(argv[0], argv, {"PATH": path, "LC_ALL": "C"})
    except OSError:
        pass
    finally:
        os._exit(127)


def whole_number(text):
    if not text.isdigit() or len(text) > 18:
        raise BadPlanError("not a number: %r" % text[:40])
    return int(text)


NUMBERS = frozenset(
    "interval_ms ticks scan_every_ticks heartbeat_s queue_bytes read_bytes send_every_ticks".split()
)


class Plan:
    """A decoded plan; words are bytes, as the kernel's are."""

    def __init__(self, data):
        self.interval_ms, self.ticks, self.scan_every_ticks, self.heartbeat_s = 1000, 0, 10, 60
        self.queue_bytes, self.read_bytes, self.root = 1 << 20, 262144, b""
        self.send_every_ticks = 1
        self.spool, self.spool_bytes = None, 0
        self.allowed = frozenset()
        self.host, self.matches, self.configs, self.commands, self.https = [], [], [], [], []
        self.process_files, self.child_files, self.cgroup_files = [], [], []
        self.connects = []
        self.action = None
        self.marks = []
        allowed = set()
        lines = data.split(b"\n")
        if lines[0] != b"leapprof-plan\t1" or lines[-2:] != [b"end", b""]:
            raise BadPlanError("not a plan of format 1")
        for line in lines[1:-2]:
            words = line.split(b"\t")
            try:
                if words[0] == b"allow":
                    allowed.add(words[1])
                else:
                    self.take(words[0], words[1:])
            except (IndexError, ValueError):
                raise BadPlanError("a line of its plan has too few fields: %r" % line[:80]) from None
        self.allowed = frozenset(allowed)
        if self.interval_ms < 10 or min(self.scan_every_ticks, self.heartbeat_s, self.send_every_ticks) < 1:
            raise BadPlanError("a period is too short")

    def take(self, word, rest):
        name = word.decode("ascii", "replace")
        if name in NUMBERS:
            setattr(self, name, whole_number(rest[0]))
        elif name in ("read", "list", "link", "statvfs", "peek"):
            if not rest[1].startswith(b"/"):
                raise BadPlanError("not an absolute path: %r" % rest[1][:80])
            if name == "peek":
                whole_number(rest[2]), whole_number(rest[3])
            self.host.append((name, whole_number(rest[0]), rest[1], tuple(rest[2:])))
        elif name in ("process", "child", "cgroup"):
            item = (whole_number(rest[0]), rest[1], tuple(rest[2:]))
            if rest[1] not in (CGROUP1_FILES if name == "cgroup" else PROCESS_FILES):
                raise BadPlanError("not a file of a process or cgroup: %r" % rest[1][:80])
            getattr(self, name + "_files").append(item)
        elif name == "match":
            if rest[1] not in (b"exe_name", b"comm", b"cmdline", b"pid", b"unit"):
                raise BadPlanError("not a kind of match: %r" % rest[1][:80])
            if rest[1] == b"pid":
                whole_number(rest[2])
            self.matches.append((rest[0], rest[1], rest[2]))
        else:
            self.take_call(name, rest)

    def take_call(self, name, rest):
        if name == "http":
            numbers = whole_number(rest[0]), whole_number(rest[4]), whole_number(rest[5])
            host = b"localhost" if rest[2].startswith(b"/") else rest[2]
            request = HTTP_REQUEST % (rest[3], host)
            place = place_of(rest[2])
            name = clean(b"http/" + rest[1] + rest[3])
            self.https.append((numbers[0], name, place, request, numbers[1], numbers[2], tuple(rest[6:])))
        elif name == "connect":
            numbers = tuple(whole_number(word) for word in rest[1:4])
            if not 0 < numbers[0] <= MAX_CONNECTIONS:
                raise BadPlanError("not so many connections: %d" % numbers[0])
            self.connects.append((rest[0],) + numbers + (rest[4],))
        elif name == "config":
            self.configs.append((rest[0], rest[1], frozenset(rest[2:])))
        elif name in ("command", "logcommand"):
            rest[1]  # at least one word
            self.commands.append((rest[0], rest[1:], name == "logcommand"))
        elif name == "logmark":
            self.marks.append((rest[0], rest[1]))
        elif name == "root":
            self.root = rest[0]
        elif name == "spool":
            self.spool, self.spool_bytes = rest[0], whole_number(rest[1])
        elif name == "action":
            if rest[0] not in (b"attach", b"list", b"stop", b"clean"):
                raise BadPlanError("an unknown action: %r" % rest[0][:40])
            rest[1], rest[2 if rest[0] == b"attach" else 1]  # all of its fields
            self.action = rest
        else:
            raise BadPlanError("an unknown directive: %r" % name[:40])


HOST_READINGS = {
    "read": Reading,
    "list": ListReading,
    "link": LinkReading,
    "statvfs": VfsReading,
    "peek": PeekReading,
}


class Output:
    """stdout: never blocks, holds a bounded number of bytes, drops the oldest whole frames."""

    def __init__(self, limit):
        self.limit = limit
        self.queue = []  # [seq, key seq, bytes]
        self.size = 0
        self.sent = 0  # of the first
        self.dropped = 0
        self.lost_key = 0

    def put(self, seq, key_seq, data):
        self.queue.append((seq, key_seq, data))
        self.size += len(data)
        first = 1 if self.sent else 0
        while self.size > self.limit and len(self.queue) > first + 1:
            gone = self.queue[first]
            self.drop(first)
            if gone[0] == gone[1]:  # a key frame: what hangs on it cannot be decoded
                self.lost_key = gone[0]
                while len(self.queue) > first and self.queue[first][1] == gone[0]:
                    self.drop(first)

    def drop(self, index):
        self.size -= len(self.queue.pop(index)[2])
        self.dropped += 1

    def flush(self):
        while self.queue:
            waiting = [item[2] for item in self.queue[:MAX_AT_ONCE]]
            if self.sent:
                waiting[0] = waiting[0][self.sent :]
            try:
                self.sent += os.writev(1, waiting)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # nobody listens any more
                os._exit(0)
            while self.queue and self.sent >= len(self.queue[0][2]):
                size = len(self.queue.pop(0)[2])
                self.size -= size
                self.sent -= size


# Against a dictionary level 3 packs as small as 6, in half the time; a small window is copied faster for each frame.
LEVEL = 3
WINDOWS = ((7000, 13, 6), (14000, 14, 7), (MAX_RAW_BYTES * 2, 15, 8))  # up to so many bytes: window bits, memory level


class Encoder:
    """Makes frames: numbers them and compresses them against the last key frame."""

    def __init__(self):
        self.run = b"%08x" % int.from_bytes(os.urandom(4), "big")
        self.seq = 0
        self.key_seq = 0
        self.key_size = 0
        self.deflater = None
        self.next_is_key = True

    def encode(self, numbers, raw, key_due):
        """Return (seq, key seq, the frame's bytes)."""
        self.seq += 1
        if self.next_is_key or key_due or self.deflater is None:
            kind, payload = b"k", self.key(raw)
        else:
            deflater = self.deflater.copy()
            kind, payload = b"d", deflater.compress(raw) + deflater.flush()
            self.next_is_key = len(payload) * 2 > self.key_size
        head = b"LPF1 %s %d %d %d %d %d %s %d %s %d %d %d " % (
            (self.run, self.seq) + numbers + (kind, self.key_seq, len(raw), len(payload))
        )
        crc = zlib.crc32(payload, zlib.crc32(head))
        return self.seq, self.key_seq, b"%s%08x\n%s" % (head, crc, payload)

    def key(self, raw):
        deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
        payload = deflater.compress(raw) + deflater.flush()
        window, memory = next(sizes[1:] for sizes in WINDOWS if len(raw) <= sizes[0])
        self.deflater = zlib.compressobj(
            LEVEL, zlib.DEFLATED, -window, memory, zlib.Z_DEFAULT_STRATEGY, raw[-DICTIONARY_BYTES:]
        )
        self.key_seq, self.key_size, self.next_is_key = self.seq, len(payload), False
        return payload


class Sampler:
    """One plan at work: what is read at each tick."""

    def __init__(self, plan, encoder):
        self.plan, self.encoder = plan, encoder
        self.proc = plan.root + b"/proc"
        self.page = os.sysconf("SC_PAGE_SIZE")
        self.statm = Reading(b"statm", b"/proc/self/statm", 1, (), 4096)
        self.rss = 0
        self.tick_no = 0
        self.first_deadline = self.deadline = boottime_ns()
        self.interval = plan.interval_ms * 1000000
        self.stretch = self.scan_stretch = 1
        self.late = 0
        self.notes_sent = None
        self.calls = []
        self.pending = None
        self.urgent = True  # something was found or has ended: its frame does not wait for others
        self.hold_until = 0
        self.host = []  # [every, pattern, make, readings]
        order = {0: -1000000}
        for word, every, path, keep in sorted(plan.host, key=lambda item: order.get(item[1], -item[1])):
            self.host.append([every, word, path, keep, None])
        self.matcher = Matcher(self.proc, plan.matches)
        self.cgroups = Cgroups(self) if plan.cgroup_files else None
        self.targets, self.cgroup_targets = {}, []
        self.scan_at = 0
        self.sends = plan.send_every_ticks
        self.hot, self.slow = (), ()  # what is due at every tick, with its process; what is at some
        self.slow_at = self.all_at = 0  # before slow_at nothing is slow; at all_at files are looked for anew
        self.starred = frozenset(item[1] for item in plan.host if item[1] > 1 and b"*" in item[2])
        periods = [item[1] for item in plan.host] + [item[0] for item in plan.https]
        periods += [item[0] for item in plan.process_files + plan.child_files + plan.cgroup_files]
        self.periods = frozenset(period for period in periods if period > 1)

    def due(self, every, final):
        n = self.tick_no
        if every == 1 or n == 0 or final:
            return True
        return every > 0 and n % (every * self.stretch) == 0

    def done(self):
        return self.plan.ticks and self.tick_no >= self.plan.ticks and self.pending is None

    def begin(self, final):
        """Read what is due; the frame goes out with finish(), at once or when its answers are there."""
        now = boottime_ns()
        self.pending = (now, wall_ns(), self.deadline)
        self.body = []
        self.wait_all = final or (self.plan.ticks and self.tick_no + 1 >= self.plan.ticks)
        n = self.tick_no
        if final or n >= self.all_at or not (self.read_hot() if n < self.slow_at else self.read_due(now)):
            self.read_all(now, final)
        took = boottime_ns() - now
        if took * 2 > self.interval or self.late:
            self.note_cost(took)
        self.hold_until = now + took + (END_TIMEOUT_NS if self.wait_all else min(HOLD_NS, self.interval // 4))
        self.tick_no += 1

    def read_hot(self):
        """Read what is due at every tick, in the shortest way; return False when a process has ended."""
        body = self.body
        mark = len(body)
        for reading, target in self.hot:
            text = None
            if reading.fd >= 0:
                try:
                    text = reading.again()
                except OSError:
                    pass
            if text is None:
                status, text = reading.read()
                self.add(reading.name, (status, text))
                if status == b"absent" and target is not None and not target.alive():
                    del body[mark:]
                    return False
            else:
                if len(text) != reading.length:
                    reading.title(len(text))
                body += (reading.head, text, NEWLINE)
            if target is not None and reading.path == target.stat_path and is_zombie(text):
                del body[mark:]
                return False
        return True

    def read_due(self, now):
        """Read what is due at every tick, and beside it; return False when processes came or went."""
        self.start_calls(now, False)
        if self.plan.matches and self.tick_no >= self.scan_at and self.scan():
            return False
        if not self.read_hot():
            return False
        for reading in self.slow:
            if self.due(reading.every, False):
                self.add(reading.name, reading.read())
        self.plan_ticks()
        return True

    def read_all(self, now, final):
        """Read all that is due, and find out anew what that is."""
        if self.tick_no % LOOK_AGAIN == 0:
            for reading, _ in self.hot:
                reading.runs = ()
        self.start_calls(now, final)
        if self.plan.matches and (self.tick_no >= self.scan_at or final):
            self.scan()
        self.read_configs(final)
        self.read_cgroups(final)
        for item in self.host:
            every = item[0]
            if every == 1 or self.due(every, final):
                for reading in self.host_readings(item, final):
                    self.add(reading.name, reading.read())
        self.read_targets(final)
        found = [(r, None) for cgroup in self.cgroup_targets for r in cgroup.readings]
        found += [(r, None) for item in self.host for r in item[4] or ()]
        found += [(r, target) for target in self.targets.values() for r in target.readings]
        self.hot = [pair for pair in found if pair[0].every == 1]
        self.slow = [reading for reading, _ in found if reading.every > 1]
        self.plan_ticks()

    def plan_ticks(self):
        """Say until which tick nothing is due but what is due at every tick, or at some, of the same files."""
        n = self.tick_no

        def following(periods):
            return [n - n % period + period for period in periods]

        self.all_at = min(following([LOOK_AGAIN] + [every * self.stretch for every in self.starred]))
        slow = following([every * self.stretch for every in self.periods])
        if self.plan.matches:
            slow.append(self.scan_at)
        self.slow_at = min(slow + [self.all_at])

    def add(self, name, answer):
        self.body += (b"%s\t%s\t%d\n" % (name, answer[0], len(answer[1])), answer[1], NEWLINE)

    def host_readings(self, item, final):
        every, word, path, keep, readings = item
        starred = b"*" in path
        if readings is not None and not (starred and (every != 1 or final or self.tick_no % 60 == 0)):
            return readings
        known = {reading.path: reading for reading in readings or ()}
        prefix = b"" if word == "read" else word.encode("ascii") + b":"
        fresh = []
        for found in expand(path, self.plan.root):
            reading = known.pop(self.plan.root + found, None)
            if reading is None:
                kind = HOST_READINGS[word]
                reading = kind(prefix + found, self.plan.root + found, every, keep, self.plan.read_bytes)
            fresh.append(reading)
        for reading in known.values():
            reading.close()
        item[4] = fresh
        return fresh

    def scan(self):
        """Look for processes; return whether some came or went."""
        began = boottime_ns()
        roots, children = self.matcher.scan()
        found = dict((pid, (roots[pid], False)) for pid in roots)
        if self.plan.child_files:
            found.update((pid, (children[pid], True)) for pid in children)
        before = dict(self.targets)
        for pid, target in list(self.targets.items()):
            if pid not in found or self.matcher.known[pid].start != target.start:
                target.close()
                del self.targets[pid]
        for pid in sorted(found):
            if pid not in self.targets:
                match_id, child = found[pid]
                self.targets[pid] = Target(self, pid, self.matcher.known[pid].start, match_id, child)
        changed = before != self.targets  # the same pid may be another process
        self.urgent = self.urgent or changed
        self.scan_cgroups(children)
        missing = any(m[0] not in roots.values() for m in self.plan.matches)
        period = min(2, self.plan.scan_every_ticks) if missing else self.plan.scan_every_ticks
        if (boottime_ns() - began) * 5 > self.interval and self.scan_stretch < MAX_STRETCH and self.tick_no:
            self.scan_stretch *= 2
        self.scan_at = self.tick_no + period * self.scan_stretch
        return changed

    def scan_cgroups(self, children):
        if not self.cgroups:
            return
        first = {}
        for pid, target in sorted(self.targets.items()):
            if not target.child:
                first.setdefault(target.match_id, target)
        kept = [c for c in self.cgroup_targets if first.get(c.match_id) and first[c.match_id].pid == c.pid]
        for old in self.cgroup_targets:
            if old not in kept:
                old.close()
        known = set(c.match_id for c in kept)
        kept += [CgroupTarget(self, t) for match_id, t in sorted(first.items()) if match_id not in known]
        self.cgroup_targets = kept
        for cgroup in kept:
            family = set(pid for pid, match_id in children.items() if match_id == cgroup.match_id)
            family.add(cgroup.pid)
            self.add(cgroup.prefix + b"pids", (b"ok", cgroup.hint(self.cgroups, family)))

    def read_configs(self, final):
        if self.tick_no and not final:
            return
        for match_id, path, options in self.plan.configs:
            reading = ConfigReading(b"config/" + match_id, self.plan.root + path, 0, (), self.plan.read_bytes)
            reading.allowed = options or self.plan.allowed
            self.add(reading.name, reading.read())

    def read_cgroups(self, final):
        for cgroup in self.cgroup_targets:
            for reading in cgroup.readings:
                if cgroup.fresh or self.due(reading.every, final):
                    self.add(reading.name, reading.read())
            cgroup.fresh = False

    def read_targets(self, final):
        for target in list(self.targets.values()):
            mark = len(self.body)
            absent = False
            for reading in target.readings:
                if reading.every == 1 or target.fresh or self.due(reading.every, final):
                    answer = reading.read()
                    if answer[0] == b"absent" or (reading.path == target.stat_path and is_zombie(answer[1])):
                        absent = True
                    self.add(reading.name, answer)
            target.fresh = False
            if absent and not target.alive():  # it ended while it was read: not half a process
                del self.body[mark:]
                for name, answer in target.last_words():
                    self.add(name, answer)
                target.close()
                del self.targets[target.pid]
                self.matcher.forget(target.pid)
                self.scan_at = self.tick_no + 1
                self.urgent = True

    def start_calls(self, now, final):
        for spec in self.plan.https:
            if self.due(spec[0], final) and not any(call.name == spec[1] for call in self.calls):
                self.calls.append(HttpCall(spec, now))
        if self.tick_no == 0:
            self.start_connections(now)
        if self.tick_no == 0 or final:
            for name, argv, is_log in self.plan.commands:
                if not any(call.name == b"command/" + name for call in self.calls):
                    try:
                        self.calls.append(CommandCall(name, argv, now))
                        self.calls[-1].log = (self.plan.marks, self.plan.allowed) if is_log else None
                    except OSError as error:
                        self.add(clean(b"command/" + name), status_of(error))

    def start_connections(self, now):
        for work in self.plan.connects:
            longest = COMMAND_TIMEOUT_NS + work[1] * max(work[2], work[3]) * 1000000
            try:
                self.calls.append(ConnectCall(work[0], work, now, longest))
            except OSError as error:
                self.add(clean(b"connect/" + work[0]), status_of(error))

    def note_cost(self, took):
        """Stretch the slow groups when reading takes more than half of the interval, three times running."""
        self.late = self.late + 1 if took * 2 > self.interval and self.tick_no else 0
        if self.late >= 3 and self.stretch < MAX_STRETCH:
            self.stretch *= 2
            self.late = self.slow_at = 0

    def notes(self):
        lines = [b"kind python"]
        if self.stretch > 1:
            lines.append(b"stretched slow %d" % self.stretch)
        if self.scan_stretch > 1:
            lines.append(b"stretched scan %d" % self.scan_stretch)
        lines.append(b"")
        return b"\n".join(lines)

    def sends_now(self):
        """Return whether the frame that was made last is sent at once, with those that waited for it."""
        urgent, self.urgent = self.urgent, False
        return urgent or self.wait_all or self.tick_no <= AT_ONCE_TICKS or (self.tick_no - 1) % self.sends == 0

    def ready_to_finish(self, now):
        if self.pending is None:
            return False
        return not self.calls or now >= self.hold_until or not any(c.result is None for c in self.calls)

    def finish(self, dropped):
        """Return (seq, key seq, bytes) of the pending frame."""
        return self.encoder.encode(*self.make(dropped))

    def make(self, dropped):
        """Return (numbers, text, whether a key frame is due) of the pending frame, as the encoder takes it."""
        key_due = (self.tick_no - 1) % KEY_EVERY == 0
        parts = self.collect_calls() if self.calls else []
        stretched = (self.stretch, self.scan_stretch)
        if stretched != self.notes_sent or key_due:
            self.notes_sent = stretched
            notes = self.notes()
            parts += (b"agent\tok\t%d\n" % len(notes), notes, NEWLINE)
        parts += self.body
        raw = b"".join(parts)
        if len(raw) > MAX_RAW_BYTES:
            raw = shorten(parts)
        if self.tick_no % 10 == 1:
            words = self.statm.read()[1].split()
            self.rss = int(words[1]) * self.page if len(words) > 1 else 0
        begun, wall, deadline = self.pending
        self.pending = None
        numbers = (begun, wall, deadline, cpu_ns(), b"%d" % self.rss if self.rss else b"-", dropped)
        return numbers, raw, key_due

    def collect_calls(self):
        head = []
        for call in [call for call in self.calls if call.result is not None or self.wait_all]:
            if call.result is None:
                call.close()
                call.result = b"failed", b"no answer before the end"
            status, text = call.result
            head += (b"%s\t%s\t%d\n" % (call.name, status, len(text)), text, NEWLINE)
            self.calls.remove(call)
        return head

    def close(self):
        for item in self.host:
            for reading in item[4] or ():
                reading.close()
        for target in list(self.targets.values()) + self.cgroup_targets:
            target.close()
        for call in self.calls:
            call.close()
        self.statm.close()

    def next_deadline(self, now):
        """Set the next tick's deadline: on the grid of the first, the next that is still to come."""
        self.deadline += self.interval
        if now > self.deadline + self.interval:
            self.deadline = now - (now - self.first_deadline) % self.interval


def shorten(parts):
    """Return as much of a body as a frame may hold; what is too much loses its text."""
    size, kept = 0, []
    for head, text, end in zip(parts[0::3], parts[1::3], parts[2::3]):
        size += len(head) + len(text) + len(end)
        if size > MAX_RAW_BYTES:
            size -= len(text)
            head, text = head.split(b"\t", 1)[0] + b"\tcut\t0\n", b""
        kept += (head, text, end)
    return b"".join(kept)


SPOOL_PREFIX = b"leapprof-spool-"
SEGMENTS = 8  # of a spool; the oldest is dropped as a whole
POLL_NS = 500000000  # how often a tail looks for more


def at_home(path):
    """Return a path with ~ replaced."""
    home = os.environ.get("HOME", "").encode("utf-8", "surrogateescape")
    return home + path[1:] if (path + b"/").startswith(b"~/") and home.startswith(b"/") else path


class SpoolDir:
    """A spool: a directory of ours alone, held by a descriptor so that nobody can put another in its place."""

    def __init__(self, path, create):
        path = at_home(path)
        base = path.rsplit(b"/", 1)[-1]
        rest = base[len(SPOOL_PREFIX) :].replace(b"-", b"").replace(b"_", b"").replace(b".", b"")
        if not path.startswith(b"/") or not base.startswith(SPOOL_PREFIX) or not rest.isalnum():
            raise BadPlanError("not the absolute path of a leapprof-spool-NAME: %r" % path[:200])
        self.path = path
        try:
            if create:
                try:
                    os.mkdir(path, 0o700)
                except FileExistsError:
                    pass
            self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            raise BadPlanError("spool %r: %s" % (path[:200], os.strerror(error.errno))) from error
        found = os.fstat(self.fd)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            os.close(self.fd)
            raise BadPlanError("spool %r belongs to somebody else or is open to others" % path[:200])

    def segments(self):
        """Return [(index, run, first seq, name)] in order."""
        found = []
        for name in os.listdir(self.fd):
            words = name.split("-")
            if len(words) == 4 and words[0] == "seg" and words[1].isdigit() and words[3].isdigit():
                found.append((int(words[1]), words[2], int(words[3]), name))
        return sorted(found)

    def open(self, name, flags):
        return os.open(name, flags | os.O_NOFOLLOW, 0o600, dir_fd=self.fd)

    def size(self, name):
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_size
        except OSError:
            return 0

    def remove(self, name):
        try:
            os.unlink(name, dir_fd=self.fd)
        except OSError:
            pass

    def holds(self, name):
        try:
            os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except OSError:
            return False
        return True

    def sampler(self):
        """Return (pid, whether that process is the sampler that wrote it), pid 0 when there is none."""
        try:
            fd = self.open("pid", os.O_RDONLY)
        except OSError:
            return 0, False
        words = os.read(fd, 200).split()
        os.close(fd)
        if len(words) < 2 or not words[0].isdigit() or not words[1].isdigit():
            return 0, False
        try:
            start = parse_stat(read_file(b"/proc/%d/stat" % int(words[0]), 4096))[2]
        except (OSError, ValueError, IndexError):
            return int(words[0]), False
        return int(words[0]), start == int(words[1])

    def claim(self):
        """Write our pid; raise BadPlanError when a living sampler has the spool."""
        if self.sampler()[1]:
            raise BadPlanError("spool %r is in use by a living sampler" % self.path[:200])
        self.remove("pid")
        self.remove("stop")
        start = parse_stat(read_file(b"/proc/self/stat", 4096))[2]
        try:
            fd = self.open("pid", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            os.write(fd, b"%d %d\n" % (os.getpid(), start))
            os.close(fd)
        except OSError as error:
            raise BadPlanError("spool %r: %s" % (self.path[:200], os.strerror(error.errno))) from error

    def newest(self, segments):
        """Return the newest sequence number in the spool, 0 when there is none."""
        if not segments:
            return 0
        _, run, first, name = segments[-1]
        try:
            fd = self.open(name, os.O_RDONLY)
        except OSError:
            return 0
        try:
            data = os.pread(fd, 1 << 20, max(0, os.fstat(fd).st_size - (1 << 20)))
        finally:
            os.close(fd)
        mark = b"LPF1 " + run.encode("ascii") + b" "
        word = data[data.rfind(mark) + len(mark) :].split(b" ", 1)[0] if mark in data else b""
        return int(word) if word.isdigit() else first

    def status(self):
        segments = self.segments()
        pid, alive = self.sampler()
        rows = [("pid", pid), ("alive", int(alive)), ("segments", len(segments))]
        rows.append(("bytes", sum(self.size(segment[3]) for segment in segments)))
        rows += [("run", segments[-1][1] if segments else "-"), ("newest_seq", self.newest(segments))]
        oldest = [segment[2] for segment in segments if segment[1] == segments[-1][1]]
        rows.append(("oldest_seq", oldest[0] if oldest else 0))
        return "".join("%s %s\n" % row for row in rows).encode("ascii")

    def stop(self):
        """Ask the sampler to end; wait some seconds for it."""
        if self.sampler()[1]:
            try:
                os.close(self.open("stop", os.O_WRONLY | os.O_CREAT))
            except OSError:
                pass
            limit = boottime_ns() + END_TIMEOUT_NS
            while self.sampler()[1] and boottime_ns() < limit:
                time.sleep(0.02)
        return self.status()

    def clean(self):
        """Remove what a sampler left; nothing else, and not under a living one."""
        status = self.status()
        if self.sampler()[1]:
            return status
        for segment in self.segments():
            self.remove(segment[3])
        self.remove("pid")
        self.remove("stop")
        try:
            os.rmdir(self.path)
        except OSError as error:
            return status + ("failed %s\n" % os.strerror(error.errno)).encode("ascii")
        return status + b"removed 1\n"


class SpoolOutput:
    """Frames into the segments of a spool; the oldest segment goes when there are too many."""

    def __init__(self, spool, limit):
        self.spool, self.segment_bytes = spool, max(limit // SEGMENTS, 65536)
        self.queue = ()
        self.dropped = 0
        self.fd, self.size, self.index = -1, 0, 0
        existing = spool.segments()
        if existing:
            self.index = existing[-1][0]
        self.wants_key = False

    def put(self, seq, key_seq, data):
        full = self.size + len(data) > self.segment_bytes
        try:
            if seq == key_seq and (self.fd < 0 or full):
                self.begin(seq, data)
            if self.fd < 0:
                raise OSError(errno.EBADF, "no segment")
            done = os.write(self.fd, data)
            self.size += done
            if done < len(data):
                raise OSError(errno.ENOSPC, "short write")
        except OSError:  # the disk is full: room from the oldest, and a new key frame
            self.dropped += 1
            self.trim(len(self.spool.segments()) - 1)
            self.wants_key = True
            return
        self.wants_key = full

    def begin(self, seq, data):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        self.trim(SEGMENTS - 1)
        self.index += 1
        run = data.split(b" ", 2)[1].decode("ascii")
        name = "seg-%08d-%s-%d" % (self.index, run, seq)
        self.fd = self.spool.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        self.size = 0

    def trim(self, keep):
        """Remove the oldest segments until so many are left, and count their frames as dropped."""
        segments = self.spool.segments()
        while len(segments) > max(keep, 1):
            _, run, first, name = segments.pop(0)
            if segments[0][1] == run:
                self.dropped += segments[0][2] - first
            self.spool.remove(name)

    def flush(self):
        pass


class Tail:
    """Copies a spool to stdout, from a sequence number of its newest run on (0: all that is there)."""

    def __init__(self, spool, from_seq):
        self.spool = spool
        self.fd, self.index = -1, 0
        segments = spool.segments()
        if from_seq and segments:
            run = segments[-1][1]
            before = [s for s in segments if s[1] == run and s[2] <= from_seq]
            first = before[-1] if before else next(s for s in segments if s[1] == run)
            self.index = first[0] - 1

    def read(self):
        """Return the next bytes; none when all is read."""
        while True:
            if self.fd >= 0:
                data = os.read(self.fd, CHUNK_BYTES)
                if data:
                    return data
            later = [segment for segment in self.spool.segments() if segment[0] > self.index]
            if not later:
                return b""
            if self.fd >= 0:
                data = os.read(self.fd, CHUNK_BYTES)  # written between the two looks
                if data:
                    return data
                os.close(self.fd)
                self.fd = -1
            try:
                self.fd = self.spool.open(later[0][3], os.O_RDONLY)
            except OSError:
                pass
            self.index = later[0][0]


def run_spool(plan, spool, report):
    """Sample into a spool until told to stop; the process has neither stdin nor stdout."""
    spool.claim()
    os.write(report, b"ok")
    os.close(report)
    encoder = Encoder()
    output = SpoolOutput(spool, plan.spool_bytes)
    sampler = Sampler(plan, encoder)
    while not sampler.done():
        stop = spool.holds("stop")
        now = boottime_ns()
        if not stop and now < sampler.deadline:
            time.sleep(min(sampler.deadline - now, NS) / 1e9)
            continue
        sampler.begin(stop)
        wait_for_calls(sampler)
        if output.wants_key:
            encoder.next_is_key = True
        output.put(*sampler.finish(output.dropped))
        sampler.next_deadline(boottime_ns())
        if stop:
            break
    spool.remove("stop")
    spool.remove("pid")


def wait_for_calls(sampler):
    """Go on with the answers that are awaited, until the frame may go out."""
    now = boottime_ns()
    while not sampler.ready_to_finish(now):
        calls = [call for call in sampler.calls if call.result is None]
        readers = [call for call in calls if not call.writes]
        writers = [call for call in calls if call.writes]
        until = min([sampler.hold_until] + [call.deadline for call in calls])
        ready = select.select(readers, writers, [], max(0, until - now) / 1e9)
        now = boottime_ns()
        for call in calls:
            if call in ready[0] or call in ready[1]:
                call.ready(now)
            call.check(now)


def start_spool(plan):
    """Start a sampler that outlives the connection; return its spool."""
    spool = SpoolDir(plan.spool, True)
    reader, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        detach(plan, spool, report)
    os.close(report)
    os.waitpid(pid, 0)
    answer = b""
    while True:
        data = os.read(reader, 4096)
        if not data:
            break
        answer += data
    os.close(reader)
    if answer != b"ok":
        raise BadPlanError(answer.decode("ascii", "replace") or "the sampler did not start")
    return spool


def detach(plan, spool, report):
    """Become a process of its own session without a terminal, and sample; never returns."""
    status = 1
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        try:
            run_spool(plan, spool, report)
            status = 0
        except BadPlanError as error:
            os.write(report, str(error).encode("ascii", "replace"))
    finally:
        os._exit(status)


def spool_action(words):
    """Return [(section name, text)] that answers a list, stop or clean."""
    if words[0] == b"list":
        paths = expand(at_home(words[1]) + b"/" + SPOOL_PREFIX + b"*", b"")
        return [(b"spool:" + path, spool_status(path)) for path in paths]
    spool = SpoolDir(words[1], False)
    if words[0] == b"stop":
        return [(b"spool:" + spool.path, spool.stop())]
    if words[0] == b"clean":
        return [(b"spool:" + spool.path, spool.clean())]
    raise BadPlanError("an unknown action: %r" % words[0][:40])


def spool_status(path):
    try:
        return SpoolDir(path, False).status()
    except BadPlanError as error:
        return b"refused " + str(error).encode("ascii", "replace") + b"\n"


INPUT = (0,)


class Agent:
    """The conversation on stdin and stdout, and the one loop."""

    def __init__(self):
        self.encoder = Encoder()
        self.output = Output(1 << 20)
        self.held, self.held_bytes = [], 0
        self.sampler = None
        self.buffer = b""
        self.heartbeat = 60 * NS
        self.last_beat = boottime_ns()
        self.ending = False
        self.tail = None
        self.tail_at = 0

    def run(self):
        os.set_blocking(0, False)
        os.set_blocking(1, False)
        while self.step():
            pass

    def step(self):
        """Wait for what comes first and do it; return whether to go on."""
        sampler = self.sampler
        readable = writable = ()
        if sampler is None or sampler.pending is not None or sampler.calls or self.ending or self.output.queue:
            readable, writable = self.wait(sampler)
        else:  # the common case: nothing but the next tick
            until = min(self.last_beat + self.heartbeat, self.wake_at(sampler))
            readable = select.select(INPUT, (), (), max(0, until - boottime_ns()) / 1e9)[0]
        now = boottime_ns()
        if 1 in writable:
            self.output.flush()
        if 0 in readable and not self.receive():
            return False
        if self.sampler is not None:  # also one that came just now: with "end" behind its plan its frame is ready
            self.advance(self.sampler, readable, writable, now)
        if self.tail is not None and not self.output.queue and now >= self.tail_at and not self.copy_tail(now):
            return False
        if self.ending and (self.sampler is None or self.sampler.pending is None):
            self.drain()
            return False
        return now < self.last_beat + self.heartbeat

    def wait(self, sampler):
        """Wait for answers, room in the output, or time; return what can be read and written."""
        until = self.last_beat + self.heartbeat
        readers = [] if self.ending else [0]  # after "end" the input may end before our answer is out
        writers = [1] if self.output.queue else []
        if self.tail is not None and not self.output.queue:
            until = min(until, self.tail_at)
        if sampler is not None:
            until = min([until, self.wake_at(sampler)] + [c.deadline for c in sampler.calls if c.result is None])
            for call in sampler.calls:
                if call.result is None:
                    (writers if call.writes else readers).append(call)
        return select.select(readers, writers, (), max(0, until - boottime_ns()) / 1e9)[:2]

    def copy_tail(self, now):
        """Send the next bytes of the spool; return False when its sampler has ended and all is sent."""
        alive = self.tail.spool.sampler()[1]
        data = self.tail.read()
        self.tail_at = now if data else now + POLL_NS
        if data:
            self.output.put(0, 0, data)
            self.output.flush()
        return bool(data) or alive

    def wake_at(self, sampler):
        if sampler.pending is not None:
            return sampler.hold_until
        return self.last_beat + self.heartbeat if sampler.done() else sampler.deadline

    def advance(self, sampler, readable, writable, now):
        for call in sampler.calls:
            if call.result is None and (call in readable or call in writable):
                call.ready(now)
            call.check(now)
        if sampler.pending is None and not sampler.done() and now >= sampler.deadline:
            sampler.begin(False)
            now = boottime_ns()
        if sampler.ready_to_finish(now):
            self.emit(sampler)
            sampler.next_deadline(now)

    def emit(self, sampler):
        """Hold a frame, or send it with those that were held: packing and sending several costs less than each alone."""
        made = sampler.make(self.output.dropped)
        self.held.append(made)
        self.held_bytes += len(made[1])
        if sampler.sends_now() or self.held_bytes > HELD_BYTES:
            self.send_held()

    def send_held(self):
        held, self.held, self.held_bytes = self.held, [], 0
        for made in held:
            if self.output.lost_key == self.encoder.key_seq:
                self.encoder.next_is_key = True
            self.output.put(*self.encoder.encode(*made))
        self.output.flush()

    def receive(self):
        """Take what is on stdin; return False at its end."""
        try:
            data = os.read(0, CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        if not data:
            return False
        self.buffer += data
        while True:
            line, found, rest = self.buffer.partition(b"\n")
            if not found:
                if len(line) > 64:
                    raise BadPlanError("a message that is none")
                return True
            if not self.message(line, rest):
                return True

    def message(self, line, rest):
        """Obey one message; return False when more bytes are needed first."""
        self.last_beat = boottime_ns()
        word, _, size = line.partition(b" ")
        if word == b"plan":
            size = whole_number(size)
            if size > MAX_MESSAGE_BYTES:
                raise BadPlanError("a plan that is too long")
            if len(rest) < size:
                return False
            self.take_plan(Plan(rest[:size]))
            rest = rest[size:]
        elif line == b"end":
            self.end()
        elif line == b"stop":
            if self.tail is not None:
                self.tail.spool.stop()
        elif line != b"beat":
            raise BadPlanError("an unknown message: %r" % line[:40])
        self.buffer = rest
        return True

    def take_plan(self, plan):
        if self.sampler is not None:
            if self.sampler.pending is not None:
                self.emit(self.sampler)
            self.send_held()
            self.sampler.close()
        self.output.limit = max(plan.queue_bytes, 65536)
        self.heartbeat = plan.heartbeat_s * NS
        self.encoder.next_is_key = True
        self.sampler = self.tail = None
        if plan.action and plan.action[0] == b"attach":
            self.tail = Tail(SpoolDir(plan.action[1], False), whole_number(plan.action[2]))
        elif plan.action:
            self.answer(spool_action(plan.action))
        elif plan.spool is not None:
            spool = start_spool(plan)
            self.tail = Tail(spool, 1)
        else:
            self.sampler = Sampler(plan, self.encoder)

    def answer(self, sections):
        """Send a frame that no sampler made."""
        now = boottime_ns()
        rows = [b"%s\tok\t%d\n%s\n" % (clean(name), len(text), text) for name, text in sections]
        rows.append(b"agent\tok\t12\nkind python\n\n")
        numbers = (now, wall_ns(), now, cpu_ns(), b"-", self.output.dropped)
        self.output.put(*self.encoder.encode(numbers, b"".join(rows), True))
        self.output.flush()

    def end(self):
        """Read everything once more, then end."""
        sampler = self.sampler
        if self.ending or sampler is None or sampler.done():
            self.ending = True
            return
        self.ending = True
        if sampler.pending is not None:
            self.emit(sampler)
        sampler.deadline = boottime_ns()
        sampler.begin(True)

    def drain(self):
        """Give the reader a few seconds to take what is left."""
        limit = boottime_ns() + END_TIMEOUT_NS
        while self.output.queue and boottime_ns() < limit:
            select.select([], [1], [], 1.0)
            self.output.flush()


def main():
    try:
        Agent().run()
    except BadPlanError as error:
        os.write(2, b"leapprof agent: " + str(error).encode("ascii", "replace") + b"\n")
        return 2
    except OSError as error:
        os.write(2, b"leapprof agent: " + str(error).encode("ascii", "replace") + b"\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
