#pragma once
// How a run is accompanied: what a person said on its command line beside the plan. Kept with the
// run, so that whoever drives it does as was reported: another controller, or one after a crash.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "orchestrator/report/requalified.h"

namespace cupel::controller {

struct RunOptions {
  bool consoles = true;                     // they are recorded
  std::string notify{};                     // program that is reported of what people should know
  std::chrono::seconds look_again{60};      // how often what needs hands is looked at
  std::chrono::seconds measure_power{60};   // how often loaded nodes' BMCs are asked what they draw
  std::chrono::seconds repair_patience{0};  // how long an otherwise finished run waits for hands
  bool rehearsal = false;                   // its machines are virtual
  std::string begun_by{};                   // the login's name; of a run of an older Cupel empty
  std::optional<report::Requalified> requalifies{};  // an earlier run, in part
  std::string request{};  // of the service's API, that began it: store::KeptReply::id()

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

/// What was given this time; the rest stays as it was.
struct RunFlags {
  std::optional<bool> consoles{};
  std::optional<std::string> notify{};
  std::optional<std::chrono::seconds> look_again{};
  std::optional<std::chrono::seconds> measure_power{};
  std::optional<std::chrono::seconds> repair_patience{};
  std::optional<report::Requalified> requalifies{};
};

inline constexpr std::chrono::seconds kUsualRepairPatience{15 * 60};
inline constexpr std::chrono::seconds kLongestRepairPatience{7 * 24 * 3600};

RunOptions with(RunOptions options, const RunFlags& flags);

std::string to_text(const RunOptions& options);
/// Tolerant: what is absent or makes no sense stays as usual, also of a run of an older Cupel.
RunOptions run_options_of(std::string_view text);

}  // namespace cupel::controller
