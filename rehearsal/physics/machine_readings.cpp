// What is read of a machine's physics. None of it changes anything.
#include <algorithm>
#include <cmath>

#include "rehearsal/machine.h"
#include "rehearsal/physics/machine_state.h"

namespace cupel::rehearsal {
namespace {

using Reason = ThrottleReason;
constexpr double kOwnWatts = 15;  // of a power supply that feeds nothing

std::uint64_t throttle_reasons(const GpuNow& now, const GpuShape& shape) {
  constexpr double kHard = 0.6;  // of what it may draw: software alone does not brake so
  if (!now.busy) return Reason::kIdle;
  std::uint64_t reasons = 0;
  if (now.heat.held) reasons |= Reason::kSoftwareThermal;
  if (now.heat.held && now.heat.watts < kHard * shape.limit_watts)
    reasons |= Reason::kHardwareSlowdown | Reason::kHardwareThermal;
  if (now.heat.state.memory_celsius > shape.kind->memory_hot_celsius)
    reasons |= Reason::kHardwareSlowdown | Reason::kHardwareThermal;
  if (now.capped && !now.heat.held) reasons |= Reason::kPowerCap;
  if (shape.locked_mhz && !now.capped && !now.heat.held) reasons |= Reason::kApplicationClocks;
  return reasons;
}

double memory_share(const GpuNow& now, const GpuKind& kind) {
  constexpr double kSlowed = 0.8;
  return now.heat.state.memory_celsius > kind.memory_hot_celsius ? kSlowed : 1;
}

}  // namespace

GpuReading MachinePhysics::gpu(int index) const {
  const auto* gpu = state_->gpu(index);
  if (!gpu) return {};
  const auto place = static_cast<std::size_t>(index);
  const auto& shape = state_->model.shape().gpus[place];
  const auto at = state_->model.gpu(place, now());
  const auto& kind = *shape.kind;
  return {.watts = at.heat.watts,
          .limit_watts = shape.limit_watts,
          .celsius = at.heat.state.celsius,
          .memory_celsius = at.heat.state.memory_celsius,
          .sm_mhz = static_cast<int>(std::lround(at.mhz / 15)) * 15,  // the step of its clocks
          .memory_mhz = static_cast<int>(std::lround(kind.memory_mhz * memory_share(at, kind))),
          .throttle = state_->up ? throttle_reasons(at, shape) : 0,
          .utilisation = at.utilisation,
          .memory_utilisation = at.memory_utilisation,
          .joules = at.heat.state.joules};
}

std::uint64_t MachinePhysics::nvlink_crc(int index, int link) const {
  const auto* gpu = state_->gpu(index);
  const auto found = gpu ? gpu->crc.find(link) : decltype(gpu->crc.end()){};
  if (!gpu || found == gpu->crc.end()) return 0;
  const auto draw = state_->draw_of(index, "crc").of(static_cast<std::uint64_t>(link));
  return events_until(draw, found->second.exposure.until(now().count()));
}

GpuErrors MachinePhysics::gpu_errors(int index) const {
  const auto* gpu = state_->gpu(index);
  if (!gpu) return {};
  const double at = now().count();
  GpuErrors errors{
      .corrected = events_until(state_->draw_of(index, "corrected"), gpu->corrected.until(at)),
      .pcie_replays = events_until(state_->draw_of(index, "replays"), gpu->replays.until(at))};
  const auto& gpus = machine_.hardware().gpus;
  const auto found = std::ranges::find(gpus, index, &Gpu::index);
  if (found != gpus.end()) errors.uncorrected = found->uncorrected;
  constexpr std::uint64_t kErrorsOfAReplay = 4;
  for (const auto& [link, unused] : gpu->crc) errors.nvlink_crc += nvlink_crc(index, link);
  errors.nvlink_replays = errors.nvlink_crc / kErrorsOfAReplay;
  return errors;
}

std::optional<VirtualTime> MachinePhysics::first_replay(int index) const {
  const auto* gpu = state_->gpu(index);
  if (!gpu) return std::nullopt;
  const auto of = state_->draw_of(index, "replays");
  const double exposure = gpu->replays.until(now().count());
  if (events_until(of, exposure) == 0) return std::nullopt;
  return VirtualTime{gpu->replays.moment_of(first_event(of, exposure))};
}

std::vector<bool> MachinePhysics::nvlinks(int index) const {
  const auto* gpu = state_->gpu(index);
  return gpu ? gpu->links : std::vector<bool>{};
}

double MachinePhysics::nvlink_share(int index) const {
  const auto links = nvlinks(index);
  if (links.empty()) return 0;
  return static_cast<double>(std::ranges::count(links, true)) / static_cast<double>(links.size());
}

double MachinePhysics::speed(int index, Work work) const {
  const auto host = [&](double deviation) {
    return state_->draw.of("host").of(to_string(work)).spread(deviation);
  };
  if (work == Work::idle) return 0;
  if (work == Work::cpu) {
    double share = 1;
    for (const auto& [socket, of] : state_->cpu_share) share = std::min(share, of);
    return host(0.004) * share;
  }
  if (work == Work::memory) return host(0.004);
  if (work == Work::disk) return host(0.01);
  const auto* gpu = state_->gpu(index);
  if (!gpu || !state_->model.on()) return 0;
  const auto place = static_cast<std::size_t>(index);
  const auto& nature = gpu->nature;
  const auto& kind = *nature.kind;
  const auto clocked = [&](Work of) {
    const double moving = (cost_of(of).power - kStaticShare) * kind.limit_watts;
    const double usual = mhz_at(kind, std::min(cost_of(of).power, 1.0) * kind.limit_watts, moving);
    return nature.compute * state_->model.mhz_for(place, of, now()) / usual;
  };
  // Without NVLinks they reach each other over PCIe.
  const double joined = kind.nvlinks > 0 ? nature.nvlink * nvlink_share(index) * gpu->retries
                                         : nature.pcie * gpu->pcie;
  switch (work) {
    case Work::gemm:
      return clocked(Work::gemm);
    case Work::hbm:
      return nature.hbm * gpu->hbm * memory_share(state_->model.gpu(place, now()), kind);
    case Work::pcie:
      return nature.pcie * gpu->pcie;
    case Work::p2p:
    case Work::collective:
      return joined;
    case Work::train:
      // A quarter of a step is exchange; a step is as long as both together.
      return joined > 0 ? 1 / (0.75 / clocked(Work::train) + 0.25 / joined) : 0;
    default:
      return 0;
  }
}

double MachinePhysics::node_watts() const { return state_->model.watts(now()); }
double MachinePhysics::settled_watts() const { return state_->model.settled_watts(); }
double MachinePhysics::inlet_celsius() const { return state_->model.inlet(now()); }
double MachinePhysics::cpu_load() const { return state_->model.cpu_load(); }
double MachinePhysics::fan_percent() const { return 100 * state_->model.fan(now()); }

bool MachinePhysics::psu_has_input(const std::string& psu) const {
  const auto& psus = machine_.hardware().psus;
  const auto found = std::ranges::find(psus, psu, &Psu::name);
  if (found == psus.end() || find_fault(machine_.faults(), FaultKind::psu_feed_lost, psu))
    return false;
  const auto number = std::stoul(psu.substr(psu.find_last_not_of("0123456789") + 1));
  return feeds_.empty() || feeds_[number % feeds_.size()];
}

double MachinePhysics::psu_watts(const std::string& psu) const {
  if (!psu_has_input(psu)) return 0;
  const auto& psus = machine_.hardware().psus;
  const auto fed =
      std::ranges::count_if(psus, [this](const Psu& each) { return psu_has_input(each.name); });
  return std::max(node_watts() / static_cast<double>(std::max<std::ptrdiff_t>(fed, 1)), kOwnWatts);
}

double MachinePhysics::cpu_celsius(int socket) const {
  // The rear socket breathes what the front one has warmed.
  const double rise = state_->model.cpu_celsius(now()) - inlet_celsius();
  const double spread =
      state_->draw.of("cpu").of(static_cast<std::uint64_t>(std::max(socket, 0))).spread(0.02);
  return inlet_celsius() + rise * spread * (1 + 0.04 * socket);
}

double MachinePhysics::cpu_mhz(int socket) const {
  constexpr double kIdle = 2000, kOne = 3800, kAll = 3000;
  if (!state_->model.on()) return 0;
  const double load = state_->model.cpu_load();
  const double mhz = load > 0 ? kOne + (kAll - kOne) * load : kIdle;
  const auto found = state_->cpu_share.find(socket);
  return found == state_->cpu_share.end() ? mhz : mhz * found->second;
}

double MachinePhysics::fan_rpm(int fan) const {
  const int fans = state_->model.shape().fans;
  if (fan < 0 || fan >= fans || state_->stuck_fans.contains(fan)) return 0;
  const double spread = state_->draw.of("fan").of(static_cast<std::uint64_t>(fan)).spread(0.004);
  return state_->model.fan(now()) * NodeModel::kMostRpm * spread;
}

}  // namespace cupel::rehearsal
