#pragma once
// The virtual cupel-node: what the product's own program on a node would say of this machine. Its
// subcommands, each in a file of its own; cupel_node.cpp is the table. `stage` is the program's own
// code; the others are imitations.
#include "base/json.h"
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

/// One document of what the machine is made of. `arguments` as the program gets them:
/// "cupel-node", "facts", ...
Task<int> virtual_cupel_node_facts(ProcessPtr process, Arguments arguments);

/// Samples of heat, power and links, the kernel's messages meanwhile, and their sum.
Task<int> virtual_cupel_node_watch(ProcessPtr process, Arguments arguments);

/// What the kernel has said since a position, and where its log stands.
Task<int> virtual_cupel_node_log(ProcessPtr process, Arguments arguments);

/// The kernel's messages that cupel-node knows, as rows of JSON: those later than `after` and not
/// later than `until`, in seconds since the boot.
json::array kernel_messages(Host& host, double after, double until);

/// A stage that cupel-node does itself: the program's own code.
Task<int> virtual_cupel_node_stage(ProcessPtr process, Arguments arguments);
/// One of them, for people and for the node's own timer.
Task<int> virtual_cupel_node_restore_settings(ProcessPtr process, Arguments arguments);

/// Either side of a transfer between two nodes.
Task<int> virtual_cupel_node_tcp(ProcessPtr process, Arguments arguments);

// Jobs that outlive the command that started them, at the node's own clock. Their folders hold what
// the real program's do.
Task<int> virtual_cupel_node_start(ProcessPtr process, Arguments arguments);
Task<int> virtual_cupel_node_tail(ProcessPtr process, Arguments arguments);
Task<int> virtual_cupel_node_stop(ProcessPtr process, Arguments arguments);
Task<int> virtual_cupel_node_tell(ProcessPtr process, Arguments arguments);
Task<int> virtual_cupel_node_forget(ProcessPtr process, Arguments arguments);
Task<int> virtual_cupel_node_list(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
