#include "inventory/cable_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/text.h"
#include "inventory/cable_graphs.h"
#include "inventory/sheet.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;
using Cells = std::vector<std::string>;
using enum CableColumn;

/// A row of a table below its header.
struct RawRow {
  CableRow cable{};
  std::array<int, 4> columns{};  // of the four that are needed, from 1
  bool is_joined = false;
  std::string first{};  // the first cell that is not empty

  std::array<std::string*, 4> needed() {
    return {&cable.from, &cable.from_port, &cable.to, &cable.to_port};
  }
};

/// "n01:mlx5_0", "n01 mlx5_0", "leaf1p03": device and port.
std::pair<std::string, std::string> parted(const std::string& cell) {
  const auto part = [&](std::size_t at, std::size_t skipped) {
    return std::pair{std::string{trimmed(cell.substr(0, at))},
                     std::string{trimmed(cell.substr(at + skipped))}};
  };
  if (const auto colon = cell.find(':'); colon != cell.npos) return part(colon, 1);
  if (const auto blank = cell.find(' '); blank != cell.npos) return part(blank, 1);
  const auto last = cell.find_last_not_of("0123456789");
  if (last != cell.npos && last > 0 && last + 1 < cell.size() && cell[last] == 'p')
    return part(last, 1);
  return {cell, {}};
}

/// "Total cables", "Note: ...": the first word of rows that people add below a table.
bool begins_as_note(std::string_view text) {
  constexpr std::array<std::string_view, 14> kWords{
      "total",  "totals",  "sum",    "subtotal", "count",  "note",   "notes",
      "remark", "remarks", "legend", "summe",    "gesamt", "anzahl", "hinweis"};
  const auto lower = lower_case(text);
  const auto end = lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  return std::ranges::find(kWords, std::string_view{lower}.substr(0, end)) != kWords.end();
}

/// Tables with headers, of whichever dialect.
class Tables {
 public:
  Tables(const std::string& file, const ColumnNames& columns, Problems& problems)
      : file_{file}, columns_{columns}, problems_{problems}, before_{problems.size()} {}

  void read(std::string_view text) {
    SheetReader reader{text};
    while (!reader.is_at_end() && raw_.size() <= kMostCables && !is_hopeless()) {
      const auto first = reader.peek();
      if (!begun_) reader.set_separator(separator_of(first));
      const bool is_note = begun_ && trimmed(first).starts_with('#');
      const auto cells = reader.next();
      if (cells && begin(*cells, reader.line())) continue;
      if (broken_) return;
      if (!begun_ || is_note) continue;
      if (cells)
        add(*cells, reader.line());
      else
        report(reader.line(), 1, std::string{kUnclosedQuote});
    }
    last_line_ = reader.line();
    if (!begun_)
      report(
          1, 1,
          "no header: a table of cables begins with StartDevice,StartPort,EndDevice,EndPort, "
          "with A-Node Name,A-Port,Z-Node Name,Z-Port, or with other names of two devices and "
          "two ports. Name the columns if they are called otherwise: columns: "
          "\"from=Host,from_port=NIC,to=Switch,to_port=Switch port\" in fabric:, or --columns of "
          "cupel fabric plan");
  }

  void finish(std::vector<CableRow>& rows) {
    for (std::size_t column = 0; column < 4; ++column) fill_down(column);
    std::set<std::string> devices;
    for (auto& row : raw_)
      if (is_whole(row)) {
        devices.insert(lower_case(row.cable.from));
        devices.insert(lower_case(row.cable.to));
      }
    for (auto& row : raw_) {
      if (is_whole(row))
        rows.push_back(std::move(row.cable));
      else if (!is_note(row, devices))
        report_empty(row);
      if (is_hopeless()) break;
    }
    if (is_hopeless()) report(last_line_, 1, too_many_bad_rows());
  }

 private:
  void report(int line, int column, std::string what) {
    problems_.push_back({{file_, line, column}, std::move(what)});
  }
  bool is_hopeless() const { return problems_.size() - before_ >= kMostBadRows; }

  /// Whether these cells are a header; `broken_` where they lack a column.
  bool begin(const Cells& cells, int line) {
    if (begun_ && cells == header_cells_) return true;  // on the next page again
    // A line of groups ("Source", "Destination") may stand above the header.
    const CableHeader header{cells, columns_, !begun_ || header_.joined()};
    const auto absent = header.absent();
    if (!absent.empty() && !header.is_header()) return false;
    if (!absent.empty()) {
      report(line, 1, "the header lacks " + absent);
      broken_ = true;
      return false;
    }
    header_ = header;
    header_cells_ = cells;
    begun_ = true;
    return true;
  }

  std::string cell(const Cells& cells, CableColumn column) const {
    const int place = header_.at(column);
    const bool there = place >= 0 && static_cast<std::size_t>(place) < cells.size();
    return there ? cells[static_cast<std::size_t>(place)] : std::string{};
  }

