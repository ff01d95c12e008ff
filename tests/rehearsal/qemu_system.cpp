#include "tests/rehearsal/qemu_system.h"

namespace cupel::rehearsal {

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

/// As -boot has it, and "Once" is over with it.
std::string QemuSystem::boot_order() {
  const bool told = boot_override_.enabled != "Disabled";
  const auto target = told ? boot_override_.target : "None";
  if (boot_override_.enabled == "Once") boot_override_ = {};
  if (target == "Pxe") return "n";
  return target == "Cd" ? "d" : "c";
}

void QemuSystem::turn_on() {
  set_power(Power::powering_on);
  process_ = std::make_unique<QemuProcess>(
      executor_, boot_order(),
      QemuProcess::Sourced{.runs =
                               [this] {
                                 set_power(Power::on);
                                 tell(Event::started);
                               },
                           .event =
                               [this](const std::string& event) {
                                 if (event == "RESET") tell(Event::started);
                                 if (event == "POWERDOWN") ++asked_to_shut_down_;
                               },
                           .wrote = [this](std::string_view text) { console_.wrote(text); },
                           .ended = [this] { ended(); }});
}

void QemuSystem::turn_off() {
  if (!process_ || power_ == Power::powering_off) return;
  set_power(Power::powering_off);
  process_->execute("quit");
}

void QemuSystem::ended() {
  process_.reset();
  set_power(Power::off);
  if (std::exchange(on_again_, false)) turn_on();
}

}  // namespace cupel::rehearsal
