#pragma once
// A file of the controller's on its way to a node, into a folder that nobody else there can write
// to.
#include <string>

#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

struct FileToBring {
  std::string folder;  // on the node; made where it is missing
  std::string name;    // in it
  std::string sha256;
  const std::string& bytes;
};

/// The file is there whole, with mode 0755, or not at all; the node's own sha256sum agrees.
/// Idempotent. Errors: as Session::run(); kUnreachable where what arrived is not what was sent;
/// kFailed where the folder cannot be written, or another user of the node could touch it.
Task<Result<void>> bring_file(Session& session, FileToBring file, bool sudo, Deadline deadline);

/// Refuses where another user could have put something into the folder; for scripts behind
/// safe_path_functions(). `quoted`: for a shell.
std::string check_folder(const std::string& quoted);

}  // namespace cupel::ssh
