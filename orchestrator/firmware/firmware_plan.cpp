#include "orchestrator/firmware/firmware_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/firmware_time.h"
#include "inventory/judge_firmware.h"
#include "inventory/profile.h"
#include "inventory/versions.h"
#include "orchestrator/firmware/firmware_order.h"

namespace cupel::firmware {
namespace {

using inventory::compare_versions;
using inventory::ExpectedFirmware;
using inventory::FirmwareReset;
using inventory::Part;
using inventory::Profile;

bool is_of(Writer writer, const ExpectedFirmware& expected) {
  return writer == Writer::any || expected.is_written_on_node() == (writer == Writer::node);
}

RunningVersion running(const Part& part) {
  return {part.name, part.source, std::string{trimmed(part.firmware)}, part.model};
}

ComponentState judge(const ExpectedFirmware& expected, const std::vector<Part>& reported,
                     bool again) {
  ComponentState state{.expected = &expected};
  for (const auto& part : reported) {
    if (part.firmware.empty() || !inventory::covers(expected, part)) continue;
    state.running.push_back(running(part));
    if (again || !inventory::is_expected_version(expected, part.firmware))
      state.wrong.push_back(state.running.back());
  }
  return state;
}

/// The parts whose versions are read besides the BMC's firmware inventory.
std::string_view other_places(inventory::UpdateWay way) {
  switch (way) {
    case inventory::UpdateWay::mstflint:
      return ", and no NIC, HCA or DPU,";
    case inventory::UpdateWay::nvme:
      return ", and no NVMe drive,";
    case inventory::UpdateWay::site_tool:
      return ", and no GPU (a site tool's versions are read from GPUs alone),";
    case inventory::UpdateWay::bmc:
      return "";
  }
  __builtin_unreachable();
}

std::string not_reported(const ExpectedFirmware& expected) {
  const auto& ids = expected.ids;
  return fmt::format("not reported: nothing in the machine's firmware inventory{} is called {}",
                     other_places(expected.way),
                     ids.empty() ? expected.component : fmt::format("{}", fmt::join(ids, ", ")));
}

std::string wrong_model(const ExpectedFirmware& expected, const std::string& model) {
  if (expected.models.empty()) return {};
  const auto fits = [&](const auto& pattern) { return inventory::fits_pattern(pattern, model); };
  if (!model.empty() && std::ranges::any_of(expected.models, fits)) return {};
  return fmt::format("its image is for {}, and this machine is {}",
                     fmt::join(expected.models, ", "),
                     model.empty() ? "of no reported model" : short_word(model));
}

std::string no_way_down(const ExpectedFirmware& expected, const RunningVersion& from) {
  if (expected.downgrade) return {};
  const auto order = compare_versions(from.version, expected.version);
  const auto reported = short_word(from.version);
  if (order == std::partial_ordering::unordered)
    return fmt::format(
        "{} runs {}, which is neither before nor after {}: `downgrade: true` allows "
        "it",
        short_word(from.id), reported, expected.version);
  if (order < 0) return {};
  return fmt::format("{} runs {}, which is newer than {}: `downgrade: true` allows it",
                     short_word(from.id), reported, expected.version);
}

/// Whether the stone must be written over `version` before the baseline's; nothing where that
/// cannot be known.
std::optional<bool> needs(const inventory::SteppingStone& stone, const ExpectedFirmware& expected,
                          const std::string& version) {
  const auto target = compare_versions(stone.version, expected.version);
  if (target == 0 || target > 0) return false;
  const auto below = compare_versions(version, stone.below);
  const auto reached = compare_versions(version, stone.version);
  if (below == 0 || below > 0 || reached == 0 || reached > 0) return false;
  if (below < 0 && reached < 0 && target < 0) return true;
  return expected.downgrade ? std::optional{false} : std::nullopt;
}

std::string unknown_stone(const ExpectedFirmware& expected, const RunningVersion& from) {
  for (const auto& stone : expected.stepping_stones)
    if (!needs(stone, expected, from.version))
      return fmt::format("{} runs {}: whether it needs the stepping stone {} is unknown",
                         short_word(from.id), short_word(from.version), stone.version);
  return {};
}

/// Another component that wants another version of what this one would write.
std::string also_needed(const ComponentState& state, const std::vector<ComponentState>& all) {
  for (const auto& other : all) {
    const auto& version = other.expected->version;
    if (&other == &state || version.empty() || version == state.expected->version) continue;
    for (const auto& each : state.wrong)
      if (std::ranges::find(other.running, each) != other.running.end())
        return fmt::format("{} is of component '{}' too, which wants {}", short_word(each.id),
                           other.expected->component, version);
  }
  return {};
}

std::string refusal_of(const ComponentState& state, const bmc::Identity& machine,
                       const std::vector<ComponentState>& all) {
  const auto& expected = *state.expected;
  if (state.running.empty()) return not_reported(expected);
  if (state.wrong.empty()) return {};
  if (!expected.image)
    return fmt::format("the baseline names no image for it: image, at {}",
                       to_string(expected.where));
  if (auto why = wrong_model(expected, machine.model); !why.empty()) return why;
  if (auto why = also_needed(state, all); !why.empty()) return why;
  for (const auto& each : state.wrong) {
    if (inventory::same_version(each.version, expected.version)) continue;  // written again
    if (auto why = no_way_down(expected, each); !why.empty()) return why;
    if (auto why = unknown_stone(expected, each); !why.empty()) return why;
  }
  return {};
}

bool is_off(const ComponentState& state) {
  return std::ranges::any_of(state.running, [&](const RunningVersion& one) {
    return !inventory::is_expected_version(*state.expected, one.version);
  });
}

/// A component that must be at its version before this one is written, and is not.
std::string comes_too_early(const ComponentState& state, const std::vector<ComponentState>& all) {
  for (const auto& other : all) {
    const auto& after = state.expected->after;
    const auto& name = other.expected->component;
    if (std::ranges::find(after, name) == after.end()) continue;
    if (!other.running.empty() && !is_off(other)) continue;
    return fmt::format("{} must be at its version before it is written again", name);
  }
  return {};
}

/// What a run leaves alone that writes components again.
void keep_only(const Rewrite& rewrite, std::vector<ComponentState>& components) {
  if (rewrite.only.empty()) return;
  for (auto& state : components)
    if (state.refusal.empty() && rewrite.again.contains(state.expected->component))
      state.refusal = comes_too_early(state, components);
  std::erase_if(components, [&](const ComponentState& state) {
    return !rewrite.only.contains(state.expected->component);
  });
}

/// Writes one version over all of these: at once, or one by one.
class ComponentUpdates {
 public:
  ComponentUpdates(const ComponentState& state, std::vector<FirmwareUpdate>& into)
      : expected_{*state.expected}, now_{state.wrong}, into_{into} {}

