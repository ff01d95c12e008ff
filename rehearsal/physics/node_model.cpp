#include "rehearsal/physics/node_model.h"

#include <algorithm>
#include <cmath>

namespace cupel::rehearsal {
namespace {

constexpr double kCpuIdleWatts = 110, kCpuFullWatts = 350;  // of a socket: 8480C, TDP 350 W
constexpr double kCpuKelvinPerWatt = 0.125, kCpuSeconds = 15;
constexpr double kDimmWatts = 5, kDriveWatts = 9;  // more than idle
constexpr double kFanShare = 0.12;                 // of the loaded node, all fans at their most
constexpr double kFanSeconds = 8;
constexpr double kCool = 50, kWarm = 80;  // of the hottest part: slowest and fastest fans
constexpr int kDiskThreads = 4;
constexpr double kMemoryShare = 0.75;  // of a CPU's watts: it waits for its memory

double fan_watts(double loaded, double fan) { return kFanShare * loaded * fan * fan * fan; }

double hottest_fan(double celsius) {
  const double share = (celsius - kCool) / (kWarm - kCool);
  return NodeModel::kIdleFan + (1 - NodeModel::kIdleFan) * std::clamp(share, 0.0, 1.0);
}

}  // namespace

double mhz_at(const GpuKind& kind, double watts, double moving) {
  const double left = watts - kStaticShare * kind.limit_watts;
  if (left <= 0 || moving <= 0) return kind.idle_mhz;
  const double mhz = kind.most_mhz * std::pow(left / moving, 1 / kClockPower);
  return std::clamp(mhz, static_cast<double>(kind.idle_mhz), static_cast<double>(kind.most_mhz));
}

NodeModel::NodeModel(NodeShape shape, Drift air, VirtualTime at)
    : shape_{std::move(shape)}, air_{air}, event_{at} {
  const auto cold = air.at(0);
  cpu_ = {cold, {cold, 0}, kCpuSeconds};
  settle();
}

void NodeModel::set_shape(NodeShape shape, VirtualTime at) {
  if (shape == shape_) return;
  advance(at);
  shape_ = std::move(shape);
  settle();
}

void NodeModel::set_on(bool on, VirtualTime at) {
  if (on == on_) return;
  advance(at);
  on_ = on;
  if (!on) loads_.clear();
  settle();
}

void NodeModel::set_air(Drift air, VirtualTime at) {
  advance(at);
  air_ = air;
  settle();
}

LoadId NodeModel::begin(Load load, VirtualTime at) {
  const LoadId id{next_++};
  if (!on_) return id;
  advance(at);
  load.share = std::clamp(load.share, 0.0, 1.0);
  loads_.emplace(id, std::move(load));
  settle();
  return id;
}

void NodeModel::end(LoadId id, VirtualTime at) {
  if (!loads_.contains(id)) return;
  advance(at);
  loads_.erase(id);
  settle();
}

void NodeModel::end_all(VirtualTime at) {
  if (loads_.empty()) return;
  advance(at);
  loads_.clear();
  settle();
}

/// Makes the state at `at` the beginning of what comes. Only events do this, so that asking
/// changes nothing.
void NodeModel::advance(VirtualTime at) {
  const double s = since(at);
  for (std::size_t i = 0; i < heat_.size(); ++i) begin_[i] = heat_[i].at(s).state;
  cpu_ = {cpu_.at(s), {0, 0}, kCpuSeconds};
  fan_ = {fan_.at(s), {0, 0}, kFanSeconds};
  air_.away *= std::exp(-s / kAirSeconds);
  event_ = std::max(at, event_);
}

void NodeModel::settle() {
  const double cold = air_.at(0);
  begin_.resize(shape_.gpus.size(), {cold, cold + GpuHeat::kMemoryOffset, 0});
  heat_.resize(shape_.gpus.size());
  wants_.clear();
  for (std::size_t i = 0; i < shape_.gpus.size(); ++i) wants_.push_back(want(i, loads_of(i)));
  double threads = 0;
  for (const auto& [id, load] : loads_) {
    const double gpus =
        static_cast<double>(load.gpus.empty() ? shape_.gpus.size() : load.gpus.size());
    const double usual = load.work == Work::disk     ? kDiskThreads
                         : is_of_gpus(load.work)     ? cost_of(load.work).threads * gpus
                         : load.work == Work::memory ? shape_.threads * kMemoryShare
                         : load.work == Work::cpu    ? shape_.threads
                                                     : 0;
    threads += (load.threads > 0 ? load.threads : usual) * load.share;
  }
  cpu_load_ = on_ && shape_.threads > 0 ? std::min(threads / shape_.threads, 1.0) : 0;
  fan_target_ = on_ ? solve_fan() : 0;
  fan_ = {fan_.at(0), {fan_target_, 0}, kFanSeconds};
  const double air = stillness(fan_target_);
  for (std::size_t i = 0; i < shape_.gpus.size(); ++i) {
    const auto& gpu = shape_.gpus[i];
    heat_[i] = GpuHeat{begin_[i],
                       {.watts = wants_[i].watts,
                        .kelvin_per_watt = gpu.kelvin_per_watt * air,
                        .memory_warmth = wants_[i].warmth,
                        .hot_celsius = gpu.kind ? gpu.kind->hot_celsius : 85,
                        .air = air_}};
  }
  const double cpu = on_ ? kCpuIdleWatts + (kCpuFullWatts - kCpuIdleWatts) * cpu_load_ : 0;
  cpu_ = {cpu_.at(0), air_ + Drift{cpu * kCpuKelvinPerWatt * air, 0}, kCpuSeconds};
}

std::vector<Load> NodeModel::loads_of(std::size_t gpu) const {
  std::vector<Load> mine;
  for (const auto& [id, load] : loads_) {
    const bool here = load.gpus.empty() || std::ranges::count(load.gpus, static_cast<int>(gpu)) > 0;
    if (here && is_of_gpus(load.work)) mine.push_back(load);
  }
  return mine;
}

bool NodeModel::works(std::size_t gpu, Work work) const {
  if (!is_of_gpus(work))
    return std::ranges::any_of(loads_, [&](const auto& each) { return each.second.work == work; });
  return std::ranges::any_of(loads_of(gpu), [&](const auto& load) { return load.work == work; });
}

NodeModel::Want NodeModel::want(std::size_t index, const std::vector<Load>& loads) const {
  const auto& gpu = shape_.gpus[index];
  if (!gpu.kind || !on_) return {};
  const auto& kind = *gpu.kind;
  Want all{.watts = gpu.idle_watts, .mhz = static_cast<double>(kind.idle_mhz)};
  if (loads.empty()) return all;
  double moving = 0, busy = 0, memory_busy = 0;
  all.warmth = 0;
  for (const auto& load : loads) {
    const auto& cost = cost_of(load.work);
    moving += load.share * (cost.power - kStaticShare);
    busy += load.share * cost.busy;
    memory_busy += load.share * cost.memory_busy;
    all.warmth = std::max(all.warmth, cost.warmth);
  }
  constexpr int kAll = 100;
  const double most = cost_of(Work::gemm).power - kStaticShare;
  all.busy = true;
  all.utilisation = std::min(kAll, static_cast<int>(std::lround(busy)));
  all.memory_utilisation = std::min(kAll, static_cast<int>(std::lround(memory_busy)));
  all.moving = std::min(moving, most) * gpu.hunger * kind.limit_watts;
  all.mhz = std::min(gpu.locked_mhz.value_or(kind.most_mhz), kind.most_mhz);
  const double asked =
      kStaticShare * kind.limit_watts + all.moving * std::pow(all.mhz / kind.most_mhz, kClockPower);
  all.capped = asked > gpu.limit_watts;
  all.watts = std::min(asked, gpu.limit_watts);
  return all;
}

/// How much more a watt warms with so much less air than at kNominalFan.
double NodeModel::stillness(double fan) const {
  const int turning = std::max(shape_.fans - shape_.fans_stuck, 1);
  const double air = std::max(fan, kIdleFan) * turning / std::max(shape_.fans, 1);
  return std::sqrt(kNominalFan / air);
}

/// Where the speed that the hottest part asks of the fans is what keeps it so hot. The faster they
/// turn the cooler it is, so there is one such speed.
double NodeModel::solve_fan() const {
  constexpr int kSteps = 30;
  const double inlet = air_.settled;
  const double cpu =
      kCpuKelvinPerWatt * (kCpuIdleWatts + (kCpuFullWatts - kCpuIdleWatts) * cpu_load_);
  double rise = cpu;
  double most = 1000;
  for (std::size_t i = 0; i < shape_.gpus.size(); ++i) {
    if (!shape_.gpus[i].kind) continue;
    rise = std::max(rise, shape_.gpus[i].kelvin_per_watt * wants_[i].watts);
    most = shape_.gpus[i].kind->hot_celsius;
  }
  double low = kIdleFan, high = 1;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    const double hottest = std::min(inlet + rise * stillness(middle), most);
    (hottest_fan(hottest) > middle ? low : high) = middle;
  }
  return high;
}

