#include "rehearsal/virtual_slurm.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"

namespace cupel::rehearsal {
namespace {

/// What differs between nodes and in time is in three files of each. Source: man scontrol (22.05).
constexpr std::string_view kScript = R"sh(
[ "$1" = --oneliner ] && shift
if [ "$1 $2" = "show node" ]; then
  node=$nodes/$3
  if [ ! -d "$node" ]; then
    echo "Node $3 not found"
    exit 1
  fi
  echo "NodeName=$3 CPUAlloc=0 CPUTot=$cpus AvailableFeatures=$(cat "$node/features")" \
    "ActiveFeatures=$(cat "$node/features") Gres=$gres NodeAddr=$3 NodeHostName=$3" \
    "RealMemory=$memory AllocMem=0 State=$(cat "$node/state") Partitions=gpu" \
    "Reason=$(cat "$node/reason")"
  exit 0
fi
[ "$1" = update ] || exit 1
shift
for word in "$@"; do
  value=${word#*=}
  case $word in
  NodeName=*)
    node=$nodes/$value
    if [ ! -d "$node" ]; then
      echo "slurm_update error: Invalid node name specified" >&2
      exit 1
    fi
    ;;
  State=DRAIN) echo IDLE+DRAIN >"$node/state" ;;
  State=RESUME)
    echo IDLE >"$node/state"
    echo >"$node/reason"
    ;;
  Reason=*) echo "$value [root@2026-01-01T00:00:00]" >"$node/reason" ;;
  AvailableFeatures=* | ActiveFeatures=* | Features=*) echo "$value" >"$node/features" ;;
  esac
done
exit 0
)sh";

Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return Error{Code::kStorage, folder.string() + ": " + failure.message()};
  return ok();
}

}  // namespace

Result<void> make_scontrol(const std::filesystem::path& folder,
                           const std::vector<std::string>& nodes,
                           const inventory::Profile& profile) {
  const auto files = folder / "nodes";
  TRY(make_folder(files));
  int gpus = 0;
  for (const auto& parts : profile.parts)
    if (parts.kind == inventory::PartKind::gpu) gpus = parts.count;
  const auto head = fmt::format("#!/bin/sh\nnodes={}\ncpus={}\nmemory={:.0f}\ngres=gpu:{}:{}\n",
                                shell_quoted(files.string()), profile.slurm_cpus,
                                profile.slurm_memory_bytes / 1048576, profile.gpu_type, gpus);
  TRY(write_file(folder / "scontrol", head + std::string{kScript}, 0755));
  for (const auto& name : nodes) {
    TRY(make_folder(files / name));
    TRY(write_file(files / name / "state", "IDLE\n", 0644));
    TRY(write_file(files / name / "features", "(null)\n", 0644));
    TRY(write_file(files / name / "reason", "\n", 0644));
  }
  return ok();
}

}  // namespace cupel::rehearsal
