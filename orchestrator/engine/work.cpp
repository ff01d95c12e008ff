// One step being done: begun, tried, tried again, ended; its deadline, its pauses, and what stops
// it before its end.
#include <boost/asio/bind_cancellation_slot.hpp>

#include "inventory/node.h"
#include "orchestrator/engine/active_run.h"

namespace cupel::engine {
namespace {

using std::chrono::milliseconds;
using Stage = Work::Stage;

/// A step that waits is bound by its deadline; one that asks every moment is bound by this too.
constexpr int kMostTries = 10'000;

/// Somebody waits for a run that he cancelled: the node's own timer puts back what this did not.
constexpr std::chrono::seconds kPutBackPatience{120};

/// Longer than this is worth telling somebody.
std::chrono::seconds overdue_after(const playbooks::PlannedStep& step) {
  // It waits for the other nodes, which are measured as long as they are: that is not late.
  if (step.kind == playbooks::StepKind::verdict) return step.deadline;
  return std::max(2 * step.expected, step.expected + std::chrono::seconds{60});
}

milliseconds pause_after(const Backoff& backoff, int tries, const StepEnd& end) {
  if (end.retry_after.count() > 0) return std::max(end.retry_after, backoff.first);
  const auto doubled = backoff.first * (std::int64_t{1} << std::min(tries, 20));
  return std::min(doubled, backoff.longest);
}

}  // namespace

void Engine::begin() {
  const auto now = clock_.now();
  const auto look = dispatcher_.next_look();
  const bool due = look && *look <= now;
  if (!std::exchange(dispatch_, false) && !due) return;
  for (const auto ticket : dispatcher_.start(now)) {
    const auto at = works_.find(ticket);
    // One that was stopped before it is let go under its ticket.
    if (at == works_.end() || at->second->stage != Stage::offered) continue;
    auto& work = *at->second;
    const auto& step = work.run->step(work, 0);
    work.deadline = now + work.planned->deadline - step.spent;
    if (work.last_act) work.deadline = std::min(work.deadline, now + kPutBackPatience);
    const bool pausing = work.begun_before && step.until != WallTime{};
    if (!pausing) {
      queue_began(work);
      continue;
    }
    // The rest of the pause, and never more than was written: clocks are set, both ways.
    const auto rest = std::clamp(step.until - clock_.wall(), milliseconds{0}, step.pause);
    work.stage = Stage::pausing;
    work.retry = now + rest;
    schedule(work);
  }
}

void Engine::queue_began(Work& work) {
  work.stage = Stage::beginning;
  for (std::size_t i = 0; i < work.nodes.size(); ++i) {
    Then then;
    if (i + 1 == work.nodes.size()) then = {Then::What::launch, &work, nullptr};
    const int attempt = work.run->step(work, i).attempt + 1;
    const auto& name = work.run->nodes[work.nodes[i]].plan->node->name;
    queue(*work.run,
          event_of(EventKind::step_began, name, work.planned->name, {{"attempt", attempt}}), then);
  }
}

void Engine::launch(Work& work) {
  work.stage = Stage::trying;
  work.begun_before = true;
  work.overdue_reported = false;
  work.waits_for.clear();
  work.overdue = clock_.now() + overdue_after(*work.planned);
  schedule(work);

  const auto attempt = [](Work& mine, StepRequest asked) -> Task<Result<StepEnd>> {
    // What stopped it before it ran had nobody to wake.
    if (mine.stop != Stop::no || mine.timed_out) co_return Error{Code::kCancelled, "stopped"};
    auto ended = co_await mine.run->setup.steps.perform(std::move(asked));
    co_return ended;
  };
  spawn(work, detail::run_into(work.result, attempt(work, request_for(work, work.deadline))));
}

void Engine::spawn(Work& work, Task<void> task) {
  asio::co_spawn(
      executor_, std::move(task),
      asio::bind_cancellation_slot(work.signal.slot(), [this, &work](std::exception_ptr bug) {
        work.bug = bug;
        returned_.push_back(work.ticket);
        nudge();
      }));
}

StepRequest Engine::request_for(Work& work, Time deadline) {
  const auto& run = *work.run;
  const auto& step = run.step(work, 0);
  auto started = [this, &work](std::string handle) { return keep_handle(work, std::move(handle)); };
  auto waiting = [&work](std::string what) {
    work.waits_for = what;
    for (const auto node : work.nodes)
      work.run->setup.observer.on_waiting(work.run->nodes[node].plan->node->name,
                                          work.planned->name, what);
  };
  return {run.setup.run,          *run.nodes[work.nodes.front()].plan->node,
          work.members,           *work.planned,
          step.attempt,           step.handle,
          Deadline::at(deadline), work.stop,
          std::move(started),     std::move(waiting),
          &run.setup.state};
}

Task<Result<void>> Engine::keep_handle(Work& work, std::string handle) {
  Receipt receipt{executor_};
  for (std::size_t i = 0; i < work.nodes.size(); ++i) {
    Then then;
    if (i + 1 == work.nodes.size()) then.receipt = &receipt;
    const auto& name = work.run->nodes[work.nodes[i]].plan->node->name;
    queue(*work.run,
          event_of(EventKind::step_started, name, work.planned->name, {{"handle", handle}}), then);
  }
  nudge();
  auto written = co_await wait_for(receipt);
  if (!written) co_return written;
  const bool stopped = work.stop != Stop::no || work.timed_out;
  if (stopped) co_return Error{Code::kCancelled, "stopped"};
  dispatcher_.draws(work.ticket);
  co_return ok();
}

void Engine::digest(Work& work) {
  if (work.bug) std::rethrow_exception(work.bug);
  if (work.stage == Stage::tail || broken_) return release(work);
  if (work.stage == Stage::letting_go) return digest_abort(work);
  auto result = std::move(*work.result);
  work.result.reset();
  StepEnd end;
  if (result) {
    end = *std::move(result);
  } else {
    auto& error = result.error();
    if (error.code == Code::kStorage) {
      break_down(std::move(error));
      return release(work);
    }
    const bool asked = work.stop != Stop::no || work.timed_out || work.run->stopping();
    if (error.code == Code::kCancelled && !asked) {
      // Somebody above the step is going down, and the engine is not reported yet: half of a try
      // proves nothing.
      stop(work.run->setup.run, Stop::interrupt);
      return release(work);
    }
    end.outcome = error.code == Code::kCancelled ? Outcome::retry : Outcome::reject;
    end.detail = std::move(error.what);
  }
  const bool again = end.outcome == Outcome::retry || end.outcome == Outcome::wait;
  if (work.timed_out && again) {
    end.outcome = end.at_last;
    end.detail =
        "not done within its deadline of " + std::to_string(work.planned->deadline.count()) + " s";
    if (!work.waits_for.empty()) end.detail += "; it waited for " + work.waits_for;
    if (!work.tried.empty()) end.detail += "; before: " + work.tried;
  } else if (work.run->stopping() && !work.last_act && end.outcome != Outcome::done) {
    // Half of a try proves nothing: the next one looks at the world.
    return leave(work);
  } else if (work.stop == Stop::shed && end.outcome != Outcome::done) {
    return put_back(work, kTooMuchPower);
  } else if (end.begin_anew && work.inherited) {
    return put_back(work, std::move(end.detail));
  }
  const bool final = end.outcome != Outcome::retry && end.outcome != Outcome::wait;
  return final ? this->end(work, std::move(end)) : try_again(work, std::move(end));
}

void Engine::try_again(Work& work, StepEnd end) {
  const auto now = clock_.now();
  const auto& step = work.run->step(work, 0);
  const bool waits = end.outcome == Outcome::wait;
  const auto pause = pause_after(work.run->setup.backoff, step.tries, end);
  const auto left = std::chrono::floor<milliseconds>(work.deadline - now);
  std::string over;
  if (!waits && step.retries + 1 >= work.planned->tries) {
    over = "the last of its tries";
  } else if (step.tries + 1 >= kMostTries) {
    over = "it has waited " + std::to_string(kMostTries) + " times";
  } else if (pause >= left) {
    over = "no time left for another try";
  }
  if (!over.empty()) {
    end.detail += " (" + over + ")";
    end.outcome = end.at_last;
    return this->end(work, std::move(end));
  }
  work.stage = Stage::ending;
  work.tried = end.detail;
  work.retry = now + pause;
  const auto spent = work.planned->deadline - left;
  const auto until = clock_.wall() + pause;
  queue_for_all(work, EventKind::step_retried,
                {{"outcome", to_string(end.outcome)},
                 {"why", end.detail},
                 {"after_ms", pause.count()},
                 {"until", until.time_since_epoch().count()},
                 {"spent_ms", spent.count()}},
                Then::What::pause);
}

void Engine::queue_for_all(Work& work, EventKind kind, boost::json::object data, Then::What what) {
  auto& run = *work.run;
  for (std::size_t i = 0; i + 1 < work.nodes.size(); ++i)
    queue(run, event_of(kind, run.nodes[work.nodes[i]].plan->node->name, work.planned->name, data),
          {});
  queue(run,
        event_of(kind, run.nodes[work.nodes.back()].plan->node->name, work.planned->name,
                 std::move(data)),
        {what, &work, nullptr});
}

void Engine::close(Work& work) {
  if (!work.tail) return release(work);
  dispatcher_.ended(work.ticket, clock_.now());
  dispatch_ = true;
  work.stage = Stage::tail;
  work.timed_out = false;
  schedule(work);
  // The function outlives the coroutine that it makes: it is kept in the work.
  asio::co_spawn(
      executor_, tail_of(work),
      asio::bind_cancellation_slot(work.signal.slot(), [this, &work](std::exception_ptr bug) {
        work.bug = bug;
        returned_.push_back(work.ticket);
        nudge();
      }));
}

Task<void> Engine::tail_of(Work& work) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await work.tail();
}

