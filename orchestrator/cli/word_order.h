#pragma once
// Some commands take nodes in front of their verb (cupel bmc NODES power), others behind it (cupel
// settings plan NODES). Either order is taken for all of them. Pure.
#include <string>
#include <vector>

#include "orchestrator/cli/command_rows.h"

namespace cupel::cli {

/// Whether the command's own NODES, in front of the verb, are those of the verb: true of "power" of
/// `cupel bmc`, false of "scan", which takes networks, and of "pins".
bool is_verb_of_nodes(const CommandRow& command, const CommandRow& verb);

/// The words of a command line, with nodes where the command has its place for them: "bmc power all
/// on" is "bmc all power on". All else stays as it is, wrong words too.
std::vector<std::string> in_order(const CommandRow& program, std::vector<std::string> words);

}  // namespace cupel::cli
