#pragma once
// A real QEMU as the managed system of a virtual BMC: its power is whether the process is there.
// What the BMC wants of the next boot is passed to its firmware as it is started, and a disc is
// fetched and put into its drive. Whether an operating system is up it does not know.
#include <optional>

#include "base/process.h"
#include "rehearsal/managed_system.h"
#include "tests/support/qemu/qemu_machine.h"
#include "tests/support/qemu/qemu_process.h"

namespace cupel::rehearsal {

class QemuSystem final : public ManagedSystem, private BoardSensors {
 public:
  /// Everything of it happens on one thread, in whose network namespace it runs.
  QemuSystem(asio::any_io_executor executor, const Clock& clock, Hardware hardware,
             QemuMachine machine = {});

  /// Nothing where it is off.
  std::optional<pid_t> pid() const;
  /// How often it was asked politely to go off; what runs in it may or may not heed that.
  int asked_to_shut_down() const { return asked_to_shut_down_; }
  void pull_cord();
  /// Called with what it writes on its serial port, whoever else listens there.
  std::function<void(std::string_view)> on_written = [](std::string_view) {};
  const QemuMachine& machine() const { return machine_; }

  asio::any_io_executor executor() const override { return executor_; }
  const Clock& clock() const override { return clock_; }
  const std::string& name() const override { return hardware_.node; }
  std::uint64_t seed() const override { return 1; }
  const Hardware& hardware() const override { return hardware_; }
  Hardware whole_hardware() const override { return hardware_; }
  std::span<const Fault> faults() const override { return {}; }
  SerialConsole* console() override { return &console_; }
  const BoardSensors& sensors() const override { return *this; }

  Power power() const override { return power_; }
  Power reported_power(VirtualTime) const override { return power_; }
  bool up() const override { return false; }
  bool mains() const override { return true; }
  bool press(Reset reset) override;
  void hang() override;
  void flash(const std::string& component, const std::string& version) override;
  const BootOverride& boot_override() const override { return boot_override_; }
  void set_boot_override(BootOverride requested) override { boot_override_ = std::move(requested); }
  bool locator() const override { return locator_; }
  void set_locator(bool on) override { locator_ = on; }
  const std::string& virtual_disc() const override { return virtual_disc_; }
  void set_virtual_disc(std::string url) override;
  void subscribe(Listener listener) override { listeners_.push_back(std::move(listener)); }

 private:
  class Wire final : public SerialConsole {
   public:
    explicit Wire(QemuSystem& system) : system_{system} {}
    void type(std::string_view keys) override;
    void send_break() override {}

   private:
    QemuSystem& system_;
  };

  // Nobody measures a process.
  double node_watts() const override { return 0; }
  double psu_watts(const std::string&) const override { return 0; }
  bool psu_has_input(const std::string&) const override { return true; }
  double inlet_celsius() const override { return 25; }
  double cpu_celsius(int) const override { return 25; }
  double gpu_celsius(int) const override { return 25; }
  double fan_rpm(int) const override { return 0; }
  double fan_percent() const override { return 0; }

  void tell(Event event);
  void set_power(Power power);
  void turn_on();
  void turn_off();
  void ended();
  void heard(const std::string& event);
  void wrote(std::string_view text);
  BootOverride boot_of_this_time();
  void fetch_disc(int change);
  void fetched_disc(const Result<ProcessOutcome>& ran, const std::filesystem::path& file);
  void change_disc(std::filesystem::path file);

  asio::any_io_executor executor_;
  const Clock& clock_;
  Hardware hardware_;
  Wire console_;
  std::vector<Listener> listeners_{};
  std::unique_ptr<QemuProcess> process_{};
  Power power_ = Power::off;
  bool on_again_ = false;
  int asked_to_shut_down_ = 0;
  BootOverride boot_override_{};
  std::string boot_order_{};  // that it was started with
  bool locator_ = false;
  QemuMachine machine_;
  std::string virtual_disc_{};
  std::filesystem::path disc_{};  // that lies in the drive
  int disc_changes_ = 0;
  bool fetching_ = false;  // who is turned on meanwhile starts with the disc in it
  std::shared_ptr<bool> here_ = std::make_shared<bool>();  // for what completes after it
};

}  // namespace cupel::rehearsal
