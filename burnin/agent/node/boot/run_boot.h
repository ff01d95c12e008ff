#pragma once
// One boot of one machine, from its ticket to its restart: `cupel-node boot run`.
#include <chrono>
#include <functional>

#include "burnin/agent/node/boot/boot_server.h"
#include "burnin/agent/node/subcommand.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent::boot {

struct BootInterfaces {
  Tree tree{};
  BootServer::Settings server{};  // its URL is the ticket's, unless it has one
  std::function<void()> restart{};
  std::function<void(const std::string& line)> console{};  // "CUPEL writing 30 %"
  /// How often a phase is reported whose tool says nothing: the controller gives a machine up that
  /// is silent for a few minutes.
  std::chrono::milliseconds progress_every{30'000};
};

/// 0: the order is to stay up, or the OS is written and restart() was called; 2: it failed with a
/// named cause, which the boot server knows if it can be reached.
int run_boot(const BootInterfaces& doors);

/// boot run [--url URL]
int run_boot_command(Arguments arguments);

/// boot disks [--root DIR]: a line for each disk.
int disks_command(Arguments arguments);

// For an installer, which has its own way to say both to the boot server.

/// boot hello [--root DIR]: the body of `hello`, for a ticket of the kernel's command line.
int hello_command(Arguments arguments);

/// boot choose --serial SERIAL [--wipe SERIAL] [--root DIR]: {"disk":{..}}, the one that may be
/// written; or the body of `failed`, and 2.
int choose_command(Arguments arguments);

}  // namespace cupel::agent::boot
