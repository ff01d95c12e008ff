#include "burnin/node/watch_report.h"

#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "base/text.h"
#include "burnin/node/kernel_report.h"
#include "burnin/node/node_report.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;

/// From a row of the sum to a measurement.
struct Row {
  std::string_view parts;  // the beginning of the parts' names
  std::string_view name;   // as the node says it
  std::string_view take;   // which of the row's numbers
  std::string_view measure;
  std::string_view unit;
  double factor = 1;
};

constexpr double kGiga = 1e-9;

constexpr std::array kValues{
    Row{"gpu", "answers", "min", "gpu.responsive", ""},
    Row{"gpu", "temperature", "max", "gpu.temperature", "C"},
    Row{"gpu", "temperature.memory", "max", "gpu.temperature.memory", "C"},
    Row{"gpu", "power", "max", "gpu.power", "W"},
    Row{"gpu", "power", "mean", "gpu.power.mean", "W"},
    Row{"gpu", "clock.sm", "mean", "gpu.clock.sm", "MHz"},
    Row{"gpu", "clock.sm", "min", "gpu.clock.sm.least", "MHz"},
    Row{"gpu", "clock.memory", "mean", "gpu.clock.memory", "MHz"},
    Row{"gpu", "busy", "mean", "gpu.busy", "%"},
    Row{"gpu", "remap.pending", "max", "gpu.remap.pending", ""},
    Row{"gpu", "remap.failed", "max", "gpu.remap.failed", ""},
    Row{"gpu", "nvlink.ber.symbol", "max", "nvlink.ber.symbol", ""},
    Row{"gpu", "nvlink.ber.effective", "max", "nvlink.ber.effective", ""},
    Row{"cpu", "temperature", "max", "cpu.temperature", "C"},
    Row{"cpu", "clock", "mean", "cpu.clock", "MHz"},
    Row{"fan", "fan", "min", "fan.speed", "rpm"},
    Row{"nvme", "temperature", "max", "nvme.temperature", "C"},
};

/// By how much each grew while we watched: what was there before is no news.
constexpr std::array kCounters{
    Row{"gpu", "ecc.uncorrected", "grown", "gpu.ecc.uncorrected.new", "errors"},
    Row{"gpu", "ecc.corrected", "grown", "gpu.ecc.corrected.new", "errors"},
    Row{"gpu", "remap.uncorrectable", "grown", "gpu.remap.new", "count"},
    Row{"gpu", "pcie.replays", "grown", "gpu.pcie.replays.new", "count"},
    Row{"gpu", "nvlink.crc", "grown", "nvlink.crc_errors.new", "errors"},
    Row{"gpu", "nvlink.crc.data", "grown", "nvlink.data_errors.new", "errors"},
    Row{"gpu", "nvlink.replays", "grown", "nvlink.replays.new", "count"},
    Row{"gpu", "nvlink.recoveries", "grown", "nvlink.recoveries.new", "count"},
    Row{"gpu", "nvlink.recoveries.failed", "grown", "nvlink.recoveries.failed.new", "count"},
    Row{"gpu", "nvlink.errors.symbol", "grown", "nvlink.symbol_errors.new", "errors"},
    Row{"gpu", "nvlink.errors.effective", "grown", "nvlink.effective_errors.new", "errors"},
    Row{"gpu", "nvlink.errors.received", "grown", "nvlink.packet_errors.new", "errors"},
    Row{"", "symbol_errors", "grown", "ib.port.symbol_errors.new", "errors"},
    Row{"", "link_downed", "grown", "ib.port.downed.new", "count"},
    Row{"", "link_recovered", "grown", "ib.port.recovered.new", "count"},
    Row{"", "receive_errors", "grown", "ib.port.receive_errors.new", "errors"},
    Row{"", "discards", "grown", "ib.port.discards.new", "count"},
    Row{"", "sent", "grown", "ib.port.sent", "GB", kGiga},
    Row{"", "received", "grown", "ib.port.received", "GB", kGiga},
    Row{"mc", "uncorrected", "grown", "edac.uncorrected.new", "errors"},
    Row{"mc", "corrected", "grown", "edac.corrected.new", "errors"},
};

