#include "inventory/asset_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kMostAssets = 2'000'000, kLongestCell = 256, kMostCells = 256;

enum class AssetColumn { serial, kind, node, slot, model, part_number, order, due };
constexpr std::size_t kAssetColumns = 8;
using AssetHeader = std::array<int, kAssetColumns>;

std::optional<AssetColumn> asset_column(std::string_view name) {
  using enum AssetColumn;
  constexpr std::array<std::pair<std::string_view, AssetColumn>, 27> kNames{
      {{"serial", serial},
       {"serial number", serial},
       {"serialnumber", serial},
       {"serial no", serial},
       {"serial no.", serial},
       {"s/n", serial},
       {"sn", serial},
       {"kind", kind},
       {"type", kind},
       {"component", kind},
       {"part", kind},
       {"node", node},
       {"host", node},
       {"hostname", node},
       {"server", node},
       {"slot", slot},
       {"bay", slot},
       {"position", slot},
       {"model", model},
       {"part number", part_number},
       {"p/n", part_number},
       {"pn", part_number},
       {"purchase order", order},
       {"po", order},
       {"order", order},
       {"due", due},
       {"delivery", due}}};
  const auto lower = lower_case(trimmed(name));
  for (const auto& [word, column] : kNames)
    if (word == lower) return column;
  return std::nullopt;
}

std::optional<PartKind> asset_kind(std::string_view word) {
  using enum PartKind;
  constexpr std::array<std::pair<std::string_view, PartKind>, 16> kWords{{{"server", system},
                                                                          {"chassis", system},
                                                                          {"node", system},
                                                                          {"machine", system},
                                                                          {"", system},
                                                                          {"memory", dimm},
                                                                          {"ram", dimm},
                                                                          {"ssd", nvme},
                                                                          {"processor", cpu},
                                                                          {"power supply", psu},
                                                                          {"supply", psu},
                                                                          {"adapter", hca},
                                                                          {"nvswitch", switch_chip},
                                                                          {"hdd", drive},
                                                                          {"disk", drive},
                                                                          {"accelerator", gpu}}};
  const auto lower = lower_case(trimmed(word));
  if (const auto known = part_kind(lower)) return known;
  for (const auto& [name, kind] : kWords)
    if (name == lower) return kind;
  return std::nullopt;
}

/// UTF-16 as spreadsheets write it, as UTF-8; what is no UTF-16 as it is. Characters beyond the
/// first plane stand in no serial number: they become U+FFFD.
std::string as_utf8(std::string_view text) {
  const bool little = text.starts_with("\xFF\xFE"), big = text.starts_with("\xFE\xFF");
  if (!little && !big) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    return valid_utf8(text);
  }
  std::string out;
  for (std::size_t i = 2; i + 1 < text.size(); i += 2) {
    const auto low = static_cast<unsigned char>(text[little ? i : i + 1]);
    const auto high = static_cast<unsigned char>(text[little ? i + 1 : i]);
    append_utf8(out, high * 256U + low);
  }
  return out;
}

/// The sign that the header's fields are parted by most often.
char separator_of(std::string_view header) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char each : {',', ';', '\t'}) {
    const auto count = std::ranges::count(header, each);
    if (count > most) best = each;
    most = std::max(most, count);
  }
  return best;
}

/// RFC 4180 with any separator; a quoted field does not go on in the next line.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char one = line[i];
    if (one == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[i++];
    else if (one == '"')
      quoted = !quoted;
    else if (one == separator && !quoted && cells.size() < kMostCells)
      cells.emplace_back();
    else if (cells.back().size() < kLongestCell)
      cells.back() += one;
  }
  for (auto& cell : cells) {
    auto text = trimmed(cell);
    if (text.starts_with('=')) text.remove_prefix(1);  // ="00123"
    if (text.starts_with('\'')) text.remove_prefix(1);
    cell = printable(trimmed(text));
  }
  return cells;
}

