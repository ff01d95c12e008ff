#pragma once
// What was before `settings` changed it, on the node's disk before anything is changed, until all
// of it is back: a restart of the machine, of the controller, or of both finds it there. Its files
// and their lines are those that every version of the stage has written, and reads.
#include "burnin/agent/node/stages/setting.h"

namespace cupel::agent {

namespace settings_place {
inline constexpr std::string_view kFolder = "/var/lib/cupel/settings";
// "cupel-settings|1|BOOT", then "KEY|PART|VALUE" for each as it was.
inline constexpr std::string_view kBefore = "/var/lib/cupel/settings/before";
// "KEY|PART|VALUE" for each as it was to be.
inline constexpr std::string_view kExpectedFile = "/var/lib/cupel/settings/wanted";
// "BEGUN DUE", in seconds since 1970: when the node sets all back by itself.
inline constexpr std::string_view kUntil = "/var/lib/cupel/settings/until";
// Who has set all of it back: "run", "hand", "timer".
inline constexpr std::string_view kPutBack = "/var/lib/cupel/settings/put-back";
// The copy of cupel-node that does so where no run does.
inline constexpr std::string_view kProgram = "/var/lib/cupel/settings/cupel-node";
// What did it in versions that were a shell script.
inline constexpr std::string_view kScript = "/var/lib/cupel/settings/restore.sh";
}  // namespace settings_place

struct KeptSetting {
  Setting setting{};
  std::string value{};
};
using KeptSettings = std::vector<KeptSetting>;

/// The value of that setting; nullptr where there is none.
const KeptSetting* find_kept(const KeptSettings& all, const Setting& setting);

struct SettingsRecord {
  bool there = false;      // false: nothing is set
  bool this_boot = false;  // the machine has not restarted since
  KeptSettings before{};
};

/// Why the record must be neither believed nor written: another user of the node could have changed
/// it, or what lies above it. It is read and run as root, and says what is written where.
GaveUp why_record_unsafe(const Node& node);

/// Errors: kFailed where it is there and cannot be read; kMalformed where it is none. Neither is
/// "nothing is set".
Result<SettingsRecord> read_record(const Node& node);

/// Leaves out what is no line of ours: a crash may have cut what a script wrote. Errors: kFailed.
Result<KeptSettings> read_expected(const Node& node);

/// Leaves out what a restart of the machine has undone, if there was one: all but what GPUs keep.
/// Errors: kFailed.
Result<void> forget_undone(const Node& node, SettingsRecord& record);

/// Errors: kFailed.
Result<void> write_record(const Node& node, const KeptSettings& before);
Result<void> write_expected(const Node& node, const KeptSettings& expected);

}  // namespace cupel::agent
