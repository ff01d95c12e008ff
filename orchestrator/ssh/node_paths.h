#pragma once
// Whether another user of a node could change what lies at a path there: asked of the node's
// stat(1), judged here.
#include <map>
#include <string>
#include <vector>

#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

struct PathLook {
  bool there = false;
  bool is_program = false;  // a file that its owner may run
  /// What is wrong with it or with a folder above it; empty: each of them belongs to root or to the
  /// login's user, and nobody else may write to it. A sticky folder of root's (/tmp) may be above:
  /// others cannot rename what is not theirs there. So may be a link of root's or our own (some
  /// systems keep /opt elsewhere): then the path without links is looked at as well.
  std::string why_unsafe{};
};

using PathLooks = std::map<std::string, PathLook, std::less<>>;  // by the path that was asked for

/// Of paths without "..", each no link itself; "/tmp/." may be one. One that is not absolute begins
/// at the login's home. As root where `sudo` says so. Errors: as Session::run(); kFailed where the
/// node does not say.
Task<Result<PathLooks>> look_at_paths(Session& session, std::vector<std::string> paths, bool sudo,
                                      Deadline deadline);

/// How the node's cupel-node is called: by its path in `folder`, where it is there; else by its
/// name, as an image that has it in PATH. The session keeps what was found. Errors: as
/// look_at_paths(); kFailed where another user could have changed it, or one of `beside` (which may
/// be missing).
Task<Result<std::string>> find_node_program(Session& session, std::string folder,
                                            std::vector<std::string> beside, bool sudo,
                                            Deadline deadline);

/// The same, but judged once for a connection: what is safe, only root or the login's own user can
/// make unsafe.
Task<Result<std::string>> known_node_program(Session& session, std::string folder, bool sudo,
                                             Deadline deadline);

}  // namespace cupel::ssh
