#pragma once
// What was ordered, to the serial number: a list as purchasing keeps it, in the manners of
// spreadsheets. Pure.
#include <string>
#include <string_view>
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

/// CSV with a header, parted by commas, semicolons or tabs; with or without a byte order mark, also
/// UTF-16; quoted fields, also ="00123"; columns in any order and any others beside them: Serial
/// (needed), Kind, Node, Slot, Model, Part Number, Purchase Order, Due. A row without a kind is a
/// machine. Every fault becomes a problem with its line: no serial number, one twice, one that a
/// spreadsheet has made a number of ("1.65E+12").
std::vector<Asset> parse_assets(std::string_view text, const std::string& file,
                                std::vector<Problem>& problems);

/// The same of two serial numbers that are one: blanks and case do not count, nor do zeros at the
/// beginning of one that is all digits, which spreadsheets drop.
std::string serial_key(std::string_view serial);

}  // namespace cupel::inventory
