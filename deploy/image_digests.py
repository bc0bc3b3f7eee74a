"""Pin the images of docker-compose.yml and the Dockerfile to the digests that their tags have now.

Needs skopeo and a connection to the registries. Check what was printed, keep it under version control, and start with it:

    python deploy/image_digests.py > docker-compose.digests.yml
    docker compose --file docker-compose.yml --file docker-compose.digests.yml up

The base image of the Dockerfile stands in a comment: write its digest behind both tags there (``python:…@sha256:…``).
"""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def digest(image: str) -> str:
    """Return the digest of an image's tag for all platforms, as its registry tells it."""
    reference = image if "/" in image else f"library/{image}"
    if "." not in reference.split("/")[0]:
        reference = f"docker.io/{reference}"
    asked = ["skopeo", "inspect", "--no-tags", "--format", "{{.Digest}}", f"docker://{reference}"]
    told = subprocess.run(asked, check=True, capture_output=True, text=True, timeout=120).stdout.strip()
    if not DIGEST.fullmatch(told):
        sys.exit(f"{image}: the registry told no digest; check the name and try again")
    return told


def main() -> None:
    """Print the override."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    images = {name: each["image"] for name, each in services.items() if "image" in each and "build" not in each}
    bases = re.findall(r"^FROM (\S+)", (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    pinned = {image: f"{image}@{digest(image)}" for image in dict.fromkeys((*images.values(), *bases))}
    for base in dict.fromkeys(bases):
        print(f"# deploy/Dockerfile: FROM {pinned[base]}")
    print(yaml.safe_dump({"services": {name: {"image": pinned[image]} for name, image in images.items()}}), end="")


if __name__ == "__main__":
    main()
