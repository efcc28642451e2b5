"""The report of several hosts: the summary, and beside it a folder with the report of each host."""

import re
from collections.abc import Sequence
from pathlib import Path

from leapprof.assess.many_hosts import HostComparison, HostsComparison
from leapprof.report import Format, write
from leapprof.report.files import ReportFiles
from leapprof.report.fleet_view import Folders

MOST_CHARS = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def folders_of(compared: HostsComparison) -> Folders:
    """Return where the hosts' own reports lie, relative to the summary: never outside of it, never two in one."""
    found: dict[tuple[str, bool], str] = {}
    for parent, is_control, some in (("hosts", False, compared.hosts), ("controls", True, compared.controls)):
        for number, one in enumerate(some, start=1):
            name = f"{parent}/{_UNSAFE.sub('-', one.host)[:MOST_CHARS].strip('.-') or 'host'}"
            found[one.host, is_control] = f"{name}-{number}" if name in found.values() else name
    return found


def write_hosts(compared: HostsComparison, directory: Path, formats: frozenset[Format]) -> tuple[Path, ...]:
    """Write the report of several hosts and return the paths of the summary's files, then those of each host.

    Args:
        compared: what is reported.
        directory: made when it is not there; a file of the report in it is never overwritten.
        formats: html, md and json are written of the summary, all of each host.

    Raises:
        StoreError: the directory cannot be written, the disk is full, or a file of the report is there already.
    """
    folders = folders_of(compared)
    return (
        *_summary(compared, directory, formats, folders),
        *_each(compared.hosts, directory, formats, folders, is_control=False),
        *_each(compared.controls, directory, formats, folders, is_control=True),
    )


def _each(
    hosts: Sequence[HostComparison],
    directory: Path,
    formats: frozenset[Format],
    folders: Folders,
    *,
    is_control: bool,
) -> list[Path]:
    written: list[Path] = []
    for one in hosts:
        folder = directory / folders[one.host, is_control]
        written += write(one.comparison, folder, formats, public=False)
    return written


def _summary(
    compared: HostsComparison, directory: Path, formats: frozenset[Format], folders: Folders
) -> tuple[Path, ...]:
    from leapprof.report.fleet_json import render_hosts_json
    from leapprof.report.fleet_markdown import render_hosts_markdown
    from leapprof.report.fleet_view import hosts_view
    from leapprof.report.html import render_hosts_html

    view = hosts_view(compared, folders)
    made: dict[str, bytes] = {}
    if Format.HTML in formats:
        made["report.html"] = render_hosts_html(view).encode("utf-8", "backslashreplace")
    if Format.MD in formats:
        made["report.md"] = render_hosts_markdown(view).encode("utf-8", "backslashreplace")
    if Format.JSON in formats:
        made["report.json"] = render_hosts_json(compared, folders)
    with ReportFiles(directory, {name: len(content) for name, content in made.items()}) as files:
        for name, content in made.items():
            files.write(name, content)
        return files.commit()
