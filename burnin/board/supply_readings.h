#pragma once
// What a BMC reported of its supplies while a stage ran in phases, from the transcript that the
// controller kept: which reading lies wholly in which phase. Pure.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cupel::burnin {

struct Supply {
  std::optional<double> output{}, input{};  // W
  std::optional<double> volts{};            // of its input
  std::string health{};                     // "OK", "Warning", "Critical"; empty: not reported

  std::optional<double> watts() const { return output ? output : input; }
  /// What has no input is not always called unwell.
  bool well() const;
};

using Supplies = std::map<std::string, Supply, std::less<>>;  // by part: "psu2"

struct SupplyReading {
  std::string phase{};  // empty: it lies in none, or in more than one
  double seconds = 0;   // that it took
  Supplies supplies{};
  std::vector<std::string> redundancy{};  // health of each group
  std::optional<int> wet{};               // leak detectors; nothing where there are none
  std::optional<double> inlet{};          // C, of the air that comes in: the coldest sensor
  /// By part ("psu2", "gpu3", "inlet air"): whether its BMC calls one of its temperatures too high.
  std::map<std::string, bool, std::less<>> hot{};
  bool by_ipmi = false;      // of a BMC whose Redfish did not answer
  bool beside_feed = false;  // a feed was off meanwhile, or not everything was well again after it
};

/// Of a BMC's answers, one after the other, which list supplies as those before did. A BMC that
/// restarts answers, and lists nothing yet: not one supply is lost by that. The tray of a rack has
/// none of its own.
class SupplyListing {
 public:
  bool is_whole(std::size_t sensors, const Supplies& supplies) {
    const bool whole = sensors > 0 && (!supplies.empty() || !had_some_);
    had_some_ = had_some_ || !supplies.empty();
    return whole;
  }

 private:
  bool had_some_ = false;
};

/// What became of a node while one of its feeds was off.
struct FeedCut {
  int number = 0;                             // from 1
  std::string name{};                         // "a01/p1/b1, outlet A7"
  std::string why{};                          // it could not be taken away, or given back
  int readings = 0;                           // wholly while it was off
  std::set<std::string, std::less<>> lost{};  // supplies that were not well in any of them
  bool back = false;
  bool well = false;  // all supplies were, once it was back
  bool fell = false;  // the node went down
};

struct SupplyTranscript {
  std::vector<SupplyReading> readings{};
  int failed = 0;     // readings that the BMC did not answer
  std::string why{};  // the first one's reason
  int feeds = 0;      // that were to be taken away, one after the other
  std::vector<FeedCut> cuts{};
};

/// In which phase each reading lies. It does where the last word before it, every one meanwhile,
/// and all of the next piece after it are of that phase: however late the node is heard, a phase
/// that had ended by then is not taken for one that goes on.
class PhasesOfReadings {
 public:
  /// Phases of which the node's output reported in one piece.
  void hear(const json::value& heard);
  void begin();
  /// Of the reading that was begun. False: none was.
  bool end();
  /// The reading proved nothing.
  void drop() { open_.reset(); }

  /// Of each reading that has ended; empty: in none, or not known yet.
  std::vector<std::string> all() const;
  int count(std::string_view phase) const;
  const std::string& now() const { return now_; }

 private:
  std::optional<std::string> open_{};  // phase of the reading that goes on
  std::string now_{};
  std::vector<std::string> phases_{};
  std::size_t confirmed_ = 0;  // readings after which a phase was heard of again
};

/// Readings in a phase that show it: one alone may be an average of what was before.
constexpr int kEnoughReadings = 2;

/// JSON lines, in the order in which it happened: `{"parts": [...]}`, `{"heard": ["idle"]}` (the
/// phases of which the node's output reported in one piece), `{"began": 1}`, `{"reading": 1,
/// "seconds": 0.4, "sensors": [...]}`, `{"reading": 1, "failed": "why"}`; of feeds `{"feeds": 2}`,
/// then for each
/// `{"feed": 1, "name": "a01/p1/b1, outlet A7"}` before it goes off, then `"back"`, `"well"` or
/// `"fell": true`, or `"failed": "why"`. Tolerant of lines that are none.
SupplyTranscript read_transcript(std::string_view text);

/// The supplies of one reading's `sensors`; `parts` is what the BMC calls them.
Supplies read_supplies(const json::value& sensors, const json::value& parts);

}  // namespace cupel::burnin
