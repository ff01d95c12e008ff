#pragma once
// Which process is the controller of a state folder: the one that drives all of its runs. A lock of
// the kernel, so that it is gone when the process is, however it died; a file that was left behind
// holds nobody up.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "orchestrator/engine/event.h"

namespace cupel::store {

/// This machine's name, as it calls itself; "?" where it has none.
std::string own_host();

class ControllerLock {
 public:
  struct Holder {
    int pid = 0;         // 0: it has yet to say
    std::string host{};  // where it runs; the folder may be shared
    engine::WallTime since{};
  };

  /// Held until the object is gone. Errors: kConflict, naming the process, its host and since when,
  /// and what to do; kStorage.
  static Result<ControllerLock> take(const std::filesystem::path& state);

  /// The living controller, or nothing. Asking never stands in the way of one that takes the lock.
  static std::optional<Holder> holder(const std::filesystem::path& state);

  ControllerLock(ControllerLock&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  ControllerLock& operator=(ControllerLock&&) = delete;
  ~ControllerLock();

 private:
  explicit ControllerLock(int fd) : fd_{fd} {}
  int fd_;
};

}  // namespace cupel::store
