"""The values that leapprof's floors hand to each other. Frozen; no I/O, no clock, no logic of a floor."""

from leapprof.model.access import DeviceRating, HostConfig, NodeosSelector
from leapprof.model.comparison import (
    Chart,
    Comparison,
    ConfigChange,
    Effect,
    FactDifference,
    MetricComparison,
    PublishedFigure,
    Side,
    Subject,
    WearComparison,
    WearSide,
    Window,
)
from leapprof.model.estimate import (
    BatchMeans,
    Better,
    Estimate,
    Grade,
    Interval,
    Series,
    Verdict,
)
from leapprof.model.finding import Finding, Severity
from leapprof.model.frame import Frame, ReadStatus, Section
from leapprof.model.host import Device, DeviceKind, Host, Mount, Nodeos, Swap, Topology
from leapprof.model.recording import (
    ClockOffset,
    Event,
    Gap,
    Recording,
    SamplingCost,
)
from leapprof.model.table import Column, Table

__all__ = [
    "BatchMeans",
    "Better",
    "Chart",
    "ClockOffset",
    "Column",
    "Comparison",
    "ConfigChange",
    "Device",
    "DeviceKind",
    "DeviceRating",
    "Effect",
    "Estimate",
    "Event",
    "FactDifference",
    "Finding",
    "Frame",
    "Gap",
    "Grade",
    "Host",
    "HostConfig",
    "Interval",
    "MetricComparison",
    "Mount",
    "Nodeos",
    "NodeosSelector",
    "PublishedFigure",
    "ReadStatus",
    "Recording",
    "SamplingCost",
    "Section",
    "Series",
    "Severity",
    "Side",
    "Subject",
    "Swap",
    "Table",
    "Topology",
    "Verdict",
    "WearComparison",
    "WearSide",
    "Window",
]
