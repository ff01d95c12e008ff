#pragma once
// Who this machine is, as the boot server compares it with its inventory.
#include <string>
#include <vector>

#include "burnin/agent/node/boot/disks.h"
#include "burnin/agent/node/boot/ticket.h"
#include "burnin/agent/node/boot/tool.h"

namespace cupel::agent::boot {

/// The body of `hello`.
std::string hello(const Tree& tree, const BootTicket& ticket, const std::vector<Disk>& disks,
                  const RunTool& run);

/// The host name until the next boot. Errors: kFailed.
Outcome<void> take_name(const Tree& tree, const std::string& name);

/// The only keys that sshd accepts from now on. Errors: kFailed.
Outcome<void> install_keys(const Tree& tree, const std::vector<std::string>& keys);

}  // namespace cupel::agent::boot
