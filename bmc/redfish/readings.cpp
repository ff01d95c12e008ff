#include "bmc/redfish/readings.h"

#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr int kDeepestNesting = 8;  // of chassis in chassis; what goes on in circles ends

/// "systemboardinlettemp" of a row's "System Board Inlet Temp", which is the Id of its Sensor too
/// (Dell). Signs stay: "-12V" is not "+12V".
std::string key_of(std::string_view name) {
  std::string key = lower_case(name);
  std::erase_if(key, [](char c) {
    const bool counts = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
                        static_cast<unsigned char>(c) >= 0x80;
    return !counts;
  });
  return key;
}

}  // namespace

/// Source: DSP0268, Chassis: Links.ContainedBy, Links.Contains.
void Readings::learn_nesting(const std::vector<Document>& chassis) {
  for (const auto& one : chassis) {
    if (const auto outer = link_at(one.body, "Links/ContainedBy"); !outer.empty())
      parents_.emplace(normal(one.uri), normal(outer));
    for (const auto& inner : links_at(one.body, "Links/Contains"))
      parents_.emplace(normal(inner), normal(one.uri));
  }
}

void Readings::begin(std::string_view uri) { of_ = normal(uri); }

bool Readings::is_within(std::string inner, const std::string& outer) const {
  for (int level = 0; level < kDeepestNesting; ++level) {
    if (inner == outer) return true;
    const auto parent = parents_.find(inner);
    if (parent == parents_.end()) return false;
    inner = parent->second;
  }
  return false;
}

bool Readings::is_related(const std::string& one, const std::string& other) const {
  return is_within(one, other) || is_within(other, one);
}

bool Readings::is_same(const Bearer& one, const Bearer& other) const {
  if (one.kind != other.kind || !is_related(one.of, other.of)) return false;
  if (one.document == other.document) return false;
  if (one.is_row || other.is_row) return true;
  return lower_case(last_name(one.document)) == lower_case(last_name(other.document));
}

void Readings::add(Sensor sensor) {
  if (!sources_.insert(sensor.source + "\n" + sensor.name).second) return;
  const Bearer bearer{sensor.kind, normal(sensor.source),
                      sensor.source.find("#/") != std::string::npos, of_};
  const auto name = lower_case(sensor.name);
  const auto [first, last] = named_.equal_range(name);
  for (auto known = first; known != last; ++known)
    if (is_same(bearer, known->second)) return;
  named_.emplace(name, bearer);
  known_.emplace(key_of(sensor.name), of_);
  // What follows the "#" of a row's place is its number.
  if (!bearer.is_row) known_.emplace(key_of(last_name(sensor.source)), of_);
  found_.sensors.push_back(std::move(sensor));
  homes_.push_back(of_);
}

bool Readings::is_known(std::string_view name) const {
  const auto [first, last] = known_.equal_range(key_of(name));
  return std::any_of(first, last, [&](const auto& one) { return is_related(one.second, of_); });
}

bool Readings::is_known_anywhere(std::string_view name) const {
  return known_.contains(key_of(name));
}

void Readings::name_apart() {
  std::map<std::pair<SensorKind, std::string>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < found_.sensors.size(); ++i)
    alike[{found_.sensors[i].kind, lower_case(found_.sensors[i].name)}].push_back(i);
  for (const auto& [name, all] : alike) {
    std::map<std::string, std::set<std::string>> documents;  // by home
    for (const auto i : all) documents[homes_[i]].insert(normal(found_.sensors[i].source));
    for (const auto i : all) {
      auto& sensor = found_.sensors[i];
      std::string where;
      if (documents.size() > 1) where = last_name(homes_[i]);
      // Rows of one array have no name that tells them apart.
      if (documents[homes_[i]].size() > 1)
        where += (where.empty() ? "" : " ") + std::string{last_name(normal(sensor.source))};
      if (!where.empty()) sensor.name += " (" + where + ")";
    }
  }
}

}  // namespace cupel::bmc::redfish
