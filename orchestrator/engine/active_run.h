#pragma once
// What the engine keeps in memory of a run that works, beside its folded state. All of it can be
// made again from that: nothing here is a fact. For the engine's own files only.
#include <functional>

#include "inventory/fwd.h"
#include "orchestrator/engine/critical_path.h"
#include "orchestrator/engine/engine.h"

namespace cupel::engine {

/// Woken when an event is durable, or cannot be.
struct Receipt {
  asio::steady_timer signal;  // never fires: it is cancelled
  std::optional<Result<void>> written{};

  Receipt(const Receipt&) = delete;
  explicit Receipt(const asio::any_io_executor& executor)
      : signal{executor, asio::steady_timer::time_point::max()} {}
  void give(Result<void> outcome) {
    written.emplace(std::move(outcome));
    signal.cancel();
  }
};

Task<Result<void>> wait_for(Receipt& receipt);

/// A step that is ready or being done, by one node or by several together.
struct Work {
  enum class Stage { offered, beginning, trying, pausing, letting_go, ending, tail };

  Dispatcher::Ticket ticket = 0;
  ActiveRun* run = nullptr;
  std::vector<std::size_t> nodes{};                 // indices into the plan
  std::vector<std::size_t> steps{};                 // of each node: the step's index
  std::vector<const inventory::Node*> members{};    // empty where it is one alone
  const playbooks::PlannedStep* planned = nullptr;  // the first node's
  Stage stage = Stage::offered;
  bool begun_before = false;  // by a controller that is gone, or by a try that was
  bool inherited = false;     // by a controller that is gone
  bool overdue_reported = false;
  bool timed_out = false;
  std::string waits_for{};  // what this try waited for last
  std::string tried{};      // how the try before ended
  bool last_act = false;    // puts back what was set, although its run is cancelled
  Clock::Time deadline{};
  Clock::Time overdue{};
  Clock::Time retry{};
  std::optional<Clock::Time> timer{};
  Stop stop = Stop::no;
  asio::cancellation_signal signal{};
  std::optional<Result<StepEnd>> result{};
  std::optional<EventKind> last{};  // decided, and written once nothing of it is left on the node
  StepEnd end{};                    // ... with this
  std::optional<Result<void>> gone{};
  std::exception_ptr bug{};
  std::function<Task<void>()> tail{};
};

struct NodeRun {
  enum class Place {
    room,  // not let in yet
    open,  // let in: counts against nodes_at_once
    held,  // waits for other nodes or for a person, and takes up no place
    over
  };
  NodeState* state = nullptr;
  const playbooks::NodePlan* plan = nullptr;
  CriticalPath ahead{};  // from each step on
  Work* work = nullptr;
  Place place = Place::room;
  bool dirty = false;
  std::optional<std::size_t> arrived{};                       // at which group
  std::vector<std::pair<std::size_t, std::size_t>> groups{};  // step's index, group
};

struct GroupRun {
  std::vector<std::pair<std::size_t, std::size_t>> members{};  // node, its step's index
  std::set<std::size_t> arrived{};
  bool dirty = false;
};

struct ActiveRun {
  RunSetup setup;
  std::vector<NodeRun> nodes{};
  std::map<std::string_view, std::size_t> by_name{};
  std::vector<GroupRun> groups{};
  std::vector<Event> queue{};
  std::vector<Then> thens{};
  std::vector<std::size_t> dirty{};
  std::vector<std::size_t> dirty_groups{};
  /// 0: was let in before, 1: fresh, 2: fresh, and the canary's next wave has to open; node.
  std::set<std::pair<int, std::size_t>> room{};
  int open = 0;
  std::size_t over = 0;
  std::size_t works = 0;
  std::size_t since_snapshot = 0;
  std::size_t step_count = 0;  // of the plan
  Stop stop = Stop::no;
  bool stop_carried_out = false;
  std::optional<Clock::Time> hands_until{};  // all are through: when nobody is waited for any more
  std::optional<Command> cancel{};
  bool writing = false;       // events are on their way into the journal
  bool putting_back = false;  // cancelled, and nothing else of it is at work any more
  bool ending = false;        // the last event is queued
  bool finished = false;      // ... and durable, or can never be

  explicit ActiveRun(RunSetup given);
  RunState& state() { return setup.state; }
  bool stopping() const { return stop != Stop::no; }
  bool has_handle(const Work& work) const { return step(work, 0).handle.has_value(); }
  StepState& step(const Work& work, std::size_t member) const {
    return nodes[work.nodes[member]].state->steps[work.steps[member]];
  }
  void mark(std::size_t node);
  void mark_all();
  /// The group in which the node does the step, if it does not do it alone.
  std::optional<std::size_t> group_of(std::size_t node, std::size_t step) const;
  void mark_groups_of(std::size_t node);
  /// Whether no wave of the canary has let the node in yet, and all that it may do before is done:
  /// the steps at the head of the playbook that are for all nodes. One that has begun goes on.
  bool waits_for_wave(std::size_t node) const;
};

/// The step that puts back what this run has set on the node; nothing where nothing was set, or
/// that was tried already.
std::optional<std::size_t> owed(const NodeRun& node);

/// Why a step is shed.
inline constexpr auto kTooMuchPower = "a level of the power tree draws more than it may";

Event event_of(EventKind kind, std::string node = {}, std::string step = {},
               boost::json::object data = {});

}  // namespace cupel::engine
