#include "burnin/job_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kJobPrefix = "job.";
constexpr std::size_t kLongestNumberName = 64, kMostNumbers = 256, kMostShownOfLine = 120;

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool is_number_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestNumberName &&
         std::ranges::all_of(name, may_be_in_name);
}

Error no_numbers(std::string_view line, std::string_view why) {
  return {Code::kMalformed,
          fmt::format("the job's last line is not one JSON object of numbers: {}: {}", why,
                      shortened(printable(line), kMostShownOfLine))};
}

}  // namespace

bool is_job_measure(std::string_view measure) {
  return measure.starts_with(kJobPrefix) && is_number_name(measure.substr(kJobPrefix.size()));
}

std::string_view last_line_of_job(std::string_view output) {
  std::string_view last;
  for (const auto line : lines(output))
    if (!trimmed(line).empty()) last = trimmed(line);
  return last;
}

Result<Findings> parse_job_numbers(std::string_view output) {
  const auto line = last_line_of_job(output);
  if (line.empty()) return Error{Code::kNoMeasurement, "the job printed nothing"};
  const auto parsed = parse_json(line);
  if (!parsed) return no_numbers(line, parsed.error().what);
  const auto* object = parsed->if_object();
  if (object == nullptr) return no_numbers(line, "no object");
  if (object->empty() || object->size() > kMostNumbers)
    return no_numbers(line,
                      fmt::format("{} numbers, and 1 to {} can be", object->size(), kMostNumbers));
  Findings found;
  for (const auto& [key, value] : *object) {
    const std::string_view name{key};
    if (!is_number_name(name))
      return no_numbers(line, fmt::format("'{}' is no name of letters, digits and _-.",
                                          shortened(printable(name), kLongestNumberName)));
    const auto number = value.is_number() ? value.to_number<double>() : std::nan("");
    if (!std::isfinite(number)) return no_numbers(line, fmt::format("'{}' is no number", name));
    found.measurements.push_back({.name = std::string{kJobPrefix}.append(name), .value = number});
  }
  return found;
}

}  // namespace cupel::burnin
