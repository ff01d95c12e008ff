#include "bmc/leak.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::bmc {
namespace {

int badness(const std::string& word) {
  const auto lower = lower_case(word);
  if (lower.empty()) return -1;
  if (lower == "ok") return 0;
  return lower == "critical" ? 3 : lower == "warning" ? 2 : 1;
}

bool names_a_detector(std::string_view text) { return text.contains("leak"); }

/// The end of a leak, or a detector that says that all is well.
bool is_over(const LogEntry& entry, const std::string& text) {
  if (lower_case(entry.direction) == "deassert") return true;
  constexpr std::array<std::string_view, 9> kOver{
      "changed to ok",  "changed to enabled", "no leak",
      "no longer",      "deasserted",         "cleared",
      "returned to ok", "returned to normal", "leakdetectednormal"};
  return std::ranges::any_of(kOver, [&](auto words) { return text.contains(words); });
}

bool is_bad(const LogEntry& entry, const std::string& text) {
  if (entry.severity == "Critical" || entry.severity == "Warning") return true;
  constexpr std::array<std::string_view, 7> kBad{
      "changed to degraded", "changed to critical", "changed to warning", "leak detected",
      "leakdetected",        "detected leak",       "detected moisture"};
  return std::ranges::any_of(kBad, [&](auto words) { return text.contains(words); });
}

/// "Chassis_0_LeakDetector_1_ColdPlate" of a message that has it between `quotes`; else the sensor
/// that the entry names, else the message.
std::string detector_of(const LogEntry& entry) {
  for (const char quote : {'`', '\'', '"'}) {
    const auto begin = entry.message.find(quote);
    const auto end = begin == std::string::npos ? begin : entry.message.find(quote, begin + 1);
    if (end == std::string::npos) continue;
    auto name = entry.message.substr(begin + 1, end - begin - 1);
    if (names_a_detector(lower_case(name))) return name;
  }
  return entry.sensor.empty() ? entry.message : entry.sensor;
}

}  // namespace

std::string worse_leak(const std::string& one, const std::string& other) {
  return badness(other) > badness(one) ? other : one;
}

std::string leak_state(const LeakWords& words) {
  std::string others;
  bool differs = false;
  const auto note = [&](const char* whose, const std::string& word) {
    if (word.empty()) return;
    differs = differs || badness(word) != badness(words.detector);
    others += (others.empty() ? "" : ", ") + std::string{whose} + " " + word;
  };
  note("sensor", words.sensor);
  note("roll-up", words.roll_up);
  const auto own = words.detector.empty() ? std::string{"not reported"} : words.detector;
  const bool nothing_bad =
      badness(worse_leak(words.sensor, words.roll_up)) <= 0 && words.detector.empty();
  if (nothing_bad) return {};
  return differs ? own + " (contradiction: " + others + ")" : words.detector;
}

std::vector<LatchedLeak> latched_leaks(const EventLog& log) {
  std::vector<LatchedLeak> latched;
  for (const auto& entry : log.entries) {
    const auto text = lower_case(entry.message + " " + entry.message_id + " " + entry.sensor);
    if (!names_a_detector(text) || is_over(entry, text) || !is_bad(entry, text)) continue;
    auto detector = printable(shortened(detector_of(entry), 120));
    if (std::ranges::find(latched, detector, &LatchedLeak::detector) != latched.end()) continue;
    latched.push_back({std::move(detector), entry.message, entry.time});
  }
  return latched;
}

}  // namespace cupel::bmc
