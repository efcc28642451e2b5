"""A wear forecast as JSON: the fields of model/wear.py, without what JSON cannot say."""

import math
from dataclasses import fields, is_dataclass
from typing import Any

from leapprof import __version__
from leapprof.model.wear import WearForecast

WEAR_FORMAT = 1  # 1: first


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name != "recording"}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def wear_json(forecast: WearForecast) -> dict[str, Any]:
    """Return the forecast as a JSON object; an endless lifetime is null."""
    host = forecast.recording.host.name
    body: dict[str, Any] = _plain(forecast)
    return {"format": WEAR_FORMAT, "tool": {"name": "leapprof", "version": __version__}, "host": host} | body
