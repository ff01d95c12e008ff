#pragma once
// Equal outputs of many nodes, said once. Pure.
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cupel::ssh {

/// What one node said, as one text: its output, or its error.
struct NodeText {
  std::string node;
  std::string text;
};

/// Nodes that said the same.
struct Gathered {
  std::vector<std::string> nodes;  // in the order in which they were given
  std::string text;
  friend bool operator==(const Gathered&, const Gathered&) = default;
};

/// Groups equal texts; the largest group first, equal ones in the order of their first node.
std::vector<Gathered> gather(std::span<const NodeText> texts);

using Fold = std::function<std::string(std::span<const std::string>)>;

/// As `clush -b` prints it: a rule, the folded names with their number, a rule, the text.
/// `fold` turns names into a range: inventory::fold.
std::string printed(std::span<const Gathered> groups, const Fold& fold);

}  // namespace cupel::ssh
