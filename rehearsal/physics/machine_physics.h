#pragma once
// Heat, power, clocks and errors of one virtual machine. State changes only at events (a load
// begins or ends, the power changes, a fault is set) and is integrated in closed form when somebody
// asks, so that a reading does not depend on who has read before. No timers. Not what a tool prints
// (tools/), nor the cables between machines (fabric.h).
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rehearsal/board_sensors.h"
#include "rehearsal/fault.h"
#include "rehearsal/physics/node_model.h"

namespace cupel::rehearsal {

class Machine;
struct GpuState;

/// Bits of nvmlDeviceGetCurrentClocksEventReasons. Source: NVML API reference,
/// nvmlClocksEventReasons.
struct ThrottleReason {
  static constexpr std::uint64_t kIdle = 0x1, kApplicationClocks = 0x2, kPowerCap = 0x4,
                                 kHardwareSlowdown = 0x8, kSyncBoost = 0x10,
                                 kSoftwareThermal = 0x20, kHardwareThermal = 0x40,
                                 kPowerBrake = 0x80;
};

struct GpuReading {
  double watts = 0, limit_watts = 0;
  double celsius = 0, memory_celsius = 0;
  int sm_mhz = 0, memory_mhz = 0;
  std::uint64_t throttle = 0;                   // of ThrottleReason
  int utilisation = 0, memory_utilisation = 0;  // per cent
  double joules = 0;                            // since the rack stands
};

/// Errors of one GPU since the rack stands: processes in time while the machine is up, the same for
/// the same seed and the same loads, whoever asks when.
struct GpuErrors {
  std::uint64_t corrected = 0, uncorrected = 0;      // of its HBM
  std::uint64_t nvlink_crc = 0, nvlink_replays = 0;  // of all its NVLinks
  std::uint64_t pcie_replays = 0;
  friend bool operator==(const GpuErrors&, const GpuErrors&) = default;
};

class MachinePhysics;

/// Ends its load when it goes: a process that is killed leaves no load behind. May outlive the
/// machine.
class RunningLoad {
 public:
  RunningLoad() = default;
  RunningLoad(std::weak_ptr<MachinePhysics*> physics, LoadId id)
      : physics_{std::move(physics)}, id_{id} {}
  RunningLoad(RunningLoad&& other) noexcept
      : physics_{std::exchange(other.physics_, {})}, id_{other.id_} {}
  RunningLoad& operator=(RunningLoad&& other) noexcept {
    if (this == &other) return *this;
    end();
    physics_ = std::exchange(other.physics_, {});
    id_ = other.id_;
    return *this;
  }
  ~RunningLoad() { end(); }
  void end();

 private:
  std::weak_ptr<MachinePhysics*> physics_{};
  LoadId id_{};
};

class MachinePhysics : public BoardSensors {
 public:
  /// `machine` outlives it, and tells it when anything about it has changed.
  explicit MachinePhysics(const Machine& machine);
  ~MachinePhysics() override;
  MachinePhysics(const MachinePhysics&) = delete;
  MachinePhysics& operator=(const MachinePhysics&) = delete;

  /// All loads end when the machine goes down; ending one twice does nothing.
  LoadId begin(Load load);
  void end(LoadId id);
  /// As begin(), until what it gives goes.
  [[nodiscard]] RunningLoad hold(Load load) { return {self_, begin(std::move(load))}; }

  /// nvidia-smi -pl and -lgc, until the next boot; nothing: the default. Brought within the range
  /// that the GPU allows.
  void limit_power(int index, std::optional<double> watts);
  void lock_clock(int index, std::optional<int> mhz);

  /// `index`: the position on the baseboard, as Gpu::index. All zero where there is none.
  GpuReading gpu(int index) const;
  GpuErrors gpu_errors(int index) const;
  /// When it first repeated a packet of PCIe since its link is as it is; nothing: it has not.
  std::optional<VirtualTime> first_replay(int index) const;
  /// CRC errors of one NVLink; those of all are in gpu_errors().
  std::uint64_t nvlink_crc(int index, int link) const;
  /// Which NVLinks are up; empty where the GPU has none.
  std::vector<bool> nvlinks(int index) const;
  /// Share of its NVLinks that work; 0 where the GPU has none.
  double nvlink_share(int index) const;
  /// Share of the nominal rate that this GPU would give in such a work now: natural spread x clocks
  /// x faults. What a work asks of the host's parts (cpu, disk, memory) takes any index.
  double speed(int index, Work work) const;

  double node_watts() const override;
  /// What it draws once everything has warmed up: what its breakers must carry.
  double settled_watts() const;
  double psu_watts(const std::string& psu) const override;
  bool psu_has_input(const std::string& psu) const override;
  double inlet_celsius() const override;
  double cpu_celsius(int socket) const override;
  double gpu_celsius(int index) const override { return gpu(index).celsius; }
  double cpu_mhz(int socket = 0) const;
  /// Share of all CPU threads that work, 0 to 1.
  double cpu_load() const;
  double fan_rpm(int fan) const override;
  double fan_percent() const override;

  // The rack around it.
  /// The air that comes in from now on; of a machine that stands alone always the same.
  void set_air(Drift air);
  /// Supplies hang on these cords in turn.
  void set_feeds(std::vector<bool> live) { feeds_ = std::move(live); }
  /// Called whenever settled_watts() may have changed.
  std::function<void()> on_draw{};
  /// Called when a load begins.
  std::function<void(Work)> on_begin{};

 private:
  friend class Machine;
  void machine_changed();

  struct State;
  VirtualTime now() const;
  NodeShape shape();
  void refresh();
  bool there(const Fault& fault, int gpu) const;
  bool ail(int index, GpuState& gpu, GpuShape& shape) const;

  const Machine& machine_;
  std::unique_ptr<State> state_;
  std::vector<bool> feeds_{};
  std::shared_ptr<MachinePhysics*> self_ = std::make_shared<MachinePhysics*>(this);
};

inline void RunningLoad::end() {
  if (const auto physics = std::exchange(physics_, {}).lock()) (*physics)->end(id_);
}

}  // namespace cupel::rehearsal
