#include "burnin/settings/settings_script.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin::settings_script {
namespace {

/// The record: "cupel-settings|1|BOOT", then "KEY|PART|VALUE" for each thing as it was. What a
/// restart of the machine undoes is dropped from it after one.
constexpr std::string_view kCommon = R"sh(
state=${CUPEL_SETTINGS:-/var/lib/cupel/settings}
record=$state/before
boot=$(cat /proc/sys/kernel/random/boot_id)
folder=$(mktemp -d /var/tmp/cupel-settings.XXXXXX) || { echo 'cupel-gave-up: no folder under /var/tmp can be made'; exit 73; }
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' TERM INT HUP
give_up() {
  echo "cupel-gave-up: $1"
  exit 69
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
set_gpu() {
  case $1 in
    gpu.persistence) nvidia-smi -i "$2" -pm "$3" 2>&1 ;;
    gpu.power) nvidia-smi -i "$2" -pl "$3" 2>&1 ;;
    gpu.ecc) nvidia-smi -i "$2" -e "$3" 2>&1 ;;
    gpu.mig) nvidia-smi -i "$2" -mig "$3" 2>&1 ;;
    gpu.clocks) if [ "$3" = default ]; then nvidia-smi -i "$2" -rgc 2>&1; else nvidia-smi -i "$2" -lgc "$3" 2>&1; fi ;;
  esac
}
field_of() {
  case $1 in
    gpu.persistence) echo persistence_mode ;;
    gpu.power) echo power.limit ;;
    gpu.ecc) echo ecc.mode.pending ;;
    gpu.mig) echo mig.mode.pending ;;
  esac
}
word_of() {
  case $1 in
    Enabled) echo 1 ;;
    Disabled) echo 0 ;;
    *) echo "$1" ;;
  esac
}
# Sets $got and $note. Of locked clocks there is nothing to read back: nvidia-smi's word counts.
change_gpu() {
  note=
  got=
  answer=$(set_gpu "$1" "$2" "$(word_of "$3")")
  status=$?
  if [ $status -ne 0 ]; then note=$(echo "$answer" | first_line); fi
  if [ "$1" = gpu.clocks ]; then
    if [ $status -eq 0 ]; then got=$3; fi
  else
    got=$(query "$2" "$(field_of "$1")")
  fi
  case $1 in
    gpu.ecc) if [ "$got" = "$3" ] && [ "$(query "$2" ecc.mode.current)" != "$3" ]; then note='needs a restart'; fi ;;
    gpu.mig) if [ "$got" = "$3" ] && [ "$(query "$2" mig.mode.current)" != "$3" ]; then note='needs a restart'; fi ;;
  esac
}
governors() { cat /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null | sort -u; }
set_governor() {
  for file in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do
    echo "$1" 2>/dev/null > "$file"
  done
}
change_host() {
  note=
  case $1 in
    governor)
      set_governor "$3"
      got=$(governors | tr '\n' ' ' | cut -c 1-80)
      got=${got% }
      ;;
    numa_balancing)
      echo "$3" 2>/dev/null > /proc/sys/kernel/numa_balancing
      got=$(cat /proc/sys/kernel/numa_balancing 2>/dev/null)
      ;;
    irq)
      echo "$3" 2>/dev/null > "/proc/irq/$2/smp_affinity_list"
      got=$(cat "/proc/irq/$2/smp_affinity_list" 2>/dev/null)
      ;;
    irqbalance)
      if [ "$3" = active ]; then systemctl start irqbalance; else systemctl stop irqbalance; fi >/dev/null 2>&1
      got=$(systemctl is-active irqbalance 2>/dev/null)
      if [ "$3" != active ] && [ "$got" != active ]; then got=$3; fi
      ;;
  esac
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
  known=$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors 2>/dev/null)
  case " $known " in
    *" $1 "*) ;;
    *) give_up "governor '$1' is none of: $known" ;;
  esac
  echo "governor|all|$now|$1|" >> "$folder/all"
}
wish_numa_balancing() {
  now=$(cat /proc/sys/kernel/numa_balancing 2>/dev/null)
  if [ -z "$now" ]; then give_up 'the kernel has no numa_balancing'; fi
  echo "numa_balancing|kernel|$now|$1|" >> "$folder/all"
}
wish_irq_affinity() {
  if [ "$(systemctl is-active irqbalance 2>/dev/null)" = active ]; then
    echo 'irqbalance|service|active|inactive|' >> "$folder/all"
  fi
  for device in /sys/class/infiniband/*/device; do
    node=$(cat "$device/numa_node" 2>/dev/null)
    near=$(cat "/sys/devices/system/node/node$node/cpulist" 2>/dev/null)
    if [ -z "$near" ]; then continue; fi
    for irq in $(ls "$device/msi_irqs" 2>/dev/null); do
      now=$(cat "/proc/irq/$irq/smp_affinity_list" 2>/dev/null)
      if [ -n "$now" ]; then echo "irq|$irq|$now|$near|" >> "$folder/all"; fi
    done
  done
  if ! grep -q '^irq|' "$folder/all"; then give_up 'no HCA tells its interrupts and its NUMA node'; fi
}
)sh";

/// What was before is on the disk before anything is changed, and what an earlier run wrote there
/// was before ours.
constexpr std::string_view kSet = R"sh(
mkdir -p "$state" && chmod 700 "$state" || give_up "$state cannot be made"
after_a_restart
if [ -s "$record" ]; then cat "$record" > "$record.part"; else echo "cupel-settings|1|$boot" > "$record.part"; fi || give_up "$record cannot be written"
while IFS='|' read -r key part before wanted index; do
  if ! grep -qF "$key|$part|" "$record.part"; then echo "$key|$part|$before"; fi
done < "$folder/all" > "$folder/new"
cat "$folder/new" >> "$record.part" || give_up "$record cannot be written"
replace_record
while IFS='|' read -r key part before wanted index; do
  case $key in
    gpu.*) name=gpu$index; change_gpu "$key" "$index" "$wanted" ;;
    *) name=$key; change_host "$key" "$part" "$wanted" ;;
  esac
  if [ "$key" = irq ]; then name="irq $part"; fi
  echo "cupel-setting|$key|$name|$before|$wanted|$got|$note"
done < "$folder/all"
)sh";

constexpr std::string_view kRestore = R"sh(
after_a_restart
if [ ! -s "$record" ]; then
  echo 'cupel-record: none'
  exit 0
fi
if grep -q '^gpu[.]' "$record"; then
  nvidia-smi --query-gpu=index,uuid --format=csv,noheader > "$folder/told" 2>&1
  tr -d ' ' < "$folder/told" > "$folder/gpus"
fi
left=0
grep -v '^cupel-settings|' "$record" > "$folder/lines"
while IFS='|' read -r key part before; do
  name=$key
  note=
  got=
  case $key in
    gpu.*)
      index=$(grep ",$part\$" "$folder/gpus" | cut -d , -f 1)
      name=gpu$index
      if [ -n "$index" ]; then change_gpu "$key" "$index" "$before"; else name=$part; note='nvidia-smi does not tell of it'; fi
      ;;
    *) change_host "$key" "$part" "$before" ;;
  esac
  if [ "$key" = irq ]; then name="irq $part"; fi
  if [ "$got" != "$before" ]; then left=$((left + 1)); fi
  echo "cupel-restored|$key|$name|$before|$got|$note"
done < "$folder/lines"
if [ $left -eq 0 ]; then
  rm -f "$record" "$state/restore.sh"
  sync
  if command -v systemctl >/dev/null 2>&1; then systemctl stop cupel-settings.timer >/dev/null 2>&1; fi
  echo 'cupel-record: gone'
else
  echo 'cupel-record: kept'
fi
)sh";

/// A run that is cancelled, or whose controller never comes back, leaves nobody to put it back.
constexpr std::string_view kGuard = R"sh(
cat > "$state/restore.sh" <<'CUPEL_END_OF_SCRIPT'
{}
CUPEL_END_OF_SCRIPT
if command -v systemd-run >/dev/null 2>&1; then
  systemctl stop cupel-settings.timer >/dev/null 2>&1
  if systemd-run --quiet --unit=cupel-settings --on-active={} sh "$state/restore.sh" >/dev/null 2>&1; then echo 'cupel-guard: {}'; fi
fi
)sh";

std::string before_after(std::string_view text, std::string_view name, std::string_view value) {
  std::string filled{text};
  const auto at = filled.find(name);
  return filled.replace(at, name.size(), value);
}

}  // namespace

std::string restore() { return script::head() + std::string{kCommon} + std::string{kRestore}; }

std::string set(const std::vector<Wish>& wishes, long at_most_seconds) {
  auto text =
      script::head() + std::string{kCommon} + std::string{kWishes} + ": > \"$folder/all\"\n";
  for (const auto& wish : wishes) {
    const bool host =
        wish.what == "governor" || wish.what == "numa_balancing" || wish.what == "irq_affinity";
    text += host ? fmt::format("wish_{} {}\n", wish.what, shell_quoted(wish.value))
                 : fmt::format("wish_gpu {} {}\n", wish.what, shell_quoted(wish.value));
  }
  auto guard = before_after(kGuard, "{}", restore());
  const auto seconds = std::to_string(at_most_seconds);
  guard = before_after(guard, "{}", seconds);
  guard = before_after(guard, "{}", seconds);
  const std::string acts{kSet};
  const auto changes = acts.rfind("while IFS='|' read -r key part before wanted index; do\n  case");
  return text + acts.substr(0, changes) + guard + acts.substr(changes);
}

}  // namespace cupel::burnin::settings_script
