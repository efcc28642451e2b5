"""A wear forecast in print: within 80 columns, safe, and the same figures as text and as Markdown."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.model import Finding, Host, Interval, Nodeos, Recording, SamplingCost, Severity, Topology
from leapprof.model.wear import (
    DeviceForecast,
    ExitGrowth,
    LogicalWrites,
    Meter,
    RatedYears,
    RestartCost,
    Smart,
    VolumeLoad,
    WearForecast,
    WhatIf,
    Writer,
)
from leapprof.report.wear_json import wear_json
from leapprof.report.wear_markdown import wear_markdown
from leapprof.report.wear_tables import format_years
from leapprof.report.wear_text import WIDTH, wear_lines

DRIVE = DeviceForecast(
    device="nvme0n1",
    model="SAMSUNG MZQL2960HCJR-00A07",
    capacity_bytes=960 * 10**9,
    kind="disk",
    roles=("os", "state"),
    views=("dm-0",),
    bytes_per_s=4e6,
    ci95=Interval(low=3.9e6, high=4.1e6),
    lower_bound=False,
    writers=(
        Writer(who="eos", bytes_per_s=None, meter="not known: it has no cgroup of its own"),
        Writer(who="the rest", bytes_per_s=4e6, meter="device counter: all of it, eos in it"),
    ),
    steady_tb_per_year=126.144,
    steady_ci95=Interval(low=123, high=129.3),
    restart_tb_per_year=0.024,
    rating=1752.0,
    rating_source="Samsung PM9A3 (a sheet)",
    written_tb=10.2,
    percent_used=3,
    years=(RatedYears(rated_tbw=1752, years=13.8, low=13.4, high=14.2, nodes=2, price_per_year=21.6),),
    waf=1.7,
    lifetime_mean_bytes_per_s=2e6,
    meters=(Meter(name="device counter", written_bytes=2.8e10, note="between readings", resolution_bytes=512),),
    smart=Smart(percent_used=3, spare_percent=100, power_on_hours=9000, media_errors=0, warning=None),
    growth=(
        ExitGrowth(
            nodeos="eos", device="nvme0n1", stops=3, bytes_per_s=28_000.0, most_bytes=1e9, uptime_s=2_628_000.0,
            exit_bytes=1e9, longest_uptime_s=90_000.0,
        ),
    ),
    volume=VolumeLoad(volume="gp3", iops_limit=3000, bytes_per_s_limit=131e6, iops_share=0.4, bytes_share=None),
    what_if=WhatIf(
        source="measured pair a → b", ratio=0.006, ratio_ci95=Interval(low=0.005, high=0.007), tb_per_year=0.8,
        ci95=Interval(low=0.6, high=1.0), notes=("the pair holds no restart after the change",),
    ),
    notes=("the rating is from a secondary source",),
)  # fmt: skip
FORECAST = WearForecast(
    recording=Recording(
        host=Host(name="eos-1", boot_id="b"), nodeos=(), topology=Topology(), phase="", interval_s=1.0,
        started_wall_ns=None, ended_wall_ns=None, transport="ssh",
        cost=SamplingCost(agent="python", samples=1, cpu_s=None, rss_bytes=None, wire_bytes=0),
    ),
    covered_s=7200.0,
    left_out_s={"warm-up": 300.0},
    devices=(DRIVE,),
    logical=(LogicalWrites(device="dm-0", roles=("state",), drives=("nvme0n1",), bytes_per_s=3.9e6),),
    restarts=(
        RestartCost(
            nodeos="eos", stopped_wall_ns=0, uptime_s=90_000.0, exit_s=37.0, exit_bytes=2.1e9, start_bytes=None
        ),
    ),
    restarts_per_year=12.0,
    restarts_source="the default; say yours with --restarts-per-year",
    findings=(Finding(code="x", severity=Severity.WARNING, message="Something long. " * 12, hint="Do this."),),
    method={"TB": "decimal"},
)  # fmt: skip


@pytest.mark.parametrize("width", [40, 50, 60, WIDTH])
def test_no_line_is_longer_than_a_terminal(width):
    """Whatever is said; tables that do not fit are sentences, with every number that was in them."""
    lines = wear_lines(FORECAST, width)
    assert max(len(line) for line in lines) <= width
    wide, narrow = (" ".join(" ".join(part).split()) for part in (wear_lines(FORECAST), lines))
    assert sorted(re.findall(r"\d[\d,.]*\b", narrow)) == sorted(re.findall(r"\d[\d,.]*\b", wide))


def test_the_answer_comes_first():
    """TB a year with interval, and how long the rating lasts."""
    text = " ".join(wear_lines(FORECAST)[2:6])
    assert "nvme0n1 takes 126 TB a year (123 to 129 TB) if all hours are like these 2 h" in text
    assert "1,752 TBW lasts 14 years (13 to 14 years)" in text


@pytest.mark.parametrize(
    "said",
    [
        "4.00 MB/s (3.90 to 4.10 MB/s)",
        "dm-0: views of this drive, counted here once",
        "not known: it has no cgroup",
        "Samsung PM9A3 (a sheet)",
        "10.2 TB by the host",
        "3 % of its life used, 100 % spare, 9,000 h powered on, 0 media errors",
        "1.70 bytes for each byte of the host",
        "2.00 MB/s on average so far: now × 2.00",
        "40.0% of operations and – of bytes a second that gp3 allows",
        "0.800 TB/year (0.600 to 1.00 TB)",
        "measured pair a → b: writes × 0.00600 (0.00500 to 0.00700)",
        "2 such hosts would use the rating up within the warranty",
        "21.6 a year of the drive's price",
        "101 MB for each hour of uptime, up to 1.00 GB (fit of 3 stops of eos)",
        "warning: Something long.",
        "→ Do this.",
        "365 days",
    ],
)
def test_everything_is_said(said):
    """Each fact stands in text and Markdown alike."""
    flat = " ".join(" ".join(wear_lines(FORECAST)).split())
    assert said in flat
    if not said.startswith(("warning", "→")):
        assert said in wear_markdown(FORECAST).replace("\\", "").replace("&gt;", ">")


def test_an_unknown_rating_is_a_table():
    """150 TBW to 10 PB, years and hosts."""
    years = tuple(
        RatedYears(rated_tbw=tbw, years=tbw / 100, low=tbw / 110, high=None, nodes=int(tbw / 500))
        for tbw in (150.0, 10_000.0)
    )
    lines = "\n".join(wear_lines(replace(FORECAST, devices=(replace(DRIVE, rating=None, years=years),))))
    assert "drive's rating not known" in lines
    assert "10,000  100 years" in lines
    assert "under 1" in lines


def test_quiet_drives_are_named_in_a_line():
    """A drive of nothing is no page of zeros."""
    quiet = replace(DRIVE, device="sdb", roles=(), bytes_per_s=3.0)
    lines = wear_lines(replace(FORECAST, devices=(DRIVE, quiet)))
    assert any("Next to nothing is written to sdb" in line for line in lines)


def test_restarts_that_were_not_measured_are_not_zero():
    """0 bytes counted is not 0 bytes written."""
    nodeos = (Nodeos(id="eos", pid=1, start_ticks=1),)
    one = replace(FORECAST, restarts=(), recording=replace(FORECAST.recording, nodeos=nodeos))
    text = " ".join(" ".join(wear_lines(one)).split())
    assert "not measured, 0 TB counted" in text


def test_a_reconstructed_recording_says_so():
    """In capitals, in both forms."""
    one = replace(FORECAST, recording=replace(FORECAST.recording, reconstructed="an article"))
    assert "RECONSTRUCTED" in "\n".join(wear_lines(one))
    assert "RECONSTRUCTED" in wear_markdown(one)


def test_endless_life_is_null_in_json():
    """JSON knows no infinity."""
    years = (RatedYears(rated_tbw=600, years=float("inf"), low=1.0, high=None),)
    body = wear_json(replace(FORECAST, devices=(replace(DRIVE, years=years),)))
    assert json.loads(json.dumps(body, allow_nan=False))["devices"][0]["years"][0]["years"] is None


def test_a_rating_that_lasts_at_least_so_long_says_so():
    """The mean rate is 0, its upper limit is not: over 100 years would be too much to say."""
    years = (RatedYears(rated_tbw=600, years=float("inf"), low=4.4, high=None),)
    text = "\n".join(wear_lines(replace(FORECAST, devices=(replace(DRIVE, years=years),))))
    assert "TBW lasts at least 4.4 years" in " ".join(text.split())


@pytest.mark.parametrize(
    ("years", "said"),
    [
        (0.5, "6.0 months"),
        (1.5, "1.5 years"),
        (99.0, "99 years"),
        (101.0, "over 100 years"),
        (None, "over 100 years"),
    ],
)
def test_years_as_a_person_says_them(years, said):
    """Months below a year, nothing beyond a century."""
    assert format_years(years) == said


@given(st.text(max_size=300))
def test_text_from_a_host_stays_on_its_line(text):
    """Escape sequences, new lines and tables of an attacker's model string."""
    one = replace(FORECAST, devices=(replace(DRIVE, model=text, device=text or "x"),))
    assert all(line.isprintable() for line in wear_lines(one))
    markdown = wear_markdown(one)
    assert "<script" not in markdown


