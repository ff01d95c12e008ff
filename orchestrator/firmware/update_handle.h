#pragma once
// What the journal keeps of an update that was begun, so that a controller which comes after a
// crash finds it again, and never pushes a second time what the BMC may still be at work with.
#include <chrono>
#include <cstdint>

#include "bmc/update.h"

namespace cupel::firmware {

struct UpdateHandle {
  enum class Phase {
    pushing,   // written before the first byte leaves: the BMC may have all of it, or nothing
    writing,   // the BMC took it; `ticket` names its work
    starting,  // verified, and told to install it: whether it heard that is open
    resetting  // written; `resets_done` of those that follow were done
  } phase = Phase::pushing;
  std::string component{};
  std::string version{};  // that the image brings
  std::string sha256{};
  std::size_t targets = 0;  // entries of the inventory that must show the version
  bmc::UpdateTicket ticket{};
  std::size_t resets_done = 0;
  std::chrono::sys_seconds pushed{};
  std::string boot_id{};  // of the node that writes it by `ticket.task`; empty: its BMC does
};

std::string to_text(const UpdateHandle& handle);
/// Errors: kMalformed, of another Cupel's.
Result<UpdateHandle> update_handle_of(std::string_view text);

}  // namespace cupel::firmware
