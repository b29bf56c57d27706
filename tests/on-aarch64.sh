#!/bin/sh
# Runs the engine's fixed vectors, its golden runs and its twin on aarch64, in QEMU: the same bits as everywhere else.
# On Debian: apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross. The first build takes some ten minutes.
set -eu
cd "$(dirname "$0")/.."
TARGET=aarch64-unknown-linux-gnu

stop() {
    echo "$1" >&2
    exit 1
}

command -v cargo >/dev/null || stop "cargo is not installed: the tests cannot be built."
command -v qemu-aarch64 >/dev/null || stop "qemu-aarch64 is not installed (on Debian: apt-get install qemu-user)."
command -v aarch64-linux-gnu-gcc >/dev/null ||
    stop "there is no C compiler for aarch64 (on Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross)."
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$TARGET/lib" ]; then
    command -v rustup >/dev/null || stop "Rust has no standard library for $TARGET here, and rustup, which gets it, is not installed."
    rustup target add "$TARGET" || stop "rustup could not get the standard library for $TARGET."
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
# A snapshot that differs fails; it is never written here.
export INSTA_UPDATE=no
cargo test --locked --target "$TARGET" --test engine -- vectors golden
exec cargo test --locked --target "$TARGET" --test twin
