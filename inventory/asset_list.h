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

/// CSV with a header, below at most nine rows of titles, parted by commas, semicolons or tabs; with
/// or without a byte order mark, also UTF-16; quoted fields, also ="00123"; columns in any order
/// and any others beside them: Serial (needed), Kind, Node, Slot, Model, Part Number, Purchase
/// Order, Due. A row without a kind is a machine. Every fault becomes a problem with its line: no
/// serial number, or what stands for none
/// ("NA"), one twice, one that a spreadsheet has made a number of ("1.65E+12"); a list without a
/// row is one, too.
std::vector<Asset> parse_assets(std::string_view text, const std::string& file,
                                std::vector<Problem>& problems);

}  // namespace cupel::inventory
