#pragma once
// What was ordered, to the serial number: a list as purchasing keeps it, in the manners of
// spreadsheets. Pure.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inventory/parts.h"
#include "inventory/problem.h"

namespace cupel::inventory {

struct Asset {
  PartKind kind{};
  std::string serial{};
  std::string node{};  // where it belongs; empty: the list does not say
  std::string slot{}, model{}, part_number{};
  std::string order{};  // the purchase order
  std::string due{};    // as it is written there
  Place where{};
};

/// Columns of a list, and what a site calls them.
enum class AssetColumn { serial, kind, node, slot, model, part_number, order, due };
using AssetColumnNames = std::vector<std::pair<AssetColumn, std::string>>;

/// "Serial=SN-Nr, Node=Rechner, Part Number=Artikel": words by which headers are known. Errors: a
/// word that is none of them, a column that is there twice, one without a name; then the reason.
std::pair<AssetColumnNames, std::string> asset_column_names(std::string_view text);

struct AssetListRules {
  AssetColumnNames columns{};  // of headers that are not understood by themselves
  bool skip_bad = false;       // rows that cannot be used are left out, and are no problems
};

/// Rows that were left out for one reason.
struct SkippedRows {
  std::string reason{};  // "no serial number"
  std::string first{};   // what is wrong with the first of them
  std::size_t rows = 0;
  std::vector<int> lines{};  // of the first kMostLinesSkipped
};
inline constexpr std::size_t kMostLinesSkipped = 5;

struct AssetList {
  std::vector<Asset> assets{};
  std::vector<SkippedRows> skipped{};
};

/// CSV with a header, below at most nine rows of titles, parted by commas, semicolons or tabs; with
/// or without a byte order mark, also UTF-16; quoted fields, also ="00123"; columns in any order
/// and any others beside them: Serial (needed), Kind, Node, Slot, Model, Part Number, Purchase
/// Order, Due. A row without a kind is a machine. Every fault becomes a problem with its line: no
/// serial number, or what stands for none
/// ("NA"), one twice, one that a spreadsheet has made a number of ("1.65E+12"); a list without a
/// row is one, too, and one of whose rows none can be used.
AssetList parse_assets(std::string_view text, const std::string& file, const AssetListRules& rules,
                       std::vector<Problem>& problems);

/// Without rules.
std::vector<Asset> parse_assets(std::string_view text, const std::string& file,
                                std::vector<Problem>& problems);

/// Whether a list of assets may have it: neither empty, nor what stands for none, nor what a
/// spreadsheet would have made of one.
bool is_listable_serial(std::string_view serial);

}  // namespace cupel::inventory
