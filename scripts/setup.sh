# Sourced by the scripts beside it: packages and builds, each done only where it is missing.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What Debian 12 and 13 name by a version of their own.
case $(. /etc/os-release && echo "${VERSION_ID:-}") in
  13*) debian=13 boost=1.83 libstdcxx=14 postgresql=17 ;;
  *) debian=12 boost=1.81 libstdcxx=12 postgresql=15 ;;
esac
# Where another release of Debian than this machine's comes from.
debian_mirror=${CUPEL_DEBIAN_MIRROR:-http://deb.debian.org/debian}

build_packages=(
  clang-19 lld-19 cmake ninja-build ccache pkg-config
  "libboost$boost-dev" "libboost-json$boost-dev" "libboost-url$boost-dev" libcurl4-openssl-dev libssl-dev
  libssh-dev libyaml-cpp-dev libsoci-dev libpq-dev libsqlite3-dev zlib1g-dev libcli11-dev libfmt-dev libspdlog-dev libpugixml-dev
  libctemplate-dev prometheus-cpp-dev libp11-kit-dev openssl
)
# The page of cupel serve: Debian's, unless there is a node with an npm of its own (Debian's npm conflicts with that).
command -v npm > /dev/null || build_packages+=(nodejs npm)
# For cupel-node of nodes with Arm processors: built here, and run by qemu in tests.
aarch64_packages=("libstdc++-$libstdcxx-dev-arm64-cross" libc6-dev-arm64-cross llvm-19)
slurm_packages=(slurm-wlm munge)
test_packages=(
  libclang-rt-19-dev llvm-19 clang-tidy-19 clang-format-19 libgtest-dev libgmock-dev libbenchmark-dev
  git openssh-server openssh-client stress-ng fio curl zstd pdsh clustershell e2fsprogs util-linux
  fish zsh groff slurmrestd slurm-wlm-jwt-plugin
  openipmi ipmitool freeipmi-tools qemu-system-x86 python3 python3-yaml python3-jsonschema python3-sushy redfishtool fwupd
  python3-flask dpkg-dev  # fwupd's Redfish server: need_fwupd_server
  python3-configobj python3-jinja2 python3-jsonpatch python3-netifaces python3-oauthlib python3-requests python3-serial  # need_cloud_init
  chromium poppler-utils qemu-user-static
  "debian-installer-$debian-netboot-amd64"  # the real installer, for bare-metal tests
  ovmf ipxe dnsmasq-base iproute2 mtools xorriso sbsigntool
  ibsim-utils infiniband-diags opensm systemd prometheus
  softhsm2 "postgresql-$postgresql"
  dosfstools cpio kmod fdisk binutils  # boot artefacts: tests/support/boot
  btrfs-progs  # a root as fedora lays it out
  jq  # scripts/sbom
  ansible-core  # reads cupel inventory ansible
)
# For what scripts/test --all runs beside the rest: images made whole, machines with Arm processors.
long_packages=(binutils-aarch64-linux-gnu mmdebstrap squashfs-tools qemu-system-arm qemu-efi-aarch64)

say() { printf '\n== %s (%d min %02d s)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Installs what is missing of "$@", after listing it.
need_packages() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  # Tests start servers of their own: the package is to make none that runs beside them.
  if [[ " ${missing[*]} " == *" postgresql-$postgresql "* ]] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    echo 'create_main_cluster = false' | as_root install -D -m 0644 /dev/stdin /etc/postgresql-common/createcluster.conf
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# The Redfish server of fwupd's own tests, out of Debian's sources. Where these cannot be had, its tests say so.
fwupd_server=/var/cache/cupel-tests/fwupd-redfish.py
need_fwupd_server() {
  [ ! -f "$fwupd_server" ] || return 0
  say "fetching the sources of fwupd"
  local folder own
  folder=$(mktemp -d)
  own=(-q -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$folder/lists"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
  echo "deb-src http://deb.debian.org/debian bookworm main" > "$folder/sources.list"
  mkdir -p "$folder/lists/partial"
  (cd "$folder" && timeout 120 apt-get "${own[@]}" update && timeout 120 apt-get "${own[@]}" --download-only source fwupd &&
    tar -xOzf fwupd_*.orig.tar.gz --wildcards '*/plugins/redfish/tests/redfish.py' > redfish.py &&
    as_root install -D -m 0644 redfish.py "$fwupd_server") ||
    echo "the sources of fwupd were not fetched: the tests called FwupdServer are skipped" >&2
  rm -rf "$folder"
}

# cloud-init's package, for a test that unpacks it into a copy of the system. Installed it would take over the next boot.
cloud_init=/var/cache/cupel-tests/cloud-init.deb
need_cloud_init() {
  [ ! -f "$cloud_init" ] || return 0
  say "fetching cloud-init"
  local folder
  folder=$(mktemp -d)
  (cd "$folder" && { apt-get -q download cloud-init || { as_root apt-get -q update && apt-get -q download cloud-init; }; } &&
    as_root install -D -m 0644 cloud-init_*.deb "$cloud_init") || echo "cloud-init was not fetched" >&2
  rm -rf "$folder"
}

# PRESET [TARGET...]: configures once, builds what has changed.
build() {
  local preset=$1
  shift
  say "building ($preset) in build/$preset"
  cd "$root"
  # What is shipped is built from start to end, so in batches (docs/build/decisions/batches.md).
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
