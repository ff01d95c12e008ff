#include "orchestrator/record/fleet_codec.h"

#include <cmath>

#include "base/described_json.h"
#include "base/enum_words.h"

namespace cupel::burnin {
BOOST_DESCRIBE_STRUCT(Compared, (),
                      (stage, part, measure, unit, against, found, value, expected, limit, spread,
                       others, less_is_better, again))
}  // namespace cupel::burnin

namespace cupel::described {

template <>
struct Row<burnin::Against> : EnumRow<burnin::Against> {
  static burnin::Against known(std::string_view word) {
    if (word == "history") return burnin::Against::history;
    return word == "trend" ? burnin::Against::trend : burnin::Against::fleet;
  }
};

template <>
struct Row<burnin::Likeness> : EnumRow<burnin::Likeness> {
  static burnin::Likeness known(std::string_view word) {
    return enum_of<burnin::Likeness, '-'>(word).value_or(burnin::Likeness::doubtful);
  }
};

}  // namespace cupel::described

namespace cupel::record {
namespace {

using burnin::Comparison;
using burnin::FleetModel;
using Series = burnin::FleetReference::Series;

constexpr std::string_view kKind = "fleet reference";
constexpr int kFormat = 2;
constexpr int kFormatWithoutSlow = 1;  // of runs that knew no slow parts, only outliers
constexpr std::size_t kMostSeries = 4096, kMostPositions = 4096;

json::object to_json(const burnin::SeriesKey& key, const Series& series) {
  const auto& model = series.model;
  json::array positions, conditions;
  for (std::size_t i = 0; i < series.positions.size(); ++i) {
    const auto adds = model.positions.find(static_cast<std::uint32_t>(i));
    positions.push_back(
        json::array{series.positions[i], adds == model.positions.end() ? 0 : adds->second});
  }
  for (const auto& each : model.conditions)
    conditions.push_back(json::array{each.covariate, each.center, each.width, each.factor});
  return {{"stage", key.stage},
          {"measure", key.measure},
          {"kind", key.kind},
          {"unit", series.unit},
          {"split", model.state == Comparison::State::split},
          {"less_is_better", model.less_is_better},
          {"center", model.center},
          {"spread", model.spread},
          {"node_spread", model.node_spread},
          {"node_prior", model.node_prior},
          {"part_slow", model.part_slow},
          {"node_slow", model.node_slow},
          {"part_limit", model.part_limit},
          {"node_limit", model.node_limit},
          {"divide", model.divide},
          {"members", model.members},
          {"nodes", model.nodes},
          {"positions", std::move(positions)},
          {"conditions", std::move(conditions)}};
}

std::string text_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

double number_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

bool flag_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::size_t count_at(const json::object& object, std::string_view key) {
  const double number = number_at(object, key);
  return number > 0 && number < 1e9 ? static_cast<std::size_t>(number) : 0;
}

double number_of(const json::array& array, std::size_t at) {
  return at < array.size() && array[at].is_number() ? array[at].to_number<double>() : 0;
}

template <class Take>
void each_list(const json::object& object, std::string_view key, Take take) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_array()) return;
  for (const auto& each : value->get_array())
    if (each.is_array()) take(each.get_array());
}

void read_lists(const json::object& object, Series& series) {
  each_list(object, "positions", [&](const json::array& each) {
    if (each.empty() || !each[0].is_string() || series.positions.size() == kMostPositions) return;
    series.model.positions[static_cast<std::uint32_t>(series.positions.size())] =
        number_of(each, 1);
    series.positions.emplace_back(each[0].get_string());
  });
  each_list(object, "conditions", [&](const json::array& each) {
    const double covariate = number_of(each, 0);
    const bool sound = covariate >= 0 && covariate < burnin::kCovariates && number_of(each, 2) > 0;
    if (!sound || series.model.conditions.size() == burnin::kCovariates) return;
    series.model.conditions.push_back({static_cast<std::size_t>(covariate), number_of(each, 1),
                                       number_of(each, 2), number_of(each, 3)});
  });
}

Series series_from(const json::object& object) {
  Series series;
  series.unit = text_at(object, "unit");
  auto& model = series.model;
  model.state = flag_at(object, "split") ? Comparison::State::split : Comparison::State::judged;
  model.less_is_better = flag_at(object, "less_is_better");
  model.center = number_at(object, "center");
  model.spread = number_at(object, "spread");
  model.node_spread = number_at(object, "node_spread");
  model.node_prior = number_at(object, "node_prior");
  model.part_slow = number_at(object, "part_slow");
  model.node_slow = number_at(object, "node_slow");
  model.part_limit = number_at(object, "part_limit");
  model.node_limit = number_at(object, "node_limit");
  model.divide = number_at(object, "divide");
  model.members = count_at(object, "members");
  model.nodes = count_at(object, "nodes");
  read_lists(object, series);
  return series;
}

}  // namespace

json::array to_json(const std::vector<burnin::Compared>& compared) {
  return described::to_array(compared);
}

std::vector<burnin::Compared> compared_from(const json::value* value) {
  return described::from_array<burnin::Compared>(value);
}

Result<std::vector<burnin::Compared>> compared_of(const store::Store& store, engine::RunId run,
                                                  const std::string& node) {
  TRY(const auto events, store.events(run, node));
  std::vector<burnin::Compared> newest;
  for (const auto& event : events)
    if (event.data.contains("verdict")) newest = compared_from(event.data.if_contains("compared"));
  return newest;
}

std::string to_text(const burnin::FleetReference& reference) {
  json::array series;
  for (const auto& [key, each] : reference.series) series.push_back(to_json(key, each));
  const json::object document{{"kind", kKind},
                              {"format", kFormat},
                              {"nodes", reference.nodes},
                              {"series", std::move(series)}};
  return json::serialize(document);
}

Result<burnin::FleetReference> fleet_reference_from(std::string_view text) {
  TRY(const auto parsed, parse_json(text));
  const auto* document = parsed.if_object();
  const auto format = document == nullptr ? 0 : number_at(*document, "format");
  const bool known = document != nullptr && text_at(*document, "kind") == kKind &&
                     (format == kFormat || format == kFormatWithoutSlow);
  if (!known) return Error{Code::kMalformed, "this is no fleet reference of a known format"};
  burnin::FleetReference reference;
  reference.nodes = count_at(*document, "nodes");
  const auto* series = document->if_contains("series");
  if (series == nullptr || !series->is_array())
    return Error{Code::kMalformed, "the fleet reference has no series"};
  for (const auto& each : series->get_array()) {
    if (!each.is_object() || reference.series.size() == kMostSeries) continue;
    const auto& object = each.get_object();
    auto found = series_from(object);
    if (format == kFormatWithoutSlow) {
      found.model.part_slow = found.model.part_limit;
      found.model.node_slow = found.model.node_limit;
    }
    if (!(found.model.spread > 0) || !std::isfinite(found.model.center))
      return Error{Code::kMalformed, "a series of the fleet reference has no spread"};
    reference.series.emplace(burnin::SeriesKey{text_at(object, "stage"), text_at(object, "measure"),
                                               text_at(object, "kind")},
                             std::move(found));
  }
  return reference;
}

}  // namespace cupel::record
