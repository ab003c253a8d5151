"""Renew the files of constraints: every package, its version, its hashes.

    make constraints                       # the versions stay, what pyproject.toml asks is added
    make constraints UPGRADE=--upgrade     # every package in its newest version

`uv pip compile` resolves for every system and for Python 3.11 and newer and takes the SHA-256 of
all files of a version from the package index. What only GPU builds of torch need goes into a file
of its own, which `make install` reads where such a build was installed; so does what the groups
`dev` and `platform` add. CPU builds of torch are not on the index: the hash of the one that pip
takes on this machine is added to those that the file has for the same version.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS, GPU_PINS = ROOT / "constraints.txt", ROOT / "constraints-cuda.txt"
DEV_PINS, PLATFORM_PINS = ROOT / "constraints-dev.txt", ROOT / "constraints-platform.txt"
EXTRAS = ("dg", "ocr", "office", "openai", "postgres", "reader", "vertex")
# Packages that no CPU build of torch asks for.
GPU_ONLY = re.compile(r"(nvidia|cuda)-|triton==")
PIN = re.compile(r"^[\w.-]+==[^\s;]+", re.MULTILINE)
HEADS = {
    PINS: """\
# The package's dependencies with the extras `dg`, `ocr`, `office`, `openai`, `postgres`, `reader`
# and `vertex`, each with the SHA-256 of all its files. Written by `make constraints`. To install:
#   pip install --require-hashes --no-deps --only-binary :all: -r constraints.txt
""",
    GPU_PINS: """\
# What GPU builds of torch add to constraints.txt. Written by `make constraints`.
""",
    DEV_PINS: """\
# What the group `dev` adds to constraints.txt: tests and checks. Written by `make constraints`.
""",
    PLATFORM_PINS: """\
# What the group `platform` adds to both: Ray, an object server. Written by `make constraints`.
""",
}


def pins_in(path: Path) -> list[str]:
    """Return the pins of a file, without hashes."""
    return PIN.findall(path.read_text("utf-8"))


def compile_pins(*options: str) -> list[str]:
    """Return one entry a package, its lines joined as uv writes them."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
    command += ["--python-version", "3.11", "--generate-hashes", "--only-binary", ":all:"]
    command += ["--no-annotate", "--no-header", *options]
    command += [part for extra in EXTRAS for part in ("--extra", extra)]
    found = subprocess.run(
        [*command, "pyproject.toml"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return re.split(r"\n(?=\S)", found.stdout.strip())


def torch_here(version: str) -> str:
    """Return the hash of the file that pip takes for torch on this machine."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
    command += ["--ignore-installed", "--report", "-", f"torch=={version}"]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    (torch,) = json.loads(found.stdout)["install"]
    return f"sha256:{torch['download_info']['archive_info']['hashes']['sha256']}"


def with_builds_beside_the_index(entry: str, before: str) -> str:
    """Return torch's entry with the hashes of builds that the index does not hold."""
    (version,) = re.findall(r"^torch==(\S+)", entry)
    hashes = {*re.findall(r"sha256:\w+", entry), torch_here(version)}
    (old,) = re.findall(r"^torch==(\S+)((?: \\\n    --hash=\S+)*)", before, re.MULTILINE)
    if old[0] == version:
        hashes.update(re.findall(r"sha256:\w+", old[1]))
    pin = f"torch=={version}"
    return " \\\n    ".join([pin, *(f"--hash={one}" for one in sorted(hashes))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    before = PINS.read_text("utf-8")
    known = [] if parser.parse_args().upgrade else [pin for path in HEADS for pin in pins_in(path)]
    parts: dict[Path, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.txt"
        # Each file adds to those before it, in the same versions.
        for path, group in ((PINS, []), (DEV_PINS, ["dev"]), (PLATFORM_PINS, ["platform"])):
            kept.write_text("\n".join(known), "utf-8")
            entries = compile_pins("--constraint", str(kept), *[f"--group={one}" for one in group])
            named = {entry.partition("==")[0] for part in parts.values() for entry in part}
            parts[path] = [one for one in entries if one.partition("==")[0] not in named]
            known = sorted({*known, *PIN.findall("\n".join(entries))})
    parts[GPU_PINS] = [entry for entry in parts[PINS] if GPU_ONLY.match(entry)]
    parts[PINS] = [
        with_builds_beside_the_index(entry, before) if entry.startswith("torch==") else entry
        for entry in parts[PINS]
        if not GPU_ONLY.match(entry)
    ]
    for path, chosen in parts.items():
        path.write_text(HEADS[path] + "\n".join(chosen) + "\n", "utf-8")
        print(f"{path.name}: {len(chosen)} packages")


if __name__ == "__main__":
    main()