def test_a_day_is_not_excused():
    """From a whole day on the headline stands alone."""
    text = " ".join(wear_lines(replace(FORECAST, covered_s=90_000.0)))
    assert "if all hours" not in text


def test_the_stand_in_is_no_nodeos():
    """Said before the first figure."""
    nodeos = Nodeos(id="stand-in", pid=1, start_ticks=1, stand_in=True)
    one = replace(FORECAST, recording=replace(FORECAST.recording, nodeos=(nodeos,)))
    assert "stand-in and no nodeos" in wear_lines(one)[2]


UNWRITTEN = replace(
    DRIVE,
    bytes_per_s=0.0,
    ci95=None,
    steady_tb_per_year=0.0,
    steady_ci95=None,
    restart_tb_per_year=0.0,
    what_if=None,
)


def test_a_drive_that_was_not_seen_to_write_is_no_drive_that_lasts_for_ever():
    """Neither 0 TB a year nor over 100 years: what is not known is said so, in text and Markdown."""
    one = replace(FORECAST, devices=(UNWRITTEN,))
    for text in (" ".join(" ".join(wear_lines(one)).split()), wear_markdown(one)):
        assert "nvme0n1 took no write in 2 h: how much it takes in a year is not known." in text
        assert "over 100 years" not in text
        assert "0 TB a year" not in text
    assert "a year not known" in " ".join(" ".join(wear_lines(one)).split())
    by_restarts = replace(one, devices=(replace(UNWRITTEN, restart_tb_per_year=0.06),))
    assert "but for stops and starts, 0.0600 TB a year" in " ".join(" ".join(wear_lines(by_restarts)).split())


def test_a_limit_that_is_known_is_at_most():
    """The rate is 0 and its interval is not."""
    years = (RatedYears(rated_tbw=600.0, years=10_000.0, low=23.0, high=None),)
    limited = replace(
        UNWRITTEN, ci95=Interval(low=0.0, high=8e5), steady_ci95=Interval(low=0.0, high=26.0), years=years
    )
    text = " ".join(" ".join(wear_lines(replace(FORECAST, devices=(limited,)))).split())
    assert "nvme0n1 takes at most 26.0 TB a year" in text
    assert "lasts at least 23 years" in text
