#pragma once
// The managed system of a virtual BMC: the machine behind it, as far as a BMC sees and touches it.
// bmc/ and ipmi/ know nothing else of it. The simulated one is machine.h; anything that can be
// switched on and off, a QEMU for one, can be another. Not the BMC; of the operating system only
// whether it is up. Everything of a machine happens on one loop.
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <span>
#include <string>

#include "base/task.h"
#include "rehearsal/board_sensors.h"
#include "rehearsal/clock.h"
#include "rehearsal/hardware.h"
#include "rehearsal/serial_console.h"

namespace cupel::rehearsal {

enum class Power { off, powering_on, on, powering_off };
std::string_view to_string(Power power);

enum class Reset { on, force_off, graceful_shutdown, force_restart, graceful_restart, power_cycle };

struct BootOverride {
  std::string enabled = "Disabled";  // Disabled, Once, Continuous
  std::string target = "None";
  std::string mode = "UEFI";
  std::string uri{};  // of UefiHttp
  friend bool operator==(const BootOverride&, const BootOverride&) = default;
};

class ManagedSystem {
 public:
  enum class Event {
    powered,         // the power state changed
    started,         // the firmware has begun with its self-test
    went_down,       // the operating system is gone, with everything that ran in it
    booted,          // the operating system is up
    panicked,        // its kernel gave up; the machine stays on
    refitted,        // the hardware changed
    no_boot_device,  // the firmware found nothing to start from
  };
  using Listener = std::function<void(Event)>;

  virtual ~ManagedSystem() = default;

  virtual asio::any_io_executor executor() const = 0;
  virtual const Clock& clock() const = 0;
  virtual const std::string& name() const = 0;
  /// Of whatever is drawn for it, each purpose apart.
  virtual std::uint64_t seed() const = 0;
  virtual const Hardware& hardware() const = 0;
  /// With every part in its place, so that an empty bay is known too.
  virtual Hardware whole_hardware() const = 0;
  /// Those that are there now, its BMC's among them. Changes are reported as `refitted`.
  virtual std::span<const Fault> faults() const = 0;
  /// nullptr: it has no serial port. Lives as long as the machine.
  virtual SerialConsole* console() = 0;
  virtual const BoardSensors& sensors() const = 0;

  virtual Power power() const = 0;
  /// As a BMC says that hears of it so long after.
  virtual Power reported_power(VirtualTime lag) const = 0;
  Power reported_power() const { return reported_power(VirtualTime{0}); }
  /// Its operating system is there.
  virtual bool up() const = 0;
  /// Powered, and the operating system not up yet.
  bool in_post() const { return power() == Power::on && !up(); }
  /// It is plugged into something that is live. Without, nothing of it works, its BMC neither.
  virtual bool mains() const = 0;

  /// The button. False where it makes no sense now (restart of a machine that is off). What comes
  /// of it is reported as events.
  virtual bool press(Reset reset) = 0;
  /// On, and nothing more happens until it was off.
  virtual void hang() = 0;
  /// That component runs that version from now on.
  virtual void flash(const std::string& component, const std::string& version) = 0;
  /// That is wrong with it from now on, until somebody repairs it. A machine that is not simulated
  /// does not break.
  virtual void break_down(FaultKind kind) { (void)kind; }

  virtual const BootOverride& boot_override() const = 0;
  virtual void set_boot_override(BootOverride requested) = 0;
  /// The light is on until somebody puts it out.
  virtual bool locator() const = 0;
  virtual void set_locator(bool on) = 0;
  /// URL of what lies in the virtual drive that it boots from; empty: nothing.
  virtual const std::string& virtual_disc() const = 0;
  virtual void set_virtual_disc(std::string url) = 0;

  /// Listeners stay for the machine's life and are called on its loop.
  virtual void subscribe(Listener listener) = 0;
};

}  // namespace cupel::rehearsal
