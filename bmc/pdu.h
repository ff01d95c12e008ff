#pragma once
// What a controller asks of a rack's PDU: its outlets, and to take the power off one for a moment.
// There is no verb that leaves an outlet off: whoever dies in between would leave it so.
#include <chrono>
#include <string>
#include <vector>

#include "base/task.h"
#include "bmc/bmc.h"

namespace cupel::bmc {

/// An outlet, or a group of them that is switched as one.
struct Outlet {
  std::string name;  // as it was asked for
  std::string source{};
  PowerState power = PowerState::unknown;
  /// For how long a cycle leaves it off; nothing: it cannot cycle, or does not tell.
  std::optional<std::chrono::seconds> off_for{};
  std::string target{};  // of the action; empty: it is not switched
};

class Pdu {
 public:
  virtual ~Pdu() = default;

  /// In the order of `names`, as they are now. Errors: kNotFound names those that there are.
  virtual Task<Result<std::vector<Outlet>>> outlets(std::vector<std::string> names,
                                                    Deadline deadline) = 0;
  /// It goes off, and on again by itself after `off_for`. Returns when the PDU has accepted it; is
  /// sent once. Errors: kUnsupported where it has no such action, or the PDU does not tell for how
  /// long it would be off.
  virtual Task<Result<void>> cycle(Outlet outlet, Deadline deadline) = 0;
  /// Ends the session, if there is one. Call it on every path; idempotent; works when cancelled.
  virtual Task<void> log_out() = 0;
};

}  // namespace cupel::bmc
