#pragma once
// How a run stands, for a terminal of a given size: totals, what the run as a whole waits for, and
// a row for each node with what it does or waits for. Pure text: whoever draws it is in cli/.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/engine/run_state.h"
#include "playbooks/fwd.h"

namespace cupel::report {

/// Text by node's name.
using NodeWords = std::map<std::string, std::string, std::less<>>;

/// Which try of which step a node is at.
struct Try {
  std::size_t step = 0;
  int attempt = 0;
  int ended = 0;  // tries that failed or wait
  friend bool operator==(const Try&, const Try&) = default;
};

Try try_of(const engine::NodeState& node);

/// Of the rows: those that failed first, as the run names its nodes, or the furthest behind first.
enum class Order { failed_first, by_name, by_step };

/// What of a table that is longer than its terminal is looked at.
struct TableView {
  std::size_t first = 0;  // row, from 0
  Order order = Order::failed_first;
  bool has_keys = false;  // somebody can scroll
  bool help = false;      // and asked how
};

struct RunTable {
  engine::RunId run = 0;
  const playbooks::Plan& plan;
  const engine::RunState& state;
  const NodeWords& doing;  // what a node's step says that it waits for
  const NodeWords& held;   // why a node's step may not begin yet: a breaker, a slot, a ramp
  std::string note{};      // of the run as a whole, by whoever drives it
  engine::WallTime now{};
  TableView view{};
  std::string_view state_to_name{};  // that commands have to name; empty: they find it
};

/// What a node that does nothing waits for, and the command that continues where there is one.
/// Empty for a node that works or is through.
std::string waits_for(const RunTable& table, std::size_t node);

/// What the run as a whole waits for: a pause, halts, approvals with what the playbook says of
/// them, power and slots.
std::vector<std::string> notes_of(const RunTable& table);

/// What fits on a terminal.
struct DrawnTable {
  std::vector<std::string> lines{};  // without their ends
  std::size_t first = 0;             // the row that is shown first: not beyond the last page
  std::size_t shown = 0;             // rows
};

/// At most `rows` lines, none wider than `columns`. At least 1 row and 8 columns.
DrawnTable drawn(const RunTable& table, std::size_t rows, std::size_t columns);

}  // namespace cupel::report
