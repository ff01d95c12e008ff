#include "tests/support/qemu/qemu_system.h"

#include "tests/support/qemu/efi_boot.h"

namespace cupel::rehearsal {
namespace {

constexpr std::chrono::seconds kFetch{120};

/// As -boot has it.
std::string boot_order(const QemuMachine& machine, const BootOverride& boot) {
  if (boot.enabled == "Disabled") return machine.network_first ? "nc" : "c";
  if (boot.target == "Pxe") return "n";
  return boot.target == "Cd" ? "d" : "c";
}

/// As the firmware does it that reads its BMC's word at each start.
Result<void> tell_firmware(const QemuMachine& machine, const BootOverride& boot) {
  if (machine.firmware == QemuMachine::Firmware::bios) return {};
  auto variables = read_variables(machine);
  if (!variables) return variables.error();
  choose_boot(*variables, boot);
  return write_variables(machine, *variables);
}

}  // namespace

QemuSystem::QemuSystem(asio::any_io_executor executor, const Clock& clock, Hardware hardware,
                       QemuMachine machine)
    : executor_{executor},
      clock_{clock},
      hardware_{std::move(hardware)},
      console_{*this},
      machine_{std::move(machine)} {
  if (!machine_.serial.empty()) hardware_.serial = machine_.serial;
  if (!machine_.uuid.empty()) hardware_.uuid = machine_.uuid;
}

std::optional<pid_t> QemuSystem::pid() const {
  return process_ ? std::optional{process_->pid()} : std::nullopt;
}

void QemuSystem::pull_cord() {
  if (process_) process_->kill();
}

void QemuSystem::Wire::type(std::string_view keys) {
  if (system_.process_) system_.process_->type(keys);
}

void QemuSystem::tell(Event event) {
  for (const auto& listener : listeners_) listener(event);
}

void QemuSystem::set_power(Power power) {
  if (power == power_) return;
  power_ = power;
  tell(Event::powered);
}

bool QemuSystem::press(Reset reset) {
  const bool running = power_ == Power::on;
  switch (reset) {
    case Reset::on:
      if (process_)
        on_again_ = power_ == Power::powering_off;
      else
        turn_on();
      return true;
    case Reset::force_off:
      on_again_ = false;
      turn_off();
      return true;
    case Reset::graceful_shutdown:
    case Reset::graceful_restart:
      if (!running) return reset == Reset::graceful_shutdown;
      on_again_ = reset == Reset::graceful_restart;
      process_->execute("system_powerdown");
      return true;
    case Reset::force_restart:
      if (!running) return false;
      process_->execute("system_reset");
      return true;
    case Reset::power_cycle:
      if (!running) return false;
      on_again_ = true;
      turn_off();
      return true;
  }
  return false;
}

void QemuSystem::hang() {
  if (process_) process_->execute("stop");
}

void QemuSystem::flash(const std::string& component, const std::string& version) {
  set_version(hardware_, component, version);
  tell(Event::refitted);
}

/// "Once" is over with it.
BootOverride QemuSystem::boot_of_this_time() {
  const auto boot = boot_override_;
  if (boot.enabled == "Once") boot_override_ = {};
  return boot;
}

void QemuSystem::turn_on() {
  set_power(Power::powering_on);
  if (fetching_) return;
  const auto boot = boot_of_this_time();
  const auto made = make_files(machine_);
  const auto reported = made ? tell_firmware(machine_, boot) : made;
  if (!reported) wrote("\n" + reported.error().what + "\n");
  boot_order_ = boot_order(machine_, boot);
  process_ = std::make_unique<QemuProcess>(
      executor_, command_line(machine_, boot_order_, disc_),
      QemuProcess::Sourced{.runs =
                               [this] {
                                 set_power(Power::on);
                                 tell(Event::started);
                               },
                           .event = [this](const std::string& event) { heard(event); },
                           .wrote = [this](std::string_view text) { wrote(text); },
                           .ended = [this] { ended(); }});
}

/// The firmware reads what it is to boot at each start. A running QEMU keeps its variables in
/// memory, and the order of a BIOS: where the next boot is another, it starts anew.
void QemuSystem::heard(const std::string& event) {
  if (event == "POWERDOWN") ++asked_to_shut_down_;
  if (event.starts_with("refused: ")) wrote("\nQEMU " + event + "\n");
  if (event != "RESET") return;
  const bool other = machine_.firmware == QemuMachine::Firmware::bios
                         ? boot_order(machine_, boot_override_) != boot_order_
                         : boot_override_.enabled != "Disabled";
  if (other && power_ == Power::on)
    press(Reset::power_cycle);
  else
    tell(Event::started);
}

void QemuSystem::wrote(std::string_view text) {
  on_written(text);
  console_.wrote(text);
}

void QemuSystem::turn_off() {
  if (!process_ && power_ == Power::powering_on) set_power(Power::off);
  if (!process_ || power_ == Power::powering_off) return;
  set_power(Power::powering_off);
  process_->execute("quit");
}

void QemuSystem::ended() {
  process_.reset();
  set_power(Power::off);
  if (std::exchange(on_again_, false)) turn_on();
}

void QemuSystem::set_virtual_disc(std::string url) {
  if (url == virtual_disc_) return;
  virtual_disc_ = std::move(url);
  const auto change = ++disc_changes_;
  if (virtual_disc_.empty()) {
    fetching_ = false;
    change_disc({});
    return;
  }
  fetching_ = true;
  fetch_disc(change);
}

void QemuSystem::fetch_disc(int change) {
  const auto file = machine_.folder / ("disc-" + std::to_string(change));
  ProcessRequest request{
      .argv = {"curl", "-q", "-sS", "-f", "-k", "-o", file.string(), virtual_disc_}};
  auto ran = std::make_shared<std::optional<Result<ProcessOutcome>>>();
  auto work = run_process(std::move(request), Deadline::in(kFetch));
  asio::co_spawn(executor_, detail::run_into(*ran, std::move(work)),
                 [this, here = std::weak_ptr{here_}, ran, file, change](const std::exception_ptr&) {
                   if (here.expired() || change != disc_changes_ || !*ran) return;
                   fetched_disc(**ran, file);
                 });
}

void QemuSystem::fetched_disc(const Result<ProcessOutcome>& ran,
                              const std::filesystem::path& file) {
  fetching_ = false;
  const bool fetched = ran && ran->exit_status == 0;
  if (!fetched) wrote("\nThe disc could not be fetched: " + (ran ? ran->error : ran.error().what));
  change_disc(fetched ? file : std::filesystem::path{});
  if (power_ == Power::powering_on && !process_) turn_on();
}

void QemuSystem::change_disc(std::filesystem::path file) {
  disc_ = std::move(file);
  if (!process_) return;
  if (disc_.empty())
    process_->execute("eject", {{"id", "drive"}, {"force", true}});
  else
    process_->execute("blockdev-change-medium", {{"id", "drive"},
                                                 {"filename", disc_.string()},
                                                 {"format", "raw"},
                                                 {"read-only-mode", "read-only"}});
}

}  // namespace cupel::rehearsal
