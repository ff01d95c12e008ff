#include "inventory/cable_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "inventory/sheet.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;
using Cells = std::vector<std::string>;

enum class Column {
  from,
  from_port,
  to,
  to_port,
  speed,
  length,
  type,
  from_place,
  to_place,
  serial,
  from_model,
  from_serial,
  to_model,
  to_serial
};
constexpr std::size_t kColumns = 14;

/// Which column of the file holds what; -1: none.
using Header = std::array<int, kColumns>;

std::optional<Column> column_of(std::string_view name) {
  using enum Column;
  constexpr std::array<std::pair<std::string_view, Column>, 28> kNames{
      {{"startdevice", from},
       {"startport", from_port},
       {"enddevice", to},
       {"endport", to_port},
       {"a-node name", from},
       {"a-port", from_port},
       {"z-node name", to},
       {"z-port", to_port},
       {"a-node", from},
       {"z-node", to},
       {"speed", speed},
       {"cable length", length},
       {"length", length},
       {"cable type", type},
       {"startdevicelocation", from_place},
       {"enddevicelocation", to_place},
       {"a-rack", from_place},
       {"z-rack", to_place},
       {"cable serial", serial},
       {"cableserial", serial},
       {"a-module", from_model},
       {"startmodule", from_model},
       {"a-serial", from_serial},
       {"startserial", from_serial},
       {"z-module", to_model},
       {"endmodule", to_model},
       {"z-serial", to_serial},
       {"endserial", to_serial}}};
  auto lower = lower_case(trimmed(name));
  if (const auto mark = lower.find("#fields:"); mark != lower.npos) lower.erase(0, mark + 8);
  if (lower.starts_with('#')) lower.erase(0, 1);
  for (const auto& [word, column] : kNames)
    if (word == lower) return column;
  return std::nullopt;
}

Header header_of(const Cells& cells) {
  Header header{};
  header.fill(-1);
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (const auto column = column_of(cells[i])) {
      auto& at = header[static_cast<std::size_t>(*column)];
      if (at < 0) at = static_cast<int>(i);  // of two tables side by side: the first
    }
  return header;
}

int at(const Header& header, Column column) { return header[static_cast<std::size_t>(column)]; }

bool is_header(const Header& header) {
  return std::ranges::count_if(header, [](int place) { return place >= 0; }) >= 2;
}

/// A table with a header, of whichever dialect.
class Table {
 public:
  Table(const std::string& file, Problems& problems) : file_{file}, problems_{problems} {}

  /// False where the four columns that are needed are not there.
  bool begin(const Cells& cells, int line) {
    header_ = header_of(cells);
    std::string absent;
    constexpr std::array<std::pair<Column, std::string_view>, 4> kNeeded{
        {{Column::from, "StartDevice"},
         {Column::from_port, "StartPort"},
         {Column::to, "EndDevice"},
         {Column::to_port, "EndPort"}}};
    for (const auto& [column, name] : kNeeded)
      if (at(header_, column) < 0) absent += fmt::format("{}{}", absent.empty() ? "" : ", ", name);
    if (absent.empty()) return true;
    problems_.push_back({{file_, line, 1}, "the header lacks " + absent});
    return false;
  }

  void row(const Cells& cells, int line, std::vector<CableRow>& rows) {
    CableRow row;
    row.from = cell(cells, Column::from);
    row.from_port = cell(cells, Column::from_port);
    row.to = cell(cells, Column::to);
    row.to_port = cell(cells, Column::to_port);
    row.where = {file_, line, 1};
    if (row.from.empty() && row.to.empty()) return;  // notes below or beside the table
    for (const auto column : {Column::from, Column::from_port, Column::to, Column::to_port})
      if (cell(cells, column).empty()) {
        problems_.push_back({row.where, "a cable needs two devices and two ports"});
        return;
      }
    row.speed = cell(cells, Column::speed);
    row.location_from = cell(cells, Column::from_place);
    row.location_to = cell(cells, Column::to_place);
    row.type = cable_type(cell(cells, Column::type)).value_or(CableType::unknown);
    row.metres = number<double>(cell(cells, Column::length)).value_or(0);
    row.serial = cell(cells, Column::serial);
    row.at_from = {cell(cells, Column::from_model), cell(cells, Column::from_serial), {}};
    row.at_to = {cell(cells, Column::to_model), cell(cells, Column::to_serial), {}};
    rows.push_back(std::move(row));
  }

