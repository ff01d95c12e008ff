#include "burnin/settings/settings_script.h"

#include <fmt/format.h>

#include "base/safe_path.h"
#include "base/text.h"
#include "burnin/script.h"
#include "burnin/settings/settings_guard.h"

namespace cupel::burnin::settings_script {
namespace {

/// The record: "cupel-settings|1|BOOT", then "KEY|PART|VALUE" for each thing as it was. What a
/// restart of the machine undoes is dropped from it after one. Beside it lies what was wanted, so
/// that what did not stay so is told; and, when all is back, who put it back.
constexpr std::string_view kCommon = R"sh(
state=${CUPEL_SETTINGS:-/var/lib/cupel/settings}
units=${CUPEL_UNITS:-/etc/systemd/system}
sys=${CUPEL_SYS:-/sys}
proc=${CUPEL_PROC:-/proc}
record=$state/before
wanted=$state/wanted
boot=$(cat /proc/sys/kernel/random/boot_id)
folder=$(mktemp -d /var/tmp/cupel-settings.XXXXXX) || { echo 'cupel-gave-up: no folder under /var/tmp can be made'; exit 73; }
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' TERM INT HUP
give_up() {
  echo "cupel-gave-up: $1"
  exit 69
}
# What lies there is run as root, and says what is written where.
check_state() {
  if [ ! -e "$state" ] && [ ! -L "$state" ]; then return 0; fi
  why=$(cupel_unsafe "$state")
  if [ -n "$why" ]; then give_up "$why"; fi
}
replace_record() {
  sync
  mv "$record.part" "$record" || give_up "$record cannot be written"
  sync
}
after_a_restart() {
  if [ ! -s "$record" ]; then return 0; fi
  if grep -qxF "cupel-settings|1|$boot" "$record"; then return 0; fi
  echo "cupel-settings|1|$boot" > "$record.part" || give_up "$record cannot be written"
  grep -e '^gpu.ecc|' -e '^gpu.mig|' "$record" >> "$record.part"
  replace_record
}
query() {
  nvidia-smi -i "$1" --query-gpu="$2" --format=csv,noheader,nounits 2>&1 | tr -d ' '
}
first_line() {
  head -n 1 | tr '|' ' ' | cut -c 1-160
}
name_of() {
  case $1 in
    gpu.*) echo "gpu$3" ;;
    irq) echo "irq $2" ;;
    *) echo "$1" ;;
  esac
}
set_gpu() {
  case $1 in
    gpu.persistence) nvidia-smi -i "$2" -pm "$3" 2>&1 ;;
    gpu.power) nvidia-smi -i "$2" -pl "$3" 2>&1 ;;
    gpu.ecc) nvidia-smi -i "$2" -e "$3" 2>&1 ;;
    gpu.mig) nvidia-smi -i "$2" -mig "$3" 2>&1 ;;
    gpu.app_clocks) nvidia-smi -i "$2" -ac "$3" 2>&1 ;;
    gpu.clocks) if [ "$3" = default ]; then nvidia-smi -i "$2" -rgc 2>&1; else nvidia-smi -i "$2" -lgc "$3" 2>&1; fi ;;
  esac
}
field_of() {
  case $1 in
    gpu.persistence) echo persistence_mode ;;
    gpu.power) echo power.limit ;;
    gpu.ecc) echo ecc.mode.pending ;;
    gpu.mig) echo mig.mode.pending ;;
    gpu.app_clocks) echo clocks.applications.memory,clocks.applications.graphics ;;
  esac
}
word_of() {
  case $1 in
    Enabled) echo 1 ;;
    Disabled) echo 0 ;;
    *) echo "$1" ;;
  esac
}
governors() { cat "$sys"/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null | sort -u; }
# Sets $got. Of locked clocks there is nothing to read.
read_now() {
  got=
  case $1 in
    gpu.clocks) ;;
    gpu.*) got=$(query "$2" "$(field_of "$1")") ;;
    governor) got=$(governors | tr '\n' ' ' | cut -c 1-80); got=${got% } ;;
    numa_balancing) got=$(cat "$proc/sys/kernel/numa_balancing" 2>/dev/null) ;;
    irq) got=$(cat "$proc/irq/$2/smp_affinity_list" 2>/dev/null) ;;
    irqbalance) if [ "$(systemctl is-active irqbalance 2>/dev/null)" = active ]; then got=active; else got=inactive; fi ;;
  esac
}
# Sets $got and $note. Of locked clocks nvidia-smi's word counts.
change_gpu() {
  note=
  answer=$(set_gpu "$1" "$2" "$(word_of "$3")")
  status=$?
  read_now "$1" "$2"
  if [ "$1" = gpu.clocks ] && [ $status -eq 0 ]; then got=$3; fi
  if [ $status -ne 0 ] || [ "$got" != "$3" ]; then note=$(echo "$answer" | first_line); fi
  case $1 in
    gpu.ecc) if [ "$got" = "$3" ] && [ "$(query "$2" ecc.mode.current)" != "$3" ]; then note='needs a restart'; fi ;;
    gpu.mig) if [ "$got" = "$3" ] && [ "$(query "$2" mig.mode.current)" != "$3" ]; then note='needs a restart'; fi ;;
  esac
}
set_governor() {
  for file in "$sys"/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do
    echo "$1" 2>/dev/null > "$file"
  done
}
expand() {
  for range in $(echo "$1" | tr ',' ' '); do
    at=${range%-*}
    while [ "$at" -le "${range#*-}" ]; do
      echo "$at"
      at=$((at + 1))
    done
  done
}
is_inside() {
  expand "$2" > "$folder/outer"
  for cpu in $(expand "$1"); do
    if ! grep -qx "$cpu" "$folder/outer"; then return 1; fi
  done
}
# A managed interrupt refuses: the kernel has spread it itself, and its word counts.
change_irq() {
  answer=$( (echo "$2" > "$proc/irq/$1/smp_affinity_list") 2>&1 | first_line)
  read_now irq "$1"
  if [ "$got" = "$2" ]; then return 0; fi
  note="the kernel keeps it where it is: $answer"
  if [ -n "$got" ] && is_inside "$got" "$2" 2>/dev/null; then note="is inside; $note"; fi
}
change_host() {
  note=
  case $1 in
    governor) set_governor "$3" ;;
    numa_balancing) echo "$3" 2>/dev/null > "$proc/sys/kernel/numa_balancing" ;;
    irq) change_irq "$2" "$3" ;;
    irqbalance) if [ "$3" = active ]; then systemctl start irqbalance; else systemctl stop irqbalance; fi >/dev/null 2>&1 ;;
  esac
  if [ "$1" != irq ]; then read_now "$1" "$2"; fi
}
)sh";

