#pragma once
// Records the serial consoles of many nodes for as long as a run lasts. A bystander: whatever goes
// wrong here costs a recording, and never a step, a verdict or a second of the run.
#include <functional>
#include <memory>

#include "bmc/bmc.h"
#include "inventory/fwd.h"
#include "orchestrator/console/bounded_log.h"

namespace cupel::console {

struct Pauses {
  std::chrono::milliseconds first{2000};
  std::chrono::milliseconds longest{300'000};
};

struct Recording {
  std::vector<const inventory::Node*> nodes{};  // those whose inventory allows no IPMI are left out
  std::function<std::unique_ptr<bmc::Bmc>(const inventory::Node&)> bmc;
  std::filesystem::path folder{};
  std::filesystem::path locks{};  // where people who use a console themselves say so
  LogLimits limits{};
  Pauses pauses{};
};

/// Keeps each console open; where one is lost, opens it again after a pause that doubles. Gives a
/// node up where its BMC has no console, or refuses us and nobody will change its password. Waits
/// while somebody holds the node's lock. Returns only when it was cancelled, with every console
/// closed.
Task<Result<void>> record_consoles(Recording recording);

/// One person's use of a node's console: held until destroyed, by the kernel where we die.
class ConsoleLock {
 public:
  /// Errors: kConflict where another process holds it; kStorage.
  static Result<ConsoleLock> take(const std::filesystem::path& locks, const std::string& node);
  /// Whether somebody holds it now.
  static bool held(const std::filesystem::path& locks, const std::string& node);
  ConsoleLock(ConsoleLock&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  ConsoleLock& operator=(ConsoleLock&&) = delete;
  ~ConsoleLock();

 private:
  explicit ConsoleLock(int fd) : fd_{fd} {}
  int fd_;
};

}  // namespace cupel::console
