#include "burnin/fabric/what_differs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "inventory/node_range.h"

namespace cupel::burnin::fabric {
namespace {

constexpr std::size_t kMostLines = 16;
// A value may be another one on each of thousands of nodes.
constexpr std::size_t kLongestLine = 500, kLongestNames = 150;
constexpr std::string_view kNotSet = "not set";

using NodesByValue = std::map<std::string, std::vector<std::string>>;

std::optional<std::string> difference(std::string_view what, const NodesByValue& nodes) {
  if (nodes.size() < 2) return std::nullopt;
  std::string line;
  for (const auto& [value, names] : nodes) {
    if (line.size() > kLongestLine) break;
    line += fmt::format("{} {} on {}", line.empty() ? fmt::format("{}:", what) : ";", value,
                        shortened(inventory::fold(names), kLongestNames));
  }
  return shortened(line, kLongestLine);
}

}  // namespace

std::vector<std::string> what_differs(std::span<const AcrossReport* const> reports,
                                      std::span<const std::string> nodes) {
  NodesByValue nccl, cuda, driver;
  std::set<std::string> variables;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i] == nullptr) continue;
    const auto& burn = reports[i]->burn;
    if (!burn.nccl.empty()) nccl[burn.nccl].push_back(nodes[i]);
    if (!burn.cuda.empty()) cuda[burn.cuda].push_back(nodes[i]);
    if (!burn.driver.empty()) driver[burn.driver].push_back(nodes[i]);
    for (const auto& [name, value] : reports[i]->variables) variables.insert(name);
  }
  std::vector<std::string> differ;
  const auto add = [&](std::string_view what, const NodesByValue& values) {
    if (auto line = difference(what, values); line && differ.size() < kMostLines)
      differ.push_back(*std::move(line));
  };
  add("NCCL's versions differ", nccl);
  add("CUDA's versions differ", cuda);
  add("the GPU drivers differ", driver);
  for (const auto& name : variables) {
    if (differ.size() == kMostLines) break;
    NodesByValue values;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (reports[i] == nullptr || !reports[i]->burn.started) continue;
      const auto found = reports[i]->variables.find(name);
      values[found == reports[i]->variables.end() ? std::string{kNotSet} : found->second].push_back(
          nodes[i]);
    }
    add(name + " differs", values);
  }
  return differ;
}

LinkWord link_word(std::span<const std::optional<Findings>> pairs,
                   std::span<const std::string> nodes) {
  constexpr std::array<std::string_view, 5> kDoubts{"fabric.link.loss", "fabric.link.retransmits",
                                                    "fabric.node.loss", "fabric.switch.loss",
                                                    "fabric.undecided"};
  LinkWord word{.measured = !pairs.empty()};
  for (std::size_t i = 0; i < pairs.size() && i < nodes.size(); ++i) {
    const bool measured =
        pairs[i] && std::ranges::any_of(pairs[i]->measurements, [](const auto& each) {
          return each.name == "fabric.flows" && each.value > 0;
        });
    word.measured &= measured;
    if (!pairs[i] || !word.doubt.empty()) continue;
    for (const auto& each : pairs[i]->measurements) {
      if (each.value <= 0 || std::ranges::find(kDoubts, each.name) == kDoubts.end()) continue;
      word.doubt = fmt::format("{}: {} {:.1f} {}{}{}", nodes[i], each.name, each.value, each.unit,
                               each.part.empty() ? "" : " of ", each.part);
      break;
    }
  }
  return word;
}

}  // namespace cupel::burnin::fabric
