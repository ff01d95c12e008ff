#include "rehearsal/machine.h"

#include "inventory/profile.h"
#include "rehearsal/physics/boot_pace.h"

namespace cupel::rehearsal {

Machine::Machine(asio::any_io_executor executor, const Clock& clock, ProfilePtr profile,
                 std::string name, std::uint64_t seed, BootTimes times, std::vector<Fault> faults,
                 Identity identity, SpreadShape spread)
    : executor_{executor},
      clock_{clock},
      profile_{std::move(profile)},
      name_{std::move(name)},
      seed_{seed},
      spread_{spread},
      times_{times},
      planted_{std::move(faults)},
      faults_{faults_now()},
      identity_{std::move(identity)},
      timer_{executor, clock},
      fault_timer_{executor, clock} {
  fit();
  physics_ = std::make_unique<MachinePhysics>(*this);
  fabric_ =
      std::make_shared<Fabric>(FabricPlan{.nodes = {fabric_node(hardware_, *profile_)}}, seed_);
  physics_->on_begin = [this](Work work) {
    maybe_panic(work);
    maybe_restart(work);
  };
  subscribe([this](Event) { show_around(); });
  show_around();
  wait_for_faults();
}

Machine::Machine(asio::any_io_executor executor, const Clock& clock, inventory::Profile profile,
                 std::string name, std::uint64_t seed, BootTimes times, std::vector<Fault> faults)
    : Machine{
          executor,         clock, std::make_shared<const inventory::Profile>(std::move(profile)),
          std::move(name),  seed,  times,
          std::move(faults)} {}

std::string Machine::host_name() const {
  const auto* renamed = find_fault(faults_, FaultKind::node_renamed);
  if (renamed != nullptr) return renamed->other;
  return system_name_.empty() ? name_ : system_name_;
}

/// What is drawn, and what somebody has written on the box: unless the box is the neighbour's.
void Machine::fit() {
  hardware_ = make_hardware(*profile_, name_, seed_, faults_);
  const bool swapped = find_fault(faults_, FaultKind::node_swapped) != nullptr;
  if (!swapped && !identity_.serial.empty()) {
    hardware_.serial = identity_.serial;
    hardware_.bmc_mac = bmc_mac_of(identity_.serial);
  }
  if (!identity_.bmc_mac.empty()) hardware_.bmc_mac = identity_.bmc_mac;
  // What is written of the other machine comes with the fault.
  const auto identity_of = [this](const Fault& twice, std::string Hardware::* drawn) {
    if (!twice.version.empty()) return twice.version;
    return make_hardware(*profile_, twice.other, seed_, {}).*drawn;
  };
  if (const auto* twice = find_fault(faults_, FaultKind::serial_twice))
    hardware_.serial = identity_of(*twice, &Hardware::serial);
  if (const auto* twice = find_fault(faults_, FaultKind::bmc_mac_twice))
    hardware_.bmc_mac = identity_of(*twice, &Hardware::bmc_mac);
  for (const auto& [one, other] : exchanged_) exchange_parts(hardware_, one, other);
}

void Machine::set_faults(std::vector<Fault> faults) {
  planted_ = std::move(faults);
  faults_ = faults_now();
  wait_for_faults();
  refit();
}

void Machine::exchange(const std::string& one, const std::string& other) {
  exchanged_.emplace_back(one, other);
  refit();
}

void Machine::flash(const std::string& component, const std::string& version) {
  flashed_[component] = version;
  refit();
}

void Machine::break_down(FaultKind kind) {
  auto faults = planted_;
  faults.push_back({.kind = kind});
  set_faults(std::move(faults));
}

void Machine::load_staged_firmware(const std::string& component) {
  const auto staged = staged_.extract(component);
  if (staged.empty()) return;
  for (const auto& fault : faults_) {
    const bool meant = fault.component.empty() || fault.component == component;
    if (fault.kind == FaultKind::firmware_unchanged && meant) return;
  }
  flash(component, staged.mapped());
}

void Machine::load_all_staged() {
  while (!staged_.empty()) {
    const auto component = staged_.begin()->first;
    load_staged_firmware(component);
  }
}

std::vector<Fault> Machine::faults_now() const {
  const auto now = clock_.elapsed();
  std::vector<Fault> there;
  for (const auto& fault : planted_)
    if (fault.timing.at(now)) there.push_back(fault);
  return there;
}

void Machine::look_at_faults() {
  auto there = faults_now();
  wait_for_faults();
  if (there == faults_) return;
  faults_ = std::move(there);
  refit();
}

void Machine::refit() {
  fit();
  for (const auto& [component, version] : flashed_) set_version(hardware_, component, version);
  tell(Event::refitted);
}

void Machine::wait_for_faults() {
  const auto now = clock_.elapsed();
  std::optional<VirtualTime> next;
  for (const auto& fault : planted_)
    if (const auto turn = fault.timing.next(now); turn && (!next || *turn < *next)) next = turn;
  fault_timer_.cancel();
  if (!next) return;
  fault_timer_.start(*next - now, [this] { look_at_faults(); });
}

Power Machine::reported_power(VirtualTime lag) const {
  const bool fresh = clock_.elapsed() - power_changed_ < std::max(lag, times_.report_lag);
  return fresh ? power_before_ : power_;
}

SerialConsole* Machine::console() {
  if (!console_) {
    console_ = std::make_unique<Console>(*this);
    subscribe([this](Event event) { console_->hear(event); });
  }
  return console_.get();
}

/// Physics looks for itself what has changed.
void Machine::show_around() {
  physics_->machine_changed();
  fabric_->set_faults(name_, faults_, clock_.elapsed());
  fabric_->set_power(name_, power_ == Power::on, clock_.elapsed());
}

void Machine::join(std::shared_ptr<Fabric> fabric) {
  fabric_ = std::move(fabric);
  show_around();
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
  timer_.start(span, [this, next] { (this->*next)(); });
}

/// All at once: nobody is asked to shut down, and a BMC's lag has no meaning without the BMC.
void Machine::set_mains(bool live) {
  if (live == mains_) return;
  mains_ = live;
  if (!live) {
    timer_.cancel();
    on_again_ = false;
    go_down();
    set_power(Power::off);
    power_before_ = Power::off;
  }
  tell(Event::refitted);
}

bool Machine::press(Reset reset) {
  if (!mains_) return false;
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
  load_all_staged();
  tell(Event::started);
  if (find_fault(faults_, FaultKind::boot_hangs)) return;
  const auto post =
      times_.post *
      post_share(vendor_, hardware_.memory_bytes(),
                 Draw{seed_}.of(name_).of("post").of(static_cast<unsigned>(posts_++)));
  const bool loops = find_fault(faults_, FaultKind::boot_loops) != nullptr;
  after(post, loops ? &Machine::restart_at_once : &Machine::finish_boot);
}

/// What this boot starts from: the override, unless a fault makes the firmware ignore it.
void Machine::choose_boot() {
  const auto has = [&](FaultKind kind) { return find_fault(faults_, kind) != nullptr; };
  const auto image_before = std::move(booted_image_);
  const bool overridden =
      boot_override_.enabled != "Disabled" && !has(FaultKind::boot_override_ignored);
  booted_from_ = overridden ? boot_override_.target : "None";
  booted_image_ = image_of(booted_from_);
  if (booted_from_ == "None" && has(FaultKind::http_entry_stays)) booted_image_ = image_before;
  // DSP0266: "Once" is over as soon as the boot has used it.
  if (boot_override_.enabled == "Once") {
    if (has(FaultKind::boot_override_kept))
      boot_override_.enabled = "Continuous";
    else
      boot_override_ = {};
  }
  const bool from_network = booted_from_ == "Pxe" || booted_from_ == "UefiHttp";
  const bool no_link = has(FaultKind::no_pxe), no_offer = has(FaultKind::dhcp_silent);
  if (!from_network || !(no_link || no_offer)) return;
  // As edk2 prints it.
  if (no_link)
    print("PXE-E61: Media test failure, check cable");
  else if (booted_from_ == "Pxe")
    print("PXE-E16: No valid offer received.");
  else
    print("Error: Server response timeout.");
  // The firmware tries the next device when the network gave nothing, as UEFI 2.10, 3.1.2 has it.
  booted_from_ = "Hdd";
  booted_image_.clear();
}

void Machine::finish_boot() {
  choose_boot();
  ++boots_;
  // The shell waits for somebody to type.
  if (find_fault(faults_, FaultKind::wrong_boot_device))
    return print("UEFI Interactive Shell v2.2");
  if (!booted_image_.empty() && boots_image && boots_image(booted_image_)) return;
  boot_from_disk();
}

void Machine::boot_from_disk() {
  up_from_image_ = false;
  if (has_system_)
    come_up();
  else
    tell(Event::no_boot_device);
}

void Machine::refuse_image() {
  print("BdsDxe: failed to load Boot0003: Access Denied");  // as edk2 prints it
  boot_from_disk();
}

void Machine::print(std::string_view line) {
  if (console_) console_->wrote("\r\n" + std::string{line} + "\r\n");
}

void Machine::come_up() {
  const auto* panics = find_fault(faults_, FaultKind::kernel_panic);
  if (panics != nullptr && !panics->timing.under.empty()) panics = nullptr;
  const auto delay = panics == nullptr ? VirtualTime{0} : panics->span.value_or(VirtualTime{0});
  if (panics != nullptr && delay <= VirtualTime{0}) return panic();
  up_ = true;
  tell(Event::booted);
  if (panics != nullptr) return after(delay, &Machine::panic);
  const auto* restarts = find_fault(faults_, FaultKind::node_restarts);
  if (restarts != nullptr && restarts->timing.under.empty() && !has_restarted_)
    after(restarts->span.value_or(VirtualTime{0}), &Machine::restart_by_itself);
}

/// A kernel that panics under a load: so long after that load began.
void Machine::maybe_panic(Work work) {
  const auto* panics = find_fault(faults_, FaultKind::kernel_panic);
  if (panics == nullptr || panics->timing.under.empty() || timer_.waits()) return;
  if (work_named(panics->timing.under) != work) return;
  after(panics->span.value_or(VirtualTime{0}), &Machine::panic);
}

/// As a supply or a rail does it that a load is too much for: nobody asked, and nothing logs why.
void Machine::maybe_restart(Work work) {
  const auto* restarts = find_fault(faults_, FaultKind::node_restarts);
  if (restarts == nullptr || restarts->timing.under.empty() || has_restarted_ || timer_.waits())
    return;
  if (work_named(restarts->timing.under) != work) return;
  after(restarts->span.value_or(VirtualTime{0}), &Machine::restart_by_itself);
}

void Machine::restart_by_itself() {
  has_restarted_ = true;
  restart_at_once();
}

void Machine::panic() {
  go_down();
  tell(Event::panicked);
}

std::string Machine::image_of(const std::string& target) const {
  if (target == "Cd" || target == "UsbCd") return virtual_disc_;
  return target == "UefiHttp" ? boot_override_.uri : std::string{};
}

void Machine::hang() {
  if (power_ != Power::on) return;
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

std::string smbios_serial(const Machine& machine) {
  const bool spare = find_fault(machine.faults(), FaultKind::serial_wrong) != nullptr;
  return machine.hardware().serial + (spare ? "-SPARE" : "");
}

}  // namespace cupel::rehearsal
