#include "burnin/tools/tool_gpus.h"

#include <fmt/format.h>

#include <ranges>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/gpu/gpu_places.h"
#include "burnin/gpu/idle_gpus.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kMark = "cupel-gpu: ";
constexpr std::size_t kMostGpus = 256;

constexpr std::string_view kNames =
    R"sh(nvidia-smi --query-gpu=index,pci.bus_id --format=csv,noheader 2>&1 | while IFS= read -r line; do
  echo "cupel-gpu: $line"
done
)sh";

constexpr std::string_view kWhole = R"sh(CUDA_DEVICE_ORDER=PCI_BUS_ID
export CUDA_DEVICE_ORDER
if nvidia-smi --query-gpu=mig.mode.current --format=csv,noheader 2>/dev/null | grep -q '^Enabled'; then
  echo 'cupel-gave-up: MIG is on: no tool sees whole GPUs'
  exit 69
fi
)sh";

constexpr std::string_view kGiveUp = R"sh(if [ $busy = yes ]; then
  holders=$(printf '%s\n' "$apps" | grep -c '^[0-9A-Fa-f]*:[0-9A-Fa-f]*:')
  if [ "$holders" -gt 0 ]; then
    echo "cupel-gave-up: GPUs are in use: $holders other programs hold memory of theirs"
  else
    echo 'cupel-gave-up: GPUs are busy, and no program is told that makes them so'
  fi
  exit 69
fi
)sh";

}  // namespace

std::string idle_gpus_script() {
  return script::needs("nvidia-smi") + std::string{kNames} + std::string{kWhole} +
         wait_for_idle_gpus() + std::string{kGiveUp};
}

void ToolGpus::take_row(std::span<const std::string> places, std::string_view row) {
  const auto cells = split(row, ',');
  const auto index = number<int>(trimmed(cells[0]));
  if (cells.size() != 2 || !index || *index < 0 || names_.size() == kMostGpus) return;
  const auto address = script::clean(cells[1]);
  names_.emplace(*index, places.empty() ? fmt::format("gpu{}", *index)
                                        : gpu_at(address, places).value_or("gpu at " + address));
}

ToolGpus::ToolGpus(const inventory::Profile& profile, const Output& output) {
  for (const auto line : lines(output.text))
    if (line.starts_with(kMark)) take_row(gpu_places(profile), line.substr(kMark.size()));
}

ToolGpus::ToolGpus(const inventory::Profile& profile, const AgentOutput& output) {
  const auto* listed = output.tool("gpus");
  if (listed == nullptr) return;
  for (const auto line : lines(listed->out)) take_row(gpu_places(profile), line);
}

std::vector<std::string> ToolGpus::names() const {
  const auto all = names_ | std::views::values;
  return {all.begin(), all.end()};
}

std::string ToolGpus::name(int index) const {
  const auto found = names_.find(index);
  return found == names_.end() ? fmt::format("gpu{}", index) : found->second;
}

}  // namespace cupel::burnin
