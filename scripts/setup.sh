# Sourced by the scripts beside it: packages and builds, each done only where it is missing.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages=(
  clang-19 lld-19 cmake ninja-build ccache pkg-config
  libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libcurl4-openssl-dev libssl-dev
  libssh-dev libyaml-cpp-dev libsoci-dev libsqlite3-dev zlib1g-dev libcli11-dev libfmt-dev libpugixml-dev
)
slurm_packages=(slurm-wlm munge)
test_packages=(
  libclang-rt-19-dev llvm-19 clang-tidy-19 clang-format-19 libgtest-dev libgmock-dev libbenchmark-dev
  git openssh-server openssh-client stress-ng fio curl zstd pdsh clustershell e2fsprogs util-linux
  openipmi ipmitool freeipmi-tools qemu-system-x86 python3 python3-yaml python3-jsonschema python3-sushy redfishtool
)

say() { printf '\n== %s\n' "$*"; }

# Installs what is missing of "$@", after listing it.
need_packages() {
  local missing=() package as_root=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# PRESET [TARGET...]: configures once, builds what has changed.
build() {
  local preset=$1
  shift
  say "building ($preset) in build/$preset"
  cd "$root"
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" > /dev/null
  cmake --build "build/$preset" ${1:+--target "$@"}
}
