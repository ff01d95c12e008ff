#pragma once
// Which process is executing a run. A lock of the kernel (flock), so that it is gone when the
// process is, however it died.
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "orchestrator/engine/event.h"

namespace cupel::store {

class RunLock {
 public:
  /// Errors: kConflict, naming the process that executes the run; kStorage.
  static Result<RunLock> take(const std::filesystem::path& state, engine::RunId run);

  /// The process that executes the run now, or nothing.
  static std::optional<int> holder(const std::filesystem::path& state, engine::RunId run);

  RunLock(RunLock&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  RunLock& operator=(RunLock&&) = delete;
  ~RunLock();

 private:
  explicit RunLock(int fd) : fd_{fd} {}
  int fd_;
};

}  // namespace cupel::store