/// Everything that is neither GPU nor idle.
double NodeModel::others_watts() const {
  double sum = shape_.sockets * (kCpuFullWatts - kCpuIdleWatts) * cpu_load_;
  double memory = 0, disk = 0;
  for (const auto& [id, load] : loads_) {
    if (load.work == Work::memory) memory += load.share;
    if (load.work == Work::disk) disk += load.share;
  }
  sum += std::min(memory, 1.0) * kDimmWatts * shape_.dimms;
  sum += std::min(disk, 1.0) * kDriveWatts * shape_.drives;
  return sum + fan_watts(shape_.loaded_watts, fan_target_) -
         fan_watts(shape_.loaded_watts, kIdleFan);
}

/// What feeds, switches and joins the parts draws in proportion, so that everything at once draws
/// what the profile says of a loaded node.
double NodeModel::factor() const {
  constexpr double kFullFan = 0.7;
  double most = shape_.sockets * (kCpuFullWatts - kCpuIdleWatts) + kDimmWatts * shape_.dimms +
                kDriveWatts * shape_.drives + fan_watts(shape_.loaded_watts, kFullFan) -
                fan_watts(shape_.loaded_watts, kIdleFan);
  for (const auto& gpu : shape_.gpus)
    if (gpu.kind) most += gpu.kind->limit_watts - gpu.kind->idle_watts;
  const double rise = shape_.loaded_watts - shape_.idle_watts;
  return rise > 0 && most > 0 ? rise / most : 0;
}

