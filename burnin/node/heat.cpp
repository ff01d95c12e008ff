#include "burnin/node/heat.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kMark = "cupel-sensor: ";
constexpr std::size_t kMostSamples = 20'000, kMostSensors = 64;
constexpr double kColdest = -40, kHottest = 150;

/// "Package id 1" is cpu1; AMD's do not tell a number: in the order of their chips.
std::string part_of(std::string_view label, std::size_t place) {
  constexpr std::string_view kPackage = "Package id ";
  const auto id = label.starts_with(kPackage) ? number<int>(label.substr(kPackage.size()))
                                              : std::optional{static_cast<int>(place)};
  return id && *id >= 0 ? fmt::format("cpu{}", *id) : std::string{};
}

}  // namespace

std::map<std::string, std::vector<double>> cpu_temperatures(std::string_view text) {
  std::map<std::string, std::string, std::less<>> parts;  // by path
  std::map<std::string, std::vector<double>> samples;
  for (const auto line : lines(text)) {
    if (line.starts_with(kMark)) {
      const auto rest = line.substr(kMark.size());
      const auto space = rest.find(' ');
      if (space == rest.npos || parts.size() == kMostSensors) continue;
      auto part = part_of(trimmed(rest.substr(space + 1)), parts.size());
      if (!part.empty()) parts.emplace(rest.substr(0, space), std::move(part));
      continue;
    }
    if (!line.starts_with("/sys/class/hwmon/")) continue;
    const auto colon = line.find(':');
    const auto part = colon == line.npos ? parts.end() : parts.find(line.substr(0, colon));
    if (part == parts.end()) continue;
    const auto millidegrees = script::finite(line.substr(colon + 1));
    if (!millidegrees) continue;
    const double celsius = *millidegrees / 1000;
    auto& all = samples[part->second];
    if (celsius > kColdest && celsius < kHottest && all.size() < kMostSamples)
      all.push_back(celsius);
  }
  return samples;
}

}  // namespace cupel::burnin
