#pragma once
// Before a run begins: what its stages need on the nodes that answer SSH now. Each node is looked
// at again at its ssh-wait, and ends there if it lacks something; this look comes first, for those
// that wait behind a canary for hours.
#include <span>
#include <string>

#include "orchestrator/cli/plan_options.h"

namespace cupel::cli {

/// What one node lacks, as a person mends it: "install fio: apt-get install fio (...)".
struct Lack {
  std::string node;
  std::string action{};  // empty: nothing is missing, or nobody could look
};

/// Nodes that lack the same in one line: "a01-n[01-03]: install fio: ...". Pure.
std::string lacks_text(std::span<const Lack> lacks);

/// Looks at all nodes at once, for half a minute at most, and says what is missing on standard
/// error. A node that does not answer is passed over: it may be off. Changes nothing on any node.
void look_at_nodes_first(const Context& context, const Planned& planned);

}  // namespace cupel::cli
