#pragma once
// A program of ours that nodes need and this machine has not: said of this machine, which can mend
// it, and not of the node.
#include <optional>
#include <string>
#include <string_view>

#include "orchestrator/ssh/programs.h"

namespace cupel::ssh {

/// The file that the shelf would give, without reading it; nothing where no folder has it.
std::optional<std::filesystem::path> file_of(const ProgramShelf& shelf, std::string_view name);

/// "cupel-burn is missing on this machine: it is neither in /usr/local/bin nor in
/// /usr/local/libexec/cupel; ...", with what helps.
std::string why_missing(const ProgramShelf& shelf, std::string_view name);

}  // namespace cupel::ssh
