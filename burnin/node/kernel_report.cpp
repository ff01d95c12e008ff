#include "burnin/node/kernel_report.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "burnin/script.h"
#include "burnin/xids.h"

namespace cupel::burnin {
namespace {

/// How many messages of a class and weight.
struct Messages {
  std::string_view measure, kind, weight;  // no weight: all but harmless ones
};
constexpr std::array kMessages{
    Messages{"kernel.gpu", "gpu", "error"},
    Messages{"kernel.gpu.reset", "gpu-reset", "error"},
    Messages{"kernel.mce", "mce", "error"},
    Messages{"kernel.edac.uncorrected", "edac", "error"},
    Messages{"kernel.edac.corrected", "edac", "corrected"},
    Messages{"kernel.aer.uncorrected", "aer", "error"},
    Messages{"kernel.aer.corrected", "aer", "corrected"},
    Messages{"kernel.pcie", "pcie", "error"},
    Messages{"kernel.nvme", "nvme", "error"},
    Messages{"kernel.disk", "disk", "error"},
    Messages{"kernel.mlx5", "mlx5", "error"},
    Messages{"kernel.link", "link", "error"},
    Messages{"kernel.oom", "oom", "error"},
    Messages{"kernel.hang", "hang", "error"},
    Messages{"kernel.net", "net", "error"},
    Messages{"kernel.iommu", "iommu", "error"},
    Messages{"kernel.nmi", "nmi", "error"},
    Messages{"kernel.thermal", "thermal", ""},
};

struct Counted {
  double count = 0;
  std::string detail{};
};

/// "kernel.aer.corrected", "kernel.xid.79"; empty: no measure counts such messages.
std::string event_of(const json::value& reported) {
  const auto kind = text_at(reported, "class").value_or(""),
             weight = text_at(reported, "weight").value_or("");
  const auto code = number_at(reported, "code");
  if (kind == "xid" || kind == "sxid") {
    constexpr double kMostCode = 1e6;
    const bool sound = code && *code > 0 && *code < kMostCode;
    return sound ? fmt::format("kernel.{}.{:.0f}", kind, *code) : std::string{};
  }
  for (const auto& row : kMessages) {
    const bool counted = row.weight.empty() ? weight != "harmless" : weight == row.weight;
    if (row.kind == kind && counted) return std::string{row.measure};
  }
  return {};
}

}  // namespace

void add_kernel_messages(std::span<const json::value> rows, const Names& names,
                         Findings& findings) {
  for (const auto& row : kMessages) {
    std::map<std::string, Counted> by_part;
    double all = 0;
    for (const auto& reported : rows) {
      const auto weight = text_at(reported, "weight").value_or("");
      const bool selected = row.weight.empty() ? weight != "harmless" : weight == row.weight;
      const auto count = number_at(reported, "count");
      if (text_at(reported, "class") != row.kind || !selected || !count || *count < 0) continue;
      all += *count;
      const auto part = text_at(reported, "part");
      if (!part || part->empty()) continue;
      auto& counted = by_part[names.of(*part)];
      counted.count += *count;
      if (counted.detail.empty())
        counted.detail = script::clean(text_at(reported, "detail").value_or(""));
    }
    add(findings, row.measure, "", all, "count");
    if (by_part.size() == 1 && by_part.begin()->second.count == all && all > 0)
      findings.measurements.back().traced_to = by_part.begin()->first;
    for (const auto& [part, counted] : by_part) {
      add(findings, row.measure, part, counted.count, "count");
      findings.measurements.back().traced_to = counted.detail;
    }
  }
}

void add_kernel_xids(std::span<const json::value> rows, const json::value& hello,
                     const Names& names, Findings& findings) {
  std::map<std::string, double> first, events;
  double count = 0;
  if (const auto* places = find(hello, "places"); places != nullptr && places->is_object())
    for (const auto& [part, address] : places->as_object())
      if (part.starts_with("gpu") && first.size() < kMostRows) first[names.of(part)] = 0;
  for (const auto& reported : rows) {
    const auto kind = text_at(reported, "class");
    const double times = std::max(0.0, number_at(reported, "count").value_or(0));
    if (kind == "xid") count += times;
    const auto code = number_at(reported, "code");
    const auto part = text_at(reported, "part");
    const bool placed = part && !part->empty() && (kind == "xid" || kind == "sxid");
    if (placed) events[names.of(*part)] += times;
    constexpr double kMostCode = 99'999;  // real ones have three digits, an SXid's five
    const bool is_code = code && *code > 0 && *code <= kMostCode;
    if (!is_code || !part || text_at(reported, "weight") != "error") continue;
    if (kind == "sxid") add(findings, "kernel.sxid", names.of(*part), code, "");
    if (kind != "xid") continue;
    auto& known = first.try_emplace(names.of(*part), 0.0).first->second;
    if (known == 0) known = *code;
  }
  for (const auto& [part, code] : first) {
    add(findings, "kernel.xid", part, code, "");
    findings.measurements.back().traced_to = meaning_of_xid(static_cast<int>(code));
  }
  add(findings, "kernel.xid.count", "", count, "count");
  for (const auto& [part, times] : events)
    add(findings, part.starts_with("nvswitch") ? "kernel.sxid.count" : "kernel.xid.count", part,
        times, "count");
}

void add_first_messages(std::span<const json::value> rows, std::string_view clock,
                        const Names& names, Findings& findings) {
  constexpr std::size_t kMostEvents = 64;
  std::map<std::pair<std::string, std::string>, double> first;
  for (const auto& reported : rows) {
    const auto at = number_at(reported, clock);
    const auto part = names.of(script::clean(text_at(reported, "part").value_or("")));
    const auto event = event_of(reported);
    const bool timed = at && std::isfinite(*at) && *at >= 0;
    if (!timed || part.empty() || event.empty()) continue;
    const std::pair key{event, part};
    if (first.size() == kMostEvents && !first.contains(key)) continue;
    auto& known = first.try_emplace(key, *at).first->second;
    known = std::min(known, *at);
  }
  for (const auto& [key, at] : first) add(findings, "first." + key.first, key.second, at, "s");
}

std::map<std::string, std::string> places_of(const json::value& hello) {
  std::map<std::string, std::string> places;
  const auto* found = find(hello, "places");
  if (found == nullptr || !found->is_object()) return places;
  for (const auto& [part, address] : found->as_object())
    if (address.is_string() && places.size() < kMostRows)
      places[script::clean(part)] = script::clean(std::string_view{address.as_string()});
  return places;
}

}  // namespace cupel::burnin
