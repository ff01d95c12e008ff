#pragma once
// What has to be done to one machine so that its firmware is at the profile's baseline: pure, from
// what its BMC reports. Nothing here is done, and no image is opened.
#include <set>

#include "bmc/answers.h"
#include "inventory/baseline.h"
#include "inventory/fwd.h"

namespace cupel::firmware {

/// One entry of the BMC's FirmwareInventory, or of the node's own facts.
struct RunningVersion {
  std::string id{};   // "HGX_FW_GPU_SXM_3"
  std::string uri{};  // empty: not of the BMC
  std::string version{};
  std::string name{};  // as people know it, where that is not the Id: "System ROM"
  friend bool operator==(const RunningVersion&, const RunningVersion&) = default;
};

/// How one component of the baseline stands.
struct ComponentState {
  const inventory::ExpectedFirmware* expected = nullptr;  // of the profile, which outlives this
  std::vector<RunningVersion> running{};                  // all that the patterns match
  std::vector<RunningVersion> wrong{};                    // those of them off the baseline
  std::string refusal{};  // why Cupel will not change it; empty: nothing is against it

  bool is_at_baseline() const { return wrong.empty() && !running.empty(); }
};

/// One image to be written.
struct FirmwareUpdate {
  const inventory::ExpectedFirmware* expected = nullptr;
  std::string version{};               // that it brings: a stepping stone's, or the baseline's
  inventory::FirmwareImage image{};    // not named: what the manifest lists of the version
  std::vector<std::string> targets{};  // URIs for UpdateOrder
  std::vector<RunningVersion> replaces{};
  /// An earlier one writes the same file to the same targets: a bundle that brings this version
  /// too.
  bool comes_with_another = false;
};

/// Whose components a plan is about.
enum class Writer { any, bmc, node };

/// Of a run that writes components again. Both empty: what is off the baseline is written.
struct Rewrite {
  std::set<std::string> only{};   // no other component is written
  std::set<std::string> again{};  // of these: still to be written, whatever version runs
};

struct FirmwarePlan {
  std::vector<ComponentState> components{};  // of the baseline, in the order of their updates
  std::vector<FirmwareUpdate> updates{};     // first to last; empty where anything is refused
  std::chrono::seconds takes{0};             // all of them with their resets, as the profile says
  bool restarts_host = false, cycles_ac = false;

  bool is_at_baseline() const;
  /// "bios: why; bmc: why"; empty: nothing is refused.
  std::string refusals() const;
};

/// `reported`: parts of kind firmware (Part::name is the Id, Part::source the URI), and what the
/// node reports where components are written there. `takes` counts each write as `takes:` says, and
/// the resets around each version by the profile's patience; not `settles:`, which is a limit. What
/// comes with another one's image counts nothing: a run finds it there, and does not write it.
/// Nothing is written again while a component that must precede it is off the baseline.
FirmwarePlan plan_firmware(const inventory::Profile& profile, const bmc::Identity& machine,
                           const std::vector<inventory::Part>& reported,
                           Writer writer = Writer::any, const Rewrite& rewrite = {});

/// A version or an id as sentences name it: a few characters, whatever a BMC reports as one.
std::string short_word(const std::string& word);

}  // namespace cupel::firmware
