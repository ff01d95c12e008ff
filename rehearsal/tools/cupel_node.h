#pragma once
// The virtual cupel-node: what the product's own program on a node would say of this machine. Its
// subcommands, each in a file of its own; cupel_node.cpp is the table.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

/// One document of what the machine is made of. `arguments` as the program gets them:
/// "cupel-node", "facts", ...
Task<int> virtual_cupel_node_facts(ProcessPtr process, Arguments arguments);

/// Samples of heat, power and links, the kernel's messages meanwhile, and their sum.
Task<int> virtual_cupel_node_watch(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
