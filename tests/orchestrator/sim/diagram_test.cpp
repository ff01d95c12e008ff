// The diagram in docs/build/engine.md is what apply() does: every event is tried on every state,
// and what comes out is compared with the table there. And the fold bears anything.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "inventory/node.h"
#include "orchestrator/engine/run_state.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::engine {
namespace {

using playbooks::PlannedStep;
using playbooks::StepKind;

constexpr auto kLastKind = static_cast<int>(EventKind::run_ended);

std::string state_name(const StepState& step) {
  using Phase = StepState::Phase;
  switch (step.phase) {
    case Phase::waiting:
      return "waiting";
    case Phase::running:
      if (step.until != WallTime{}) return "pausing";
      return step.handle ? "started" : "running";
    case Phase::done:
      return "done";
    case Phase::failed:
      return "failed";
    case Phase::skipped:
      return "skipped";
  }
  __builtin_unreachable();
}

Event event_for(EventKind kind, bool by_a_person, std::string_view outcome) {
  Event event;
  event.kind = kind;
  event.node = "n1";
  event.step = "gate";
  event.data = {{"outcome", outcome}, {"why", "w"},  {"handle", "h"}, {"until", 5000},
                {"after_ms", 5000},   {"by", "ada"}, {"from", "gate"}};
  if (by_a_person) event.data["command"] = 1;
  return event;
}

/// One step that is of a kind that a person may approve, so that every event means something.
RunState one_step(const inventory::Node& node) {
  PlannedStep step;
  step.kind = StepKind::approval;
  step.name = "gate";
  playbooks::Plan plan;
  plan.nodes.push_back(
      {&node, std::make_shared<const std::vector<PlannedStep>>(std::vector{std::move(step)})});
  return initial_state(plan);
}

/// "running --step_ended--> done", in the words of the document.
std::set<std::string> transitions() {
  inventory::Node node;
  node.name = "n1";
  std::map<std::string, RunState> known;
  std::vector<RunState> fresh{one_step(node)};
  std::set<std::string> found;
  while (!fresh.empty()) {
    const auto state = fresh.back();
    fresh.pop_back();
    const auto& step = state.nodes.at("n1").steps[0];
    const auto name = state_name(step);
    if (!known.emplace(name + (step.handle ? " with a handle" : ""), state).second) continue;
    for (int kind = 0; kind <= kLastKind; ++kind)
      for (const bool person : {false, true})
        for (const auto* outcome : {"done", "failed"}) {
          auto after = state;
          const auto event = event_for(static_cast<EventKind>(kind), person, outcome);
          apply(after, event);
          const auto next = state_name(after.nodes.at("n1").steps[0]);
          fresh.push_back(after);
          if (next == name) continue;
          found.insert("| " + name + " | " + std::string{to_string(event.kind)} + " | " + next +
                       " |");
        }
  }
  return found;
}

TEST(Diagram, TheTableInTheDocumentIsWhatTheCodeDoes) {
  std::ifstream file{SOURCE_DIR "/docs/build/engine.md"};
  std::set<std::string> written;
  bool in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| state | event | next |")) in_table = true;
    if (!line.starts_with("|")) in_table = false;
    const bool row = in_table && !line.starts_with("| state") && !line.starts_with("|---");
    if (row) written.insert(line);
  }

  EXPECT_EQ(written, transitions());
}

TEST(Diagram, TheDrawingHasTheSameArrowsAsTheTable) {
  std::ifstream file{SOURCE_DIR "/docs/build/engine.md"};
  std::set<std::string> drawn;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words{line};
    std::string from;
    std::string arrow;
    std::string to;
    std::string event;
    words >> from >> arrow >> to >> event >> event;
    const bool transition = arrow == "-->" && from != "[*]" && to != "[*]";
    if (!transition) continue;
    do drawn.insert("| " + from + " | " + event + " | " + to + " |");
    while (words >> event);
  }

  EXPECT_EQ(drawn, transitions());
}

TEST(Fold, BearsAnythingInAnyOrder) {
  inventory::Node node;
  node.name = "n1";
  std::mt19937_64 random{11};
  const std::vector<std::string> words{"", "n1", "gate", "n9", "done", "retry", "from", "-7"};
  const auto word = [&] { return words[random() % words.size()]; };
  for (int i = 0; i < 20'000; ++i) {
    auto state = one_step(node);
    for (int k = 0; k < 8; ++k) {
      Event event;
      event.kind = static_cast<EventKind>(random() % (kLastKind + 1));
      event.node = word();
      event.step = word();
      for (const auto* key : {"outcome", "why", "until", "after_ms", "command", "step", "nodes",
                              "facts", "measurements", "from", "handle"}) {
        if (random() % 2 == 0) continue;
        if (random() % 2 == 0)
          event.data[key] = word();
        else
          event.data[key] = static_cast<std::int64_t>(random());
      }
      apply(state, event);
      const auto& step = state.nodes.at("n1").steps[0];
      ASSERT_TRUE(step.outcome != Outcome::wait && step.outcome != Outcome::retry);
      ASSERT_GE(step.attempt, step.phase == StepState::Phase::running ? 1 : 0);
      ASSERT_GE(step.pause.count(), 0);
    }
  }
}

}  // namespace
}  // namespace cupel::engine
