#include "burnin/node/watch_report.h"

#include <array>
#include <cmath>

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
};
constexpr std::array kThrottles{
    Throttle{"gpu.throttle.thermal", {"hw-thermal", "sw-thermal", "hw-slowdown"}},
    Throttle{"gpu.throttle.power_brake", {"power-brake", "", ""}},
    Throttle{"gpu.throttle.power", {"power-cap", "", ""}},
};

constexpr auto kMeasures = [] {
  std::array<std::string_view,
             kValues.size() + kCounters.size() + kThrottles.size() + kKernelMeasures.size() + 1>
      names{};
  auto at = names.begin();
  for (const auto& each : kValues) *at++ = each.measure;
  for (const auto& each : kCounters) *at++ = each.measure;
  for (const auto& each : kThrottles) *at++ = each.measure;
  for (const auto& each : kKernelMeasures) *at++ = each;
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
  for (const auto& told : rows_at(sum, list)) {
    const auto part = script::clean(text_at(told, "part").value_or(""));
    const auto name = text_at(told, "name");
    for (const auto& row : table) {
      if (name != row.name || !is_of(part, row)) continue;
      const auto value = number_at(told, row.take);
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
  for (const auto& told : rows_at(sum, "throttled")) {
    const auto row = seconds.find(script::clean(text_at(told, "part").value_or("")));
    const auto value = number_at(told, "seconds");
    if (row != seconds.end() && value) row->second[text_at(told, "reason").value_or("")] = *value;
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

/// Xids and SXids in the order in which they came; those that were not told of line by line are in
/// the sum.
std::vector<json::value> xids_in_order(std::string_view text, const json::value& sum) {
  std::vector<json::value> rows;
  for (const auto line : lines(text)) {
    constexpr std::string_view kMessage = R"({"kind":"message",)";
    if (!line.starts_with(kMessage) || line.size() > 8192 || rows.size() == kMostRows) continue;
    auto told = parse_line(line);
    if (!told || text_at(*told, "class") != "xid") continue;
    told->get_object()["count"] = 0;  // the sum counts it
    rows.push_back(*std::move(told));
  }
  for (const auto& told : rows_at(sum, "messages")) rows.push_back(told);
  return rows;
}

}  // namespace

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
  add(findings, "watch.cpu", "", number_at(sum, "cpu_percent"), "%");
  add_unknown(findings, sum);
  return findings;
}

std::span<const std::string_view> watch_measures() { return kMeasures; }

}  // namespace cupel::burnin
