#pragma once
// What needs a person, as people read it: the same action on many nodes is one row. Pure, for text;
// what programs read (actions.h) keeps each by itself.
#include <string>
#include <vector>

#include "orchestrator/report/actions.h"

namespace cupel::report {

/// The same to do on these parts of these nodes.
struct ActionGroup {
  OperatorAction first{};
  std::vector<std::string> nodes{};  // one, or at least kLeastAlike; none of what is done at a desk
  std::vector<std::string> racks{};
  std::vector<std::string> places{};  // of each node: "a01-n07 (a01 U13)"
  std::string parts{};                // "gpu[0-7]"
  std::string action{};               // where nodes have a command in common: for all of them
};

/// Fewer are shown one by one, with the place of each.
inline constexpr std::size_t kLeastAlike = 4;

/// What is done at a desk first, then what most nodes have in common, then the rest in the order in
/// which `hands` stand.
std::vector<ActionGroup> grouped(const std::vector<OperatorAction>& actions);

struct ActionsText {
  std::size_t width = 0;  // no line is wider; 0: as they come
  bool all = false;       // each hand by itself, all of them
  std::size_t most = 20;  // groups that are shown, unless `all`
};

/// With its headings, and how many more there are. Runs are named where there are several.
std::string to_text(const std::vector<OperatorAction>& actions, const ActionsText& how = {});

}  // namespace cupel::report
