#include "inventory/asset_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "inventory/asset_words.h"
#include "inventory/identity.h"
#include "inventory/sheet.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kMostAssets = 2'000'000;

constexpr std::size_t kAssetColumns = 8;
using AssetHeader = std::array<int, kAssetColumns>;

/// "04-Mar", "Mar-04", "2-May-2026": once "3-4" or "MAR4".
bool is_date(std::string_view serial) {
  constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                     "jul", "aug", "sep", "oct", "nov", "dec"};
  const auto pieces = split(serial, '-');
  if (pieces.size() < 2 || pieces.size() > 3) return false;
  const auto is_month = [&](std::string_view each) {
    return std::ranges::find(kMonths, lower_case(each)) != kMonths.end();
  };
  const auto is_day_or_year = [](std::string_view each) {
    const bool is_year = each.size() == 4 && (each.starts_with("19") || each.starts_with("20"));
    return number<unsigned>(each) && (each.size() <= 2 || is_year);
  };
  return std::ranges::count_if(pieces, is_month) == 1 &&
         std::ranges::count_if(pieces, is_day_or_year) == std::ssize(pieces) - 1;
}

/// "1.65E+12", "1,65E+12", "1.65e12", "1652.00": what a spreadsheet makes of a long number.
bool is_number_cell(std::string_view serial) {
  const auto is_digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  const auto e = serial.find_first_of("eE");
  const auto mantissa = serial.substr(0, e);
  const auto point = mantissa.find_first_of(".,");
  const auto fraction = point == mantissa.npos ? std::string_view{} : mantissa.substr(point + 1);
  if (!is_digits(mantissa.substr(0, point))) return false;
  if (point != mantissa.npos && !is_digits(fraction)) return false;
  if (e == serial.npos)
    return !fraction.empty() && fraction.find_first_not_of('0') == fraction.npos;
  auto exponent = serial.substr(e + 1);
  const bool is_signed = exponent.starts_with('+');
  if (is_signed) exponent.remove_prefix(1);
  return is_digits(exponent) && (is_signed || !fraction.empty());
}

}  // namespace

bool is_listable_serial(std::string_view serial) {
  return !is_no_serial(serial) && !stands_for_no_serial(serial) && !is_date(serial) &&
         !is_number_cell(serial);
}

namespace {

class AssetReader {
 public:
  AssetReader(const std::string& file, const AssetListRules& rules, std::vector<Problem>& problems)
      : file_{file}, rules_{rules}, problems_{problems} {}

  /// False where the row is no header: it has no column Serial, neither by itself nor together with
  /// the row above, as "Serien-" above "nummer".
  bool begin_here(std::vector<std::string> cells, int line) {
    const bool begun = begin(names_of(above_, cells, false), line);
    above_ = std::move(cells);
    is_below_header_ = begun;
    return begun;
  }

  void report_no_header(int line) {
    problems_.push_back(
        {{file_, line, 1},
         "the header has no column Serial: a list of assets begins with Node, Kind, Serial, Model, "
         "Slot, Part Number, Purchase Order, Due, those that there are, in any order. Name those "
         "that are called otherwise: --columns Serial=NAME,Node=NAME"});
  }

  /// A row that could not be read.
  void unclosed_quote(int line) {
    leave_out({file_, line, 1}, "a quote that is not closed", std::string{kUnclosedQuote});
  }

  /// In the order of their first rows.
  std::vector<SkippedRows> skipped() { return std::move(skipped_); }

