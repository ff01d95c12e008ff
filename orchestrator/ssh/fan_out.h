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

/// A line of a node's output without its end, or a piece of a very long one.
struct LinePiece {
  std::string_view node;
  Stream stream;
  std::string_view text;
  bool goes_on = false;  // the line was too long: the next piece of this node and stream has more
};

struct FanOut {
  std::size_t width = 64;                     // nodes at a time
  std::chrono::milliseconds patience{};       // for each node, from its connection to its end
  std::chrono::milliseconds connect{20'000};  // of that at most, until it has let us in
  std::string input{};                        // standard input, for each node
  /// Called with each line as it comes. May be empty. While it blocks nothing is read from any
  /// node, so that whoever is slow to take it slows the nodes down and fills no memory.
  std::function<void(const LinePiece&)> line{};
  std::size_t output_limit = 16u << 20;  // bytes kept of each node and stream; lines go on
  std::size_t total_limit = 128u << 20;  // bytes kept of all nodes together
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
