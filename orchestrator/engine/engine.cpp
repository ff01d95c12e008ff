#include "orchestrator/engine/engine.h"

#include <boost/asio/bind_cancellation_slot.hpp>

#include "base/for_each_of.h"

namespace cupel::engine {
namespace {

Event event_of(EventKind kind, std::string node, std::string step, boost::json::object data = {}) {
  Event event;
  event.kind = kind;
  event.node = std::move(node);
  event.step = std::move(step);
  event.data = std::move(data);
  return event;
}

boost::json::object ended(const StepEnd& end) {
  auto data = end.found;
  data["outcome"] = to_string(end.outcome);
  data["detail"] = end.detail;
  return data;
}

}  // namespace

Engine::Engine(RunId run, const playbooks::Plan& plan, RunState state, Journal& journal,
               Steps& steps, Observer& observer, Backoff backoff)
    : run_{run},
      plan_{plan},
      state_{std::move(state)},
      journal_{journal},
      steps_{steps},
      observer_{observer},
      backoff_{backoff} {}

Result<void> Engine::write(Event event) {
  if (broken_) return *broken_;
  auto written = journal_.append(std::span{&event, 1});
  if (!written) {
    broken_ = written.assume_error();
    // Steps under way are stopped: what they do could no longer be written down.
    stop(Stop::interrupt);
    return std::move(written).assume_error();
  }
  apply(state_, event);
  observer_.on_event(event, state_);
  return ok();
}

Task<Result<void>> Engine::write_soon(Event event) { co_return write(std::move(event)); }

void Engine::stop(Stop why) {
  if (stop_ == Stop::no || why == Stop::cancel) stop_ = why;
  stopper_.emit(asio::cancellation_type::terminal);
}

Task<Result<void>> Engine::run() {
  std::vector<std::size_t> nodes(plan_.nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
  const auto width = static_cast<std::size_t>(plan_.nodes_at_once);
  const auto executor = co_await asio::this_coro::executor;
  const auto verb = [this](std::size_t node) { return drive(node); };
  using Outcomes = std::vector<Result<void>>;
  std::optional<Outcomes> outcomes;
  auto all = for_each_of<void>(std::move(nodes), width, verb);
  auto work = detail::run_into(outcomes, std::move(all));
  co_await asio::co_spawn(executor, std::move(work),
                          asio::bind_cancellation_slot(stopper_.slot(), asio::use_awaitable));
  if (broken_) co_return *broken_;
  if (stop_ != Stop::no) co_return Error{Code::kCancelled, "the run was stopped"};
  co_return ok();
}

Task<Result<void>> Engine::drive(std::size_t node) {
  const auto& plan = plan_.nodes[node];
  for (;;) {
    const bool stopped = stop_ != Stop::no;
    if (stopped) co_return Error{Code::kCancelled, "stopped"};
    const auto what = next(plan, state_.nodes.find(plan.node->name)->second);
    if (what.kind == Next::Kind::nothing) co_return ok();
    if (what.kind == Next::Kind::skip) {
      CO_TRY(co_await skip(plan, what));
    } else {
      CO_TRY(co_await perform(plan, what.step));
    }
  }
}

Task<Result<void>> Engine::skip(const playbooks::NodePlan& plan, const Next& what) {
  co_return write(event_of(EventKind::step_skipped, plan.node->name, (*plan.steps)[what.step].name,
                           {{"why", what.why}}));
}

Task<Result<void>> Engine::perform(const playbooks::NodePlan& plan, std::size_t step) {
  const auto& planned = (*plan.steps)[step];
  const auto deadline = Deadline::in(planned.deadline);
  const auto& name = plan.node->name;
  for (int attempt = 1;; ++attempt) {
    auto tried = co_await try_once(plan, step, deadline);
    if (!tried) co_return std::move(tried).assume_error();
    auto& end = tried.assume_value();
    // A stop that came while nobody was waiting has nothing left to wake up: ask.
    const bool stopped = stop_ != Stop::no && end.outcome != Outcome::done;
    if (stopped) co_return Error{Code::kCancelled, "stopped"};
    const bool again = end.outcome == Outcome::retry || end.outcome == Outcome::wait;
    if (!again) {
      CO_TRY(write(event_of(EventKind::step_ended, name, planned.name, ended(end))));
      if (end.when_written) co_await end.when_written();
      co_return ok();
    }

    const auto pause = pause_after(attempt, end);
    const bool tries_left = end.outcome == Outcome::wait || attempt < planned.tries;
    if (!tries_left || pause >= deadline.left()) {
      const auto why = tries_left ? "no time left for another try" : "the last of its tries";
      end.detail += std::string{" ("} + why + ")";
      end.outcome = Outcome::reject;
      co_return write(event_of(EventKind::step_ended, name, planned.name, ended(end)));
    }
    CO_TRY(write(event_of(EventKind::step_retried, name, planned.name,
                          {{"why", end.detail}, {"after_ms", pause.count()}})));
    CO_TRY(co_await pause_for(pause));
  }
}

Task<Result<StepEnd>> Engine::try_once(const playbooks::NodePlan& plan, std::size_t step,
                                       Deadline deadline) {
  const auto& planned = (*plan.steps)[step];
  const auto& name = plan.node->name;
  const auto& before = state_.nodes.find(name)->second.steps[step];
  const int attempt = before.attempt + 1;
  CO_TRY(write(event_of(EventKind::step_began, name, planned.name, {{"attempt", attempt}})));
  auto started = [this, &name, &planned](std::string handle) -> Task<Result<void>> {
    return write_soon(
        event_of(EventKind::step_started, name, planned.name, {{"handle", std::move(handle)}}));
  };
  auto waiting = [this, &name, &planned](std::string what) {
    observer_.on_waiting(name, planned.name, what);
  };
  StepRequest request{run_,
                      *plan.node,
                      {},
                      planned,
                      attempt,
                      before.handle,
                      deadline,
                      stop_,
                      std::move(started),
                      std::move(waiting)};
  auto ended = co_await with_deadline(deadline, steps_.perform(std::move(request)));
  const bool overdue = !ended && ended.assume_error().code == Code::kTimeout;
  if (!overdue) co_return ended;
  StepEnd end;
  end.outcome = Outcome::reject;
  end.detail = "not done within its deadline of " + std::to_string(planned.deadline.count()) + " s";
  co_return end;
}

std::chrono::milliseconds Engine::pause_after(int attempt, const StepEnd& end) const {
  if (end.retry_after.count() > 0) return end.retry_after;
  const auto doubled = backoff_.first * (std::int64_t{1} << std::min(attempt - 1, 20));
  return std::min(doubled, backoff_.longest);
}

}  // namespace cupel::engine
