#pragma once
// Two nodes, six steps and a world by script, for tests of the engine.
#include <gmock/gmock.h>

#include <map>

#include "inventory/fwd.h"
#include "inventory/node.h"
#include "orchestrator/engine/engine.h"
#include "playbooks/fwd.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"
#include "playbooks/step_kind.h"

namespace cupel::engine::fixture {

using namespace std::chrono_literals;
using playbooks::OnFailure;
using playbooks::PlannedStep;
using playbooks::StepKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps events in memory; refuses to write once `room` is used up, as a full disk does.
struct MemoryJournal : Journal {
  std::vector<Event> events{};
  std::size_t room = 1'000'000;

  Task<Result<void>> append(std::span<Event> more) override {
    if (events.size() + more.size() > room) co_return Error{Code::kStorage, "disk full"};
    for (auto& event : more) {
      event.sequence = static_cast<std::int64_t>(events.size()) + 1;
      events.push_back(event);
    }
    co_return ok();
  }
};

/// Does what the script says, one answer for each try of each step; done where the script is
/// silent.
struct ScriptedSteps : Steps {
  std::map<std::string, std::vector<StepEnd>> script{};
  std::map<std::string, int> tries{};
  std::vector<std::string> started{};
  std::vector<std::string> reattached{};
  int at_once = 0;
  int most_at_once = 0;

  Task<Result<StepEnd>> perform(StepRequest request) override {
    const auto key = request.node.name + "/" + request.step.name;
    most_at_once = std::max(most_at_once, ++at_once);
    CO_TRY(co_await pause_for(1ms));
    --at_once;
    if (request.handle) {
      reattached.push_back(*request.handle);
    } else if (request.step.kind == StepKind::stage) {
      CO_TRY(co_await request.started("job of " + key));
      started.push_back(key);
    }
    const auto answers = script.find(key);
    const auto mine = static_cast<std::size_t>(tries[key]++);
    if (answers == script.end() || mine >= answers->second.size()) co_return StepEnd{};
    co_return answers->second[mine];
  }

  std::vector<std::string> let_go_of{};
  Result<void> when_let_go = ok();
  Task<Result<void>> abort(StepRequest request) override {
    CO_TRY(co_await pause_for(1ms));
    let_go_of.push_back(*request.handle);
    co_return when_let_go;
  }
};

struct Silent : Observer {
  void on_event(const Event&, const RunState&) override {}
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

inline PlannedStep step(StepKind kind, std::string name, OnFailure on_failure = OnFailure::stop) {
  PlannedStep planned;
  planned.kind = kind;
  planned.name = std::move(name);
  planned.deadline = 60s;
  planned.tries = 3;
  planned.on_failure = on_failure;
  planned.always = row_of(kind).always;
  planned.before_canary = row_of(kind).before_canary;
  return planned;
}

inline StepEnd ends(Outcome outcome, std::string detail = "because") {
  StepEnd end;
  end.outcome = outcome;
  end.detail = std::move(detail);
  return end;
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    nodes_[0].name = "n1";
    nodes_[1].name = "n2";
    const auto steps = std::make_shared<std::vector<PlannedStep>>(std::vector{
        step(StepKind::power_on, "power-on"), step(StepKind::ssh_wait, "ssh-wait"),
        step(StepKind::stage, "gpu-facts", OnFailure::go_on), step(StepKind::stage, "disk"),
        step(StepKind::verdict, "verdict"), step(StepKind::hand_off, "hand-off")});
    for (const auto& node : nodes_) plan_.nodes.push_back({&node, steps});
  }

  /// Folds what is in the journal, and works on until the end.
  Result<void> run() {
    auto state = initial_state(plan_);
    for (const auto& event : journal_.events) apply(state, event);
    asio::io_context io;
    Dispatcher dispatcher;
    RealClock clock;
    Engine engine{dispatcher, clock};
    engine.add(setup(std::move(state), steps_, observer_));
    auto ended = run_to_end(io, engine.run());
    state_ = engine.state(1);
    return ended;
  }

  RunSetup setup(RunState state, Steps& steps, Observer& observer) {
    return {.run = 1,
            .plan = plan_,
            .state = std::move(state),
            .journal = journal_,
            .steps = steps,
            .observer = observer,
            .backoff = {1ms, 4ms}};
  }

  std::vector<std::string> phases(const std::string& node) const {
    constexpr std::array<std::string_view, 5> kWords{"waiting", "running", "done", "failed",
                                                     "skipped"};
    std::vector<std::string> words;
    for (const auto& each : state_.nodes.at(node).steps)
      words.emplace_back(kWords[static_cast<std::size_t>(each.phase)]);
    return words;
  }

  std::array<inventory::Node, 2> nodes_{};
  playbooks::Plan plan_{};
  MemoryJournal journal_{};
  ScriptedSteps steps_{};
  Silent observer_{};
  RunState state_{};
};

}  // namespace cupel::engine::fixture