/// Asked for one by one, before anything is changed: "KEY|PART|BEFORE|WANTED|INDEX" in $folder/all.
constexpr std::string_view kWishes = R"sh(
on_word() { if [ "$1" = on ]; then echo Enabled; else echo Disabled; fi; }
read_gpus() {
  if [ -e "$folder/gpus" ]; then return 0; fi
  if ! command -v nvidia-smi >/dev/null 2>&1; then give_up 'nvidia-smi is not installed on the node'; fi
  nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader > "$folder/busy" 2>&1 || give_up "nvidia-smi: $(first_line < "$folder/busy")"
  if grep -q '^GPU-' "$folder/busy"; then
    give_up "a GPU is in use: $(first_line < "$folder/busy")"
  fi
  nvidia-smi --query-gpu=index,uuid,persistence_mode,power.limit,power.min_limit,power.max_limit,ecc.mode.pending,mig.mode.pending,clocks.max.graphics --format=csv,noheader,nounits > "$folder/told" 2>&1 || give_up "nvidia-smi: $(first_line < "$folder/told")"
  tr -d ' ' < "$folder/told" > "$folder/gpus"
  if [ ! -s "$folder/gpus" ]; then give_up 'nvidia-smi lists no GPU'; fi
}
told() {
  case $2 in
    *N/A* | *Not*Supported* | '') give_up "gpu$index does not tell its $1: it cannot be put back" ;;
  esac
}
wish_gpu() {
  read_gpus
  while IFS=, read -r index uuid persistence power least most ecc mig fastest; do
    case $1 in
      persistence) told 'persistence mode' "$persistence"; echo "gpu.persistence|$uuid|$persistence|$(on_word "$2")|$index" >> "$folder/all" ;;
      ecc) told 'ECC mode' "$ecc"; echo "gpu.ecc|$uuid|$ecc|$(on_word "$2")|$index" >> "$folder/all" ;;
      mig) told 'MIG mode' "$mig"; echo "gpu.mig|$uuid|$mig|$(on_word "$2")|$index" >> "$folder/all" ;;
      power_limit)
        told 'power limit' "$power"
        if [ "$2" -lt "${least%%.*}" ] || [ "$2" -gt "${most%%.*}" ]; then
          give_up "gpu$index: power_limit $2 W is not between $least and $most W"
        fi
        echo "gpu.power|$uuid|$power|$2.00|$index" >> "$folder/all"
        ;;
      gpu_clocks)
        if [ "${2#*,}" -gt "${fastest%%.*}" ]; then
          give_up "gpu$index: gpu_clocks $2 MHz is above its most, $fastest MHz"
        fi
        echo "gpu.clocks|$uuid|default|$2|$index" >> "$folder/all"
        ;;
      app_clocks)
        now=$(query "$index" "$(field_of gpu.app_clocks)" | first_line)
        case $now in
          *[!0-9,]* | '' | ,* | *,) echo "cupel-setting|gpu.app_clocks|gpu$index|none|$2|none|the driver has no application clocks any more: use gpu_clocks" >> "$folder/refused" ;;
          *) echo "gpu.app_clocks|$uuid|$now|$2|$index" >> "$folder/all" ;;
        esac
        ;;
    esac
  done < "$folder/gpus"
}
wish_governor() {
  now=$(governors)
  case $now in
    '') give_up 'the CPUs tell no governor: no cpufreq driver is loaded' ;;
    *' '* | *'
