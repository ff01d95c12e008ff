#pragma once
// What lists of assets call their columns and parts, in English, German and French. Pure.
#include <optional>
#include <string>
#include <string_view>

#include "inventory/asset_list.h"

namespace cupel::inventory {

/// "Numéro de série" is "numerodeserie", "S/N" is "sn": in lower case, without accents, and without
/// what is neither letter nor digit.
std::string bare_word(std::string_view text);

/// Nothing: no column that is known.
std::optional<AssetColumn> asset_column(std::string_view name);

/// "Netzteil", "Memory Modules", "GPU H100 SXM5"; empty: a machine. Nothing: no kind that is known.
std::optional<PartKind> asset_kind(std::string_view text);

/// "k. A.", "néant", "?": what people write where there is no serial number, beside is_no_serial().
bool stands_for_no_serial(std::string_view text);

}  // namespace cupel::inventory