double NodeModel::watts(VirtualTime at) const {
  if (!on_) return kStandbyWatts;
  double more = others_watts();
  for (std::size_t i = 0; i < heat_.size(); ++i)
    if (shape_.gpus[i].kind) more += heat_[i].at(since(at)).watts - shape_.gpus[i].kind->idle_watts;
  return shape_.idle_watts + factor() * more;
}

double NodeModel::settled_watts() const {
  if (!on_) return kStandbyWatts;
  double more = others_watts();
  for (std::size_t i = 0; i < wants_.size(); ++i)
    if (shape_.gpus[i].kind) more += wants_[i].watts - shape_.gpus[i].kind->idle_watts;
  return shape_.idle_watts + factor() * more;
}

GpuNow NodeModel::gpu(std::size_t index, VirtualTime at) const {
  const auto* kind = index < shape_.gpus.size() ? shape_.gpus[index].kind : nullptr;
  if (!kind) return {};
  const auto& asked = wants_[index];
  GpuNow now{.heat = heat_[index].at(since(at)),
             .mhz = asked.mhz,
             .busy = asked.busy,
             .capped = asked.capped,
             .utilisation = asked.utilisation,
             .memory_utilisation = asked.memory_utilisation};
  if (asked.busy && (asked.capped || now.heat.held))
    now.mhz = std::min(asked.mhz, mhz_at(*kind, now.heat.watts, asked.moving));
  return now;
}

double NodeModel::mhz_for(std::size_t index, Work work, VirtualTime at) const {
  const auto* kind = index < shape_.gpus.size() ? shape_.gpus[index].kind : nullptr;
  if (!kind || !on_) return 0;
  const auto alone = want(index, {Load{.work = work}});
  const auto now = heat_[index].at(since(at));
  const double watts = now.held ? std::min(now.watts, alone.watts) : alone.watts;
  const bool less = alone.capped || now.held;
  return less ? std::min(alone.mhz, mhz_at(*kind, watts, alone.moving)) : alone.mhz;
}

}  // namespace cupel::rehearsal
