"""What commands about drives print becomes rows; anything else is noted and harmless."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ParseError
from leapprof.ingest.rows import FrameIngest
from leapprof.ingest.smart import MAX_INTEGER, is_smart, merged, smart_row
from tests.ingest import frames

NVME = {
    "device": {"name": "/dev/nvme0", "protocol": "NVMe"},
    "model_name": "SAMSUNG MZQL2960HCJR-00A07",
    "serial_number": "S1",
    "nvme_smart_health_information_log": {
        "data_units_written": 1000,
        "percentage_used": 3,
        "available_spare": 100,
        "available_spare_threshold": 10,
        "power_on_hours": 5000,
        "media_errors": 0,
        "temperature": 40,
        "critical_warning": 0,
    },
    "temperature": {"current": 40},
}


def printed(document, status=0):
    """Return what the agent sends of a command that prints a document."""
    return f"exit {status}\n{json.dumps(document)}"


def frame(seq, **texts):
    """Return a frame with the output of commands."""
    return frames.frame(seq, {f"command/{name}": text for name, text in texts.items()})


def rows_of(*some):
    """Return the table of these frames, and the ingest."""
    ingest = FrameIngest()
    for one in some:
        ingest.add(one)
    return ingest.tables().get("smart"), ingest


def test_the_commands_name_says_the_device():
    """smart_nvme0n1 wins over what the document calls it."""
    row = smart_row("command/smart_nvme0n1", printed(NVME))
    assert row.texts["device"] == "nvme0n1"
    assert row.integers["host_written_bytes_total"] == 512_000_000
    assert row.integers["power_on_hours"] == 5000
    assert row.integers["media_errors_total"] == 0


def test_without_a_name_the_document_says_the_device():
    """A smartctl document names /dev/nvme0; an nvme document names nothing and is refused."""
    assert smart_row("command/smart", printed(NVME)).texts["device"] == "nvme0"
    with pytest.raises(ParseError, match="smart_DEVICE"):
        smart_row("command/smart", printed({"data_units_written": 5}))


def test_the_exit_status_does_not_decide():
    """Smartctl ends with 64 when the drive's log holds an old error; its document is whole."""
    assert smart_row("command/smart_sda", printed(NVME, 64)).integers["percent_used"] == 3


def test_two_documents_of_one_drive_are_one_row():
    """Health log and OCP log: host writes from one, flash writes from the other."""
    ocp = {"Physical media units written": {"hi": 0, "lo": 1_536_000_000}}
    table, _ = rows_of(frame(1, smart_nvme0n1=printed(NVME), smart_nvme0n1_ocp=printed(ocp)))
    assert table.rows == 1
    assert table.integers["nand_written_bytes_total"].values[0] == 1_536_000_000
    assert table.integers["host_written_bytes_total"].values[0] == 512_000_000
    assert table.texts["model"][0] == "SAMSUNG MZQL2960HCJR-00A07"


@pytest.mark.parametrize("text", ["", "exit 127\n", "exit 0\nnothing", "exit 0\n{}", "exit 0\n[1]", "{"])
def test_what_is_no_health_log_is_noted(text):
    """Sudo without a password, no smartctl, another program: no row, and the reason is kept."""
    table, ingest = rows_of(frame(1, smart_sda=text))
    assert table is None
    assert "command/smart_sda" in ingest.unreadable


def test_other_commands_are_not_drives():
    """Zpool and logs are others' business."""
    assert not is_smart("command/zpool")
    assert not is_smart("command/smartest")
    assert is_smart("command/smart_sda_ocp")


def test_a_number_beyond_64_bits_is_absent():
    """128-bit counters of NVMe may hold anything."""
    huge = {"nvme_smart_health_information_log": {"data_units_written": MAX_INTEGER}}
    table, _ = rows_of(frame(1, smart_sda=printed(huge)))
    assert not table.integers["host_written_bytes_total"].present[0]


def test_first_values_win_when_documents_are_merged():
    """A later document fills what the first leaves out."""
    first, second = (
        smart_row("command/smart_a", printed(NVME)),
        smart_row("command/smart_a", printed({"data_units_written": 7})),
    )
    assert merged(first, second).integers["host_written_bytes_total"] == 512_000_000
    assert merged(second, first).texts["serial"] == "S1"


@given(
    st.text(max_size=60).filter(lambda t: t.isprintable()),
    st.text(max_size=200) | st.binary(max_size=80).map(lambda b: b.decode("latin-1")),
)
def test_any_output_is_a_row_or_a_parse_error(name, text):
    """Nothing that a host prints breaks the ingest."""
    rows_of(frame(1, **{"smart_" + name.replace("/", ""): text}))