'*) give_up "the CPUs have different governors: $(echo "$now" | tr '\n' ' ')" ;;
  esac
  known=$(cat "$sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors" 2>/dev/null)
  case " $known " in
    *" $1 "*) ;;
    *) give_up "governor '$1' is none of: $known" ;;
  esac
  echo "governor|all|$now|$1|" >> "$folder/all"
}
wish_numa_balancing() {
  now=$(cat "$proc/sys/kernel/numa_balancing" 2>/dev/null)
  if [ -z "$now" ]; then give_up 'the kernel has no numa_balancing'; fi
  echo "numa_balancing|kernel|$now|$1|" >> "$folder/all"
}
wish_irq_affinity() {
  if [ "$(systemctl is-active irqbalance 2>/dev/null)" = active ]; then
    echo 'irqbalance|service|active|inactive|' >> "$folder/all"
  fi
  for device in "$sys"/class/infiniband/*/device; do
    node=$(cat "$device/numa_node" 2>/dev/null)
    near=$(cat "$sys/devices/system/node/node$node/cpulist" 2>/dev/null)
    if [ -z "$near" ]; then continue; fi
    for irq in $(ls "$device/msi_irqs" 2>/dev/null); do
      now=$(cat "$proc/irq/$irq/smp_affinity_list" 2>/dev/null)
      if [ -n "$now" ]; then echo "irq|$irq|$now|$near|" >> "$folder/all"; fi
    done
  done
  if ! grep -q '^irq|' "$folder/all"; then give_up 'no HCA tells its interrupts and its NUMA node'; fi
}
)sh";

/// What was before is on the disk before anything is changed, and what an earlier run wrote there
/// was before ours. A restore of the node's own that is at work now is ended: the record holds all
/// of it still.
constexpr std::string_view kSet = R"sh(
mkdir -p "$state" && chmod 755 "$state" || give_up "$state cannot be made"
check_state
systemctl stop cupel-settings.timer cupel-settings.service >/dev/null 2>&1
after_a_restart
if [ -s "$record" ]; then cat "$record" > "$record.part"; else echo "cupel-settings|1|$boot" > "$record.part"; fi || give_up "$record cannot be written"
while IFS='|' read -r key part before want index; do
  if ! grep -qF "$key|$part|" "$record.part"; then echo "$key|$part|$before"; fi
done < "$folder/all" > "$folder/new"
cat "$folder/new" >> "$record.part" || give_up "$record cannot be written"
cut -d '|' -f 1,2,4 "$folder/all" > "$folder/wanted"
if [ -s "$wanted" ]; then
  while IFS='|' read -r key part want; do
    if ! grep -qF "$key|$part|" "$folder/wanted"; then echo "$key|$part|$want"; fi
  done < "$wanted" >> "$folder/wanted"
fi
cat "$folder/wanted" > "$wanted" || give_up "$wanted cannot be written"
rm -f "$state/put-back"
replace_record
)sh";

constexpr std::string_view kChange = R"sh(
while IFS='|' read -r key part before want index; do
  case $key in
    gpu.*) change_gpu "$key" "$index" "$want" ;;
    *) change_host "$key" "$part" "$want" ;;
  esac
  echo "cupel-setting|$key|$(name_of "$key" "$part" "$index")|$before|$want|$got|$note"
done < "$folder/all"
cat "$folder/refused"
)sh";

/// `by`: "run", "hand", or "timer" where the node does it itself: then only when it is due. A clock
/// that was set back behind the beginning makes it due, too.
constexpr std::string_view kRestore = R"sh(
by=${cupel_by:-run}
check_state
if [ "$by" = timer ]; then
  read -r begun due < "$state/until" || begun=0 due=0
  now=$(date +%s)
  if [ "$now" -lt "$due" ] && [ "$now" -ge "$begun" ]; then exit 0; fi
else
  systemctl stop cupel-settings.service >/dev/null 2>&1
fi
index_of() {
  if [ ! -e "$folder/gpus" ]; then
    nvidia-smi --query-gpu=index,uuid --format=csv,noheader > "$folder/told" 2>&1
    tr -d ' ' < "$folder/told" > "$folder/gpus"
  fi
  grep ",$1\$" "$folder/gpus" | cut -d , -f 1
}
if [ -s "$wanted" ]; then
  cat "$wanted" > "$folder/wanted"
  restarted=
  if ! grep -qxF "cupel-settings|1|$boot" "$record" 2>/dev/null; then restarted=yes; fi
  while IFS='|' read -r key part want; do
    index=
    case $key in gpu.*) index=$(index_of "$part") ;; esac
    read_now "$key" "${index:-$part}"
    if [ "$key" = gpu.clocks ] && [ -z "$restarted" ]; then got=$want; fi
    if [ "$key" = irq ] && is_inside "$got" "$want" 2>/dev/null; then got=$want; fi
    echo "cupel-held|$key|$(name_of "$key" "$part" "$index")|$want|$got"
  done < "$folder/wanted"
fi
after_a_restart
if [ ! -s "$record" ]; then
  if [ -s "$state/put-back" ]; then
    echo "cupel-record: before, by the $(cat "$state/put-back")"
  else
    echo 'cupel-record: none'
  fi
  exit 0
fi
left=0
grep -v '^cupel-settings|' "$record" > "$folder/lines"
while IFS='|' read -r key part before; do
  index=
  name=
  case $key in
    gpu.*)
      note='nvidia-smi does not tell of it'
      got=
      index=$(index_of "$part")
      if [ -n "$index" ]; then change_gpu "$key" "$index" "$before"; else name=$part; fi
      ;;
    *) change_host "$key" "$part" "$before" ;;
  esac
  if [ -z "$name" ]; then name=$(name_of "$key" "$part" "$index"); fi
  if [ "$got" != "$before" ] || [ "$note" = 'needs a restart' ]; then left=$((left + 1)); fi
  echo "cupel-restored|$key|$name|$before|$got|$note"
done < "$folder/lines"
if [ $left -eq 0 ]; then
  echo "$by" > "$state/put-back"
  rm -f "$record" "$wanted" "$state/restore.sh" "$state/until"
  sync
  if [ -e "$units/cupel-settings.timer" ]; then systemctl disable cupel-settings.timer >/dev/null 2>&1; fi
  rm -f "$units/cupel-settings.timer" "$units/cupel-settings.service"
  systemctl stop cupel-settings.timer >/dev/null 2>&1
  systemctl daemon-reload >/dev/null 2>&1
  echo 'cupel-record: gone'
else
  echo 'cupel-record: kept'
fi
)sh";

std::string common() {
  return script::head() + std::string{safe_path_functions()} + std::string{kCommon};
}

}  // namespace

std::string restore() { return common() + std::string{kRestore}; }

std::string set(const std::vector<Wish>& wishes, long at_most_seconds) {
  auto text = common() + std::string{kWishes} + ": > \"$folder/all\"\n: > \"$folder/refused\"\n";
  for (const auto& wish : wishes) {
    const bool host =
        wish.what == "governor" || wish.what == "numa_balancing" || wish.what == "irq_affinity";
    text += host ? fmt::format("wish_{} {}\n", wish.what, shell_quoted(wish.value))
                 : fmt::format("wish_gpu {} {}\n", wish.what, shell_quoted(wish.value));
  }
  return text + std::string{kSet} + settings_guard::script(restore(), at_most_seconds) +
         std::string{kChange};
}

}  // namespace cupel::burnin::settings_script
