#include "inventory/asset_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "inventory/identity.h"
#include "inventory/sheet.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kMostAssets = 2'000'000;

constexpr std::size_t kAssetColumns = 8;
using AssetHeader = std::array<int, kAssetColumns>;

std::optional<AssetColumn> asset_column(std::string_view name) {
  using enum AssetColumn;
  constexpr std::array<std::pair<std::string_view, AssetColumn>, 41> kNames{
      {{"serial", serial},
       {"serial number", serial},
       {"serialnumber", serial},
       {"serial no", serial},
       {"serial no.", serial},
       {"s/n", serial},
       {"sn", serial},
       {"seriennummer", serial},
       {"num\u00E9ro de s\u00E9rie", serial},
       {"kind", kind},
       {"type", kind},
       {"component", kind},
       {"component type", kind},
       {"part", kind},
       {"part type", kind},
       {"typ", kind},
       {"node", node},
       {"host", node},
       {"hostname", node},
       {"server", node},
       {"rechner", node},
       {"knoten", node},
       {"serveur", node},
       {"slot", slot},
       {"bay", slot},
       {"position", slot},
       {"steckplatz", slot},
       {"emplacement", slot},
       {"model", model},
       {"modell", model},
       {"mod\u00E8le", model},
       {"part number", part_number},
       {"p/n", part_number},
       {"pn", part_number},
       {"purchase order", order},
       {"po", order},
       {"order", order},
       {"due", due},
       {"delivery", due},
       {"lieferdatum", due},
       {"date de livraison", due}}};
  const auto lower = lower_case(trimmed(name));
  for (const auto& [word, column] : kNames)
    if (word == lower) return column;
  return std::nullopt;
}

/// "GPU H100 SXM5". Not of "GPU tray", which is none.
std::optional<PartKind> kind_before_model(std::string_view text) {
  using enum PartKind;
  const auto named = words(text);
  if (named.size() < 2 || named[1].find_first_of("0123456789") == named[1].npos) return {};
  const auto kind = part_kind(lower_case(named[0]));
  const bool is_card_or_module = kind == gpu || kind == cpu || kind == dimm || kind == nvme ||
                                 kind == psu || kind == hca || kind == nic || kind == dpu;
  return is_card_or_module ? kind : std::nullopt;
}

std::optional<PartKind> asset_kind(std::string_view word) {
  using enum PartKind;
  constexpr std::array<std::pair<std::string_view, PartKind>, 40> kWords{
      {{"server", system},
       {"chassis", system},
       {"node", system},
       {"machine", system},
       {"", system},
       {"memory", dimm},
       {"memory module", dimm},
       {"ram", dimm},
       {"ram module", dimm},
       {"dimm module", dimm},
       {"ssd", nvme},
       {"nvme ssd", nvme},
       {"nvme drive", nvme},
       {"solid state drive", nvme},
       {"processor", cpu},
       {"power supply", psu},
       {"power supply unit", psu},
       {"supply", psu},
       {"fan module", fan},
       {"adapter", hca},
       {"infiniband adapter", hca},
       {"infiniband card", hca},
       {"host channel adapter", hca},
       {"network adapter", nic},
       {"network card", nic},
       {"network interface card", nic},
       {"ethernet adapter", nic},
       {"nvswitch", switch_chip},
       {"hdd", drive},
       {"disk", drive},
       {"hard disk", drive},
       {"hard disk drive", drive},
       {"hard drive", drive},
       {"accelerator", gpu},
       {"accelerator card", gpu},
       {"graphics card", gpu},
       {"graphics processor", gpu},
       {"graphics processing unit", gpu},
       {"gpu card", gpu},
       {"video card", gpu}}};
  auto lower = lower_case(trimmed(word));
  std::ranges::replace(lower, '_', ' ');
  for (const bool plural : {false, true}) {
    if (plural && !lower.ends_with('s')) break;
    if (plural) lower.pop_back();
    if (plural && lower.ends_with("ie")) lower.replace(lower.size() - 2, 2, "y");
    if (const auto known = part_kind(lower)) return known;
    for (const auto& [name, kind] : kWords)
      if (name == lower) return kind;
  }
  return kind_before_model(word);
}

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
  return !is_no_serial(serial) && !is_date(serial) && !is_number_cell(serial);
}

namespace {

class AssetReader {
 public:
  AssetReader(const std::string& file, const AssetListRules& rules, std::vector<Problem>& problems)
      : file_{file}, rules_{rules}, problems_{problems} {}

  /// False where the row is no header: it has no column Serial.
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
    // A column of kinds with a misspelt name would make a machine of each row.
    for (const auto& [column, name] : rules_.columns)
      if (std::ranges::none_of(cells, [&](const auto& each) { return named(each) == column; }))
        problems_.push_back(
            {{file_, line, 1}, fmt::format("the header has no column '{}'", printable(name))});
    return true;
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
    if (empty) return;
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
    if (is_no_serial(asset.serial))
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
      begun = cells && reader.begin(*cells, rows.line());
      if (titles++ == 0) first_line = rows.line();
      if (!begun && (!cells || titles >= kMostTitles)) break;
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
