// How a step ends for good, or half done because nobody wants it now: what it started on the node
// is ended first, and only then is that written. A controller that dies between the two leaves a
// step that is under way, whose next try finds out (StepEnd::begin_anew), or a cancel that is taken
// again. What a cancelled run has set on its nodes is put back before it is over.
#include <set>

#include "burnin/undo.h"
#include "orchestrator/engine/active_run.h"

namespace cupel::engine {
namespace {

using Stage = Work::Stage;
using namespace std::chrono_literals;

/// Whoever lets go has a patience of his own, and waits for what cannot be broken off, as a flash:
/// never longer than this, or than the step itself might have taken.
constexpr std::chrono::seconds kLetGoPatience{60};

/// What is to be shed holds its watts until it is off them: so soon is it asked for again.
constexpr auto kShedAgain = 15s;

}  // namespace

std::optional<std::size_t> owed(const NodeRun& node) {
  std::set<const burnin::Undo*> changed;
  for (std::size_t i = 0; i < node.state->steps.size(); ++i) {
    const auto& step = node.state->steps[i];
    const auto& name = (*node.plan->steps)[i].name;
    if (step.attempt > 0) changed.insert(burnin::undo_of(name));
    const auto* undone = burnin::undone_by(name);
    if (undone == nullptr || !changed.contains(undone)) continue;
    if (step.phase == StepState::Phase::waiting) return i;
    if (step.phase == StepState::Phase::done) changed.erase(undone);
  }
  return std::nullopt;
}

void Engine::end(Work& work, StepEnd end) { conclude(work, EventKind::step_ended, std::move(end)); }

/// To begin anew, when there is room.
void Engine::put_back(Work& work, std::string why) {
  StepEnd end;
  end.outcome = Outcome::retry;
  end.detail = std::move(why);
  conclude(work, EventKind::step_shed, std::move(end));
}

/// Its run stops. Interrupted, what it started goes on and is found again at resume; cancelled,
/// nobody will ever look for it.
void Engine::leave(Work& work) {
  const bool begun = work.run->step(work, 0).phase == StepState::Phase::running;
  if (work.run->stop != Stop::cancel || !begun || broken_) return release(work);
  StepEnd end;
  end.outcome = Outcome::retry;
  end.detail = "its run was cancelled";
  conclude(work, EventKind::step_stopped, std::move(end));
}

void Engine::conclude(Work& work, EventKind kind, StepEnd end) {
  work.last = kind;
  work.end = std::move(end);
  const bool settled = work.end.outcome == Outcome::done || work.end.when_written;
  if (settled || !work.run->has_handle(work)) return write_last(work, {});
  abort(work);
}

void Engine::abort(Work& work) {
  work.stage = Stage::letting_go;
  work.timed_out = false;
  work.retry = clock_.now() + std::max(kLetGoPatience, work.planned->deadline);
  schedule(work);
  const auto attempt = [](Work& mine, StepRequest asked) -> Task<Result<void>> {
    const bool stopped = mine.timed_out || mine.stop == Stop::interrupt;
    if (stopped) co_return Error{Code::kCancelled, "stopped"};
    auto gone = co_await mine.run->setup.steps.abort(std::move(asked));
    co_return gone;
  };
  spawn(work, detail::run_into(work.gone, attempt(work, request_for(work, work.retry))));
}

void Engine::digest_abort(Work& work) {
  auto gone = std::move(*work.gone);
  work.gone.reset();
  if (gone) return write_last(work, {});
  auto& error = gone.error();
  const bool stopped = error.code == Code::kCancelled && !work.timed_out;
  if (stopped) return release(work);
  if (work.timed_out) error.what = "no end of it";
  const auto left = "what it started could not be ended: " + error.what;
  const auto now = clock_.now();
  if (work.last == EventKind::step_shed && now + kShedAgain < work.deadline) {
    work.stage = Stage::pausing;
    work.retry = now + kShedAgain;
    return schedule(work);
  }
  if (work.last == EventKind::step_shed) {
    work.last = EventKind::step_ended;
    work.end.outcome = Outcome::reject;
  }
  work.end.detail += "; " + left;
  boost::json::object data{{"handle", *work.run->step(work, 0).handle}, {"left", left}};
  // Of several together nobody says which one it is.
  const bool lost = error.code == Code::kUnreachable && work.nodes.size() == 1;
  if (lost && work.last == EventKind::step_ended) data["ssh_lost"] = true;
  write_last(work, std::move(data));
}

void Engine::write_last(Work& work, boost::json::object data) {
  work.stage = Stage::ending;
  work.tail = std::move(work.end.when_written);
  if (work.last == EventKind::step_ended) {
    for (auto& [key, value] : work.end.found) data[key] = std::move(value);
    data["outcome"] = to_string(work.end.outcome);
    data["detail"] = work.end.detail;
  } else {
    data["why"] = work.end.detail;
  }
  queue_for_all(work, *work.last, std::move(data), Then::What::close);
}

void Engine::shed() {
  if (std::exchange(was_measured_, false))
    for (const auto ticket : dispatcher_.shed(clock_.now())) shedding_.push_back(ticket);
  for (const auto ticket : std::exchange(shedding_, {})) {
    const auto at = works_.find(ticket);
    if (at == works_.end() || at->second->stop != Stop::no || at->second->last) continue;
    auto& work = *at->second;
    if (work.stage == Stage::trying) {
      work.stop = Stop::shed;
      work.signal.emit(asio::cancellation_type::terminal);
    } else if (work.stage == Stage::pausing) {
      put_back(work, kTooMuchPower);
    } else {
      // It begins, or pauses, with what is written now.
      shedding_.push_back(ticket);
    }
  }
}

}  // namespace cupel::engine