  void row(std::vector<std::string> cells, int number, std::vector<Asset>& assets) {
    cells_ = std::move(cells);
    const bool empty = std::ranges::all_of(cells_, [](const auto& each) { return each.empty(); });
    if (empty || is_header_too(number)) return;
    if (const auto kinds = column_of_kinds(); !kinds.empty() && !std::exchange(lacks_kinds_, true))
      problems_.push_back(
          {{file_, number, 1},
           fmt::format("the header has neither a column Kind nor a column Node, and '{}' has kinds "
                       "of parts: name them: --columns 'Kind={}'",
                       kinds, kinds)});
    if (lacks_kinds_) return;
    Asset asset{.serial = cell(AssetColumn::serial),
                .node = cell(AssetColumn::node),
                .slot = cell(AssetColumn::slot),
                .model = cell(AssetColumn::model),
                .part_number = cell(AssetColumn::part_number),
                .order = cell(AssetColumn::order),
                .due = cell(AssetColumn::due)};
    asset.where = {file_, number, 1};
    const auto kind = asset_kind(cell(AssetColumn::kind));
    if (!kind)
      return leave_out(asset.where, "an unknown kind of part",
                       fmt::format("there is no kind of part '{}'", cell(AssetColumn::kind)));
    asset.kind = *kind;
    // Or each part of a list whose column of kinds has another name would be a missing machine.
    // It is wrong with the header, so that no row can be left out for it.
    if (!asset.node.empty() && header_[static_cast<std::size_t>(AssetColumn::kind)] < 0)
      if (const auto [first, fresh] = machines_.try_emplace(lower_case(asset.node), number); !fresh)
        return problems_.push_back(
            {asset.where, fmt::format("the header has no column Kind, so that each row is a "
                                      "machine, and line {} is {} already",
                                      first->second, asset.node)});
    if (asset.serial.empty()) return leave_out(asset.where, "no serial number", "no serial number");
    if (is_no_serial(asset.serial) || stands_for_no_serial(asset.serial))
      return leave_out(asset.where, "a word in the place of a serial number",
                       fmt::format("'{}' is no serial number", asset.serial));
    if (const bool is_day = is_date(asset.serial); is_day || is_number_cell(asset.serial))
      return leave_out(asset.where, "a serial number that a spreadsheet has changed",
                       fmt::format("'{}' is no serial number any more: a spreadsheet has made a "
                                   "{} of it. Format the column as text, and fill it anew",
                                   asset.serial, is_day ? "date" : "number"));
    const auto key = fmt::format("{} {}", to_string(asset.kind), serial_key(asset.serial));
    const auto [first, fresh] = lines_.try_emplace(key, number);
    if (!fresh)
      return leave_out(
          asset.where, "a serial number that stands above, too",
          fmt::format("serial number {} stands in line {}, too", asset.serial, first->second));
    assets.push_back(std::move(asset));
  }

 private:
  bool begin(const std::vector<std::string>& cells, int line) {
    header_.fill(-1);
    const auto named = [&](std::string_view cell) -> std::optional<AssetColumn> {
      for (const auto& [column, name] : rules_.columns)
        if (lower_case(name) == lower_case(cell)) return column;
      return std::nullopt;
    };
    for (const bool by_name : {true, false})
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto given = named(cells[i]);
        if (by_name != given.has_value()) continue;
        if (const auto column = given ? given : asset_column(cells[i]))
          if (auto& at = at_of(*column); at < 0) at = static_cast<int>(i);
      }
    if (at_of(AssetColumn::serial) < 0) return false;
    names_ = cells;
    // A column of kinds with a misspelt name would make a machine of each row.
    for (const auto& [column, name] : rules_.columns)
      if (std::ranges::none_of(cells, [&](const auto& each) { return named(each) == column; }))
        problems_.push_back(
            {{file_, line, 1}, fmt::format("the header has no column '{}'", printable(name))});
    return true;
  }

  /// Of two lines of one header: what stands there together where that is a column, or else below.
  static std::vector<std::string> names_of(const std::vector<std::string>& above,
                                           const std::vector<std::string>& below,
                                           bool is_above_header) {
    const auto at = [](const auto& cells, std::size_t i) {
      return i < cells.size() ? cells[i] : std::string{};
    };
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::max(above.size(), below.size()); ++i) {
      const auto upper = at(above, i), lower = at(below, i), both = upper + " " + lower;
      const bool is_both = !upper.empty() && !lower.empty() && asset_column(both),
                 is_lower = asset_column(lower) || (!is_above_header && !lower.empty());
      names.push_back(is_both ? both : is_lower ? lower : upper);
    }
    return names;
  }

  /// The header once more, as in another language or on the next page, or its second line.
  bool is_header_too(int line) {
    const bool is_first = std::exchange(is_below_header_, false);
    const auto is_name = [&](std::size_t i) {
      const auto column = static_cast<AssetColumn>(i);
      return cell(column).empty() || asset_column(cell(column)) == column;
    };
    const auto all = std::views::iota(std::size_t{0}, kAssetColumns);
    if (!cell(AssetColumn::serial).empty() && std::ranges::all_of(all, is_name)) return true;
    constexpr auto kRest =
        std::to_array<std::string_view>({"number", "no", "num", "nr", "nummer", "deserie"});
    const bool goes_on =
        is_first && rules_.columns.empty() &&
        std::ranges::find(kRest, bare_word(cell(AssetColumn::serial))) != kRest.end();
    return goes_on && begin(names_of(above_, cells_, true), line);
  }

  /// Of a header without Kind and Node the name of a column that is none of ours and has a kind of
  /// part here: each row would be a machine. Empty where there is none.
  std::string column_of_kinds() {
    if (at_of(AssetColumn::kind) >= 0 || at_of(AssetColumn::node) >= 0) return {};
    for (std::size_t i = 0; i < std::min(names_.size(), cells_.size()); ++i)
      if (std::ranges::find(header_, static_cast<int>(i)) == header_.end() && !cells_[i].empty() &&
          asset_kind(cells_[i]))
        return printable(names_[i]);
    return {};
  }

  int& at_of(AssetColumn column) { return header_[static_cast<std::size_t>(column)]; }
  std::string cell(AssetColumn column) const {
    const int at = header_[static_cast<std::size_t>(column)];
    const bool there = at >= 0 && static_cast<std::size_t>(at) < cells_.size();
    return there ? cells_[static_cast<std::size_t>(at)] : std::string{};
  }
  void leave_out(const Place& where, std::string_view reason, std::string what) {
    if (!rules_.skip_bad) {
      problems_.push_back({where, std::move(what)});
      return;
    }
    auto of = std::ranges::find(skipped_, reason, &SkippedRows::reason);
    if (of == skipped_.end()) {
      skipped_.push_back({.reason = std::string{reason}, .first = std::move(what)});
      of = std::prev(skipped_.end());
    }
    ++of->rows;
    if (of->lines.size() < kMostLinesSkipped) of->lines.push_back(where.line);
  }

  const std::string& file_;
  const AssetListRules& rules_;
  std::vector<Problem>& problems_;
  AssetHeader header_{};
  std::vector<std::string> names_{};  // of the header's columns
  bool lacks_kinds_ = false;
  std::vector<std::string> above_{};  // the header, or the row of titles before this one
  bool is_below_header_ = false;
  std::vector<std::string> cells_{};
  std::map<std::string, int> lines_{};
  std::map<std::string, int> machines_{};  // of a list without kinds, and their lines
  std::vector<SkippedRows> skipped_{};
};

}  // namespace

