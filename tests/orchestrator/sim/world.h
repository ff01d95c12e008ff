#pragma once
// A rack that exists only here, and outlives its controllers: power, boots, a firmware counter,
// jobs on nodes, Slurm. What goes wrong in it, and how long all takes, comes from one seed.
#include <random>
#include <set>

#include "inventory/fwd.h"
#include "inventory/model.h"
#include "orchestrator/engine/interfaces.h"
#include "playbooks/fwd.h"
#include "playbooks/plan.h"
#include "tests/orchestrator/sim/virtual_time.h"

namespace cupel::sim {

using Time = engine::Clock::Time;
using namespace std::chrono_literals;

/// A rack of nodes, three behind each breaker, which carries them idle and `loaded` of them
/// working.
struct Rack {
  inventory::Inventory inventory{};
  playbooks::Plan plan{};

  explicit Rack(std::size_t nodes, double loaded = 1.5);
};

struct Job {
  Time ends{};
  bool heavy = false;
  bool killed = false;  // ended half done: its result is none
  double result = 0;
  double over = 0;  // watts above what the profile says, until
  Time over_until{};
};

struct Machine {
  bool powered = false;
  Time boots{};
  int firmware = 0;
  int flashes = 0;                                      // begun, ever
  std::optional<std::pair<std::string, Time>> flash{};  // task and its end
  std::map<std::string, Job> jobs{};                    // by handle, for ever
  bool in_slurm = false;
};

/// How mean the world is; shares of tries.
struct Weather {
  double transient = 0;
  double hang = 0;
  double reject = 0;
  double hands = 0;
  double hungry = 0;  // of events: a loaded node begins to draw more than it should
};

class World {
 public:
  World(VirtualClock& clock, const Rack& rack, std::uint64_t seed, Weather weather = {});

  VirtualClock& clock;
  const Rack& rack;
  std::mt19937_64 random;
  Weather weather;
  std::map<std::string, Machine> machines{};
  std::function<void(const std::string& node)> on_heavy_job{};  // one has just begun there
  std::vector<std::string> broken_rules{};                      // what must never happen, and did

  bool chance(double share) { return std::uniform_real_distribution{}(random) < share; }
  std::chrono::seconds between(int low, int high) {
    return std::chrono::seconds{std::uniform_int_distribution{low, high}(random)};
  }
  void flash(const std::string& node, const std::string& task);
  void start_job(const std::string& node, const std::string& handle, std::chrono::seconds time,
                 bool heavy);
  void kill_job(const std::string& node, const std::string& handle);
  bool has_job(const std::string& node) const;  // which runs
  /// A loaded node draws so much more for twenty minutes.
  void make_hungry(const std::string& node, double watts);
  /// What its BMC would say.
  double draw(const std::string& node) const;
  /// Watts through the node's breaker now, held against what it carries.
  void check_power(const std::string& node);
  double watts_behind(const std::string& breaker) const;
  void check_flashes();
};

/// The steps of new-rack as they would be done in that world.
class WorldSteps : public engine::Steps {
 public:
  /// `journal`: what a hand-off looks at.
  WorldSteps(World& world, const std::vector<engine::Event>& journal)
      : world_{world}, journal_{journal} {}
  Task<Result<engine::StepEnd>> perform(engine::StepRequest request) override;
  Task<Result<void>> abort(engine::StepRequest request) override;

 private:
  using End = Task<Result<engine::StepEnd>>;
  End power_on(const engine::StepRequest& request);
  End firmware(const engine::StepRequest& request);
  End wait_for_boot(const engine::StepRequest& request);
  End soak(const engine::StepRequest& request);
  End together(const engine::StepRequest& request);
  End hand_off(const engine::StepRequest& request);

  World& world_;
  const std::vector<engine::Event>& journal_;
};

}  // namespace cupel::sim
