#include "playbooks/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cupel::playbooks {
namespace {

constexpr std::string_view kTellsGpus = "gpu-facts";
constexpr std::array<std::string_view, 3> kTellParts{"node-facts", kTellsGpus, "facts"};
/// Whoever sets something must see that it was set: without criteria that is an error anywhere.
constexpr std::array<std::string_view, 2> kSet{"settings", "settings-restore"};

bool loads_gpus(const PlaybookStep& step) {
  const auto load = step.with.find("load");
  return load != step.with.end() && load->second == "gpu";
}

}  // namespace

bool tells_parts(std::string_view stage) {
  return std::ranges::find(kTellParts, burnin::base_name(stage)) != kTellParts.end();
}

/// Of a profile without a name, which no reader makes; the reason stands in the condition's own.
Condition never(std::string why) {
  Condition condition;
  condition.about = Condition::About::profile;
  condition.name = std::move(why);
  return condition;
}

std::optional<std::string> left_out(const std::vector<Condition>& conditions) {
  const auto at = std::ranges::find_if(conditions, [](const Condition& each) {
    return each.about == Condition::About::profile && each.values.empty() && !each.name.empty();
  });
  if (at == conditions.end()) return std::nullopt;
  return at->name;
}

std::string why_left_out(const PlaybookStep& step, const inventory::Profile& profile) {
  if (step.kind != StepKind::stage || profile.has_gpus()) return {};
  if (loads_gpus(step))
    return fmt::format("it loads GPUs, and profile '{}' has none", profile.name);
  const auto name = burnin::base_name(step.name);
  const bool judged = std::ranges::find(profile.criteria, name, &inventory::Criterion::stage) !=
                      profile.criteria.end();
  const bool of_the_host = tells_parts(name) && name != kTellsGpus;
  const bool sets = std::ranges::find(kSet, name) != kSet.end();
  if (judged || of_the_host || sets) return {};
  return fmt::format("profile '{}' has no GPUs and no criteria for it", profile.name);
}

}  // namespace cupel::playbooks
