#pragma once
// What a BMC says of one leak detector, from three sides, and what comes of it. Pure; no protocol.
// A captured GB200 tray has a detector that is Critical while its sensor and the roll-up above it
// are OK: neither side is believed against another.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmc/answers.h"

namespace cupel::bmc {

/// "OK", "Warning", "Critical", or another word of the BMC's ("Unavailable"). Empty: not reported.
struct LeakWords {
  std::string detector{};  // its own state, else its health
  std::string sensor{};    // of the sensor behind it
  std::string roll_up{};   // of all detectors of its chassis
};

/// "OK" only where the detector says so and nobody says otherwise; "Critical" where it and the
/// others agree. Where they differ, all of them: "Critical (contradiction: sensor OK, roll-up OK)".
/// Empty: nobody says anything.
std::string leak_state(const LeakWords& words);

/// The worse of two such words; one that is empty says nothing. A word that is not known is worse
/// than OK.
std::string worse_leak(const std::string& one, const std::string& other);

/// A detector that was not OK at some time, by the BMC's log: leaks were seen to show for less than
/// a minute, and a detector that dries says OK again. It stays so until the log is cleared.
struct LatchedLeak {
  std::string detector{};
  std::string message{};
  std::optional<Seconds> time{};
  friend bool operator==(const LatchedLeak&, const LatchedLeak&) = default;
};

/// Each detector once, with the first entry that says so. Entries that tell of the end are none.
/// Source: DMTF DSP8011, ResourceEvent.ResourceStateChanged, Environmental.LeakDetected*.
std::vector<LatchedLeak> latched_leaks(const EventLog& log);

}  // namespace cupel::bmc