/// How long a GPU was held back. Power at its limit is what a soak is for; heat never is.
struct Throttle {
  std::string_view measure;
  std::array<std::string_view, 3> reasons;
  bool is_fault = true;
};
constexpr std::array kThrottles{
    Throttle{"gpu.throttle.thermal", {"hw-thermal", "sw-thermal", "hw-slowdown"}},
    Throttle{"gpu.throttle.power_brake", {"power-brake", "", ""}},
    Throttle{"gpu.throttle.power", {"power-cap", "", ""}, false},
};

constexpr auto kMeasures = [] {
  std::array<std::string_view,
             kValues.size() + kCounters.size() + kThrottles.size() + kKernelMeasures.size() + 2>
      names{};
  auto at = names.begin();
  for (const auto& each : kValues) *at++ = each.measure;
  for (const auto& each : kCounters) *at++ = each.measure;
  for (const auto& each : kThrottles) *at++ = each.measure;
  for (const auto& each : kKernelMeasures) *at++ = each;
  *at++ = "first.gpu.throttle.*";
  *at = "watch.cpu";
  return names;
}();

bool is_of(std::string_view part, const Row& row) {
  const bool bonded = part.find("bond") != part.npos;
  return !part.empty() && !bonded && part.starts_with(row.parts);
}

template <std::size_t size>
void add_rows(const json::value& sum, std::string_view list, const std::array<Row, size>& table,
              const Names& names, Findings& findings) {
  for (const auto& reported : rows_at(sum, list)) {
    const auto part = script::clean(text_at(reported, "part").value_or(""));
    const auto name = text_at(reported, "name");
    for (const auto& row : table) {
      if (name != row.name || !is_of(part, row)) continue;
      const auto value = number_at(reported, row.take);
      add(findings, row.measure, names.of(part), value ? std::optional{*value * row.factor} : value,
          row.unit);
    }
  }
}

/// Of every GPU whose reasons were sampled; none of a reason is 0 seconds.
void add_throttles(const json::value& sum, const json::value& hello, const Names& names,
                   Findings& findings) {
  std::map<std::string, std::map<std::string, double>> seconds;
  if (const auto* sampled = find(hello, "sampled"); sampled != nullptr && sampled->is_object())
    for (const auto& [part, list] : sampled->as_object()) {
      if (!list.is_array() || seconds.size() == kMostRows) continue;
      for (const auto& name : list.as_array())
        if (name.is_string() && name.as_string() == "throttle") seconds[script::clean(part)];
    }
  for (const auto& reported : rows_at(sum, "throttled")) {
    const auto row = seconds.find(script::clean(text_at(reported, "part").value_or("")));
    const auto value = number_at(reported, "seconds");
    if (row != seconds.end() && value)
      row->second[text_at(reported, "reason").value_or("")] = *value;
  }
  for (const auto& [part, reasons] : seconds)
    for (const auto& throttle : kThrottles) {
      // They overlap: the longest is how long at least it was held back.
      double most = 0;
      for (const auto reason : throttle.reasons)
        if (const auto found = reasons.find(std::string{reason}); found != reasons.end())
          most = std::max(most, found->second);
      add(findings, throttle.measure, names.of(part), most, "s");
    }
}

/// Xids and SXids in the order in which they came; those that were not reported of line by line are
/// in the sum.
std::vector<json::value> xids_in_order(std::string_view text, const json::value& sum) {
  std::vector<json::value> rows;
  for (const auto line : lines(text)) {
    constexpr std::string_view kMessage = R"({"kind":"message",)";
    if (!line.starts_with(kMessage) || line.size() > 8192 || rows.size() == kMostRows) continue;
    auto reported = parse_line(line);
    if (!reported || text_at(*reported, "class") != "xid") continue;
    reported->get_object()["count"] = 0;  // the sum counts it
    rows.push_back(*std::move(reported));
  }
  for (const auto& reported : rows_at(sum, "messages")) rows.push_back(reported);
  return rows;
}

/// A sample, or a message of the kernel. Those around a fault are printed after later ones.
struct TimedLine {
  double seconds = 0;
  std::string_view text{};
};

