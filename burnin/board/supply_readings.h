#pragma once
// What a BMC told of its supplies while a stage ran in phases, from the transcript that the
// controller kept: which reading lies wholly in which phase. Pure.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cupel::burnin {

struct Supply {
  std::optional<double> output{}, input{};  // W
  std::optional<double> volts{};            // of its input
  std::string health{};                     // "OK", "Warning", "Critical"; empty: not told

  std::optional<double> watts() const { return output ? output : input; }
};

struct SupplyReading {
  std::string phase{};  // empty: it lies in none, or in more than one
  double seconds = 0;   // that it took
  std::map<std::string, Supply, std::less<>> supplies{};  // by part: "psu2"
  std::vector<std::string> redundancy{};                  // health of each group
  std::optional<int> wet{};  // leak detectors; nothing where there are none
};

struct SupplyTranscript {
  std::vector<SupplyReading> readings{};
  int failed = 0;     // readings that the BMC did not answer
  std::string why{};  // the first one's reason
};

/// In which phase each reading lies. It does where the last word before it, every one meanwhile,
/// and all of the next piece after it are of that phase: however late the node is heard, a phase
/// that had ended by then is not taken for one that goes on.
class PhasesOfReadings {
 public:
  /// Phases of which the node's output told in one piece.
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
/// phases of which the node's output told in one piece), `{"began": 1}`, `{"reading": 1, "seconds":
/// 0.4, "sensors": [...]}`, `{"reading": 1, "failed": "why"}`. Tolerant of lines that are
/// none.
SupplyTranscript read_transcript(std::string_view text);

}  // namespace cupel::burnin
