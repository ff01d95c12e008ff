#pragma once
// One simulated machine: its hardware, its power, its boots. State changes only by events in time;
// who wants to know of them subscribes. Everything of a machine lives on one loop. Not its BMC,
// which sees no more of it than managed_system.h, not its operating system.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inventory/fwd.h"
#include "rehearsal/console.h"
#include "rehearsal/drive_erase.h"
#include "rehearsal/managed_system.h"
#include "rehearsal/node_spec.h"
#include "rehearsal/physics/fabric.h"
#include "rehearsal/physics/machine_physics.h"
#include "rehearsal/rack_timer.h"

namespace cupel::rehearsal {

class Machine : public ManagedSystem {
 public:
  /// Many machines of one kind share their profile.
  using ProfilePtr = std::shared_ptr<const inventory::Profile>;

  Machine(asio::any_io_executor executor, const Clock& clock, ProfilePtr profile, std::string name,
          std::uint64_t seed, BootTimes times, std::vector<Fault> faults, Identity identity = {},
          SpreadShape spread = SpreadShape::normal);
  Machine(asio::any_io_executor executor, const Clock& clock, inventory::Profile profile,
          std::string name, std::uint64_t seed, BootTimes times, std::vector<Fault> faults);

  const std::string& name() const override { return name_; }
  /// What its operating system calls itself.
  std::string host_name() const;
  /// Of the site that it stands in; empty: it stands alone.
  const std::string& rack() const { return rack_; }
  void stand_in(std::string rack) { rack_ = std::move(rack); }
  std::uint64_t seed() const override { return seed_; }
  /// How its healthy parts differ from those of others.
  SpreadShape spread() const { return spread_; }
  const Clock& clock() const override { return clock_; }
  const inventory::Profile& profile() const { return *profile_; }
  const BootTimes& times() const { return times_; }
  const Hardware& hardware() const override { return hardware_; }
  Hardware whole_hardware() const override { return make_hardware(*profile_, name_, 0, {}); }
  asio::any_io_executor executor() const override { return executor_; }
  std::span<const Fault> faults() const override { return faults_; }
  /// Also those that come and go (Timing).
  std::span<const Fault> planted() const { return planted_; }
  MachinePhysics& physics() { return *physics_; }
  const MachinePhysics& physics() const { return *physics_; }
  const BoardSensors& sensors() const override { return *physics_; }
  /// Writes only from when somebody first asks for it: most machines have no listener.
  SerialConsole* console() override;
  /// The rack's fabric; of a machine that stands alone, one with no other node on it.
  Fabric& fabric() { return *fabric_; }
  const Fabric& fabric() const { return *fabric_; }
  void join(std::shared_ptr<Fabric> fabric);
  /// A BMC's faults need no new hardware; parts come and go at once, as if hot-plugged.
  void set_faults(std::vector<Fault> faults);
  /// A person puts two parts into each other's place (hardware.h). Faults stay with their places:
  /// one that is the part's own is planted anew.
  void exchange(const std::string& one, const std::string& other);
  /// Whatever profile and faults said before.
  void flash(const std::string& component, const std::string& version) override;
  void break_down(FaultKind kind) override;
  /// What a tool on the host has written into a part runs from the machine's next start on, or
  /// from when somebody resets that part.
  void stage_firmware(const std::string& component, const std::string& version) {
    staged_[component] = version;
  }
  const std::map<std::string, std::string>& staged_firmware() const { return staged_; }
  void load_staged_firmware(const std::string& component);
  /// Images that were handed to a part and not yet written: by part, the version.
  std::map<std::string, std::string>& downloaded_firmware() { return downloaded_; }

  /// What each drive's erase of itself has come to, by its serial number.
  std::map<std::string, DriveErase>& drive_erases() { return drive_erases_; }

