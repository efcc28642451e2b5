"""Wear computations that went wrong in the wild, each with the right answer.

Inputs are from public issue threads of smartctl_exporter, scrutiny, CrystalDiskInfo,
libatasmart, smartmontools, smart-sniffer, zbx-smartctl and others.
"""

import json

import pytest

from leapprof.endurance.ata import calibrated_unit_bytes
from leapprof.endurance.lifetime import (
    lifetime,
    plausible_bytes,
    yearly_writes,
)
from leapprof.endurance.smart import SmartReading, parse_smart
from leapprof.units import DAY_S, TB


def ata_document(*rows: tuple[int, str, int, int], known: bool = True, **more: object) -> str:
    """Return a smartctl document with those attributes: id, name, value, raw."""
    table = [{"id": i, "name": n, "value": v, "raw": {"value": r}} for i, n, v, r in rows]
    return json.dumps(
        {"in_smartctl_database": known, "ata_smart_attributes": {"table": table}, "logical_block_size": 512}
        | more
    )


def nvme(**log: int) -> SmartReading:
    """Return the reading of an NVMe drive whose health log holds these values."""
    return parse_smart(json.dumps({"logical_block_size": 4096, "nvme_smart_health_information_log": log}))


def test_nvme_data_units_are_512000_bytes_whatever_the_block_size() -> None:
    """56,318,272 data units are 28.83 TB on a drive with 4096-byte blocks."""
    assert nvme(data_units_written=56_318_272).host_written_bytes == 28_834_955_264_000


def test_zero_data_units_are_not_reported_and_not_zero() -> None:
    """0 data units written means that the drive does not say."""
    assert nvme(data_units_written=0).host_written_bytes is None


def test_the_name_decides_the_unit_of_attribute_241() -> None:
    """Host_Writes_32MiB raw 3,146,000 is 105.56 TB of host writes; 243 beside it is flash, not host."""
    reading = parse_smart(
        ata_document((241, "Host_Writes_32MiB", 100, 3_146_000), (243, "NAND_Writes_32MiB", 100, 9_000_000))
    )
    assert reading.host_written_bytes == 3_146_000 * 32 * 2**20
    assert reading.host_written_bytes / TB == pytest.approx(105.56, abs=0.005)
    assert reading.nand_written_bytes == 9_000_000 * 32 * 2**20


def test_decimal_bytes_against_a_decimal_rating() -> None:
    """600 TB written of 600 TBW is 100.0 percent, not 90.95."""
    life = lifetime(600, yearly_writes(1e6), written_bytes=600e12)
    assert life.used_percent == pytest.approx(100.0)
    assert life.spent
    assert life.years == 0


def test_lba_counts_are_not_32_mib_units() -> None:
    """Micron 1100: 57,128,752,843 sectors are 29.25 TB."""
    reading = parse_smart(ata_document((241, "Total_LBAs_Written", 100, 57_128_752_843)))
    assert reading.host_written_bytes is not None
    assert reading.host_written_bytes / TB == pytest.approx(29.25, abs=0.005)


def test_samsung_sectors() -> None:
    """850 EVO: 9,692,132,473 sectors are 4.962 TB."""
    reading = parse_smart(ata_document((241, "Total_LBAs_Written", 99, 9_692_132_473)))
    assert reading.host_written_bytes is not None
    assert reading.host_written_bytes / TB == pytest.approx(4.962, abs=0.0005)


@pytest.mark.parametrize(
    ("sectors", "value", "host_percent", "drive_percent"),
    [(62_578_693_422, 2, 21.4, 98), (572_549_452_098, 1, 195.4, 99)],
)
def test_the_worse_of_rating_and_wear_indicator_counts(
    sectors: int, value: int, host_percent: float, drive_percent: int
) -> None:
    """A drive at 21 percent of its TBW and 98 percent by its own account is at its end."""
    reading = parse_smart(
        ata_document((241, "Total_LBAs_Written", 99, sectors), (177, "Wear_Leveling_Count", value, 5887))
    )
    assert reading.percent_used == drive_percent
    life = lifetime(
        150,
        yearly_writes(1e6),
        written_bytes=reading.host_written_bytes,
        percent_used=reading.percent_used,
    )
    assert life.used_percent == pytest.approx(host_percent, abs=0.05)
    assert life.years <= 0.02 * 150 / yearly_writes(1e6).total


def test_media_wearout_value_100_is_new() -> None:
    """Intel's 233 with value 100 and raw 1569 is 0 percent used."""
    assert parse_smart(ata_document((233, "Media_Wearout_Indicator", 100, 1569))).percent_used == 0


def test_wd_230_holds_percent_used_in_its_raw_value() -> None:
    """WD Blue: raw 1 is 1 percent used."""
    assert parse_smart(ata_document((230, "Media_Wearout_Indicator", 1, 1))).percent_used == 1


