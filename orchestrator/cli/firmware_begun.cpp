#include "orchestrator/cli/firmware_begun.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/enum_words.h"
#include "base/text.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::cli {
namespace {

using End = store::FirmwareState::End;
using Phase = firmware::UpdateHandle::Phase;
using InRun = BegunUpdate::Run;

/// As steps keep them.
constexpr std::string_view kKinds[] = {"firmware", "node-firmware"};

/// Whether a controller drives the run, or is about to.
bool is_driven(const Context& context, const store::Run& run) {
  if (!store::ControllerLock::holder(context.state)) return false;
  return run.phase == engine::RunPhase::submitted ||
         controller::find(controller::read_status(context.state), run.id) != nullptr;
}

/// Whether the step has ended on the node, however it did.
bool step_is_over(const engine::FoldedRun& run, const std::string& node, const std::string& step) {
  const auto trace = run.trace.nodes.find(node);
  const auto state = run.state.nodes.find(node);
  if (trace == run.trace.nodes.end() || state == run.state.nodes.end()) return false;
  const auto& steps = trace->second.steps;
  const auto at = std::ranges::find(steps, step, &engine::StepTrace::name);
  if (at == steps.end()) return false;
  return state->second.steps[static_cast<std::size_t>(at - steps.begin())].over();
}

Result<InRun> look_at_run(const Context& context, const store::Store& store,
                          const store::FirmwareState& state, const std::string& node) {
  const auto run = store.run(state.run);
  if (!run && run.error().code == Code::kNotFound) return InRun::over;
  if (!run) return run.error();
  const bool over =
      run->phase == engine::RunPhase::ended || run->phase == engine::RunPhase::cancelled;
  if (over) return InRun::over;
  TRY(const auto events, store.events(run->id, node));
  if (step_is_over(engine::fold(events), node, state.step)) return InRun::open;
  return is_driven(context, *run) ? InRun::at_work : InRun::interrupted;
}

/// What is known of one whose end was not seen.
std::string_view words_of(Phase phase) {
  switch (phase) {
    case Phase::pushing:
      return "was being sent: all of it may have arrived, or nothing";
    case Phase::writing:
    case Phase::starting:
      return "was being written, and no end was seen";
    case Phase::resetting:
      return "is written; whether its resets are done and it runs was not seen";
    case Phase::refused:
      return "was not sent, or was refused";
    case Phase::doubtful:
      return "what wrote it on the node was ended";
  }
  __builtin_unreachable();
}

std::string_view words_of(const BegunUpdate& update) {
  switch (update.state.end) {
    case End::open:
      return update.in_run == InRun::at_work ? "is being written" : words_of(update.handle.phase);
    case End::staged:
      return "is staged: written and good, and runs after a reset that Cupel could not do";
    case End::in_doubt:
      return "is in doubt: what writes it may still be at work";
    case End::failed:
      return "failed, and nothing of it is at work";
    case End::done:
      return "was written, and its version was seen";
    case End::forgotten:
      return "was forgotten by an operator";
  }
  __builtin_unreachable();
}

std::string runs_of(const store::FirmwareState& state) {
  if (state.run == state.written_by) return fmt::format("run {}", state.run);
  return fmt::format("run {}, continued by run {}", state.written_by, state.run);
}

}  // namespace

Result<std::vector<BegunUpdate>> begun_updates(const Context& context, store::Store& store,
                                               const std::string& node) {
  std::vector<BegunUpdate> all;
  for (const auto kind : kKinds) {
    TRY(auto state, store::firmware_state(store, kind, node));
    if (!state) continue;
    BegunUpdate update{.kind = std::string{kind}, .state = *std::move(state)};
    TRY(update.handle, firmware::remembered_handle_of(update.state.handle, node));
    TRY(update.in_run, look_at_run(context, store, update.state, node));
    all.push_back(std::move(update));
  }
  return all;
}

Result<std::vector<std::string>> nodes_with_updates(const store::Store& store) {
  std::vector<std::string> all;
  for (const auto kind : kKinds) {
    TRY(const auto nodes, store::nodes_with_firmware_state(store, kind));
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  return all;
}

std::vector<std::string> unreadable_updates(store::Store& store, const std::string& node) {
  std::vector<std::string> kinds;
  for (const auto kind : kKinds) {
    const auto state = store::firmware_state(store, kind, node);
    const bool is_none = state && !*state;
    if (is_none || (state && firmware::update_handle_of((*state)->handle))) continue;
    kinds.emplace_back(kind);
  }
  return kinds;
}

std::string next_command(const BegunUpdate& update, const std::string& node) {
  if (update.in_run == InRun::at_work) return fmt::format("cupel follow {}", update.state.run);
  if (update.in_run == InRun::interrupted) return fmt::format("cupel resume {}", update.state.run);
  if (!store::is_settled(update.state.end)) return fmt::format("cupel firmware continue {}", node);
  if (update.state.end != End::failed) return {};
  if (update.in_run == InRun::open) return fmt::format("cupel retry {} {}", update.state.run, node);
  if (update.handle.again)
    return fmt::format("cupel firmware rewrite {} --only {}", node, update.handle.component);
  return fmt::format("cupel run firmware --nodes {}", node);
}

std::string standing_text(const BegunUpdate& update) {
  return fmt::format("{} {}", printable(update.named()), words_of(update));
}

std::string begun_text(const Context& context, const BegunUpdate& update, const std::string& node) {
  const auto& state = update.state;
  auto text = fmt::format("{}, since {:%F %H:%M} UTC ({})", standing_text(update), state.since,
                          runs_of(state));
  if (!state.words.empty()) text += "\n  " + printable(state.words);
  if (const auto next = next_command(update, node); !next.empty())
    text += "\n  next: " + advised(context, next);
  return text;
}

boost::json::object begun_json(const BegunUpdate& update, const std::string& node) {
  const auto& state = update.state;
  boost::json::object object{{"step", update.kind},
                             {"component", update.handle.component},
                             {"version", update.handle.version},
                             {"state", enum_word<'-'>(state.end)},
                             {"phase", enum_word<'-'>(update.handle.phase)},
                             {"in_run", enum_word<'-'>(update.in_run)},
                             {"since", fmt::format("{:%FT%TZ}", state.since)},
                             {"written_by_run", state.written_by},
                             {"run", state.run}};
  if (!state.words.empty()) object["words"] = state.words;
  if (const auto next = next_command(update, node); !next.empty()) object["next"] = next;
  return object;
}

}  // namespace cupel::cli