  void add(const Cells& cells, int line) {
    RawRow raw;
    auto& row = raw.cable;
    row.from = cell(cells, from);
    row.from_port = cell(cells, from_port);
    row.to = cell(cells, to);
    row.to_port = cell(cells, to_port);
    if (header_.joined()) {
      raw.is_joined = true;
      std::tie(row.from, row.from_port) = parted(row.from);
      std::tie(row.to, row.to_port) = parted(row.to);
    }
    const bool no_port = row.from_port.empty() && row.to_port.empty();
    if (row.from.empty() && row.to.empty() && no_port) return;  // beside the table
    row.where = {file_, line, 1};
    for (std::size_t i = 0; i < kNeededColumns.size(); ++i)
      raw.columns.at(i) = std::max(header_.at(kNeededColumns.at(i).first) + 1, 1);
    row.from_column = raw.columns[1];
    row.to_column = raw.columns[3];
    row.speed = cell(cells, speed);
    row.location_from = cell(cells, from_place);
    row.location_to = cell(cells, to_place);
    row.type = cable_type(cell(cells, type)).value_or(CableType::unknown);
    row.metres = number<double>(cell(cells, length)).value_or(0);
    row.serial = cell(cells, serial);
    row.at_from = {cell(cells, from_model), cell(cells, from_serial), {}};
    row.at_to = {cell(cells, to_model), cell(cells, to_serial), {}};
    const auto first = std::ranges::find_if(cells, [](const auto& one) { return !one.empty(); });
    raw.first = first == cells.end() ? std::string{} : *first;
    raw_.push_back(std::move(raw));
  }

  static bool is_whole(RawRow& row) {
    return std::ranges::none_of(row.needed(), [](const auto* text) { return text->empty(); });
  }

  /// Cells that a spreadsheet had merged are empty from their second row on. One or two of many are
  /// forgotten rather.
  void fill_down(std::size_t column) {
    const auto lacks_this_alone = [&](RawRow& row) {
      const auto all = row.needed();
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all.at(i)->empty() != (i == column)) return false;
      return true;
    };
    constexpr std::size_t kLeast = 2, kShare = 4;
    const auto count = static_cast<std::size_t>(std::ranges::count_if(raw_, lacks_this_alone));
    if (count < kLeast || count * kShare < raw_.size()) return;
    for (std::size_t i = 1; i < raw_.size(); ++i)
      if (lacks_this_alone(raw_[i]))
        *raw_[i].needed().at(column) = *raw_[i - 1].needed().at(column);
  }

  /// Below a table; a row with a device that other rows have is a cable that was not filled in.
  static bool is_note(RawRow& row, const std::set<std::string>& devices) {
    if (begins_as_note(row.first)) return true;
    const auto all = row.needed();
    if (std::ranges::count_if(all, [](const auto* text) { return !text->empty(); }) > 1)
      return false;
    return std::ranges::none_of(
        all, [&](const auto* text) { return devices.contains(lower_case(*text)); });
  }

  void report_empty(RawRow& row) {
    const auto all = row.needed();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all.at(i)->empty()) continue;
      report(row.cable.where.line, row.columns.at(i),
             row.is_joined ? "a cable needs two devices and two ports, such as n01:mlx5_0"
                           : "a cable needs two devices and two ports");
      return;
    }
  }

  const std::string& file_;
  const ColumnNames& columns_;
  Problems& problems_;
  std::size_t before_;
  CableHeader header_{};
  Cells header_cells_{};
  bool begun_ = false, broken_ = false;
  int last_line_ = 1;
  std::vector<RawRow> raw_{};
};

/// Workbooks are archives, or of the format before.
bool is_workbook(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("\xD0\xCF\x11\xE0");
}

}  // namespace

std::vector<CableRow> parse_cables(std::string_view bytes, const std::string& file,
                                   Problems& problems, const ColumnNames& columns) {
  std::vector<CableRow> rows;
  if (is_workbook(bytes)) {
    problems.push_back({{file, 0, 0},
                        "it is a workbook (.xlsx, .xls or .ods): save the sheet with the cables as "
                        "CSV (UTF-8), and name that file"});
    return rows;
  }
  const auto before = problems.size();
  const auto text = sheet_text(bytes);
  const auto begins = [&](std::string_view word) { return trimmed(text).starts_with(word); };
  if (file.ends_with(".topo"))
    read_topo(text, file, rows, problems);
  else if (file.ends_with(".dot") || begins("graph ") || begins("digraph ") || begins("strict "))
    read_dot(text, file, rows, problems);
  else if (file.ends_with(".lst") || begins("{ CA") || begins("{ SW"))
    read_lst(text, file, rows, problems);
  else {
    Tables tables{file, columns, problems};
    tables.read(text);
    tables.finish(rows);
  }
  if (problems.size() - before > kMostBadRows + 1) problems.resize(before + kMostBadRows + 1);
  if (rows.empty() && problems.empty()) problems.push_back({{file, 0, 0}, "it has no cable"});
  if (rows.size() > kMostCables)
    problems.push_back({{file, 0, 0}, fmt::format("more than {} cables", kMostCables)});
  return rows;
}

}  // namespace cupel::inventory
