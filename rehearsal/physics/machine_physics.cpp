// The events of a machine's physics. What is read between them: machine_readings.cpp.
#include "rehearsal/physics/machine_physics.h"

#include <algorithm>

#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "rehearsal/machine.h"
#include "rehearsal/physics/machine_state.h"

namespace cupel::rehearsal {
namespace {

constexpr Drift kAloneAir{24, 0};
constexpr double kHour = 3600;
constexpr int kMostPlaces = 64;

/// "gpu5" is 5, "fan4" 4; -1 for what ends in no number.
int number_in(std::string_view part) {
  const auto letter = part.find_last_not_of("0123456789");
  const auto tail = letter == part.npos ? part : part.substr(letter + 1);
  constexpr std::size_t kDigits = 4;
  return tail.empty() || tail.size() > kDigits ? -1 : std::stoi(std::string{tail});
}

/// An HGX H100 deals a GPU's 18 links to its four NVSwitches as 5, 4, 4 and 5.
int switch_of(int link) { return link < 5 ? 0 : link < 9 ? 1 : link < 13 ? 2 : 3; }

int places_of(const Machine& machine) {
  for (const auto& parts : machine.profile().parts)
    if (parts.kind == inventory::PartKind::gpu) return std::clamp(parts.count, 0, kMostPlaces);
  return 0;
}

NodeShape shape_without_gpus(const Hardware& hardware) {
  return {.sockets = static_cast<int>(hardware.cpus.size()),
          .threads = std::max(hardware.threads(), 1),
          .dimms = static_cast<int>(hardware.dimms.size()),
          .drives = static_cast<int>(hardware.drives.size()),
          .idle_watts = hardware.idle_watts,
          .loaded_watts = hardware.loaded_watts,
          .fans = static_cast<int>(hardware.fans.size())};
}

/// `amount` says how much hotter it gets at its limit.
void warm_up(GpuShape& shape, const Fault& fault) {
  constexpr double kHotter = 45, kWorst = 0.5;
  const double more = fault.amount.value_or(kHotter) / shape.kind->limit_watts;
  shape.kelvin_per_watt = std::min(shape.kelvin_per_watt + more, kWorst);
}

void cap(GpuShape& shape, const Fault& fault) {
  constexpr double kCapped = 0.7;
  const double watts = fault.amount.value_or(kCapped * shape.kind->limit_watts);
  shape.limit_watts = std::clamp(std::min(shape.limit_watts, watts), shape.kind->least_watts,
                                 shape.kind->limit_watts);
}

void lock(GpuShape& shape, const Fault& fault) {
  const int mhz = static_cast<int>(fault.amount.value_or(shape.kind->most_mhz));
  shape.locked_mhz = std::clamp(std::min(shape.locked_mhz.value_or(mhz), mhz), shape.kind->idle_mhz,
                                shape.kind->most_mhz);
}

void take_link(GpuState& gpu, int link) {
  if (gpu.links.empty()) return;
  gpu.links[static_cast<std::size_t>(std::max(link, 0)) % gpu.links.size()] = false;
}

void take_switch(GpuState& gpu, int nvswitch) {
  for (std::size_t link = 0; link < gpu.links.size(); ++link)
    if (switch_of(static_cast<int>(link)) == nvswitch) gpu.links[link] = false;
}

void add_crc(GpuState& gpu, const Fault& fault) {
  constexpr double kUsual = 3600, kHalved = 100000, kWorst = 0.5;
  if (gpu.links.empty()) return;
  const int link = std::max(fault.number.value_or(0), 0) % static_cast<int>(gpu.links.size());
  const double rate = fault.errors.value_or(static_cast<int>(kUsual));
  gpu.crc[link].an_hour += rate;
  gpu.retries = std::max(gpu.retries - 0.04 - rate / kHalved, kWorst);
}

/// How much warmer its inlet is than the air of its rack.
double recirculated(std::span<const Fault> faults) {
  constexpr double kUsual = 12;
  const auto* found = find_fault(faults, FaultKind::hot_inlet);
  return found == nullptr ? 0 : found->amount.value_or(kUsual);
}

}  // namespace

MachinePhysics::MachinePhysics(const Machine& machine) : machine_{machine} {
  state_ = std::make_unique<State>(State{
      .draw = Draw{machine.seed()}.shaped(machine.spread()).of(machine.name()),
      .model =
          NodeModel{shape_without_gpus(machine.hardware()), kAloneAir, machine.clock().elapsed()},
      .air = kAloneAir.settled});
  const int places = places_of(machine);
  for (int i = 0; i < places; ++i) state_->gpus.try_emplace(i);
  refresh();
}
MachinePhysics::~MachinePhysics() = default;

VirtualTime MachinePhysics::now() const { return machine_.clock().elapsed(); }

bool MachinePhysics::there(const Fault& fault, int gpu) const {
  if (fault.timing.under.empty()) return true;
  const auto work = work_named(fault.timing.under);
  return work && state_->model.works(static_cast<std::size_t>(std::max(gpu, 0)), *work);
}

/// What faults leave of a GPU; true: it is there at all.
bool MachinePhysics::ail(int index, GpuState& gpu, GpuShape& shape) const {
  constexpr double kSlowMemory = 0.8;
  const auto part = "gpu" + std::to_string(index);
  gpu.hbm = gpu.retries = 1;
  gpu.links.assign(static_cast<std::size_t>(gpu.nature.kind->nvlinks), true);
  for (auto& [link, errors] : gpu.crc) errors.an_hour = 0;
  for (const auto& fault : machine_.faults()) {
    const bool mine = fault.part == part || fault.kind == FaultKind::nvswitch_fatal;
    if (!mine || !there(fault, index)) continue;
    if (fault.kind == FaultKind::gpu_off_bus) gpu.fallen = true;
    if (fault.kind == FaultKind::gpu_hot) warm_up(shape, fault);
    if (fault.kind == FaultKind::gpu_power_capped) cap(shape, fault);
    if (fault.kind == FaultKind::gpu_clock_locked) lock(shape, fault);
    if (fault.kind == FaultKind::gpu_slow_memory) gpu.hbm *= fault.amount.value_or(kSlowMemory);
    if (fault.kind == FaultKind::nvlink_down) take_link(gpu, fault.number.value_or(0));
    if (fault.kind == FaultKind::nvlink_errors) add_crc(gpu, fault);
    if (fault.kind == FaultKind::nvswitch_fatal) take_switch(gpu, number_in(fault.part));
  }
  return !gpu.fallen;
}

/// The machine as it is now, with everything that ails it.
NodeShape MachinePhysics::shape() {
  constexpr double kThrottled = 0.4;
  const auto& hardware = machine_.hardware();
  auto made = shape_without_gpus(hardware);
  made.gpus.resize(state_->gpus.size());
  for (auto& [index, gpu] : state_->gpus) {
    const auto found = std::ranges::find(hardware.gpus, index, &Gpu::index);
    gpu.there = found != hardware.gpus.end();
    if (!gpu.there) continue;
    if (gpu.nature.kind == nullptr)
      gpu.nature = gpu_nature(gpu_kind(found->model), state_->draw, index,
                              static_cast<int>(state_->gpus.size()));
    const auto& kind = *gpu.nature.kind;
    GpuShape shape{.kind = &kind,
                   .hunger = gpu.nature.hunger,
                   .idle_watts = gpu.nature.idle_watts,
                   .kelvin_per_watt = gpu.nature.kelvin_per_watt,
                   .limit_watts = gpu.limit.value_or(kind.limit_watts),
                   .locked_mhz = gpu.clock};
    gpu.pcie =
        std::ldexp(1.0, found->gen - found->gen_max) * found->width / std::max(found->width_max, 1);
    gpu.there = ail(index, gpu, shape);
    if (gpu.there) made.gpus[static_cast<std::size_t>(index)] = shape;
  }
  state_->cpu_share.clear();
  state_->stuck_fans.clear();
  for (const auto& fault : machine_.faults()) {
    if (!there(fault, 0)) continue;
    if (fault.kind == FaultKind::fan_stuck) state_->stuck_fans.insert(number_in(fault.part));
    if (fault.kind == FaultKind::cpu_throttled)
      state_->cpu_share[number_in(fault.part)] = fault.amount.value_or(kThrottled);
  }
  made.fans_stuck = static_cast<int>(state_->stuck_fans.size());
  return made;
}

/// After anything has changed: errors come at another rate from now on, and so does heat.
void MachinePhysics::refresh() {
  constexpr double kWorking = 3, kReplays = 0.02, kReplaysOfABadLink = 40;
  const auto at = now();
  auto& model = state_->model;
  state_->warm(recirculated(machine_.faults()), at);
  model.set_shape(shape(), at);
  for (auto& [index, gpu] : state_->gpus) {
    const bool counts = state_->up && gpu.there;
    const bool busy = counts && model.gpu(static_cast<std::size_t>(index), at).busy;
    gpu.corrected.rate(counts ? gpu.nature.corrected_an_hour * (busy ? kWorking : 1) / kHour : 0,
                       at.count());
    gpu.replays.rate(counts ? (gpu.pcie < 1 ? kReplaysOfABadLink : kReplays) / kHour : 0,
                     at.count());
    for (auto& [link, errors] : gpu.crc)
      errors.exposure.rate(counts ? errors.an_hour / kHour : 0, at.count());
  }
  if (on_draw) on_draw();
}

/// Whatever it was: power, a boot, parts, faults.
void MachinePhysics::machine_changed() {
  auto& state = *state_;
  const bool on = machine_.power() == Power::on;
  state.model.set_on(on, now());
  state.up = machine_.up();
  if (!state.up) {
    state.model.end_all(now());
    for (auto& [index, gpu] : state.gpus) gpu.limit.reset(), gpu.clock.reset();
  }
  if (!on)
    for (auto& [index, gpu] : state.gpus) gpu.fallen = false;
  refresh();
}

LoadId MachinePhysics::begin(Load load) {
  if (!machine_.up()) return LoadId{0};
  const auto work = load.work;
  const auto id = state_->model.begin(std::move(load), now());
  refresh();
  if (on_begin) on_begin(work);
  return id;
}

void MachinePhysics::end(LoadId id) {
  if (!state_->model.loads().contains(id)) return;
  state_->model.end(id, now());
  refresh();
}

void MachinePhysics::limit_power(int index, std::optional<double> watts) {
  const auto found = state_->gpus.find(index);
  if (found == state_->gpus.end() || !found->second.there) return;
  const auto& kind = *found->second.nature.kind;
  if (watts) watts = std::clamp(*watts, kind.least_watts, kind.limit_watts);
  found->second.limit = watts;
  refresh();
}

void MachinePhysics::lock_clock(int index, std::optional<int> mhz) {
  const auto found = state_->gpus.find(index);
  if (found == state_->gpus.end() || !found->second.there) return;
  const auto& kind = *found->second.nature.kind;
  if (mhz) mhz = std::clamp(*mhz, kind.idle_mhz, kind.most_mhz);
  found->second.clock = mhz;
  refresh();
}

void MachinePhysics::set_air(Drift air) {
  state_->air = air.settled;
  state_->model.set_air({air.settled + state_->warmer, air.away - state_->warmer}, now());
}

}  // namespace cupel::rehearsal