/// "1.65E+12", "1,65E+12".
bool is_mangled(std::string_view serial) {
  const auto e = serial.find_first_of("eE");
  if (e == 0 || e == serial.npos || e + 2 >= serial.size()) return false;
  if (serial[e + 1] != '+') return false;
  const auto is_number = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; };
  return std::ranges::all_of(serial.substr(0, e), is_number) &&
         std::ranges::all_of(serial.substr(e + 2), is_number);
}

class AssetReader {
 public:
  AssetReader(const std::string& file, std::vector<Problem>& problems)
      : file_{file}, problems_{problems} {}

  bool begin(std::string_view line) {
    separator_ = separator_of(line);
    header_.fill(-1);
    const auto cells = cells_of(line, separator_);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (const auto column = asset_column(cells[i]))
        if (auto& at = header_[static_cast<std::size_t>(*column)]; at < 0) at = static_cast<int>(i);
    if (header_[static_cast<std::size_t>(AssetColumn::serial)] >= 0) return true;
    problems_.push_back(
        {{file_, 1, 1},
         "the header has no column Serial: a list of assets begins with Node, Kind, Serial, Model, "
         "Slot, Part Number, Purchase Order, Due, those that there are, in any order"});
    return false;
  }

  void row(std::string_view line, int number, std::vector<Asset>& assets) {
    cells_ = cells_of(line, separator_);
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
      return report(asset, fmt::format("there is no kind of part '{}'", cell(AssetColumn::kind)));
    asset.kind = *kind;
    if (asset.serial.empty()) return report(asset, "no serial number");
    if (is_mangled(asset.serial))
      return report(asset,
                    fmt::format("'{}' is no serial number any more: a spreadsheet has made a "
                                "number of it. Format the column as text, and fill it anew",
                                asset.serial));
    const auto key = fmt::format("{} {}", to_string(asset.kind), serial_key(asset.serial));
    const auto [first, fresh] = lines_.try_emplace(key, number);
    if (!fresh)
      return report(asset, fmt::format("serial number {} stands in line {}, too", asset.serial,
                                       first->second));
    assets.push_back(std::move(asset));
  }

 private:
  std::string cell(AssetColumn column) const {
    const int at = header_[static_cast<std::size_t>(column)];
    const bool there = at >= 0 && static_cast<std::size_t>(at) < cells_.size();
    return there ? cells_[static_cast<std::size_t>(at)] : std::string{};
  }
  void report(const Asset& asset, std::string what) {
    problems_.push_back({asset.where, std::move(what)});
  }

  const std::string& file_;
  std::vector<Problem>& problems_;
  char separator_ = ',';
  AssetHeader header_{};
  std::vector<std::string> cells_{};
  std::map<std::string, int> lines_{};
};

}  // namespace

std::string serial_key(std::string_view serial) {
  std::string key;
  for (const char c : lower_case(serial))
    if (c != ' ' && c != '-' && c != '\t') key += c;
  const bool digits = !key.empty() && key.find_first_not_of("0123456789") == key.npos;
  if (digits) key.erase(0, std::min(key.find_first_not_of('0'), key.size() - 1));
  return key;
}

bool same_serial(std::string_view left, std::string_view right) {
  return serial_key(left) == serial_key(right);
}

std::vector<Asset> parse_assets(std::string_view bytes, const std::string& file,
                                std::vector<Problem>& problems) {
  std::vector<Asset> assets;
  const auto text = as_utf8(bytes);
  AssetReader reader{file, problems};
  int number = 0;
  bool begun = false;
  for (const auto line : lines(text)) {
    ++number;
    if (trimmed(line).empty() || lower_case(line).starts_with("sep=")) continue;
    if (!begun) {
      if (!reader.begin(line)) return assets;
      begun = true;
      continue;
    }
    if (assets.size() >= kMostAssets) {
      problems.push_back({{file, number, 1}, fmt::format("more than {} assets", kMostAssets)});
      return assets;
    }
    reader.row(line, number, assets);
  }
  if (!begun) problems.push_back({{file, 0, 0}, "an empty file is no list of assets"});
  return assets;
}

}  // namespace cupel::inventory
