"""Makes docs/metrics.md and docs/findings.md from the code: python scripts/make_docs.py [DIRECTORY]."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leapprof.assess.metrics import METRICS
from leapprof.ingest.columns import TABLES, TIME_COLUMNS
from leapprof.report.labels import metric_label
from leapprof.units import format_value

ROOT = Path(__file__).parent.parent
SHORTHANDS = {"warning": "warning", "info": "info", "error": "error"}
CONFIG_RULES = ("nodeos",)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Found:
    """One finding as the source writes it; values that differ from case to case read ``…``."""

    code: str
    severity: str
    message: str
    hint: str


def _words(node: ast.expr | None) -> str:
    """Return the text that an expression of the source gives, as far as it is written there."""
    match node:
        case None:
            text = ""
        case ast.Constant():
            text = str(node.value)
        case ast.JoinedStr():
            text = "".join(_words(part) for part in node.values)
        case ast.IfExp():
            text = _words(node.body)
        case ast.BinOp(op=ast.Add()):
            text = _words(node.left) + _words(node.right)
        case ast.Attribute():
            text = node.attr.lower()
        case _:
            text = "…"
    return text


def _findings_in(tree: ast.AST) -> Iterator[Found]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        named = {k.arg: k.value for k in node.keywords if k.arg}
        if name == "Finding" and isinstance(named.get("code"), ast.Constant):
            yield Found(
                code=_words(named["code"]),
                severity=_words(named.get("severity")),
                message=_words(named.get("message")),
                hint=_words(named.get("hint")),
            )
        elif name in SHORTHANDS and len(node.args) >= 3 and isinstance(node.args[0], ast.Constant):
            code, message, hint = (_words(argument) for argument in node.args[:3])
            yield Found(code=code, severity=SHORTHANDS[name], message=message, hint=hint)


def found_findings() -> tuple[Found, ...]:
    """Return every finding that the package can report, but for those of config.ini."""
    rows: dict[str, Found] = {}
    for path in sorted((ROOT / "leapprof").rglob("*.py")):
        if path.relative_to(ROOT / "leapprof").parts[0] in CONFIG_RULES:
            continue
        for found in _findings_in(ast.parse(path.read_text(encoding="utf-8"))):
            rows.setdefault(found.code, found)
    return tuple(sorted(rows.values()))


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def findings_page() -> str:
    """Return docs/findings.md."""
    lines = [
        "# Findings",
        "",
        "What reports, `show`, `wear` and `doctor` say beside the numbers, each with what to do next. Findings of",
        "`leapprof config` are in [config-findings.md](config-findings.md). Made by `python scripts/make_docs.py`.",
        "",
        "| code | severity | says | what to do |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{f.code}` | {f.severity} | {_cell(f.message)} | {_cell(f.hint)} |" for f in found_findings()
    ]
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    """Return docs/metrics.md."""
    lines = [
        "# Metrics",
        "",
        "Rates are differences of the kernel's counters over the time between samples. A verdict of `unchanged` needs",
        "the whole 95 % interval within the difference that matters (the larger of both); the p values of headline",
        "metrics are adjusted together (Holm). Made by `python scripts/make_docs.py`.",
        "",
        "| metric | what | unit | better | a difference that matters | headline | from |",
        "|---|---|---|---|---|---|---|",
    ]
    for spec in METRICS:
        matters = format_value(spec.threshold.absolute, spec.unit)
        if spec.threshold.relative:
            matters += f" or {spec.threshold.relative:.0%}"
        columns = ", ".join(f"`{column}`" for column in spec.columns[:4]) + (
            " …" if len(spec.columns) > 4 else ""
        )
        lines.append(
            f"| `{spec.name}` | {metric_label(spec.name)} | {spec.unit} | {spec.better} | {matters} "
            f"| {'yes' if spec.headline else ''} | table `{spec.table}`: {columns} |"
        )
    return "\n".join(lines) + "\n"


def tables_page() -> str:
    """Return docs/tables.md."""
    lines = [
        "# Tables of a recording",
        "",
        "Raw counters and levels as they were read, integers all; a missing reading is null. Every table also has",
        f"{', '.join(f'`{name}`' for name in TIME_COLUMNS)}.",
        "`_total` counts up until its device or process begins anew; a tick is 1/100 s, a page 4096 bytes, a sector",
        "512 bytes. Made by `python scripts/make_docs.py`.",
        "",
    ]
    for name, columns in TABLES.items():
        lines += [
            f"## {name}",
            "",
            f"Text: {', '.join(f'`{c}`' for c in columns.texts) or 'none'}. Integers:",
            "",
        ]
        lines += [", ".join(f"`{c}`" for c in columns.integers), ""]
    return "\n".join(lines).rstrip() + "\n"


PAGES = {"metrics.md": metrics_page, "findings.md": findings_page, "tables.md": tables_page}


def main() -> None:
    """Write the pages."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    for name, page in PAGES.items():
        (target / name).write_text(page(), encoding="utf-8")
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
