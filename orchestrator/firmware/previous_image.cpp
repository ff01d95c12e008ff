#include "orchestrator/firmware/previous_image.h"

#include <algorithm>

#include "inventory/versions.h"
#include "orchestrator/firmware/image_check.h"

namespace cupel::firmware {
namespace {

using inventory::FirmwareRecovery;

bool may_write_back(const inventory::ExpectedFirmware& expected) {
  return std::ranges::find(expected.recovery, FirmwareRecovery::previous_image) !=
         expected.recovery.end();
}

/// Empty: nothing is against it.
std::string why_not_back(const ComponentState& state, const bmc::Identity& machine,
                         const Result<inventory::ImageManifest>& manifest,
                         std::chrono::sys_seconds now) {
  const auto& expected = *state.expected;
  const auto previous = one_version(state.wrong, state.running.size());
  if (previous.empty()) return "not all entries of the component run one version";
  if (!manifest) return manifest.error().what;
  const auto listed = inventory::listed_image(
      *manifest, {machine.vendor, machine.model, expected.component, previous, {}}, now);
  if (!listed) return listed.error().what;
  const FirmwareUpdate back{
      .expected = &expected, .version = previous, .replaces = {{.version = expected.version}}};
  return lacks_approval(back, *manifest);
}

}  // namespace

std::string one_version(const std::vector<RunningVersion>& entries, std::size_t all) {
  const bool same = !entries.empty() && entries.size() == all &&
                    std::ranges::all_of(entries, [&](const auto& one) {
                      return inventory::same_version(one.version, entries.front().version);
                    });
  return same ? entries.front().version : std::string{};
}

std::vector<std::string> previous_image_warnings(const FirmwarePlan& plan,
                                                 const bmc::Identity& machine,
                                                 const Result<inventory::ImageManifest>& manifest,
                                                 std::chrono::sys_seconds now) {
  std::vector<std::string> warnings;
  for (const auto& state : plan.components) {
    if (state.running.empty() || state.wrong.empty() || !may_write_back(*state.expected)) continue;
    const auto why = why_not_back(state, machine, manifest, now);
    if (!why.empty())
      warnings.push_back(state.expected->component +
                         ": previous-image could not be written back: " + why);
  }
  return warnings;
}

}  // namespace cupel::firmware