constexpr std::string_view kSample = R"({"kind":"sample","seconds":)";
constexpr std::string_view kMessage = R"({"kind":"message","seconds":)";

std::vector<TimedLine> timed_lines(std::string_view text) {
  constexpr std::size_t kMostLines = 20'000, kLongest = 256u << 10;
  std::vector<TimedLine> found;
  for (const auto line : lines(text)) {
    const auto start = line.starts_with(kSample)    ? kSample.size()
                       : line.starts_with(kMessage) ? kMessage.size()
                                                    : line.size();
    if (start == line.size() || line.size() > kLongest || found.size() == kMostLines) continue;
    const auto end = std::min(line.find(',', start), line.size());
    const auto seconds = number<double>(line.substr(start, end - start));
    if (seconds && std::isfinite(*seconds)) found.push_back({*seconds, line});
  }
  std::ranges::stable_sort(found, {}, &TimedLine::seconds);
  return found;
}

bool has_word(const json::value& words, std::span<const std::string_view> any) {
  return words.is_array() && std::ranges::any_of(words.get_array(), [&](const json::value& word) {
           return word.is_string() && !word.get_string().empty() &&
                  std::ranges::find(any, std::string_view{word.get_string()}) != any.end();
         });
}

/// Most samples have no such word: they are many, and are not parsed for it.
bool may_be_held_back(std::string_view sample) {
  return std::ranges::any_of(kThrottles, [sample](const Throttle& throttle) {
    return throttle.is_fault && std::ranges::any_of(throttle.reasons, [sample](auto reason) {
             return !reason.empty() && sample.contains(reason);
           });
  });
}

/// When each fault was first seen, on the clock of the watch, which no one sets.
void add_first_events(std::string_view text, const Names& names, Findings& findings) {
  std::vector<json::value> messages;
  std::map<std::pair<std::string, std::string_view>, double> held_back;
  for (const auto& line : timed_lines(text)) {
    const bool is_message = line.text.starts_with(kMessage);
    if (!is_message && !may_be_held_back(line.text)) continue;
    auto reported = parse_line(line.text);
    if (!reported) continue;
    if (is_message) {
      messages.push_back(*std::move(reported));
      continue;
    }
    const auto* parts = find(*reported, "parts");
    if (parts == nullptr || !parts->is_object()) continue;
    for (const auto& [part, values] : parts->get_object()) {
      const auto* words = find(values, "throttle");
      if (words == nullptr || !part.starts_with("gpu") || held_back.size() >= kMostRows) continue;
      for (const auto& throttle : kThrottles)
        if (throttle.is_fault && has_word(*words, throttle.reasons))
          held_back.try_emplace({names.of(script::clean(part)), throttle.measure}, line.seconds);
    }
  }
  add_first_messages(messages, "seconds", names, findings);
  for (const auto& [what, seconds] : held_back)
    add(findings, "first." + std::string{what.second}, what.first, seconds, "s");
}

/// Reads lines in the order of their time.
class SeriesReader {
 public:
  SeriesReader(const Names& names, SeriesRecorder& into) : names_{names}, into_{into} {}

  void read(const TimedLine& line) {
    const auto reported = parse_line(line.text);
    if (!reported) return;
    if (line.text.starts_with(kMessage)) return read_message(line.seconds, *reported);
    std::vector<std::string> faults;
    if (const auto* parts = find(*reported, "parts"); parts != nullptr && parts->is_object())
      for (const auto& [part, values] : parts->get_object())
        if (values.is_object())
          read_part(line.seconds, script::clean(part), values.get_object(), faults);
    for (auto& fault : faults) into_.fault(line.seconds, std::move(fault));
  }

 private:
  void read_message(double seconds, const json::value& reported) {
    if (text_at(reported, "weight") == "harmless") return;
    const auto part = names_.of(text_at(reported, "part").value_or("node"));
    const auto code = number_at(reported, "code");
    into_.fault(seconds, part + ": " +
                             script::clean(text_at(reported, "class").value_or("message")) +
                             (code ? " " + plain(*code, 0) : ""));
  }

