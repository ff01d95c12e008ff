#include "rehearsal/machine.h"

namespace cupel::rehearsal {

std::string_view to_string(Power power) {
  switch (power) {
    case Power::off:
      return "Off";
    case Power::powering_on:
      return "PoweringOn";
    case Power::on:
      return "On";
    case Power::powering_off:
      return "PoweringOff";
  }
  return "Off";
}

Machine::Machine(asio::any_io_executor executor, const Clock& clock, inventory::Profile profile,
                 std::string name, std::uint64_t seed, BootTimes times, std::vector<Fault> faults)
    : clock_{clock},
      profile_{std::move(profile)},
      name_{std::move(name)},
      seed_{seed},
      times_{times},
      faults_{std::move(faults)},
      hardware_{make_hardware(profile_, name_, seed_, faults_)},
      timer_{executor} {}

void Machine::set_faults(std::vector<Fault> faults) {
  faults_ = std::move(faults);
  hardware_ = make_hardware(profile_, name_, seed_, faults_);
  tell(Event::refitted);
}

Power Machine::reported_power(VirtualTime lag) const {
  const bool fresh = clock_.elapsed() - power_changed_ < std::max(lag, times_.report_lag);
  return fresh ? power_before_ : power_;
}

void Machine::tell(Event event) {
  for (const auto& listener : listeners_) listener(event);
}

void Machine::set_power(Power power) {
  if (power == power_) return;
  power_before_ = power_;
  power_ = power;
  power_changed_ = clock_.elapsed();
  tell(Event::powered);
}

void Machine::go_down() {
  if (!up_) return;
  up_ = false;
  tell(Event::went_down);
}

void Machine::after(VirtualTime span, void (Machine::*next)()) {
  const auto mine = ++generation_;
  timer_.expires_after(clock_.real(span));
  timer_.async_wait([this, mine, next](boost::system::error_code stopped) {
    if (stopped || mine != generation_) return;
    (this->*next)();
  });
}

bool Machine::press(Reset reset) {
  const bool running = power_ == Power::on;
  switch (reset) {
    case Reset::on:
      if (running || power_ == Power::powering_on) return true;
      if (power_ == Power::powering_off) {
        on_again_ = true;
        return true;
      }
      turn_on();
      return true;
    case Reset::force_off:
      on_again_ = false;
      if (power_ != Power::off) cut_power();
      return true;
    case Reset::graceful_shutdown:
      on_again_ = false;
      if (running) after(up_ ? times_.shutdown : VirtualTime{0}, &Machine::cut_power);
      return true;
    case Reset::power_cycle:
      if (!running) return false;
      turn_off_then_on();
      return true;
    case Reset::force_restart:
      if (!running) return false;
      restart_at_once();
      return true;
    case Reset::graceful_restart:
      if (!running) return false;
      after(up_ ? times_.shutdown : VirtualTime{0}, &Machine::restart_at_once);
      return true;
  }
  return false;
}

void Machine::turn_on() {
  on_again_ = false;
  set_power(Power::powering_on);
  after(times_.power_on, &Machine::start_post);
}

void Machine::start_post() {
  set_power(Power::on);
  tell(Event::started);
  if (find_fault(faults_, FaultKind::boot_hangs)) return;
  after(times_.post, &Machine::finish_boot);
}

void Machine::finish_boot() {
  // DSP0266: "Once" is over as soon as the boot has used it.
  booted_from_ = boot_override.enabled == "Disabled" ? "None" : boot_override.target;
  booted_image_ = image_of(booted_from_);
  if (boot_override.enabled == "Once") boot_override = {};
  ++boots_;
  up_ = true;
  tell(Event::booted);
}

std::string Machine::image_of(const std::string& target) const {
  if (target == "Cd" || target == "UsbCd") return virtual_disc;
  return target == "UefiHttp" ? boot_override.uri : std::string{};
}

void Machine::hang() {
  if (power_ != Power::on) return;
  ++generation_;
  timer_.cancel();
  go_down();
}

void Machine::cut_power() {
  go_down();
  set_power(Power::powering_off);
  after(times_.power_off, &Machine::finish_power_off);
}

void Machine::finish_power_off() {
  set_power(Power::off);
  if (on_again_) turn_on();
}

void Machine::turn_off_then_on() {
  on_again_ = true;
  cut_power();
}

void Machine::restart_at_once() {
  go_down();
  start_post();
}

}  // namespace cupel::rehearsal
