"""Renew the files of constraints: every package, its version, its hashes.

    make constraints                       # the versions stay, what pyproject.toml asks is added
    make constraints UPGRADE=--upgrade     # every package in its newest version

`uv pip compile` resolves for every system and for Python 3.11 and newer and takes the SHA-256 of
all files of a version from the package index. What only GPU builds of torch need goes into a file
of its own, which `make install` reads where such a build was installed; so does what only the extra
`platform` needs, which `make platform` installs. CPU builds of torch are not on the index: the hash
of the one that pip takes on this machine is added to those that stand in the file for the same
version.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS, GPU_PINS = ROOT / "constraints.txt", ROOT / "constraints-cuda.txt"
PLATFORM_PINS = ROOT / "constraints-platform.txt"
EXTRAS = ("dev", "dg", "ocr", "openai", "postgres", "reader", "vertex")
# Packages that no CPU build of torch asks for.
GPU_ONLY = re.compile(r"(nvidia|cuda)-|triton==")
PIN = re.compile(r"^[\w.-]+==[^\s;]+", re.MULTILINE)
HEADS = {
    PINS: """\
# Every package of the default environment with the extras `dev`, `dg`, `ocr`, `openai`, `postgres`,
# `reader` and `vertex`, each with the SHA-256 of all its files. Written by `make constraints`. To
# install:
#   pip install --require-hashes --no-deps --only-binary :all: -r constraints.txt
""",
    GPU_PINS: """\
# What GPU builds of torch need besides constraints.txt. `make install` reads this file where such
# a build was installed. Written by `make constraints`.
""",
    PLATFORM_PINS: """\
# What the extra `platform` needs besides constraints.txt: Ray, and the object server of the tests.
# `make platform` and CI install it. Written by `make constraints`.
""",
}


def pins_in(path: Path) -> list[str]:
    """Return the pins of a file, without hashes."""
    return PIN.findall(path.read_text("utf-8"))


def compile_pins(extras: Sequence[str], *options: str) -> list[str]:
    """Return one entry a package, its lines joined as uv writes them."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
    command += ["--python-version", "3.11", "--generate-hashes", "--only-binary", ":all:"]
    command += ["--no-annotate", "--no-header", *options]
    command += [part for extra in extras for part in ("--extra", extra)]
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
    upgrade = parser.parse_args().upgrade
    before = PINS.read_text("utf-8")
    known = [] if upgrade else [pin for path in HEADS if path.exists() for pin in pins_in(path)]
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.txt"
        kept.write_text("\n".join(known), "utf-8")
        entries = compile_pins(EXTRAS, "--constraint", str(kept))
        # Of one version in both files, whatever else the second one adds.
        kept.write_text("\n".join({*known, *PIN.findall("\n".join(entries))}), "utf-8")
        platform = compile_pins((*EXTRAS, "platform"), "--constraint", str(kept))
    entries = [
        with_builds_beside_the_index(entry, before) if entry.startswith("torch==") else entry
        for entry in entries
    ]
    named = {entry.partition("==")[0] for entry in entries}
    parts = {
        PINS: [entry for entry in entries if not GPU_ONLY.match(entry)],
        GPU_PINS: [entry for entry in entries if GPU_ONLY.match(entry)],
        PLATFORM_PINS: [entry for entry in platform if entry.partition("==")[0] not in named],
    }
    for path, chosen in parts.items():
        path.write_text(HEADS[path] + "\n".join(chosen) + "\n", "utf-8")
        print(f"{path.name}: {len(chosen)} packages")


if __name__ == "__main__":
    main()
