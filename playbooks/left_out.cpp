#include "playbooks/left_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "burnin/disk/media.h"
#include "burnin/group_stage.h"
#include "burnin/stage.h"
#include "burnin/undo.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"

namespace cupel::playbooks {
namespace {

bool loads_gpus(const PlaybookStep& step) {
  const auto load = step.with.find("load");
  return load != step.with.end() && load->second == "gpu";
}

bool measures_cables(const PlaybookStep& step) {
  if (step.kind != StepKind::stage) return false;
  const auto* group = burnin::stage(step.name)->group;
  return group != nullptr && group->needs_plan != nullptr && group->needs_plan(step.with);
}

/// What a parameter falls back to.
bool says_profile(const PlaybookStep& step, const std::string& parameter) {
  const auto found = step.with.find(parameter);
  return found == step.with.end() || found->second == "profile";
}

/// It sets them, or restarts what waits for them.
bool is_for_settings(const PlaybookStep& step) {
  return step.kind == StepKind::machine_settings ||
         std::ranges::any_of(step.when, [](const Condition& each) {
           return each.about == Condition::About::fact && each.name == "settings.pending";
         });
}

}  // namespace

bool tells_parts(std::string_view stage) {
  return burnin::stage(stage)->lists != burnin::Lists::nothing;
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

std::string why_left_out(const PlaybookStep& step, const inventory::Profile& profile, bool cabled) {
  if (step.kind == StepKind::firmware && !profile.has_bmc_images())
    return fmt::format("profile '{}' names no image", profile.name);
  if (step.kind == StepKind::os && profile.os.image.empty() && says_profile(step, "image"))
    return fmt::format("profile '{}' names no OS image", profile.name);
  if (step.kind == StepKind::node_firmware && !profile.has_node_images())
    return fmt::format("profile '{}' names no image that is written on the node", profile.name);
  if (is_for_settings(step) && profile.bios.empty() && profile.settings.is_empty())
    return fmt::format("profile '{}' wants no settings", profile.name);
  if (!cabled && measures_cables(step))
    return "the inventory's cable plan (fabric:) does not have the node";
  if (step.kind != StepKind::stage || profile.has_gpus()) return {};
  if (loads_gpus(step))
    return fmt::format("it loads GPUs, and profile '{}' has none", profile.name);
  const auto name = burnin::base_name(step.name);
  const bool judged = std::ranges::find(profile.criteria, name, &inventory::Criterion::stage) !=
                      profile.criteria.end();
  const bool of_the_host = burnin::stage(name)->lists == burnin::Lists::parts;
  // Whoever changes something must see that it was changed: without criteria that is an error
  // anywhere.
  const bool changes = burnin::undo_of(name) != nullptr || burnin::undone_by(name) != nullptr ||
                       burnin::erases_media(name);
  if (judged || of_the_host || changes) return {};
  return fmt::format("profile '{}' has no GPUs and no criteria for it", profile.name);
}

}  // namespace cupel::playbooks
