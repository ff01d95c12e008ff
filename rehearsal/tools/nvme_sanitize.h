#pragma once
// NVMe drives that erase themselves: id-ctrl, sanitize, sanitize-log and format of nvme-cli 2.4,
// with the time that it takes, drives that fail at it, that cannot, and that are locked against it.
#include <string_view>

#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

struct Drive;
class Machine;

/// Whether what lay on it is gone.
bool is_erased(Machine& machine, const Drive& drive, double now);

/// Whether nvme_erase() has this subcommand.
bool erases_drives(std::string_view subcommand);
Task<int> nvme_erase(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
