#pragma once
// IPMI's boot flags over the machine's one boot override, which Redfish sets too: each sees what
// the other has done. Source: IPMI 2.0, 28.12 and 28.13, table 28-14.
#include <array>
#include <optional>

#include "rehearsal/ipmi/session.h"
#include "rehearsal/managed_system.h"

namespace cupel::rehearsal::ipmi {

class BootFlags {
 public:
  using Flags = std::array<std::uint8_t, 5>;
  static constexpr std::chrono::seconds kValid{60};  // without a Chassis Control, of our time

  explicit BootFlags(ManagedSystem& machine) : machine_{machine} {}

  Flags flags(Moment now);
  /// False for a device that this machine does not have.
  bool set(const Flags& flags, Moment now);
  /// A Chassis Control came: the time runs anew.
  void restart_countdown(Moment now);
  /// Once is over when nothing was done about it in time; a firmware that has started has read it.
  void expire(Moment now, bool at_start);

  std::uint8_t keep_valid = 0;                     // parameter 3
  std::array<std::uint8_t, 2> acknowledged{0, 0};  // parameter 4: the bits that may be written
  std::uint8_t in_progress = 0;                    // parameter 0

 private:
  ManagedSystem& machine_;
  std::optional<Flags> reported_{};  // as they were set
  BootOverride made_{};              // what that made of the override
  std::optional<Moment> until_{};
};

}  // namespace cupel::rehearsal::ipmi
