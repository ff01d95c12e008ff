#pragma once
// A whole run in a simulated world, with controllers that die while they write, and what must be so
// after it, whatever happened.
#include "orchestrator/engine/engine.h"
#include "tests/orchestrator/sim/world.h"

namespace cupel::sim {

/// The controller's process is gone.
struct Crash {};

struct MemoryJournal : engine::Journal {
  std::vector<engine::Event> events{};
  std::size_t writes = 0;
  std::size_t crash_at = 0;  // the write that kills; 0: none
  bool after_fsync = false;  // ... with what it wrote durable, or lost
  const VirtualClock* clock = nullptr;

  Task<Result<void>> append(std::span<engine::Event> more) override;
};

struct Ends {
  std::optional<Result<void>> ended{};  // nothing: the controller died, or was stuck
  bool crashed = false;
  engine::RunState state{};
  std::vector<engine::Engine::Held> held{};
};

struct Trial {
  VirtualClock clock{};
  Rack rack;
  World world;
  MemoryJournal journal{};
  std::optional<engine::RunState> snapshot{};  // of the run, by its text
  std::vector<std::string> complaints{};
  std::size_t cancel_at = 0;  // with so many events in the journal somebody cancels the run
  /// Called after each event, while the controller works.
  std::function<void(engine::Engine&, const engine::Event&)> on_event{};

  explicit Trial(std::uint64_t seed = 1, std::size_t nodes = 6, Weather weather = {},
                 double loaded = 1.5);

  /// What the BMCs of loaded nodes say now, reported to the engine; some are hungrier than they
  /// should.
  void measure(engine::Engine& engine);
  /// One controller, from its start to its end or its death.
  Ends control();
  /// Controllers until the run has ended; at most `most`.
  bool to_the_end(int most = 20);
  /// What must be so after the end, and after that of a run that somebody cancelled.
  void check_end(const engine::RunState& state);
  void check_cancelled(const engine::RunState& state);
  engine::RunState fold() const;
  std::vector<std::string> transcript() const;
};

}  // namespace cupel::sim