/// Gives back whatever it held; its nodes are free for what is next.
void Engine::release(Work& work) {
  auto& run = *work.run;
  if (work.timer) timers_.erase({*work.timer, work.ticket});
  dispatcher_.ended(work.ticket, clock_.now());
  dispatch_ = true;
  for (const auto node : work.nodes) {
    run.nodes[node].work = nullptr;
    run.mark(node);
  }
  --run.works;
  nudged_ = true;
  works_.erase(work.ticket);
}

void Engine::fire_timers() {
  const auto now = clock_.now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    auto& work = *works_.at(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work.timer.reset();
    if (work.stage == Stage::pausing) {
      work.last ? abort(work) : queue_began(work);
    } else if (work.stage == Stage::letting_go) {
      work.timed_out = true;
      work.signal.emit(asio::cancellation_type::terminal);
    } else if (work.stage == Stage::trying && now >= work.deadline) {
      work.timed_out = true;
      work.signal.emit(asio::cancellation_type::terminal);
    } else if (work.stage == Stage::trying) {
      work.overdue_reported = true;
      const auto after = overdue_after(*work.planned);
      queue_for_all(work, EventKind::step_overdue,
                    {{"expected_s", work.planned->expected.count()}, {"after_s", after.count()}},
                    Then::What::nothing);
    }
    schedule(work);
  }
}

/// One timer for each step: whatever comes first.
void Engine::schedule(Work& work) {
  if (work.timer) timers_.erase({*work.timer, work.ticket});
  work.timer.reset();
  if (work.stage == Stage::pausing) work.timer = work.retry;
  if (work.stage == Stage::letting_go && !work.timed_out) work.timer = work.retry;
  if (work.stage == Stage::trying && !work.timed_out)
    work.timer = work.overdue_reported ? work.deadline : std::min(work.overdue, work.deadline);
  if (work.timer) timers_.emplace(*work.timer, work.ticket);
}

}  // namespace cupel::engine
