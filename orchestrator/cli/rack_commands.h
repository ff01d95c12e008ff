#pragma once
// Commands of `cupel rack` that are about the racks of a site; `rack serve` and the shipped virtual
// racks are in rack_command.cpp.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

/// What is given on the command line.
struct RackAsked {
  std::string rack{};
  std::string inventory = default_inventory();
  std::string patience = "2m";
  bool retry_logins = false;
};

CommandRow rack_show_command(Context& context);

}  // namespace cupel::cli
