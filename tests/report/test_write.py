"""write(): every format, the same bytes, nothing half."""

import sys
from dataclasses import replace

import pytest

from leapprof.errors import StoreError
from leapprof.report import Format, images, write
from tests.support.comparisons import sample

ALL = frozenset(Format)


def test_every_format_is_written(tmp_path):
    """Each file is there, and the post shows its charts."""
    made = sample(points=50)
    paths = write(replace(made, charts=made.charts[:1]), tmp_path, ALL, public=False)
    names = [p.relative_to(tmp_path).as_posix() for p in paths]
    assert names[:7] == [
        "report.html", "report.md", "report.json", "metrics.csv", "wear.csv", "series.csv", "distributions.csv",
    ]  # fmt: skip
    assert names[7] == "charts/01-host-cpu-percent-host.png"
    assert "](charts/01-host-cpu-percent-host.png)" in (tmp_path / "report.md").read_text()


def test_same_input_gives_the_same_bytes(tmp_path):
    """In text formats; images have a test of their own."""
    formats = ALL - {Format.PNG}
    first = write(sample(nasty=True), tmp_path / "a", formats, public=True)
    second = write(sample(nasty=True), tmp_path / "b", formats, public=True)
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_an_image_has_the_same_bytes_twice():
    """No date and no program in its metadata."""
    from leapprof.report.charts import drawn_charts

    drawn = drawn_charts(sample(points=200))[0]
    first = images.render_png(drawn)
    assert first == images.render_png(drawn)
    assert first.startswith(b"\x89PNG")
    assert b"Software" not in first


@pytest.mark.parametrize("subject", ["../../etc", "a b/c", "<script>", "", "x" * 300])
def test_image_names_are_safe(subject):
    """Whatever a device or nodeos is called."""
    name = images.image_name(3, "device.write_bytes_per_s", subject)
    assert name.startswith("03-device-write-bytes-per-s")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert len(name) < 80


def test_without_matplotlib_the_report_says_that_images_are_missing(tmp_path, monkeypatch):
    """A finding with what to do, and no failure."""
    monkeypatch.setattr(images, "is_available", lambda: False)
    paths = write(sample(points=20), tmp_path, frozenset({Format.MD, Format.PNG}), public=False)
    assert [p.name for p in paths] == ["report.md"]
    assert "charts-not-written-as-png" in paths[0].read_text()


def test_an_existing_report_is_not_overwritten(tmp_path):
    """The second write is refused."""
    write(sample(points=20), tmp_path, frozenset({Format.JSON}), public=False)
    with pytest.raises(StoreError):
        write(sample(points=20), tmp_path, frozenset({Format.JSON}), public=False)


def test_reports_hold_no_path_of_this_machine(tmp_path):
    """Neither the directory nor the interpreter is named."""
    for path in write(sample(points=20), tmp_path / "out", ALL - {Format.PNG}, public=False):
        text = path.read_text()
        assert str(tmp_path) not in text
        assert sys.prefix not in text
