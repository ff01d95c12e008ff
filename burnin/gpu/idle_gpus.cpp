#include "burnin/gpu/idle_gpus.h"

#include <string_view>

namespace cupel::burnin {
namespace {

/// One that hangs (a GPU that fell off its bus) must not hang the stage.
constexpr std::string_view kAsk = R"sh(smi() {
  timeout 60 nvidia-smi "$@" --format=csv,noheader,nounits 2>&1
}
tries=0 until=$(($(date +%s) + 60))
while :; do
  gpus=$(smi --query-gpu=pci.bus_id,utilization.gpu)
  apps=$(smi --query-compute-apps=gpu_bus_id,pid,process_name)
  busy=no
  if printf '%s\n' "$apps" | grep -q '^[0-9A-Fa-f]*:[0-9A-Fa-f]*:'; then busy=yes; fi
  for use in $(printf '%s\n' "$gpus" | cut -d, -f2); do
    case $use in
      *[!0-9]*) ;;
      *) if [ "$use" -gt )sh";
constexpr std::string_view kWait = R"sh( ]; then busy=yes; fi ;;
    esac
  done
  if [ $busy = no ] || [ $tries -ge 15 ] || [ "$(date +%s)" -ge $until ]; then break; fi
  tries=$((tries + 1))
  sleep 4
done
)sh";

}  // namespace

std::string wait_for_idle_gpus() {
  return std::string{kAsk} + std::to_string(kBusyPercent) + std::string{kWait};
}

}  // namespace cupel::burnin
