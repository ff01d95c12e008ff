# Sourced by the scripts beside it: packages and builds, each done only where it is missing.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages=(
  clang-19 lld-19 cmake ninja-build ccache pkg-config
  libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libcurl4-openssl-dev libssl-dev
  libssh-dev libyaml-cpp-dev libsoci-dev libsqlite3-dev zlib1g-dev libcli11-dev libfmt-dev libspdlog-dev libpugixml-dev
  libctemplate-dev prometheus-cpp-dev openssl
)
# The page of cupel serve: Debian's, unless there is a node with an npm of its own (Debian's npm conflicts with that).
command -v npm > /dev/null || build_packages+=(nodejs npm)
# For cupel-node of nodes with Arm processors: built here, and run by qemu in tests.
aarch64_packages=(libstdc++-12-dev-arm64-cross libc6-dev-arm64-cross llvm-19)
slurm_packages=(slurm-wlm munge)
test_packages=(
  libclang-rt-19-dev llvm-19 clang-tidy-19 clang-format-19 libgtest-dev libgmock-dev libbenchmark-dev
  git openssh-server openssh-client stress-ng fio curl zstd pdsh clustershell e2fsprogs util-linux
  fish zsh groff
  openipmi ipmitool freeipmi-tools qemu-system-x86 python3 python3-yaml python3-jsonschema python3-sushy redfishtool fwupd
  chromium poppler-utils qemu-user-static
  debian-installer-12-netboot-amd64  # the real installer, for bare-metal tests
  ovmf ipxe dnsmasq-base iproute2 mtools xorriso sbsigntool
  ibsim-utils infiniband-diags opensm systemd prometheus
  dosfstools cpio kmod fdisk binutils  # boot artefacts: tests/support/boot
)

say() { printf '\n== %s (%d min %02d s)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

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
  # What is shipped is built from start to end, so in batches (docs/decisions/batches.md).
  local batches=()
  [ "$preset" != release ] || batches=(-DCUPEL_BATCHES=ON)
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" "${batches[@]}" > /dev/null
  cmake --build "build/$preset" ${1:+--target "$@"}
}

# PRESET: the programs for nodes with Arm processors, with the GPU's kernels as that preset has compiled them.
build_for_arm() {
  cmake --preset node-aarch64 -DCUPEL_BURN_IMAGES="$root/build/$1/burnin/agent/burn/images" > /dev/null
  build node-aarch64
}

# PREFIX PRESET: what was built, below PREFIX; by sudo where we may not write there.
install_to() {
  local prefix=$1 preset=$2 place=${DESTDIR:-}$1 as_root=()
  while [ ! -e "$place" ]; do place=$(dirname "$place"); done
  [ -w "$place" ] || as_root=(sudo)
  "${as_root[@]}" env DESTDIR="${DESTDIR:-}" cmake --install "$root/build/$preset" --prefix "$prefix"
  # Root's own list would be in the way of the next one who installs.
  [ ${#as_root[@]} = 0 ] || "${as_root[@]}" rm -f "$root/build/$preset/install_manifest.txt"
}
