#include "burnin/fabric/across_report.h"

#include <algorithm>

#include "base/json.h"
#include "base/nccl_id.h"
#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin::fabric {
namespace {

constexpr std::string_view kStatus = "cupel-run-status: ";
constexpr std::size_t kLongestLine = 65536, kMostLines = 20000, kMostRanks = 64;

/// Both lists of a "ras" line, in one sentence.
std::string ras_words(const json::value& line) {
  constexpr std::size_t kMost = 8, kLongest = 600;
  std::string text;
  for (const auto* name : {"communicators", "errors"}) {
    const auto* list = find(line, name);
    if (list == nullptr || !list->is_array()) continue;
    std::size_t count = 0;
    for (const auto& each : list->get_array()) {
      if (!each.is_string() || ++count > kMost) continue;
      text += (text.empty() ? "" : "; ") + script::clean(std::string_view{each.get_string()});
    }
  }
  return shortened(text, kLongest);
}

/// The environment first: it hides what the file says.
std::map<std::string, std::string> variables_of(const json::value& start) {
  constexpr std::size_t kMost = 128, kLongest = 200;
  std::map<std::string, std::string> variables;
  const auto* parameters = find(start, "parameters");
  for (const auto* name : {"environment", "nccl.conf"}) {
    const auto* all = parameters == nullptr ? nullptr : find(*parameters, name);
    if (all == nullptr || !all->is_object()) continue;
    for (const auto& [variable, value] : all->get_object())
      if (value.is_string() && variables.size() < kMost)
        variables.try_emplace(
            shortened(script::clean(std::string_view{variable}), kLongest),
            shortened(script::clean(std::string_view{value.get_string()}), kLongest));
  }
  return variables;
}

/// "NET/IB/3/GDRDMA", "NET/IB/0/GDRDMA" and "NET/IB/0(8)/GDRDMA", by the HCA of another GPU, are
/// one way.
std::string without_numbers(std::string_view way) {
  std::string bare;
  for (const auto piece : split(way, '/'))
    if (!number<std::uint64_t>(piece.substr(0, piece.find('('))))
      bare += (bare.empty() ? "" : "/") + std::string{piece};
  return bare;
}

void take_transport(const json::value& line, AcrossReport& report) {
  constexpr std::size_t kMost = 32, kLongest = 60;
  report.channels.clear();
  if (const auto* all = find(line, "channels"); all != nullptr && all->is_object())
    for (const auto& [way, count] : all->get_object()) {
      if (!count.is_int64() || count.get_int64() < 0) continue;
      const auto name = shortened(script::clean(without_numbers(way)), kLongest);
      if (report.channels.size() < kMost || report.channels.contains(name))
        report.channels[name] += std::min<std::int64_t>(count.get_int64(), 1 << 20);
    }
  if (const auto* all = find(line, "ports"); all != nullptr && all->is_object())
    for (const auto& [port, link] : all->get_object()) {
      report.has_infiniband |= link == "IB";
      report.has_roce |= link == "RoCE";
    }
}

void take(const json::value& line, AcrossReport& report) {
  const auto kind = text_at(line, "kind").value_or("");
  if (kind == "start") report.variables = variables_of(line);
  if (kind == "joined") report.joined = true;
  if (kind == "nccl-id") report.made_id = true;
  if (kind == "transport") take_transport(line, report);
  if (kind == "ras") report.ras = ras_words(line);
  if (kind != "ranks") return;
  report.doing = script::clean(text_at(line, "doing").value_or(""));
  const auto* entered = find(line, "entered");
  if (entered == nullptr || !entered->is_array()) return;
  report.entered.clear();
  for (const auto& each : entered->get_array())
    if (each.is_int64() && report.entered.size() < kMostRanks)
      report.entered.push_back(each.get_int64());
}

/// The line alone where it may hold an object: most are results, which read_burn() has.
bool may_be_ours(std::string_view line) {
  return line.size() <= kLongestLine &&
         (line.starts_with(R"({"kind":"start")") || line.starts_with(R"({"kind":"joined")") ||
          line.starts_with(R"({"kind":"ranks")") || line.starts_with(R"({"kind":"nccl-id")") ||
          line.starts_with(R"({"kind":"transport")") || line.starts_with(R"({"kind":"ras")"));
}

}  // namespace

AcrossReport read_across(const Output& output) {
  AcrossReport report{.burn = read_burn(output.text)};
  std::size_t count = 0;
  for (const auto line : lines(output.text)) {
    if (++count > kMostLines) break;
    if (line.starts_with(kStatus)) report.status = number<int>(line.substr(kStatus.size()));
    if (!may_be_ours(line)) continue;
    if (const auto parsed = parse_json(line)) take(*parsed, report);
  }
  return report;
}

Result<std::optional<std::string>> id_printed(std::string_view output) {
  constexpr std::string_view kMark = R"({"kind":"nccl-id")";
  const auto at = output.find(kMark);
  const auto end = at == output.npos ? output.npos : output.find('\n', at);
  if (end == output.npos) return std::optional<std::string>{};
  const auto line = parse_json(output.substr(at, end - at));
  if (!line) return line.error();
  TRY(auto id, decode_nccl_id(text_at(*line, "id").value_or("")));
  const auto* port = find(*line, "port");
  const bool agrees = text_at(*line, "address") == id.address && port != nullptr &&
                      port->is_int64() && port->get_int64() == id.port;
  if (!agrees)
    return Error{Code::kMalformed,
                 "cupel-burn printed another address than its NCCL id holds (" + id.address + ")"};
  return std::optional{std::move(id.hex)};
}

}  // namespace cupel::burnin::fabric
