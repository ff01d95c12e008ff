#include "burnin/tools/nccl_report.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/script.h"
#include "burnin/tools/json_in_text.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostRows = 4096;
constexpr std::size_t kMostBefore = 8;   // words that may stand in front of a row
constexpr std::size_t kOldColumns = 12;  // of versions before 2.10, which have no "root"

/// Where in a row what stands.
struct Columns {
  std::size_t count = 0, type = 0;
  std::size_t time[2]{}, bus[2]{}, wrong[2]{};
};

/// "size count type redop root" and as many times as `cells` has them; both groups must be there.
std::optional<Columns> columns_of(const std::vector<std::string_view>& cells) {
  Columns columns{.count = cells.size()};
  std::size_t times = 0, buses = 0, wrongs = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == "type") columns.type = i;
    if ((cells[i] == "time" || cells[i] == "cputime") && times < 2) columns.time[times++] = i;
    if (cells[i] == "busbw" && buses < 2) columns.bus[buses++] = i;
    if ((cells[i] == "#wrong" || cells[i] == "error") && wrongs < 2) columns.wrong[wrongs++] = i;
  }
  const bool whole = !cells.empty() && cells[0] == "size" && columns.type > 0 && times == 2 &&
                     buses == 2 && wrongs == 2;
  return whole ? std::optional{columns} : std::nullopt;
}

/// Of the table without its header: so many columns, the last eight of which are the two groups.
Columns shape_of(std::size_t count) {
  Columns columns{.count = count, .type = 2};
  for (std::size_t group = 0; group < 2; ++group) {
    const auto begin = count - 8 + 4 * group;
    columns.time[group] = begin;
    columns.bus[group] = begin + 2;
    columns.wrong[group] = begin + 3;
  }
  return columns;
}

/// Versions before 2.9 print "redop" in every header, and nothing below it where an operation
/// reduces nothing.
Columns without_redop(std::size_t count) { return shape_of(count - 1); }

bool is_word(std::string_view cell) {
  return !cell.empty() &&
         ((cell[0] >= 'a' && cell[0] <= 'z') || (cell[0] >= 'A' && cell[0] <= 'Z'));
}

bool is_count(std::string_view cell) {
  return !cell.empty() && std::ranges::all_of(cell, [](char c) { return c >= '0' && c <= '9'; });
}

/// A number that is not negative, or nothing for "N/A". `good` becomes false for all else.
std::optional<double> amount(std::string_view cell, bool& good) {
  if (cell == "N/A") return std::nullopt;
  const auto value = script::finite(cell);
  good = good && value && *value >= 0;
  return value;
}

using Cells = std::span<const std::string_view>;

std::optional<CollectiveRow> row_of(Cells cells, const Columns& columns) {
  if (!is_count(cells[0]) || !is_count(cells[1]) || !is_word(cells[columns.type]))
    return std::nullopt;
  bool good = true;
  CollectiveRow row{.bytes = script::finite(cells[0]).value_or(0)};
  for (std::size_t group = 0; group < 2; ++group) {
    auto& time = group == 0 ? row.out_of_place : row.in_place;
    const auto wrong = cells[columns.wrong[group]];
    time = {amount(cells[columns.time[group]], good), amount(cells[columns.bus[group]], good)};
    (is_count(wrong) ? time.wrong : time.off) = amount(wrong, good);
  }
  return good ? std::optional{row} : std::nullopt;
}

/// The row that stands in a line, whatever stands in front of it and behind it.
std::optional<CollectiveRow> row_in(Cells cells, const Columns& columns) {
  for (std::size_t begin = 0; begin <= kMostBefore; ++begin) {
    if (begin + columns.count > cells.size()) break;
    if (auto row = row_of(cells.subspan(begin, columns.count), columns)) return row;
  }
  return std::nullopt;
}

/// "[1,0]<stdout>:     1024 ..." and "3: 1024 ...": without what mpirun and srun tag lines with.
std::string_view untagged(std::string_view line) {
  const auto tag = line.find(">:");
  if (line.starts_with('[') && tag != line.npos && tag < 64) line.remove_prefix(tag + 2);
  return line;
}

class TextReader {
 public:
  void read(std::string_view line, CollectiveReport& report);

 private:
  void read_comment(std::string_view line, CollectiveReport& report);
  std::optional<Columns> columns_{};
};

void TextReader::read_comment(std::string_view line, CollectiveReport& report) {
  if (const auto found = columns_of(words(line))) columns_ = found;
  const auto colon = line.find(" : ");
  if (colon == line.npos) return;
  const auto values = words(line.substr(colon + 3));
  if (values.empty()) return;
  if (line.contains("Out of bounds values") && is_count(values[0])) {
    report.out_of_bounds = script::finite(values[0]);
    report.is_whole = true;
  }
  if (line.contains("Avg bus bandwidth")) report.average = script::finite(values[0]);
}