  void read_part(double seconds, const std::string& part, const json::object& values,
                 std::vector<std::string>& faults) {
    for (const auto& [name, value] : values) {
      if (name == "throttle") note_throttle(part, value, faults);
      if (!value.is_number()) continue;
      const double number = value.to_number<double>();
      if (const auto* row = row_of(kValues, part, name)) {
        if (name == "answers" && number < std::exchange(last_[{part, row}], number))
          faults.push_back(names_.of(part) + ": it does not answer");
        add(seconds, part, *row, number);
      } else if (const auto* counter = row_of(kCounters, part, name)) {
        const double grown = growth(part, *counter, number);
        if (grown > 0 && counter->unit == "errors")
          faults.push_back(names_.of(part) + ": " + std::string{counter->measure});
        add(seconds, part, *counter, grown_[{part, counter}]);
      }
    }
  }

  template <std::size_t size>
  static const Row* row_of(const std::array<Row, size>& table, std::string_view part,
                           std::string_view name) {
    for (const auto& row : table)
      if (row.name == name && is_of(part, row)) return &row;
    return nullptr;
  }

  /// Since the sample before. A counter that is less than then was reset in between.
  double growth(const std::string& part, const Row& row, double value) {
    const auto [last, first] = last_.try_emplace({part, &row}, value);
    const double grown = value >= last->second ? value - last->second : value;
    last->second = value;
    grown_[{part, &row}] += grown;
    return grown;
  }

  void note_throttle(const std::string& part, const json::value& words,
                     std::vector<std::string>& faults) {
    if (!words.is_array()) return;
    const bool slow = std::ranges::any_of(words.get_array(), [](const json::value& word) {
      return word == "hw-thermal" || word == "sw-thermal" || word == "hw-slowdown" ||
             word == "power-brake";
    });
    if (slow && !std::exchange(slow_[part], slow))
      faults.push_back(names_.of(part) + ": its clock is held back");
    slow_[part] = slow;
  }

  void add(double seconds, const std::string& part, const Row& row, double value) {
    into_.add({names_.of(part), std::string{row.measure}, std::string{row.unit}}, seconds,
              value * row.factor);
  }

  using Key = std::pair<std::string, const Row*>;
  const Names& names_;
  SeriesRecorder& into_;
  std::map<Key, double> last_{}, grown_{};
  std::map<std::string, bool> slow_{};
};

}  // namespace

void watch_series(const Profile& profile, const Output& output, SeriesRecorder& into) {
  const auto first = last_line(output.text, "watch");
  const auto hello = first ? parse_line(*first) : Result<json::value>{json::value{}};
  if (!hello) return;
  const Names names{profile, places_of(*hello)};
  SeriesReader reader{names, into};
  for (const auto& line : timed_lines(output.text)) reader.read(line);
}

Result<Findings> read_watch(const Profile& profile, std::string_view text) {
  const auto first = last_line(text, "watch"), last = last_line(text, "summary");
  if (!first) return Error{Code::kNoMeasurement, "cupel-node did not begin to watch"};
  if (!last) return Error{Code::kMalformed, "the node's answer is cut short"};
  TRY(const auto hello, parse_line(*first));
  TRY(const auto sum, parse_line(*last));
  if (flag_at(sum, "complete") != 1)
    return Error{Code::kNoMeasurement, "the watch was ended before its time"};
  const Names names{profile, places_of(hello)};
  Findings findings;
  add_rows(sum, "values", kValues, names, findings);
  add_rows(sum, "counters", kCounters, names, findings);
  add_throttles(sum, hello, names, findings);
  // Where nobody listened, silence is no proof.
  if (flag_at(sum, "kernel_log") == 1) {
    add_kernel_messages(rows_at(sum, "messages"), names, findings);
    add_kernel_xids(xids_in_order(text, sum), hello, names, findings);
  }
  add_first_events(text, names, findings);
  add(findings, "watch.cpu", "", number_at(sum, "cpu_percent"), "%");
  add_unknown(findings, sum);
  return findings;
}

std::span<const std::string_view> watch_measures() { return kMeasures; }

}  // namespace cupel::burnin