def test_crucial_202_value_is_what_remains() -> None:
    """MX500: value 81 is 19 percent used."""
    assert parse_smart(ata_document((202, "Percent_Lifetime_Remain", 81, 19))).percent_used == 19


def test_percentage_used_above_100_is_a_spent_rating_and_no_failure() -> None:
    """130 percent used with full spare: rating spent, spare fine, the drive's warning in words."""
    reading = nvme(percentage_used=130, available_spare=100, available_spare_threshold=10, critical_warning=4)
    assert reading.percent_used == 130
    assert reading.spare_percent == 100
    assert reading.critical == ("reliability degraded",)
    life = lifetime(600, yearly_writes(1e6), percent_used=reading.percent_used)
    assert life.spent
    assert life.years == 0


@pytest.mark.parametrize(
    ("rated_tbw", "bytes_per_s", "days"),
    [(500, 10e6, 578.7), (500, 8.379e6, 690.7), (100, 2.265e12 / DAY_S, 44.2)],
)
def test_days_until_a_rating_is_written(rated_tbw: float, bytes_per_s: float, days: float) -> None:
    """10 MB/s writes 500 TBW in 578.7 days."""
    years = lifetime(rated_tbw, yearly_writes(bytes_per_s)).years
    assert years * 365 == pytest.approx(days, abs=0.06)


def test_device_statistics_come_before_any_attribute() -> None:
    """A standard meter beats a vendor attribute whose declared unit is wrong."""
    statistics = {
        "pages": [{"number": 1, "table": [{"offset": 24, "value": 10**9, "flags": {"valid": True}}]}]
    }
    reading = parse_smart(ata_document((241, "Total_LBAs_Written", 100, 7), ata_device_statistics=statistics))
    assert reading.host_written_bytes == 512 * 10**9
    assert reading.host_written_source == "device statistics"


def test_an_invalid_device_statistic_is_absent() -> None:
    """An entry without its valid flag holds no value."""
    statistics = {"pages": [{"number": 1, "table": [{"offset": 24, "value": 5, "flags": {"valid": False}}]}]}
    assert parse_smart(ata_document(ata_device_statistics=statistics)).host_written_bytes is None


def test_an_unknown_drive_makes_no_claim() -> None:
    """A drive that smartctl does not know: neither host writes nor wear, but a counter to calibrate."""
    reading = parse_smart(
        ata_document((241, "Total_LBAs_Written", 100, 1000), (231, "SSD_Life_Left", 30, 30), known=False)
    )
    assert reading.host_written_bytes is None
    assert reading.percent_used is None
    assert reading.undeclared_raw == 1000


def test_an_undeclared_unit_is_calibrated_against_the_kernel() -> None:
    """Twenty ticks while the kernel counted 20 × 32 MiB: the unit is 32 MiB; three ticks say nothing."""
    assert calibrated_unit_bytes(100, 120, 20.4 * 32 * 2**20) == 32 * 2**20
    assert calibrated_unit_bytes(100, 103, 3 * 32 * 2**20) is None
    assert calibrated_unit_bytes(100, 120, 20 * 3e6) is None


def test_a_count_beyond_the_link_is_implausible() -> None:
    """279.6 TB over 100 hours of SATA at 600 MB/s cannot be."""
    assert not plausible_bytes(279.6e12, 100, 600e6)
    assert plausible_bytes(100e12, 100, 600e6)


def test_exact_integers_come_from_the_text_form() -> None:
    """Beyond 2^53 smartctl's text form is the exact one."""
    exact = 2**53 + 1
    document = {
        "nvme_smart_health_information_log": {
            "data_units_written": float(exact),
            "data_units_written_s": str(exact),
        }
    }
    assert parse_smart(json.dumps(document)).host_written_bytes == exact * 512_000


def test_a_rated_drive_in_a_database_with_a_wrong_name_is_told_by_its_statistics() -> None:
    """Toshiba HK4R (smartmontools): named LBAs, counted in 32 MiB; Device Statistics know better."""
    sectors = 3_146_000 * 32 * 2**20 // 512
    statistics = {
        "pages": [{"number": 1, "table": [{"offset": 24, "value": sectors, "flags": {"valid": True}}]}]
    }
    wrong = ata_document((241, "Total_LBAs_Written", 100, 3_146_000), ata_device_statistics=statistics)
    assert parse_smart(wrong).host_written_bytes == 3_146_000 * 32 * 2**20
    right = ata_document((241, "Host_Writes_32MiB", 100, 3_146_000))
    assert parse_smart(right).host_written_bytes == 3_146_000 * 32 * 2**20


