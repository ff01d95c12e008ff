#pragma once
// The bill of materials of a kind of machine. What was seen is in parts.h; audit.h compares.
#include <optional>
#include <string>
#include <vector>

#include "inventory/part_kind.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// The expected parts of one kind. An empty field is not checked.
struct ExpectedParts {
  PartKind kind{};
  int count = 0;
  std::vector<std::string> models{};   // one of these is in the reported model, ignoring case
  std::optional<double> size_bytes{};  // each
  double size_tolerance = 0.02;        // share of size_bytes
  std::optional<double> cores{};       // of each CPU
  std::vector<std::string> pci{};      // addresses in the order of the names: gpu0, gpu1, ...
  std::vector<std::string> slots{};    // labels as the BMC reports them, in the order of the names
  std::string source{};                // datasheet
  Place where{};
};

}  // namespace cupel::inventory
