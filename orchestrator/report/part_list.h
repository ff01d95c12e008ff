#pragma once
// The parts of machines as runs have read them, for tables, programs and spreadsheets. Pure.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "orchestrator/record/seen_parts.h"

namespace cupel::report {

struct ListedPart {
  std::string node{};
  inventory::Part part{};              // each field as the first source has it that has it
  std::vector<std::string> names{};    // as its sources call it
  std::vector<std::string> sources{};  // "bmc-facts", "gpu-facts"
  engine::RunId run = 0;               // the newest that read it
  engine::WallTime seen{};             // when that run began; the epoch: not known
  bool is_current = true;              // false: what would report it has not been read since
};

using RunTimes = std::map<engine::RunId, engine::WallTime>;

/// The machine first, then by kind, in the order of the reports. Several sources of a machine that
/// report one serial number report one part, as `cupel audit assets` counts it; a part without a
/// serial number stands there once for each source.
std::vector<ListedPart> list_parts(const std::string& node,
                                   std::span<const record::SeenParts::Report> reports,
                                   const RunTimes& began);

/// CSV, and how many parts are not in it.
struct PartSheet {
  std::string text{};
  std::size_t without_serial = 0;
  std::size_t twice = 0;  // the serial number is that of a part above
};

/// A table that inventory::parse_assets() takes, with more columns beside its own: without the
/// parts that have no serial number to be known by. `all`: with each part, for people.
PartSheet parts_csv(std::span<const ListedPart> parts, bool rehearsal, bool all);

}  // namespace cupel::report
