#pragma once
// How the first boot of an installed system ended, as its cloud-init says it over SSH: packages,
// users, files and scripts of the site's user data.
// Source: cloud-init 22.4, "status", /run/cloud-init/result.json.
#include <vector>

#include "orchestrator/ssh/ssh.h"

namespace cupel::os {

struct FirstBoot {
  enum class How {
    pending,  // it says nothing yet: to be asked again
    good,
    failed,  // with errors that cloud-init reports
    unknown  // it has no cloud-init, or that is disabled: nothing will be known
  } how = How::pending;
  std::string failure{};     // "scripts-user: Runparts: 1 failures (runcmd)"; why it is not known
  std::string last_lines{};  // of what its scripts printed, with line ends

  /// The failure and the last lines in one line for people, without what is secret.
  std::string text(const std::vector<std::string>& secrets) const;
};

/// Once cloud-init has ended, however long that takes; pending where the wait was killed or there
/// is no result. A system whose cloud-init reports errors does not say any more that it was
/// installed (kInstalledFile of seed.h). Errors: as ssh::run_script().
Task<Result<FirstBoot>> wait_for_first_boot(ssh::Session& session, bool sudo, Deadline deadline);

/// Of what the wait printed. Pure.
FirstBoot read_first_boot(std::string_view output);

}  // namespace cupel::os
