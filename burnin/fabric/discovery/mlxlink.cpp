#include "burnin/fabric/discovery/mlxlink.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/json.h"
#include "burnin/fabric/discovery/scan.h"
#include "inventory/identity.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kLargest = 1u << 20;
constexpr std::size_t kMostFields = 512;
constexpr std::size_t kLongest = 256;
constexpr std::size_t kMostLanes = 16;

using Fields = std::map<std::string, std::string, std::less<>>;

/// Without the sequences that colour a value: "\e[31mBad signal integrity\e[0m".
std::string colourless(std::string_view text) {
  std::string bare;
  while (!text.empty()) {
    const auto escape = text.find('\x1b');
    bare += text.substr(0, escape);
    if (escape == text.npos) break;
    text.remove_prefix(escape + 1);
    const auto end = text.find_first_of("mKHJ");
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return bare;
}

std::string cleaned(std::string_view text) {
  return std::string{trimmed(
      shortened(printable(valid_utf8(colourless(text.substr(0, 4 * kLongest)))), kLongest))};
}

/// The one word of a field, or the words of all lanes with commas between.
std::string words_of(const json::value& value) {
  if (value.is_string()) return cleaned({value.get_string().data(), value.get_string().size()});
  if (value.is_number()) return json::serialize(value);
  const auto* list = find(value, "values");
  const auto* lanes = list == nullptr ? value.if_array() : list->if_array();
  std::string all;
  if (lanes == nullptr || lanes->size() > kMostLanes) return all;
  for (const auto& lane : *lanes) {
    if (!lane.is_string() && !lane.is_number()) return {};
    all += (all.empty() ? "" : ",") + words_of(lane);
  }
  return all;
}

Result<Fields> fields_of_json(std::string_view text) {
  TRY(const auto document, parse_json(text));
  if (const auto code = number_at(document, "status/code"); code && *code != 0)
    return Error{Code::kNoMeasurement,
                 fmt::format("mlxlink could not look: {}",
                             cleaned(text_at(document, "status/message").value_or("no reason")))};
  Fields fields;
  const auto* output = find(document, "result/output");
  if (output == nullptr || !output->is_object()) return fields;
  for (const auto& [name, section] : output->get_object()) {
    if (!section.is_object()) continue;
    for (const auto& [key, value] : section.get_object())
      if (fields.size() < kMostFields) fields.emplace(cleaned(key), words_of(value));
  }
  return fields;
}

Result<Fields> fields_of_text(std::string_view text) {
  Fields fields;
  bool twice = false;
  for_each_line(text, [&](std::string_view line) {
    const auto bare = colourless(line.substr(0, 4 * kLongest));
    const auto colon = bare.find(':');
    if (colon == bare.npos || fields.size() >= kMostFields) return;
    const auto key = cleaned(std::string_view{bare}.substr(0, colon));
    const bool fresh =
        fields.emplace(key, cleaned(std::string_view{bare}.substr(colon + 1))).second;
    twice = twice || (!fresh && key == "Physical state");
  });
  if (twice)
    return Error{Code::kMalformed, "mlxlink's output has more than one port: one file a port"};
  return fields;
}

std::string text_of(const Fields& fields, std::string_view key) {
  const auto found = fields.find(key);
  return found == fields.end() || found->second == "N/A" ? std::string{} : found->second;
}

std::optional<double> finite(std::string_view text) {
  const auto value = number<double>(trimmed(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> ratio(const Fields& fields, std::string_view key) {
  const auto value = finite(text_of(fields, key));
  return value && *value >= 0 && *value <= 1 ? value : std::nullopt;
}

/// "3.583,3.253 [-9.914..6.999]"; nothing where a lane has no number.
std::vector<Ranged> readings(std::string_view text) {
  const auto bracket = text.find('[');
  Ranged one;
  if (bracket != text.npos) {
    Scan scan{text.substr(bracket + 1)};
    one.low = finite(scan.until("..").value_or(""));
    one.high = finite(scan.until("]").value_or(""));
    if (one.low == 0.0 && one.high == 0.0) return {};
  }
  std::vector<Ranged> lanes;
  for (const auto lane : split(trimmed(text.substr(0, bracket)), ',')) {
    const auto value = finite(lane);
    if (!value || lanes.size() >= kMostLanes) return {};
    one.value = *value;
    lanes.push_back(one);
  }
  return lanes;
}

CableModule module_of(const Fields& fields) {
  CableModule module{.type = text_of(fields, "Cable Type"),
                     .vendor = text_of(fields, "Vendor Name"),
                     .part = text_of(fields, "Vendor Part Number"),
                     .serial = inventory::reported_serial(text_of(fields, "Vendor Serial Number")),
                     .firmware = text_of(fields, "FW Version"),
                     .rx_dbm = readings(text_of(fields, "Rx Power Current [dBm]"))};
  constexpr double kMostMetres = 100'000;
  const auto metres = finite(text_of(fields, "Transfer Distance [m]"));
  if (metres && *metres > 0 && *metres <= kMostMetres) module.metres = *metres;
  const auto heat = readings(text_of(fields, "Temperature [C]"));
  if (heat.size() == 1) module.celsius = heat.front();
  return module;
}

CounterValues counters_of(const Fields& fields) {
  CounterValues counters;
  for (const auto* name : {"Link Down Counter", "Link Error Recovery Counter",
                           "Effective Physical Errors", "Symbol Errors"})
    if (const auto count = number<std::uint64_t>(text_of(fields, name)))
      counters.emplace(name, *count);
  return counters;
}

}  // namespace

Result<MlxlinkReport> parse_mlxlink(std::string_view text) {
  if (text.size() > kLargest) return Error{Code::kMalformed, "mlxlink printed more than 1 MiB"};
  const bool is_json = trimmed(text).starts_with('{');
  TRY(const auto fields, is_json ? fields_of_json(text) : fields_of_text(text));
  MlxlinkReport report;
  report.state = text_of(fields, "State");
  if (report.state.empty())
    return Error{Code::kNoMeasurement,
                 "mlxlink reported no state of a port: it could not look. Run it as root, with "
                 "-m -c"};
  report.speed = text_of(fields, "Speed");
  if (report.speed.starts_with("IB-")) report.speed.erase(0, 3);
  const auto width = text_of(fields, "Width");
  report.fec = text_of(fields, "FEC");
  report.firmware = text_of(fields, "Firmware Version");
  report.minutes_since_clear = finite(text_of(fields, "Time Since Last Clear [Min]"));
  report.raw_ber = ratio(fields, "Raw Physical BER");
  report.effective_ber = ratio(fields, "Effective Physical BER");
  report.symbol_ber = ratio(fields, "Symbol BER");
  for (const auto& lane : readings(text_of(fields, "Raw Physical BER Per Lane")))
    report.lane_ber.push_back(lane.value);
  report.counters = counters_of(fields);
  report.module = module_of(fields);
  report.opcode = number<int>(text_of(fields, "Status Opcode")).value_or(0);
  report.recommendation = text_of(fields, "Recommendation");
  const auto lanes = Scan{width}.number<int>();  // "4x"
  report.width = lanes && *lanes > 0 && *lanes <= static_cast<int>(kMostLanes) ? *lanes : 0;
  return report;
}

}  // namespace cupel::burnin