def test_unknown_attributes_of_a_new_drive_are_no_wear() -> None:
    """Patriot P120 (scrutiny): 177, 231, 232, 233 of a drive that smartctl does not know."""
    reading = parse_smart(
        ata_document(
            (177, "Wear_Leveling_Count", 35, 35),
            (231, "SSD_Life_Left", 40, 40),
            (232, "Available_Reservd_Space", 30, 30),
            (233, "Media_Wearout_Indicator", 35, 100),
            known=False,
        )
    )
    assert reading.percent_used is None


def test_spare_space_is_no_wear() -> None:
    """232 Available_Reservd_Space at 10 makes no claim, even of a known drive."""
    assert parse_smart(ata_document((232, "Available_Reservd_Space", 10, 0))).percent_used is None


def test_flash_and_host_writes_are_two_numbers_in_two_units() -> None:
    """Samsung (netdata): 249 is flash in GiB, 241 the host's sectors."""
    reading = parse_smart(
        ata_document((241, "Total_LBAs_Written", 99, 1_000_000_000), (249, "NAND_Writes_1GiB", 100, 900))
    )
    assert reading.host_written_bytes == 512 * 10**9
    assert reading.nand_written_bytes == 900 * 2**30
    assert reading.waf == pytest.approx(900 * 2**30 / 512e9)


def test_lbas_are_not_gigabytes() -> None:
    """Openhardwaremonitor: a raw LBA count of 9,692,132,473 is 4.96 TB and no number of GB."""
    reading = parse_smart(ata_document((241, "Total_LBAs_Written", 99, 9_692_132_473)))
    assert reading.host_written_bytes == 9_692_132_473 * 512


def test_a_rate_in_binary_units_is_another_rate() -> None:
    """Erigon: 3.1 TiB in 4 d 17 h are 8.379 MB/s, 723.9 GB a day; 104 TB in 987 h are 29.27 MB/s."""
    rate = 3.1 * 2**40 / (4 * DAY_S + 17 * 3600)
    assert rate == pytest.approx(8.379e6, rel=1e-3)
    assert rate * DAY_S == pytest.approx(723.9e9, rel=1e-3)
    assert pytest.approx(2.265e12, rel=1e-3) == 25 * 2**20 * DAY_S
    assert pytest.approx(2.060, rel=1e-3) == 25 * 2**20 * DAY_S / 2**40
    assert pytest.approx(29.27e6, rel=1e-3) == 104e12 / (987 * 3600)


def test_a_percentage_that_is_saturated_is_kept() -> None:
    """255 is as far as the byte goes: spent, whatever it would be."""
    life = lifetime(600, yearly_writes(1e6), percent_used=nvme(percentage_used=255).percent_used)
    assert life.spent


@pytest.mark.parametrize(
    ("document", "nand", "waf"),
    [
        ({"Physical media units written": {"hi": 0, "lo": 3_000_000_000}}, 3_000_000_000, None),
        ({"physical_media_units_written": {"hi": 1, "lo": 5}}, 2**64 + 5, None),
        ({"Device stats": {"nand_bytes_written": {"normalized": 100, "raw": 1000}}}, 1000 * 32 * 2**20, None),
        ({"media_units_written": 30, "data_units_written": 10, "percent_used": 2}, 30 * 10**9, 3.0),
    ],
)
def test_flash_writes_of_nvme_logs(document: dict[str, object], nand: int, waf: float | None) -> None:
    """OCP's log counts bytes, Intel's 32 MiB, the endurance group's 10^9 bytes."""
    reading = parse_smart(json.dumps(document))
    assert reading.nand_written_bytes == nand
    assert reading.waf == waf


def test_micron_page_counts_tell_the_write_amplification() -> None:
    """(247 + 248) / 247."""
    reading = parse_smart(
        ata_document((247, "Host_Program_Page_Count", 100, 1000), (248, "FTL_Program_Page_Count", 100, 500))
    )
    assert reading.waf == pytest.approx(1.5)


def test_a_document_of_nvme_cli() -> None:
    """Other names than smartctl's, kelvin, and in newer versions an object for the critical warning."""
    document = {
        "critical_warning": {"value": 4, "available_spare": 0},
        "temperature": 313,
        "avail_spare": 99,
        "spare_thresh": 10,
        "percent_used": 7,
        "data_units_written": 1000,
        "power_on_hours": 50,
        "media_errors": 0,
    }
    reading = parse_smart(json.dumps(document))
    assert (reading.percent_used, reading.spare_percent, reading.temperature_celsius) == (7, 99, 40)
    assert reading.critical == ("reliability degraded",)
    assert reading.host_written_bytes == 512_000_000


def test_a_sas_drive_counts_decimal_gigabytes() -> None:
    """gigabytes_processed is text, 10^9 bytes each."""
    log = {"scsi_error_counter_log": {"write": {"gigabytes_processed": "1234.567"}}}
    reading = parse_smart(json.dumps(log | {"scsi_percentage_used_endurance_indicator": 3}))
    assert (reading.host_written_bytes, reading.percent_used) == (1_234_567_000_000, 3)
