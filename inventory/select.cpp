#include "inventory/select.h"

#include <unordered_set>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

/// Of one range; each is compared with every node's name, which is slow.
constexpr std::size_t kMostComplaints = 10;

/// Commas outside of brackets part terms.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> found;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    found.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  return found;
}

std::vector<std::string> matching(const std::vector<const Node*>& nodes, std::string_view term,
                                  std::string& complaints) {
  std::vector<std::string> names;
  const auto take = [&](auto wanted) {
    for (const auto* node : nodes)
      if (wanted(*node)) names.push_back(node->name);
  };
  const auto complain = [&](std::string what) {
    if (!complaints.empty()) complaints += "; ";
    complaints += what;
  };
  if (term == "all") {
    take([](const Node&) { return true; });
  } else if (term.starts_with("rack:")) {
    take([&](const Node& node) { return node.rack == term.substr(5); });
    if (names.empty()) complain("no node is in rack '" + std::string{term.substr(5)} + "'");
  } else if (term.starts_with("profile:")) {
    take([&](const Node& node) { return node.profile == term.substr(8); });
    if (names.empty()) complain("no node has profile '" + std::string{term.substr(8)} + "'");
  } else {
    auto expanded = expand(term);
    if (!expanded) {
      complain(expanded.error().what);
      return {};
    }
    std::vector<std::string> known;
    for (const auto* node : nodes) known.push_back(node->name);
    const std::unordered_set<std::string> there{known.begin(), known.end()};
    std::size_t wrong = 0;
    for (auto& name : *expanded) {
      if (!there.contains(name) && ++wrong <= kMostComplaints)
        complain("there is no node '" + name + "'" + did_you_mean(name, std::span{known}));
      names.push_back(std::move(name));
    }
    if (wrong > kMostComplaints)
      complain("nor are there " + std::to_string(wrong - kMostComplaints) + " more of them");
  }
  return names;
}

}  // namespace

Result<std::vector<const Node*>> select(const Inventory& inventory, std::string_view text,
                                        const RackScope& visible) {
  std::vector<const Node*> there;
  for (const auto& node : inventory.nodes)
    if (visible.has(node.rack)) there.push_back(&node);
  std::unordered_set<std::string> chosen;
  std::string complaints;
  bool first = true;
  for (auto term : terms_of(text)) {
    const bool takes_away = term.starts_with('!');
    if (takes_away) term.remove_prefix(1);
    // "!a01-n03" alone means all but that one.
    if (takes_away && first)
      for (const auto* node : there) chosen.insert(node->name);
    first = false;
    for (auto& name : matching(there, term, complaints)) {
      if (takes_away)
        chosen.erase(name);
      else
        chosen.insert(std::move(name));
    }
  }
  if (!complaints.empty())
    return Error{Code::kInvalid, "nodes '" + std::string{text} + "': " + complaints};
  std::vector<const Node*> nodes;
  for (const auto* node : there)
    if (chosen.contains(node->name)) nodes.push_back(node);
  if (nodes.empty())
    return Error{Code::kInvalid, "nodes '" + std::string{text} + "': none are left"};
  return nodes;
}

}  // namespace cupel::inventory
