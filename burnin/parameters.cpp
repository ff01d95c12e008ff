#include "burnin/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "inventory/yaml.h"

namespace cupel::burnin {
namespace {

using std::chrono::seconds;

constexpr std::size_t kLongestPath = 512;

Error refused(std::string_view name, std::string_view written, std::string_view expected) {
  return {Code::kInvalid, fmt::format("{} must be {}, not '{}'", name, expected,
                                      shortened(printable(written), 80))};
}

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool digit = c >= '0' && c <= '9';
  return letter || digit || c == '/' || c == '.' || c == '_' || c == '-';
}

bool is_folder(std::string_view text) {
  if (!text.starts_with('/') || text == "/" || text.size() > kLongestPath) return false;
  if (!std::ranges::all_of(text, is_plain)) return false;
  return std::ranges::none_of(split(text, '/'), [](auto piece) { return piece == ".."; });
}

const ParameterRow& row_of(ParameterRows rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &ParameterRow::name);
  assert(row != rows.end());
  return *row;
}

std::string_view written_for(const ParameterRow& row, const Parameters& parameters) {
  const auto found = parameters.find(std::string{row.name});
  return found == parameters.end() ? row.fallback : std::string_view{found->second};
}

}  // namespace

std::string_view text_parameter(ParameterRows rows, const Parameters& parameters,
                                std::string_view name) {
  return written_for(row_of(rows, name), parameters);
}

Result<seconds> duration_parameter(ParameterRows rows, const Parameters& parameters,
                                   std::string_view name) {
  const auto& row = row_of(rows, name);
  const auto written = written_for(row, parameters);
  const seconds least{std::llround(row.least)}, most{std::llround(row.most)};
  const auto duration = inventory::duration_of(written);
  if (duration && *duration >= least && *duration <= most) return *duration;
  return refused(name, written,
                 fmt::format("a duration of {} to {}", duration_text(least), duration_text(most)));
}

Result<double> size_parameter(ParameterRows rows, const Parameters& parameters,
                              std::string_view name, double least) {
  const auto& row = row_of(rows, name);
  const auto written = written_for(row, parameters);
  least = std::max(least, row.least);
  const auto size = inventory::size_of(written);
  if (size && *size >= least && *size <= row.most) return *size;
  return refused(name, written,
                 fmt::format("a size of {} to {}", size_text(least), size_text(row.most)));
}

Result<std::string> folder_parameter(ParameterRows rows, const Parameters& parameters,
                                     std::string_view name) {
  const auto written = text_parameter(rows, parameters, name);
  if (is_folder(written)) return std::string{written};
  return refused(name, written, "an absolute path below / of letters, digits and ._- without '..'");
}

Result<std::string> word_parameter(ParameterRows rows, const Parameters& parameters,
                                   std::string_view name) {
  const auto& row = row_of(rows, name);
  const auto written = written_for(row, parameters);
  if (std::ranges::find(row.words, written) != row.words.end()) return std::string{written};
  return refused(name, written, fmt::format("one of {}", fmt::join(row.words, ", ")));
}

std::string size_text(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= kKiB && unit + 1 < kUnits.size()) {
    bytes /= kKiB;
    ++unit;
  }
  return plain(bytes, 1) + " " + std::string{kUnits[unit]};
}

std::string duration_text(seconds duration) {
  const auto count = duration.count();
  if (count >= 3600 && count % 3600 == 0) return fmt::format("{}h", count / 3600);
  if (count >= 60 && count % 60 == 0) return fmt::format("{}m", count / 60);
  return fmt::format("{}s", count);
}

}  // namespace cupel::burnin
