#include "burnin/tools/tool_gpus.h"

#include <fmt/format.h>

#include <ranges>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/gpu/gpu_places.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kMark = "cupel-gpu: ";
constexpr std::size_t kMostGpus = 256;

}  // namespace

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