void TextReader::read(std::string_view line, CollectiveReport& report) {
  line = untagged(line);
  if (const auto at = line.find("NCCL version "); at != line.npos) {
    const auto version = words(line.substr(at + 13));
    if (report.nccl.empty() && !version.empty()) report.nccl = script::clean(version[0]);
  }
  if (line.contains("NVLS multicast support is ")) {
    const bool there = !line.contains("is not available");
    report.nvls = report.nvls.value_or(true) && there;
  }
  // Whatever stands in front of it, as of rows: the time that a collector of logs writes.
  if (const auto footer = line.find("# Out of bounds values"); footer != line.npos)
    read_comment(line.substr(footer + 1), report);
  const auto hash = line.find('#');
  const bool comment = hash != line.npos && trimmed(line.substr(0, hash)).size() < 8;
  if (comment) return read_comment(line.substr(hash + 1), report);
  const auto cells = words(line);
  if (cells.size() < 3 || report.rows.size() == kMostRows) return;
  auto row = columns_ ? row_in(cells, *columns_) : std::nullopt;
  if (columns_ && !row && columns_->count == kOldColumns)
    row = row_in(cells, without_redop(kOldColumns));
  if (!columns_) row = row_in(cells, shape_of(13));
  if (!columns_ && !row) row = row_in(cells, shape_of(12));
  if (row)
    report.rows.push_back(*row);
  else if (is_count(cells[0]) && is_count(cells[1]) && is_word(cells[2]))
    ++report.damaged;
}

CollectiveTime time_at(const json::value& result, const char* group) {
  const auto* time = find(result, group);
  if (time == nullptr || !time->is_object()) return {};
  const auto reported = [&](const char* key) -> std::optional<double> {
    const auto value = number_at(*time, key);
    return value && *value >= 0 && *value < 1e18 ? value : std::nullopt;
  };
  auto micros = reported("time");
  if (!micros) micros = reported("cpu_time");
  return {micros, reported("bus_bw"), reported("nwrong")};
}

void read_json(const json::value& document, CollectiveReport& report) {
  const auto* results = find(document, "results");
  if (results == nullptr || !results->is_array()) return;
  report.rows.clear();
  report.damaged = 0;
  report.is_whole = true;
  for (const auto& result : results->get_array()) {
    const auto bytes = number_at(result, "size");
    if (report.rows.size() == kMostRows) break;
    if (bytes && *bytes >= 0 && *bytes < 1e18)
      report.rows.push_back({*bytes, time_at(result, "out_of_place"), time_at(result, "in_place")});
    else
      ++report.damaged;
  }
  if (const auto count = number_at(document, "out_of_bounds/count")) report.out_of_bounds = count;
  if (const auto average = number_at(document, "average_bus_bandwidth/bandwidth"))
    report.average = average;
}

}  // namespace

const CollectiveRow* CollectiveReport::largest() const {
  const CollectiveRow* most = nullptr;
  const auto rate = [](const CollectiveRow& row) { return row.out_of_place.bus.value_or(-1); };
  for (const auto& row : rows)
    if (most == nullptr || row.bytes > most->bytes ||
        (row.bytes == most->bytes && rate(row) < rate(*most)))
      most = &row;
  return most;
}

std::optional<double> CollectiveReport::gap() const {
  constexpr double kRounded = 4096;  // below it sizes are rounded to what the GPUs can share
  std::vector<double> sizes;
  for (const auto& row : rows) sizes.push_back(row.bytes);
  std::ranges::sort(sizes);
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i - 1] >= kRounded && sizes[i] > 2.5 * sizes[i - 1]) return sizes[i - 1];
  return std::nullopt;
}

const CollectiveRow* CollectiveReport::smallest() const {
  const CollectiveRow* least = nullptr;
  for (const auto& row : rows)
    if (row.bytes > 0 && (least == nullptr || row.bytes < least->bytes)) least = &row;
  return least;
}

CollectiveReport read_nccl_tests(std::string_view text) {
  CollectiveReport report;
  TextReader reader;
  const auto whole = text.substr(0, text.rfind('\n') + 1);
  for (const auto line : lines(whole)) reader.read(line, report);
  // Where the tool wrote its file too, that is the whole of it: nothing is spliced into it.
  if (text.contains("\"nccl_version\""))
    if (const auto document = json_in(text, "results")) read_json(*document, report);
  return report;
}

}  // namespace cupel::burnin
