#include "burnin/tools/perftest.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostRows = 4096;
constexpr double kMiBBits = 1048576.0 * 8;

enum class Column { other, bytes, iterations, peak, average, messages, typical, mean, p99, p999 };

struct Known {
  std::string_view name;  // without blanks
  Column column;
};
constexpr std::array kKnown{
    Known{"#bytes", Column::bytes},         Known{"#iterations", Column::iterations},
    Known{"BWpeak", Column::peak},          Known{"BWaverage", Column::average},
    Known{"MsgRate", Column::messages},     Known{"t_typical", Column::typical},
    Known{"t_avg", Column::mean},           Known{"99%percentile", Column::p99},
    Known{"99.9%percentile", Column::p999},
};

struct Header {
  std::vector<Column> columns{};
  double unit = 1;  // bits a second, of one of the header's
};

/// " #bytes #iterations    BW peak[MB/sec] ...   99% percentile[usec]": a name ends at its unit, or
/// at a blank where it has none.
std::optional<Header> header_of(std::string_view line) {
  const auto begin = line.find("#bytes");
  if (begin == line.npos) return std::nullopt;
  Header header;
  std::string name;
  bool unit_known = false;
  for (const auto word : words(line.substr(begin))) {
    const auto bracket = word.find('[');
    name += word.substr(0, bracket);
    const bool whole = bracket != word.npos || word.starts_with('#') || word == "average";
    if (!whole) continue;
    const auto* known = std::ranges::find(kKnown, std::string_view{name}, &Known::name);
    header.columns.push_back(known == kKnown.end() ? Column::other : known->column);
    if (name == "BWaverage") {
      const auto unit = bracket == word.npos ? std::string_view{} : word.substr(bracket);
      const bool giga = unit.starts_with("[Gb/sec");
      unit_known = giga || unit.starts_with("[MB/sec") || unit.starts_with("[MiB/sec");
      header.unit = giga ? 1e9 : kMiBBits;
    }
    name.clear();
  }
  const bool latency = std::ranges::find(header.columns, Column::mean) != header.columns.end();
  return unit_known || latency ? std::optional{header} : std::nullopt;
}

void put(PerftestRow& row, Column column, double value, double unit) {
  const double gigabits = value * unit / 1e9;
  switch (column) {
    case Column::other:
      return;
    case Column::bytes:
      row.bytes = value;
      return;
    case Column::iterations:
      row.iterations = value;
      return;
    case Column::peak:
      if (value > 0) row.peak = gigabits;
      return;
    case Column::average:
      row.average = gigabits;
      return;
    case Column::messages:
      row.messages = value * 1e6;
      return;
    case Column::typical:
      row.typical = value;
      return;
    case Column::mean:
      row.mean = value;
      return;
    case Column::p99:
      row.p99 = value;
      return;
    case Column::p999:
      row.p999 = value;
      return;
  }
}

/// All cells of a row are numbers, none negative.
std::optional<std::vector<double>> numbers_of(std::string_view line) {
  std::vector<double> numbers;
  for (const auto cell : words(line)) {
    const auto value = script::finite(cell);
    if (!value || *value < 0) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers.size() < 4 ? std::nullopt : std::optional{std::move(numbers)};
}

void keep(PerftestRow row, std::vector<PerftestRow>& rows) {
  const bool reported = row.average || row.mean;
  if (row.bytes <= 0 || row.iterations <= 0 || !reported) return;
  const auto same = std::ranges::find(rows, row.bytes, &PerftestRow::bytes);
  if (same != rows.end())
    *same = row;
  else if (rows.size() < kMostRows)
    rows.push_back(row);
}

/// `"MsgSize": 65536,`: line by line, since versions forget commas and quotes.
std::vector<PerftestRow> read_json(std::string_view text, double unit) {
  constexpr std::array<std::pair<std::string_view, Column>, 9> kKeys{{
      {"MsgSize", Column::bytes},
      {"n_iterations", Column::iterations},
      {"BW_peak", Column::peak},
      {"BW_average", Column::average},
      {"MsgRate", Column::messages},
      {"t_typical", Column::typical},
      {"t_avg", Column::mean},
      {"percentile_99", Column::p99},
      {"percentile_99.9", Column::p999},
  }};
  std::vector<PerftestRow> rows;
  for (const auto& [key, column] : kKeys) {
    const auto quoted = "\"" + std::string{key} + "\"";
    std::size_t row = 0;
    for (auto at = text.find(quoted); at != text.npos; at = text.find(quoted, at + 1)) {
      const auto rest = trimmed(text.substr(at + quoted.size(), 64));
      if (!rest.starts_with(':')) continue;
      const auto end = rest.find_first_of(",}\n");
      if (end == rest.npos) break;  // cut short
      const auto value = script::finite(rest.substr(1, end - 1));
      if (column == Column::bytes && value && rows.size() < kMostRows) rows.emplace_back();
      if (value && *value >= 0 && row < rows.size()) put(rows[row], column, *value, unit);
      ++row;
    }
  }
  std::vector<PerftestRow> kept;
  for (const auto& row : rows) keep(row, kept);
  return kept;
}

}  // namespace

Result<std::vector<PerftestRow>> read_perftest(std::string_view text, bool json_gigabits) {
  std::vector<PerftestRow> rows;
  if (text.contains("\"MsgSize\"")) {
    rows = read_json(text, json_gigabits ? 1e9 : kMiBBits);
  } else {
    std::optional<Header> header;
    bool headless = false;
    for (const auto line : lines(text.substr(0, text.rfind('\n') + 1))) {
      if (auto found = header_of(line)) header = std::move(found);
      const auto numbers = numbers_of(line);
      if (!numbers) continue;
      headless |= !header;
      if (!header || numbers->size() != header->columns.size()) continue;
      PerftestRow row;
      for (std::size_t i = 0; i < numbers->size(); ++i)
        put(row, header->columns[i], (*numbers)[i], header->unit);
      keep(row, rows);
    }
    if (rows.empty() && headless)
      return Error{Code::kMalformed, "perftest: numbers without a header that says their unit"};
  }
  if (!rows.empty()) return rows;
  return Error{Code::kNoMeasurement, "perftest: no row of numbers"};
}

}  // namespace cupel::burnin