  void add() {
    for (const auto& stone : expected_.stepping_stones) {
      std::vector<std::size_t> those;
      for (std::size_t i = 0; i < now_.size(); ++i)
        if (needs(stone, expected_, now_[i].version).value_or(false)) those.push_back(i);
      write(stone.version, stone.image, those);
    }
    std::vector<std::size_t> all(now_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    write(expected_.version, *expected_.image, all);
  }

 private:
  void write(const std::string& version, const inventory::FirmwareImage& image,
             const std::vector<std::size_t>& those) {
    if (those.empty()) return;
    if (!expected_.one_by_one) into_.push_back({&expected_, version, image, expected_.targets, {}});
    for (const auto i : those) {
      if (expected_.one_by_one)
        into_.push_back({&expected_, version, image, targets_of(now_[i]), {}});
      into_.back().replaces.push_back(now_[i]);
      now_[i].version = version;
    }
  }

  std::vector<std::string> targets_of(const RunningVersion& one) const {
    if (!expected_.targets.empty()) return expected_.targets;
    return one.uri.empty() ? std::vector<std::string>{} : std::vector{one.uri};
  }

  const ExpectedFirmware& expected_;
  std::vector<RunningVersion> now_;  // what runs once the updates so far are through
  std::vector<FirmwareUpdate>& into_;
};

void add_resets(const std::vector<FirmwareReset>& resets, const Profile& profile,
                FirmwarePlan& plan) {
  for (const auto reset : resets) {
    plan.takes += inventory::time_of(reset, profile.patience);
    const bool ac = reset == FirmwareReset::ac_cycle || reset == FirmwareReset::power_drain;
    plan.cycles_ac = plan.cycles_ac || ac;
    const bool stays_up =
        reset == FirmwareReset::bmc_restart || reset == FirmwareReset::device_reset;
    plan.restarts_host = plan.restarts_host || !stays_up;
  }
}

/// What is one write for both: a bundle has images for several components.
bool is_one_write(const FirmwareUpdate& one, const FirmwareUpdate& other) {
  return one.expected != other.expected && one.image.is_named() &&
         one.image.file == other.image.file && one.image.sha256 == other.image.sha256 &&
         one.targets == other.targets &&
         one.expected->is_written_on_node() == other.expected->is_written_on_node();
}

void mark_what_comes_with_another(std::vector<FirmwareUpdate>& updates) {
  for (auto update = updates.begin(); update != updates.end(); ++update)
    update->comes_with_another =
        std::any_of(updates.begin(), update,
                    [&](const FirmwareUpdate& earlier) { return is_one_write(earlier, *update); });
}

void add_times(const Profile& profile, FirmwarePlan& plan) {
  const FirmwareUpdate* before = nullptr;
  for (const auto& update : plan.updates) {
    if (update.comes_with_another) continue;
    plan.takes += update.expected->takes;
    const bool same = before != nullptr && before->expected == update.expected &&
                      before->version == update.version;
    before = &update;
    if (same) continue;  // one by one: the resets stand around all of them
    add_resets(update.expected->before, profile, plan);
    add_resets(update.expected->follow, profile, plan);
  }
}

}  // namespace

bool FirmwarePlan::is_at_baseline() const {
  return std::ranges::all_of(components, &ComponentState::is_at_baseline);
}

std::string FirmwarePlan::refusals() const {
  std::string all;
  for (const auto& one : components)
    if (!one.refusal.empty())
      all += (all.empty() ? "" : "; ") + one.expected->component + ": " + one.refusal;
  return all;
}

FirmwarePlan plan_firmware(const Profile& profile, const bmc::Identity& machine,
                           const std::vector<Part>& reported, Writer writer,
                           const Rewrite& rewrite) {
  FirmwarePlan plan;
  for (const auto place : update_order(profile))
    if (is_of(writer, profile.firmware[place]))
      plan.components.push_back(judge(profile.firmware[place], reported,
                                      rewrite.again.contains(profile.firmware[place].component)));
  for (auto& state : plan.components) state.refusal = refusal_of(state, machine, plan.components);
  keep_only(rewrite, plan.components);
  if (!plan.refusals().empty()) return plan;
  for (const auto& state : plan.components)
    if (!state.wrong.empty()) ComponentUpdates{state, plan.updates}.add();
  mark_what_comes_with_another(plan.updates);
  add_times(profile, plan);
  return plan;
}

std::string short_word(const std::string& word) {
  constexpr std::size_t kLongest = 80;
  return printable(shortened(word, kLongest));
}

}  // namespace cupel::firmware
