#pragma once
// One virtual machine: its hardware, its power, its boots. State changes only by events in time;
// who wants to know of them subscribes. Everything of a machine lives on one loop. Not its BMC, not
// its operating system.
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/task.h"
#include "rehearsal/hardware.h"
#include "rehearsal/rack_spec.h"

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

class Machine {
 public:
  enum class Event {
    powered,    // the power state changed
    started,    // the firmware has begun with its self-test
    went_down,  // the operating system is gone, with everything that ran in it
    booted,     // the operating system is up
    refitted,   // the hardware changed
  };
  using Listener = std::function<void(Event)>;

  Machine(asio::any_io_executor executor, const Clock& clock, inventory::Profile profile,
          std::string name, std::uint64_t seed, BootTimes times, std::vector<Fault> faults);

  const std::string& name() const { return name_; }
  const Clock& clock() const { return clock_; }
  const inventory::Profile& profile() const { return profile_; }
  const BootTimes& times() const { return times_; }
  const Hardware& hardware() const { return hardware_; }
  std::span<const Fault> faults() const { return faults_; }
  /// A BMC's faults need no new hardware; parts come and go at once, as if hot-plugged.
  void set_faults(std::vector<Fault> faults);

  Power power() const { return power_; }
  /// What a BMC would say: the truth of a moment ago.
  Power reported_power() const { return reported_power(VirtualTime{0}); }
  /// As a BMC that is slower than the rack's: the truth of that long ago.
  Power reported_power(VirtualTime lag) const;
  bool up() const { return up_; }
  int boots() const { return boots_; }
  /// What the last boot was told to start from; "None" without an override.
  const std::string& booted_from() const { return booted_from_; }
  /// The image of that boot: the virtual disc's, or UefiHttp's URI; empty for anything else.
  const std::string& booted_image() const { return booted_image_; }
  /// Powered, and the operating system not up yet.
  bool in_post() const { return power_ == Power::on && !up_; }

  BootOverride boot_override{};
  bool locator = false;        // the light is on until somebody puts it out
  std::string virtual_disc{};  // URL of what lies in a virtual drive; empty: nothing

  /// The button. False where it makes no sense now (restart of a machine that is off).
  bool press(Reset reset);

  /// On, and nothing more happens until it was off.
  void hang();

  /// Listeners stay for the machine's life and are called on its loop.
  void subscribe(Listener listener) { listeners_.push_back(std::move(listener)); }

  /// No event happens after this.
  void stop() { timer_.cancel(); }

 private:
  void tell(Event event);
  void set_power(Power power);
  void go_down();
  void after(VirtualTime span, void (Machine::*next)());
  void turn_on();
  void start_post();
  void finish_boot();
  std::string image_of(const std::string& target) const;
  void cut_power();
  void finish_power_off();
  void turn_off_then_on();
  void restart_at_once();

  const Clock& clock_;
  inventory::Profile profile_;
  std::string name_;
  std::uint64_t seed_;
  BootTimes times_;
  std::vector<Fault> faults_;
  Hardware hardware_;
  asio::steady_timer timer_;
  std::uint64_t generation_ = 0;  // a timer that was overtaken does nothing
  std::vector<Listener> listeners_;
  Power power_ = Power::off;
  Power power_before_ = Power::off;
  VirtualTime power_changed_{-1e9};
  bool up_ = false;
  bool on_again_ = false;
  int boots_ = 0;
  std::string booted_from_ = "None";
  std::string booted_image_{};
};

}  // namespace cupel::rehearsal
