#include "burnin/disk/nvme_script.h"

#include <string_view>

namespace cupel::burnin {
namespace {

/// Whose device it is. A name may belong to another drive after a reset or a hot plug, and the
/// kernel numbers name spaces by subsystem, not by controller: nvme3's may be nvme2n1.
constexpr std::string_view kIdentity = R"sh(serial_in() {
  serial=
  [ -r "$1" ] && read -r serial <"$1"
  echo "$serial"
}
stranger() {
  of_drive=$(serial_in "$sys/class/nvme/$1/serial")
  of_space=$(serial_in "$sys/block/$2/device/serial")
  if [ -z "$of_drive" ]; then
    echo 'it reports no serial number'
  elif [ "$of_drive" != "$of_space" ]; then
    echo "$2 belongs to the drive with serial number '$of_space', and $1 has '$of_drive'"
  elif [ "$of_drive" != "${3:-$of_drive}" ]; then
    echo "another drive has its name now: serial number '$of_drive', and it was '$3'"
  fi
}
)sh";

/// `bound` cannot be forced: the drive is in use at this moment. ZFS alone leaves no holder in
/// /sys.
constexpr std::string_view kBound = R"sh(bound() {
  for each in "$sys/block/$1"/holders/* "$sys/block/$1/$1"p*/holders/*; do
    if [ -e "$each" ]; then echo "it is held by ${each##*/}"; return; fi
  done
  paths=0
  for each in "$sys/block/$1"/device/nvme*; do
    each=${each##*/nvme}
    case $each in '' | *[!0-9]*) ;; *) paths=$((paths + 1)) ;; esac
  done
  if [ "$paths" -gt 1 ]; then
    echo "it is reached over $paths paths (NVMe multipath)"
  elif grep -q -e "^$dev/$1 " -e "^$dev/$1p[0-9]* " "$proc/swaps" 2>/dev/null; then
    echo 'it is swapped on'
  elif grep -q -e "^$dev/$1 " -e "^$dev/$1p[0-9]* " "$proc/mounts"; then
    echo 'it is mounted'
  elif lsblk -n -P -o MOUNTPOINT "$dev/$1" | grep -q -v '=""'; then
    echo 'it is mounted'
  elif command -v zpool >/dev/null 2>&1 && zpool status -LP 2>/dev/null | grep -q -w -e "$dev/$1" -e "$dev/$1p[0-9]*"; then
    echo 'it belongs to a ZFS pool that is imported'
  fi
}
)sh";

/// What lies on it, in the eyes of the kernel, blkid (one signature), wipefs (all of them, at both
/// ends of the device) and udev's database behind lsblk. A tool that fails proves nothing.
constexpr std::string_view kHolds = R"sh(holds() {
  for each in "$sys/block/$1/$1"p*; do
    if [ -e "$each" ]; then echo 'it has partitions'; return; fi
  done
  found=$(blkid -p "$dev/$1" 2>&1)
  case $? in
    0) echo "blkid finds on it: ${found#*: }"; return ;;
    2) ;;
    *) echo "blkid cannot tell what is on it: $found"; return ;;
  esac
  found=$(wipefs --no-act --noheadings --output TYPE "$dev/$1" 2>&1)
  case $?:$found in
    0:) ;;
    0:*) echo "wipefs finds on it:" $found; return ;;
    *) echo "wipefs cannot tell what is on it: $found"; return ;;
  esac
  found=$(lsblk -n -P -o FSTYPE,PTTYPE "$dev/$1" 2>&1)
  case $? in 0) ;; *) echo "lsblk cannot tell what is on it: $found"; return ;; esac
  case $(echo "$found" | grep -v -x 'FSTYPE="" PTTYPE=""') in
    '') ;;
    *) echo "lsblk finds on it: $found" ;;
  esac
}
)sh";

