#pragma once
// What a node says that it was installed from, looked at over SSH.
#include <optional>

#include "orchestrator/ssh/ssh.h"

namespace cupel::os {

/// The file of a RAM system that the small one goes on in, and the image that this one says it is
/// (burnin/ram/parts/large_root.sh).
inline constexpr std::string_view kLargeRoot = "root.squashfs";

struct Installed {
  std::string image{}, sha256{};  // empty: it was not installed by Cupel
  std::string host_name{};
};

/// One look. Errors: as ssh::run_script().
Task<Result<Installed>> look_at_installed(ssh::Session& session, bool sudo, Deadline deadline);

/// Of the look's output. Pure.
Installed read_installed(std::string_view output);

}  // namespace cupel::os
