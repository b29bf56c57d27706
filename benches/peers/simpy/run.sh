#!/bin/sh
# Runs M/M/1 and the cold-cache model in SimPy beside the engine, and prints the ratios.
# Makes a virtual environment in .venv here and installs SimPy into it from PyPI.
set -eu
cd "$(dirname "$0")"
SIMPY=4.1.2

stop() {
    echo "$1" >&2
    exit 1
}

command -v cargo >/dev/null || stop "cargo is not installed: the engine cannot be built, so there is nothing to compare."
if [ ! -x .venv/bin/python ]; then
    command -v python3 >/dev/null || stop "python3 is not installed: no comparison with SimPy. Everything else runs without it."
    python3 -m venv .venv || { rm -rf .venv; stop "python3 cannot make a virtual environment (on Debian: apt install python3-venv)."; }
fi
if ! .venv/bin/python -c 'import simpy' 2>/dev/null; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "simpy==$SIMPY" ||
        stop "SimPy could not be installed: PyPI was not reached, or does not have it for this Python."
fi
exec cargo run --release --quiet --manifest-path ../Cargo.toml -- simpy "$PWD/.venv/bin/python" "$PWD/models.py" "$@"
