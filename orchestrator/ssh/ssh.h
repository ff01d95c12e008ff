#pragma once
// What the controller asks of a node's SSH server. The engine sees this interface; libssh is behind
// it, and a fake one stands here in tests.
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/task.h"
#include "inventory/access.h"
#include "inventory/trust.h"

namespace cupel::ssh {

enum class Stream { out, err };

/// Called for each piece as it comes, in order. Must not block.
using Sink = std::function<void(Stream, std::string_view)>;

struct CommandOutcome {
  int exit_status = 0;        // as the shell says it
  std::string exit_signal{};  // "KILL"; empty: it exited by itself
};

/// How a node's cupel-node is called, as find_node_program() of node_paths.h judged it.
struct JudgedProgram {
  std::string folder{};  // where it was looked for
  bool sudo = false;
  std::string call{};  // its path or its name; empty: not judged, or it has gone since
};

/// One authenticated connection to one node. Not for two commands at the same time.
class Session {
 public:
  virtual ~Session() = default;

  /// For all that is asked over this connection: a look at each of them would double the load.
  JudgedProgram node_program{};

  /// Runs one command line in the user's login shell, and ends with it. At the deadline, or
  /// cancelled, the remote process is signalled (TERM, then KILL) and the channel closed: nothing
  /// is left running. Errors: kTimeout, kCancelled, kUnreachable (connection lost: what the command
  /// did is unknown).
  virtual Task<Result<CommandOutcome>> run(std::string command, std::string input, Sink sink,
                                           Deadline deadline) = 0;
};

/// Connects, checks the host key against `access.trust` (pin on first use: `known`, by "ssh:" +
/// node name), logs in by key. One try. Errors: kUnreachable, kTimeout, kUntrusted (says both
/// fingerprints and the command that accepts the new one), kRefused (key not accepted).
Task<Result<std::unique_ptr<Session>>> connect(std::string node, inventory::SshAccess access,
                                               inventory::KnownKeys& known, Deadline deadline);

/// The fingerprint of the host key that answers there now, as OpenSSH prints it. Verifies nothing
/// and logs in nowhere. Errors: kUnreachable, kTimeout, kUnsupported.
Task<Result<std::string>> presented_host_key(inventory::Endpoint endpoint, Deadline deadline);

}  // namespace cupel::ssh
