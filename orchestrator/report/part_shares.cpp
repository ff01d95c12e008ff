#include "orchestrator/report/part_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <set>

#include "inventory/yaml.h"

namespace cupel::report {
namespace {

constexpr double kAll = 100, kRounding = 0.01;

}  // namespace

std::optional<PartShares> parse_part_shares(std::string_view text, const std::string& file,
                                            std::vector<inventory::Problem>& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  PartShares shares;
  inventory::YamlFields fields{document->root, "shares", file, problems};
  shares.title = fields.required("title");
  shares.source = fields.required("source");
  std::set<std::string> known;
  double sum = 0;
  for (const auto& item : fields.list("parts")) {
    inventory::YamlFields row{item, "part", file, problems};
    PartShare part{.part = row.required("part"), .share = row.number("share").value_or(0)};
    part.faults = row.texts("faults");
    if (part.share <= 0) row.report(row.place("share"), "share is a number above 0");
    if (part.faults.empty()) row.report(row.place("faults"), "no fault stands for this part");
    for (const auto& fault : part.faults)
      if (!known.insert(fault).second)
        row.report(row.place("faults"), fmt::format("{} stands for two parts", fault));
    row.finish();
    sum += part.share;
    shares.parts.push_back(std::move(part));
  }
  if (std::abs(sum - kAll) > kRounding)
    fields.report(fields.place("parts"), fmt::format("the shares sum to {:g}, not to 100", sum));
  fields.finish();
  if (problems.size() > before) return std::nullopt;
  return shares;
}

Weighed weigh(const PartShares& shares, std::span<const Detection> detections) {
  Weighed weighed;
  for (const auto& part : shares.parts) {
    WeighedPart row{.part = part.part, .share = part.share};
    for (const auto& detection : detections) {
      const auto& fault = detection.planted.fault;
      const bool counts =
          detection.planted.needs.empty() &&
          (detection.planted.verdict != burnin::Decision::pass || detection.planted.slow) &&
          std::ranges::find(part.faults, fault) != part.faults.end();
      if (!counts) continue;
      ++row.tried;
      if (detection.right)
        ++row.shown;
      else
        row.escaped.push_back(fault);
    }
    if (row.tried == 0)
      weighed.untried += part.share;
    else
      weighed.shown += part.share * row.shown / row.tried;
    weighed.parts.push_back(std::move(row));
  }
  return weighed;
}

boost::json::object to_json(const Weighed& weighed) {
  boost::json::array parts;
  for (const auto& each : weighed.parts)
    parts.push_back({{"part", each.part},
                     {"share", each.share},
                     {"tried", each.tried},
                     {"shown", each.shown},
                     {"escaped", boost::json::array(each.escaped.begin(), each.escaped.end())}});
  return {{"shown", weighed.shown}, {"untried", weighed.untried}, {"parts", std::move(parts)}};
}

}  // namespace cupel::report