AssetList parse_assets(std::string_view bytes, const std::string& file, const AssetListRules& rules,
                       std::vector<Problem>& problems) {
  AssetList list;
  auto& assets = list.assets;
  const auto text = sheet_text(bytes);
  AssetReader reader{file, rules, problems};
  SheetReader rows{text};
  const auto before = problems.size();
  constexpr int kMostTitles = 10;  // rows above the header
  bool begun = false;
  int titles = 0, first_line = 0;
  while (!rows.is_at_end()) {
    const auto first = rows.peek();
    const bool is_heading = !begun && lower_case(first).starts_with("sep=");
    const bool is_empty = trimmed(first).empty();
    if (!begun) rows.set_separator(separator_of(first));
    auto cells = rows.next();
    if (is_heading || is_empty) continue;
    if (!cells && begun) reader.unclosed_quote(rows.line());
    if (!cells && !begun) problems.push_back({{file, rows.line(), 1}, std::string{kUnclosedQuote}});
    if (!begun) {
      const bool is_read = cells.has_value();
      begun = is_read && reader.begin_here(*std::move(cells), rows.line());
      if (titles++ == 0) first_line = rows.line();
      if (!begun && (!is_read || titles >= kMostTitles)) break;
      continue;
    }
    if (cells) reader.row(*std::move(cells), rows.line(), assets);
    const bool is_full = assets.size() > kMostAssets;
    if (!is_full && problems.size() - before < kMostBadRows) continue;
    problems.push_back(
        {{file, rows.line(), 1},
         is_full ? fmt::format("more than {} assets", kMostAssets) : too_many_bad_rows()});
    return list;
  }
  list.skipped = reader.skipped();
  if (!begun && titles == 0)
    problems.push_back({{file, 0, 0}, "an empty file is no list of assets"});
  else if (!begun)
    reader.report_no_header(first_line);
  else if (assets.empty() && problems.size() == before && list.skipped.empty())
    problems.push_back({{file, rows.line(), 1}, "the list has a header and no assets below it"});
  else if (assets.empty())
    for (const auto& each : list.skipped)
      problems.push_back({{file, each.lines.front(), 1},
                          fmt::format("{}; no row can be used, {} of them for this reason",
                                      each.first, each.rows)});
  return list;
}

std::vector<Asset> parse_assets(std::string_view bytes, const std::string& file,
                                std::vector<Problem>& problems) {
  return parse_assets(bytes, file, {}, problems).assets;
}

std::pair<AssetColumnNames, std::string> asset_column_names(std::string_view text) {
  AssetColumnNames names;
  for (const auto piece : split(text, ',')) {
    const auto equals = piece.find('=');
    auto word = std::string{trimmed(piece.substr(0, equals))};
    std::ranges::replace(word, '_', ' ');
    const auto column = asset_column(word);
    const auto name = equals == piece.npos ? std::string_view{} : trimmed(piece.substr(equals + 1));
    const bool twice =
        column &&
        std::ranges::find(names, *column, &AssetColumnNames::value_type::first) != names.end();
    if (!column || name.empty() || twice)
      return {{},
              fmt::format("'{}' is not COLUMN=NAME: Serial=SN-Nr,Node=Rechner; other columns are "
                          "Kind, Slot, Model, Part Number, Purchase Order and Due, each once",
                          shortened(printable(trimmed(piece)), 80))};
    names.emplace_back(*column, std::string{name});
  }
  return std::pair{std::move(names), std::string{}};
}

}  // namespace cupel::inventory
