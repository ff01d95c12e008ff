#pragma once
// A real QEMU as the managed system of a virtual BMC: its power is whether the process is there.
// It has no disk, so that its firmware runs and no operating system ever does.
#include <optional>

#include "rehearsal/managed_system.h"
#include "tests/rehearsal/qemu_process.h"

namespace cupel::rehearsal {

class QemuSystem final : public ManagedSystem, private BoardSensors {
 public:
  QemuSystem(asio::any_io_executor executor, const Clock& clock, Hardware hardware)
      : executor_{executor}, clock_{clock}, hardware_{std::move(hardware)}, console_{*this} {}

  /// Nothing where it is off.
  std::optional<pid_t> pid() const;
  /// How often it was asked politely to go off; what runs in it may or may not heed that.
  int asked_to_shut_down() const { return asked_to_shut_down_; }
  void pull_cord();

  asio::any_io_executor executor() const override { return executor_; }
  const Clock& clock() const override { return clock_; }
  const std::string& name() const override { return hardware_.node; }
  std::uint64_t seed() const override { return 1; }
  const std::string& bmc_mac() const override { return kNone; }
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
  void set_boot_override(BootOverride wanted) override { boot_override_ = std::move(wanted); }
  bool locator() const override { return locator_; }
  void set_locator(bool on) override { locator_ = on; }
  const std::string& virtual_disc() const override { return virtual_disc_; }
  void set_virtual_disc(std::string url) override { virtual_disc_ = std::move(url); }
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
  std::string boot_order();

  static inline const std::string kNone{};
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
  bool locator_ = false;
  std::string virtual_disc_{};
};

}  // namespace cupel::rehearsal
