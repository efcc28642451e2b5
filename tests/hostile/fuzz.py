"""Fuzzes all targets with atheris, by hand: python -m tests.hostile.fuzz --seconds 3600.

atheris is no requirement of the tests: pip install atheris. Each target gets its share of the time in a process of its
own, beginning with its seeds and the kept inputs of corpus.zip; what reached new code is kept there again, smallest
first and bounded. An input that ended a target is written to --out and told; add it to test_corpus.py's FOUND.
"""

import argparse
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus.zip"
MAX_CORPUS_BYTES = 200_000
MAX_INPUT_BYTES = 4096
TIMEOUT_S, MEMORY_MB = 25, 2048
_EPOCH = (1980, 1, 1, 0, 0, 0)


def kept(name: str) -> Iterator[bytes]:
    """Yield the kept inputs of a target."""
    if CORPUS.exists():
        with zipfile.ZipFile(CORPUS) as corpus:
            for entry in corpus.namelist():
                if entry.startswith(f"{name}/"):
                    yield corpus.read(entry)


def fuzz(name: str, words: list[str]) -> None:
    """Fuzz one target in this process until libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["leapprof"]):
        from tests.hostile import targets

    def one(data: bytes) -> None:
        targets.run(name, data)

    program = f"{sys.executable} -m tests.hostile.fuzz --target {name} --"  # libFuzzer starts itself to merge
    atheris.Setup([program, *words], one)
    atheris.Fuzz()


def _child(name: str, *words: str) -> int:
    command = [sys.executable, "-m", "tests.hostile.fuzz", "--target", name, "--", *words]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


def _write(folder: Path, inputs: Iterator[bytes]) -> Path:
    folder.mkdir()
    for data in inputs:
        (folder / sha256(data).hexdigest()[:16]).write_bytes(data)
    return folder


def work(name: str, seconds: int, folder: Path, out: Path) -> list[bytes]:
    """Fuzz a target for so long in a process of its own; return the inputs that are worth keeping, smallest first."""
    from tests.hostile.seeds import seeds

    grown, least = _write(folder / "grown", kept(name)), _write(folder / "least", iter(()))
    given = _write(folder / "seeds", seeds(name))
    limits = [f"-timeout={TIMEOUT_S}", f"-rss_limit_mb={MEMORY_MB}", f"-artifact_prefix={out}/{name}-"]
    limits += [f"-max_len={MAX_INPUT_BYTES}", "-print_final_stats=1"]
    status = _child(name, str(grown), str(given), f"-max_total_time={seconds}", *limits)
    merged = _child(name, "-merge=1", str(least), str(grown), *limits)
    said = "nothing found" if status == 0 else f"ENDED WITH STATUS {status}"
    print(f"{name}: {said} in {seconds} s", flush=True)
    best = least if merged == 0 else grown
    return sorted((path.read_bytes() for path in best.iterdir()), key=len)


def keep(inputs: dict[str, list[bytes]]) -> None:
    """Write corpus.zip: of each target the smallest inputs, as many as fit in its share."""
    share = MAX_CORPUS_BYTES // len(inputs)
    with zipfile.ZipFile(CORPUS, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as corpus:
        for name, found in sorted(inputs.items()):
            began = corpus.fp.tell()  # type: ignore[union-attr]
            for data in found:
                if corpus.fp.tell() - began > share // 2:  # type: ignore[union-attr]  # the directory at the end takes as much
                    break
                entry = zipfile.ZipInfo(f"{name}/{sha256(data).hexdigest()[:16]}", _EPOCH)
                corpus.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


def main() -> None:
    """Fuzz all targets one after the other, or (in the child) one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=3600, help="for all targets together")
    parser.add_argument("--out", type=Path, default=Path("fuzz-found"), help="for inputs that ended a target")
    parser.add_argument("--only", action="append", help="a target; may be given more than once")
    parser.add_argument("--target", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.target:
        fuzz(asked.target, asked.words)
        return
    from tests.hostile.targets import TARGETS

    asked.out.mkdir(parents=True, exist_ok=True)
    chosen = asked.only or list(TARGETS)
    found = {name: list(kept(name)) for name in TARGETS}
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="leapprof-fuzz-") as folder:
            found[name] = work(name, asked.seconds // len(chosen), Path(folder), asked.out)
            keep(found)


if __name__ == "__main__":
    main()