 private:
  std::string cell(const Cells& cells, Column column) const {
    const int place = at(header_, column);
    const bool there = place >= 0 && static_cast<std::size_t>(place) < cells.size();
    return there ? cells[static_cast<std::size_t>(place)] : std::string{};
  }

  const std::string& file_;
  Problems& problems_;
  Header header_{};
};

/// "MQM9700 leaf1", below it "P1 -4x-NDR-> HCA n01 mlx5_0".
void read_topo(const std::vector<std::string_view>& all, const std::string& file,
               std::vector<CableRow>& rows, Problems& problems) {
  std::string system;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto raw = all[i].substr(0, all[i].find('#'));
    const auto parts = words(raw);
    const int line = static_cast<int>(i) + 1;
    if (parts.empty()) continue;
    const bool indented = raw.front() == ' ' || raw.front() == '\t';
    if (!indented) {
      system = parts.size() > 1 ? printable(parts[1]) : std::string{};
      if (parts.size() < 2)
        problems.push_back({{file, line, 1}, "a system needs a type and a name: MQM9700 leaf1"});
      continue;
    }
    const auto column = static_cast<int>(parts[0].data() - all[i].data()) + 1;
    if (parts.size() < 5 || !parts[1].ends_with("->") || system.empty()) {
      problems.push_back(
          {{file, line, column}, "a link is PORT -> TYPE NAME PORT, below its system"});
      continue;
    }
    CableRow row{.from = system,
                 .from_port = printable(parts[0]),
                 .to = printable(parts[3]),
                 .to_port = printable(parts[4])};
    for (const auto mark : split(parts[1].substr(0, parts[1].size() - 2), '-'))
      if (!mark.empty() && mark.back() != 'x' && mark.back() != 'X') row.speed = printable(mark);
    row.where = {file, line, column};
    rows.push_back(std::move(row));
  }
}

/// A sheet may have several tables, one below the other, and titles and notes between them.
void read_tables(std::string_view text, const std::string& file, std::vector<CableRow>& rows,
                 Problems& problems) {
  Table table{file, problems};
  SheetReader reader{text};
  const auto before = problems.size();
  bool begun = false;
  while (!reader.is_at_end() && rows.size() <= kMostCables) {
    const auto first = reader.peek();
    const bool is_note = begun && trimmed(first).starts_with('#');
    if (!begun) reader.set_separator(separator_of(first));
    const auto cells = reader.next();
    if (cells && is_header(header_of(*cells))) {
      if (!table.begin(*cells, reader.line())) return;
      begun = true;
    } else if (begun && !is_note && cells) {
      table.row(*cells, reader.line(), rows);
    } else if (begun && !is_note) {
      problems.push_back({{file, reader.line(), 1}, std::string{kUnclosedQuote}});
    }
    if (problems.size() - before < kMostBadRows) continue;
    problems.push_back({{file, reader.line(), 1}, too_many_bad_rows()});
    return;
  }
  if (!begun)
    problems.push_back({{file, 1, 1},
                        "no header: a table of cables begins with StartDevice,StartPort,EndDevice,"
                        "EndPort, or with A-Node Name,A-Port,Z-Node Name,Z-Port"});
}

}  // namespace

std::vector<CableRow> parse_cables(std::string_view bytes, const std::string& file,
                                   Problems& problems) {
  std::vector<CableRow> rows;
  const auto text = sheet_text(bytes);
  if (file.ends_with(".topo"))
    read_topo(lines(text), file, rows, problems);
  else
    read_tables(text, file, rows, problems);
  if (rows.empty() && problems.empty()) problems.push_back({{file, 0, 0}, "it has no cable"});
  if (rows.size() > kMostCables)
    problems.push_back({{file, 0, 0}, fmt::format("more than {} cables", kMostCables)});
  return rows;
}

}  // namespace cupel::inventory
