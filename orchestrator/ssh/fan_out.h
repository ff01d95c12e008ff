#pragma once
// One command on many nodes: what `cupel exec NODES -- COMMAND` is made of. Not for stages: those
// are detached jobs.
#include <functional>
#include <string>
#include <vector>

#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

struct Target {
  std::string node;
  inventory::SshAccess access;
};

struct FanOut {
  std::size_t width = 64;                // nodes at a time
  std::chrono::milliseconds patience{};  // for each node, from its connection to its end
  std::string input{};                   // standard input, for each node
  /// Called with each whole line as it comes, without its end. May be empty. Must not block.
  std::function<void(std::string_view node, Stream stream, std::string_view line)> line{};
  std::size_t output_limit = 16u << 20;  // bytes kept of each node and stream; lines go on
};

struct NodeOutcome {
  std::string node;
  Result<CommandOutcome> outcome;
  std::string out{};
  std::string err{};
  bool cut = false;  // the output was longer than the limit
};

/// Runs `command` on all of them and returns the outcomes in their order. One node's failure stops
/// nobody. Cancelled: ends the command on every node; the nodes not yet begun are kCancelled.
Task<std::vector<NodeOutcome>> fan_out(std::vector<Target> targets, std::string command,
                                       FanOut options, inventory::KnownKeys& known);

}  // namespace cupel::ssh
