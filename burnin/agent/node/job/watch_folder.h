#pragma once
// Waits for something to change about a job: by inotify(7) and the supervisor's pidfd, not by
// looking again and again.
#include <chrono>
#include <string>

#include "burnin/agent/common/descriptor.h"

namespace cupel::agent {

class FolderWatch {
 public:
  /// From here on nothing is missed; a folder that is not there yet is waited for in vain.
  explicit FolderWatch(const std::string& folder);

  /// Until something in the folder changes, that process ends (0: none), whoever reads our standard
  /// output has gone, or the time is over. False where nobody reads any more.
  bool wait(pid_t keeper, std::chrono::milliseconds patience);

  /// The same, whatever changes in the folder meanwhile.
  bool wait_for_end(pid_t keeper, std::chrono::milliseconds patience);

 private:
  bool poll(pid_t keeper, int changes, std::chrono::milliseconds patience);

  Descriptor changes_{};
};

}  // namespace cupel::agent