  Power power() const override { return power_; }
  using ManagedSystem::reported_power;
  /// A moment behind also where `lag` is less: the rack's BootTimes::report_lag.
  Power reported_power(VirtualTime lag) const override;
  bool up() const override { return up_; }
  bool mains() const override { return mains_; }
  void set_mains(bool live);
  /// Whose firmware it is: a row of rehearsal/bmc/vendor_behavior.h. Says how long its self-test
  /// takes.
  void built_by(std::string vendor) { vendor_ = std::move(vendor); }
  int boots() const { return boots_; }
  /// What the last boot was to start from; "None" without an override.
  const std::string& booted_from() const { return booted_from_; }
  /// The image of that boot: the virtual disc's, or UefiHttp's URI; empty for anything else.
  const std::string& booted_image() const { return booted_image_; }
  /// Its disks are empty: it starts from an image alone, until a system is installed.
  void empty_disks() { has_system_ = find_fault(faults_, FaultKind::old_system_first) != nullptr; }
  /// `name`: what that calls itself.
  void install_system(std::string name) {
    has_system_ = true;
    system_name_ = std::move(name);
  }
  /// Asked where a boot has an image. True: whoever says so boots it, and says when it is up.
  std::function<bool(const std::string& image)> boots_image{};
  void come_up_from_image() {
    up_from_image_ = true;
    come_up();
  }
  /// What is up, or was up last, is not the system of its disk.
  bool up_from_image() const { return up_from_image_; }
  /// The firmware does not start the image after all, and looks at its disks.
  void refuse_image();
  /// Onto its serial console, where somebody listens to it.
  void print(std::string_view line);
  const BootOverride& boot_override() const override { return boot_override_; }
  void set_boot_override(BootOverride requested) override { boot_override_ = std::move(requested); }
  bool locator() const override { return locator_; }
  void set_locator(bool on) override { locator_ = on; }
  const std::string& virtual_disc() const override { return virtual_disc_; }
  void set_virtual_disc(std::string url) override { virtual_disc_ = std::move(url); }

  bool press(Reset reset) override;
  void hang() override;
  void subscribe(Listener listener) override { listeners_.push_back(std::move(listener)); }

  /// No event happens after this.
  void stop() {
    timer_.cancel();
    fault_timer_.cancel();
    if (console_) console_->stop();
  }

 private:
  void fit();
  void show_around();
  void tell(Event event);
  void refit();
  std::vector<Fault> faults_now() const;
  void look_at_faults();
  void wait_for_faults();
  void set_power(Power power);
  void go_down();
  void after(VirtualTime span, void (Machine::*next)());
  void turn_on();
  void load_all_staged();
  void start_post();
  void finish_boot();
  void choose_boot();
  void boot_from_disk();
  void come_up();
  void panic();
  void maybe_panic(Work work);
  void maybe_restart(Work work);
  void restart_by_itself();
  std::string image_of(const std::string& target) const;
  void cut_power();
  void finish_power_off();
  void turn_off_then_on();
  void restart_at_once();

  asio::any_io_executor executor_;
  const Clock& clock_;
  ProfilePtr profile_;
  std::string name_;
  std::uint64_t seed_;
  SpreadShape spread_;
  BootTimes times_;
  std::map<std::string, std::string> flashed_;                  // component: version
  std::vector<std::pair<std::string, std::string>> exchanged_;  // in their order
  std::map<std::string, std::string> staged_;                   // the same, that does not run yet
  std::map<std::string, std::string> downloaded_;
  std::map<std::string, DriveErase> drive_erases_{};
  std::vector<Fault> planted_;
  std::vector<Fault> faults_;  // of the planted ones, those that are there now
  Identity identity_;
  Hardware hardware_;
  std::string vendor_{};
  std::string rack_{};
  BootOverride boot_override_{};
  bool locator_ = false;
  std::string virtual_disc_{};
  std::unique_ptr<Console> console_;
  RackTimer timer_;  // of whatever happens next, and only of that
  RackTimer fault_timer_;
  std::vector<Listener> listeners_;
  std::unique_ptr<MachinePhysics> physics_;
  std::shared_ptr<Fabric> fabric_;
  Power power_ = Power::off;
  Power power_before_ = Power::off;
  VirtualTime power_changed_{-1e9};
  bool up_ = false;
  bool up_from_image_ = false;
  bool has_system_ = true;
  std::string system_name_{};  // empty: the node's
  bool on_again_ = false;
  bool mains_ = true;
  bool has_restarted_ = false;  // by itself
  int boots_ = 0;
  int posts_ = 0;
  std::string booted_from_ = "None";
  std::string booted_image_{};
};

/// The machine's serial number as its operating system reads it, in the SMBIOS tables.
std::string smbios_serial(const Machine& machine);

}  // namespace cupel::rehearsal
