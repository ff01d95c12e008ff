#include "burnin/node/inlet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr double kColdest = -40, kHottest = 100;
constexpr std::size_t kMostNeighbours = 64, kFewest = 2;

std::optional<double> degrees(std::optional<double> value) {
  return value && *value > kColdest && *value < kHottest ? value : std::nullopt;
}

/// "Inlet Temp,23,degrees C,ok": the coldest.
std::optional<double> reported_in_band(std::string_view text) {
  std::optional<double> coldest;
  for (const auto line : lines(text)) {
    const auto cells = split(line, ',');
    if (cells.size() < 4 || trimmed(cells[2]) != "degrees C" || trimmed(cells[3]) != "ok") continue;
    const auto celsius = is_inlet(cells[0]) ? degrees(script::finite(cells[1])) : std::nullopt;
    if (celsius) coldest = std::min(coldest.value_or(*celsius), *celsius);
  }
  return coldest;
}

struct Neighbour {
  double celsius = 0;
  std::string node{};
};

std::vector<Neighbour> neighbours_in(const json::value& root) {
  std::vector<Neighbour> all;
  const auto* list = find(root, "neighbours");
  if (list == nullptr || !list->is_array()) return all;
  for (const auto& each : list->get_array()) {
    const auto celsius = degrees(number_at(each, "celsius"));
    if (celsius && all.size() < kMostNeighbours)
      all.push_back({*celsius, script::clean(text_at(each, "node").value_or(""))});
  }
  return all;
}

/// Of an even number the hotter one of the middle: nobody is blamed for half a degree.
double median(std::vector<Neighbour>& all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle, {}, &Neighbour::celsius);
  return middle->celsius;
}

}  // namespace

bool is_inlet(std::string_view sensor) {
  constexpr std::array<std::string_view, 3> kNames{"inlet", "ambient", "intake"};
  constexpr std::array<std::string_view, 5> kOthers{"ps", "coolant", "liquid", "water", "hca"};
  const auto name = lower_case(sensor);
  const auto has = [&](std::string_view word) { return name.contains(word); };
  return std::ranges::any_of(kNames, has) && std::ranges::none_of(kOthers, has);
}

void add_inlet(std::string_view in_band, std::string_view beside, Findings& findings) {
  const auto read = parse_json(beside);
  const json::value root = read ? *read : json::value{};
  const auto by_bmc = degrees(number_at(root, "inlet"));
  const auto reported = reported_in_band(in_band);
  if (const auto celsius = reported ? reported : by_bmc) {
    findings.measurements.push_back({"thermal.inlet", "", *celsius, "C"});
    findings.facts["thermal.inlet"] = plain(*celsius);
  } else {
    findings.unknown.push_back({"thermal.inlet", "the BMC",
                                "it tells no inlet temperature, in-band or to the controller"});
  }
  auto neighbours = neighbours_in(root);
  // One sensor against the same kind of sensors: in-band they may be rounded otherwise.
  if (!by_bmc || neighbours.size() < kFewest) {
    findings.unknown.push_back(
        {"thermal.inlet.above_neighbours", "the BMCs",
         by_bmc ? "fewer than two neighbours in its rack reported theirs"
                : script::clean(text_at(root, "failed").value_or("its own BMC does not tell it"))});
    return;
  }
  std::string names;
  for (const auto& each : neighbours)
    names += fmt::format("{}{} {:.1f} C", names.empty() ? "" : ", ", each.node, each.celsius);
  const double usual = median(neighbours);
  findings.facts["thermal.inlet.neighbours"] = names;
  findings.measurements.push_back(
      {"thermal.inlet.above_neighbours", "inlet air", *by_bmc - usual, "C"});
}

}  // namespace cupel::burnin
