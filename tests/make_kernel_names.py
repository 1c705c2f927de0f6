"""Write tests/data/kernel_names.json.gz: every device activity's name in a folder of traces, with its count by trace.

Made by `python -m tests.make_kernel_names ../shared/traces`. Names and counts are facts about the public traces that
../shared/traces/INDEX.md lists; nothing else of them is kept.
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parent / "data" / "kernel_names.json.gz"
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}


def device_names(trace: Path) -> Iterator[str]:
    """Yield the name of each activity of a device in a Kineto trace."""
    document = json.loads(gzip.decompress(trace.read_bytes()))
    events = document["traceEvents"] if isinstance(document, dict) else document
    for event in events:
        if event.get("ph") == "X" and str(event.get("cat", "")).lower() in DEVICE:
            yield event["name"]


def main(folder: Path) -> None:
    """Write the names of all traces of a folder, sorted, so that the same traces give the same bytes."""
    found = {
        path.name.removesuffix(".json.gz"): dict(sorted(Counter(device_names(path)).items()))
        for path in sorted(folder.glob("*.json.gz"))
    }
    text = json.dumps({trace: names for trace, names in found.items() if names}, indent=0)
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
