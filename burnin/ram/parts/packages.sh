# Sourced by ../build: which packages, their files in $cache, their contents in $work/packages.
# shellcheck shell=bash

# Programs of the RAM system come from these; libraries from what they depend on.
roots=(busybox-static dropbear-bin curl zstd fdisk e2fsprogs xfsprogs btrfs-progs efibootmgr nvme-cli hdparm
  tpm2-tools)

apt() {
  local command=$1
  shift
  "apt-$command" -o APT::Sandbox::User=root "${apt_options[@]}" "$@"
}

# A machine of another kind has package lists of its own, so that dpkg here need not know that kind.
use_other_architecture() {
  local lists=$cache/apt-$deb
  mkdir -p "$lists/lists/partial" "$lists/archives/partial"
  : > "$lists/status"
  apt_options+=(-o "APT::Architecture=$deb" -o "APT::Architectures=$deb" -o "Dir::State::status=$lists/status"
    -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache::archives=$lists/archives"
    -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=")
  apt get -q update > "$work/apt.log" 2>&1 || fail "apt-get update for $deb: $(tail -3 "$work/apt.log")"
}

# Debian's name of the kernel's meta package, or else Ubuntu's.
kernel_package() {
  local each names
  case $kernel in
    generic) names="linux-image-$deb linux-image-generic" ;;
    cloud) names="linux-image-cloud-$deb linux-image-virtual" ;;
    *) fail "--kernel $kernel: generic or cloud" ;;
  esac
  apt cache pkgnames linux-image- > "$work/kernels"
  for each in $names; do
    if grep -qx -- "$each" "$work/kernels"; then echo "$each"; return; fi
  done
  fail "no package of $names: apt-get update"
}

# Of the kernel its image and modules: what its package wants for an installed system is not needed. Of other packages
# only libraries are followed, since scripts and their interpreters are not used here.
needed_packages() { # META PACKAGE
  apt cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
    "$1" "${roots[@]}" > "$work/depends"
  awk -v start="$1 ${roots[*]}" '
    function wanted(name) {
      if (name ~ /^linux-(image|modules|modules-extra)-[0-9]/) return 1
      return name ~ /^(lib|zlib1g)/ && name !~ /^lib(pam|debconf|perl)/
    }
    function visit(name,    parts, count, i) {
      if (seen[name]++) return
      count = split(needs[name], parts)
      for (i = 1; i <= count; i++) if (wanted(parts[i])) visit(parts[i])
    }
    /^[a-z0-9]/ { name = $1; sub(/:.*/, "", name); next }
    /Depends: [a-z0-9]/ { other = $NF; sub(/:.*/, "", other); needs[name] = needs[name] " " other }
    END {
      count = split(start, parts)
      for (i = 1; i <= count; i++) visit(parts[i])
      for (each in seen) print each
    }' "$work/depends" | grep -vx -- "$1"
}

choose_packages() {
  [ "$arch" = "$(uname -m)" ] || use_other_architecture
  local meta
  meta=$(kernel_package)
  { needed_packages "$meta"; echo systemd-boot-efi; } | sort > "$work/names"
}

# Names, sizes and digests are those of apt's signed lists: a file in the cache is used if it is what they say.
download_packages() {
  local uri file size digest missing=()
  step "packages: $(wc -l < "$work/names")"
  mkdir -p "$cache"
  # shellcheck disable=SC2046  # names of packages
  apt get -q --print-uris download $(cat "$work/names") 2> "$work/apt.log" > "$work/uris" ||
    fail "apt-get: $(tail -3 "$work/apt.log")"
  while read -r uri file size digest; do
    is_cached "$cache/$file" "$digest" || missing+=("${file%%_*}")
  done < "$work/uris"
  if [ ${#missing[@]} -gt 0 ]; then
    step "downloading ${#missing[@]}"
    (cd "$cache" && apt get -q download "${missing[@]}") > "$work/apt.log" 2>&1 ||
      fail "apt-get download: $(tail -3 "$work/apt.log")"
  fi
  while read -r uri file size digest; do
    is_cached "$cache/$file" "$digest" || fail "$file is not what the signed list says: remove it from $cache"
  done < "$work/uris"
}

is_cached() { # FILE ALGORITHM:DIGEST
  [ -f "$1" ] || return 1
  case $2 in
    SHA256:*) [ "$(sha256sum < "$1")" = "${2#*:}  -" ] ;;
    SHA512:*) [ "$(sha512sum < "$1")" = "${2#*:}  -" ] ;;
    *) return 1 ;;
  esac
}

unpack_packages() {
  local uri file size digest
  step "unpacking"
  mkdir "$work/packages"
  while read -r uri file size digest; do
    dpkg-deb -x "$cache/$file" "$work/packages"
    dpkg-deb -f "$cache/$file" Package Version | awk '{printf "%s%s", $2, NR % 2 ? " " : "\n"}'
  done < "$work/uris" | sort > "$out/packages"
  # The youngest file of the packages dates all that is made of them.
  SOURCE_DATE_EPOCH=$(find "$work/packages" -type f -printf '%T@\n' | sort -n | tail -1 | cut -d. -f1)
  export SOURCE_DATE_EPOCH
}
