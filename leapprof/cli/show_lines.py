"""Lines of `leapprof show` about starts, stops, stages and the API of each nodeos. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from leapprof.assess.own_voice import OwnVoice
from leapprof.assess.samples import RecordingTables
from leapprof.model.start import EndKind, StartKind, StartMeasure
from leapprof.units import NS_PER_S, format_bytes, format_duration, format_memory, significant

MS_PER_S = 1000
PERCENT = 100


def moment(wall_ns: int | None) -> str:
    """Return a time of the host's wall clock in UTC."""
    if wall_ns is None:
        return "–"
    return datetime.fromtimestamp(wall_ns / NS_PER_S, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def stage_seconds(tables: RecordingTables) -> dict[str, dict[str, float]]:
    """Return nodeos → stage → seconds, as far as samples tell the stage; ``down`` where it was not there."""
    return {
        nodeos: {stage: sum(sources.values()) for stage, sources in stages.items()}
        for nodeos, stages in stage_sources(tables).items()
    }


def stage_sources(tables: RecordingTables) -> dict[str, dict[str, dict[str, float]]]:
    """Return nodeos → stage → what said so → seconds."""
    table = tables.table("nodeos", ("stage", "start_ticks"))
    stages, ids, sources = (table.texts.get(name) for name in ("stage", "nodeos", "stage_source"))
    found: dict[str, dict[str, dict[str, float]]] = {}
    if stages is None or ids is None or sources is None:
        return found
    interval_s, samples = tables.manifest.interval_s, tables.table("host", ()).rows
    for one in sorted(set(ids.tolist()) - {None}):
        own = ids == one
        rows = counted(stages[own], sources[own])
        told: dict[str, dict[str, float]] = {}
        for (stage, source), count in rows.items():
            if stage is not None:
                told.setdefault(str(stage), {})[str(source)] = count * interval_s
        missing = samples - int(np.count_nonzero(own))
        if told and missing > 0:
            told["down"] = {"counters": missing * interval_s}
        if told:
            found[one] = told
    return found


def counted(stages: NDArray[np.object_], sources: NDArray[np.object_]) -> Counter[tuple[object, object]]:
    """Return how many rows have a stage by a source: they change seldom, so stretches are counted."""
    edges = np.flatnonzero((stages[1:] != stages[:-1]) | (sources[1:] != sources[:-1])) + 1
    first = np.concatenate([[0], edges])
    found: Counter[tuple[object, object]] = Counter()
    for at, rows in zip(first.tolist(), np.diff(first, append=stages.size).tolist(), strict=True):
        found[stages[at], sources[at]] += rows
    return found


def stage_lines(tables: RecordingTables) -> Iterator[str]:
    """Yield a line a nodeos: its stages, longest first, each with what said so."""
    for nodeos, stages in stage_sources(tables).items():
        seconds = {stage: sum(sources.values()) for stage, sources in stages.items()}
        ordered = sorted(seconds.items(), key=lambda pair: (-pair[1], pair[0]))
        told = (f"{stage} {format_duration(s)} ({', '.join(sorted(stages[stage]))})" for stage, s in ordered)
        yield f"{nodeos}: " + ", ".join(told)


def start_lines(starts: Sequence[StartMeasure]) -> Iterator[str]:
    """Yield two lines a run of nodeos: how it started, and how it stopped."""
    for one in starts:
        mode = f", {one.map_mode}" if one.map_mode else ""
        yield f"{moment(one.started_wall_ns)} {one.nodeos} pid {one.pid}{mode}: {_start(one)}"
        yield f"  {_stop(one)}"


def _start(one: StartMeasure) -> str:
    kind = "start of unknown kind" if one.kind is StartKind.UNKNOWN else f"{one.kind.value} start"
    parts = [f"{kind} ({one.kind_source})" if one.kind_source else kind]
    if not one.is_start_seen:
        return f"{parts[0]}, before this recording"
    parts.append("how long is not known" if one.start_s is None else f"{significant(one.start_s)} s")
    if one.start_peak_rss_bytes is not None:
        parts.append(f"peak RSS {format_memory(one.start_peak_rss_bytes)}")
    if one.start_peak_anon_bytes is not None:
        parts.append(f"anonymous {format_memory(one.start_peak_anon_bytes)}")
    if one.start_peak_swap_bytes:
        parts.append(f"swap {format_memory(one.start_peak_swap_bytes)}")
    if one.start_read_bytes is not None:
        parts.append(f"{format_bytes(one.start_read_bytes)} read")
    return ", ".join(parts)


def _stop(one: StartMeasure) -> str:
    up = "" if one.uptime_s is None else f" after {format_duration(one.uptime_s)}"
    if one.end is EndKind.STILL_RUNNING:
        return f"runs at the end of the recording{up}"
    parts = [f"{'stop' if one.end is EndKind.UNKNOWN else one.end.value + ' stop'}{up}"]
    parts.append("how long is not known" if one.stop_s is None else f"{significant(one.stop_s)} s")
    if one.stop_peak_rss_bytes is not None:
        parts.append(f"peak RSS {format_memory(one.stop_peak_rss_bytes)}")
    if one.stop_peak_swap_bytes:
        parts.append(f"swap {format_memory(one.stop_peak_swap_bytes)}")
    if one.stop_written_bytes is not None:
        parts.append(f"{format_bytes(one.stop_written_bytes)} dirtied")
    return ", ".join(parts)


def voice_lines(voices: Sequence[OwnVoice]) -> Iterator[str]:
    """Yield a line a nodeos: how its API answered, and what that took of its main thread."""
    for voice in voices:
        parts = [f"asked {voice.asked:,} times", f"{voice.answered:,} answers"]
        if voice.busy:
            parts.append(f"{voice.busy:,} times busy (503)")
        parts += [f"{times:,} times HTTP {code}" for code, times in sorted(voice.other.items())]
        if voice.silent:
            parts.append(f"{voice.silent:,} times no answer to get_info")
        if voice.failed_questions:
            parts.append(f"{voice.failed_questions:,} questions failed in all")
        if voice.mean_s is not None and voice.longest_s is not None:
            parts.append(
                f"get_info took {significant(voice.mean_s * MS_PER_S)} ms, at most "
                f"{significant(voice.longest_s * MS_PER_S)} ms"
            )
        if voice.main_thread_share is not None:
            parts.append(f"at most {significant(voice.main_thread_share * PERCENT, 2)} % of its main thread")
        yield f"{voice.nodeos}: " + ", ".join(parts)