/// The drives that are asked for, each with the file systems on it or the device itself. One that
/// holds something, and is not in use, is read.
constexpr std::string_view kFind = R"sh(work= jobs= folders=
clean_up() {
  for each in $jobs; do
    each=${each#*:}
    kill "${each%%:*}" 2>/dev/null
  done
  for each in $folders; do remove_scratch "$each"; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' HUP INT TERM
work=$(mktemp -d "${TMPDIR:-/tmp}/cupel-nvme.XXXXXX") || exit 73
host=$(uname -n)
: >"$work/files"
if [ -z "$drives" ]; then
  for each in "$sys"/class/nvme/nvme*; do
    kind=pcie
    [ -r "$each/transport" ] && read -r kind <"$each/transport"
    if [ -d "$each" ] && [ "$kind" = pcie ]; then drives="$drives ${each##*/}"; fi
  done
fi
if [ -z "$drives" ]; then
  echo 'cupel-gave-up: the node has no NVMe drive'
  exit 69
fi
raws= reads=
for drive in $drives; do
  space=
  for each in "$sys/block/${drive}n"*; do
    if [ -d "$each" ]; then space=${each##*/}; break; fi
  done
  if [ -z "$space" ]; then
    echo "cupel-untested: $drive asked: it has no name space, or is not there"
    continue
  fi
  mount=
  for each in $(lsblk -n -P -o MOUNTPOINT "$dev/$space" | cut -d '"' -f 2 | sort -u); do
    case $each in /boot* | *[!A-Za-z0-9/._-]*) ;; /*) mount=$each ;; esac
  done
  if [ -n "$mount" ]; then
    echo "$mount" >>"$work/files"
    echo "cupel-drive: $drive $mount"
    continue
  fi
  why=$(stranger "$drive" "$space")
  [ -n "$why" ] || why=$(bound "$space")
  if [ -z "$why" ] && [ "$raw" != force ]; then
    why=$(holds "$space")
    if [ -n "$why" ] && [ "$raw" != no ]; then reads="$reads $drive:$space"; fi
  fi
  if [ -n "$why" ]; then
    scope=asked
    [ "$raw$named" = no ] && scope=aside
    echo "cupel-untested: $drive $scope: $why"
  elif [ "$raw" = no ]; then
    scope=aside
    [ -n "$named" ] && scope=asked
    echo "cupel-untested: $drive $scope: no file system of it is mounted, and raw is no"
  else
    serial_in "$sys/class/nvme/$drive/serial" >"$work/serial.$drive"
    raws="$raws $drive:$space"
  fi
done
)sh";

/// One fio for each, all at once. Everything that speaks against writing to a drive itself is asked
/// again, right before its fio begins; cupel-node opens it exclusively, compares the serial number
/// of what it opened, and holds it until fio ends.
constexpr std::string_view kBurn = R"sh(engine=psync
if fio --enghelp 2>/dev/null | grep -q libaio; then engine=libaio; fi
echo "cupel-engine: $engine"
smart() {
  command -v smartctl >/dev/null 2>&1 || return 0
  for drive in $drives; do
    echo "cupel-begin: smart-$1 $drive"
    smartctl -j -A "$dev/$drive"
    echo cupel-end
  done
}
burn() {
  file=$1 direct=$2 create=$3
  shift 3
  "$@" fio --output-format=json "$file" "--direct=$direct" --allow_file_create="$create" --size="$size" --ioengine="$engine" --name=write --rw=write --bs=1m --iodepth=16 --end_fsync=1 --time_based --runtime="$runtime" --name=verify --stonewall --rw=write --bs=1m --iodepth=16 --verify=crc32c --do_verify=1 --verify_state_save=0 --continue_on_error=verify --name=read --stonewall --rw=read --bs=1m --iodepth=16 --time_based --runtime="$runtime" --name=randread --stonewall --rw=randread --bs=4k --iodepth=64 --time_based --runtime="$runtime" --name=randwrite --stonewall --rw=randwrite --bs=4k --iodepth=64 --time_based --runtime="$runtime"
}
only_read() {
  fio --readonly --output-format=json "$1" --direct=1 --ioengine="$engine" --name=read --rw=read --bs=1m --iodepth=16 --time_based --runtime="$runtime" --name=randread --stonewall --rw=randread --bs=4k --iodepth=64 --time_based --runtime="$runtime"
}
begun() {
  jobs="$jobs $number:$!:$1"
}
smart before
number=0
for mount in $(sort -u "$work/files"); do
  number=$((number + 1))
  set -- $(df -Pk "$mount" | tail -n 1)
  if ! [ "$4" -ge "$need" ]; then
    echo "cupel-begin: fio $number $mount 0"
    echo "cupel-short: not enough space in $mount: $need KiB needed, '$4' KiB free"
    echo cupel-end
    continue
  fi
  folder=$(mktemp -d "${mount%/}/cupel-nvme.$host.$$.XXXXXX") || exit 73
  folders="$folders $folder"
  enter_scratch "$folder" || exit 73
  direct=1
  if ! dd if=/dev/zero of=./file bs=1048576 count=1 oflag=direct 2>/dev/null; then direct=0; fi
  burn --filename=./file "$direct" 1 >"$work/$number" 2>&1 &
  begun "fio:$mount:$direct"
  cd /
done
for each in $raws; do
  drive=${each%%:*} space=${each#*:}
  serial=$(serial_in "$work/serial.$drive")
  why=$(stranger "$drive" "$space" "$serial")
  [ -n "$why" ] || why=$(bound "$space")
  if [ -z "$why" ] && [ "$raw" != force ]; then why=$(holds "$space"); fi
  if [ -n "$why" ]; then
    echo "cupel-untested: $drive asked: $why"
    continue
  fi
  number=$((number + 1))
  echo "cupel-drive: $drive $dev/$space"
  echo "cupel-writes: $drive $dev/$space serial $serial"
  burn "--filename=$dev/$space" 1 0 cupel-node hold --device "$dev/$space" --serial "$serial" --root "${sys%/sys}/" -- >"$work/$number" 2>&1 &
  begun "fio:$drive:1"
done
for each in $reads; do
  number=$((number + 1))
  only_read "--filename=$dev/${each#*:}" >"$work/$number" 2>&1 &
  begun "read:${each%%:*}"
done
for each in $jobs; do
  number=${each%%:*}
  rest=${each#*:}
  wait "${rest%%:*}"
  rest=${rest#*:}
  kind=${rest%%:*}
  rest=${rest#*:}
  case $kind in
    read) echo "cupel-begin: read $number $rest" ;;
    *) echo "cupel-begin: fio $number ${rest%:*} ${rest##*:}" ;;
  esac
  cat "$work/$number"
  echo cupel-end
done
jobs=
smart after
echo cupel-all-told
)sh";

}  // namespace

std::string nvme_script() {
  std::string text{kIdentity};
  for (const auto part : {kBound, kHolds, kFind, kBurn}) text += part;
  return text;
}

}  // namespace cupel::burnin
