#include "orchestrator/controller/notify.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/ownership.h"
#include "base/process.h"
#include "orchestrator/engine/run_state.h"
#include "orchestrator/report/summary.h"

namespace cupel::controller {
namespace {

using engine::Event;
using engine::EventKind;

constexpr std::chrono::seconds kLastWords{15};

std::string_view text(const Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view{value->get_string()}
                                                : std::string_view{};
}

}  // namespace

std::optional<std::string_view> notice_of(const Event& event) {
  switch (event.kind) {
    case EventKind::step_overdue:
      return "overdue";
    case EventKind::run_halted:
      return "halt";
    case EventKind::run_ended:
    case EventKind::run_cancelled:
    case EventKind::run_interrupted:
      return "end";
    case EventKind::step_ended: {
      const auto outcome = engine::outcome_of(text(event, "outcome"));
      const bool for_operator = outcome == engine::Outcome::needs_operator ||
                                outcome == engine::Outcome::bmc_unresponsive;
      return for_operator ? std::optional<std::string_view>{"action"} : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

boost::json::object notice_json(std::string_view what, engine::RunId run, const Event& event) {
  boost::json::object notice{{"notice", what},
                             {"run", run},
                             {"event", to_string(event.kind)},
                             {"time", report::utc(event.time)}};
  if (!event.node.empty()) notice["node"] = event.node;
  if (!event.step.empty()) notice["step"] = event.step;
  for (const auto* key : {"why", "detail", "outcome", "step", "expected_s", "after_s"})
    if (const auto* value = event.data.if_contains(key)) notice[key] = *value;
  return notice;
}

void Notifier::hear(const std::string& program, engine::RunId run, const Event& event) {
  const auto what = notice_of(event);
  if (!what || program.empty()) return;
  if (waiting_.size() >= kMostWaiting) {
    ++dropped_;
    return;
  }
  waiting_.push_back({run, program, notice_json(*what, run, event)});
  news_.cancel();
}

Task<void> Notifier::tell(Notice notice) {
  if (dropped_ > 0) notice.what["dropped"] = std::exchange(dropped_, 0);
  // A bare name is one of PATH, as everywhere else.
  const bool is_path = notice.program.find('/') != notice.program.npos;
  if (const auto owned = is_path ? check_ownership(notice.program) : Result<void>{ok()}; !owned) {
    complain_(notice.run, fmt::format("--notify: {}", owned.error().what));
    co_return;
  }
  ProcessRequest request{.argv = {notice.program},
                         .input = boost::json::serialize(notice.what) + "\n"};
  const auto reported = co_await run_process(std::move(request), Deadline::in(kPatience));
  if (!reported)
    complain_(notice.run, fmt::format("--notify {}: {}", notice.program, reported.error().what));
}

Task<Result<void>> Notifier::serve() {
  for (;;) {
    const bool stop = co_await cancelled();
    if (stop) co_return ok();
    if (waiting_.empty()) {
      co_await news_.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    auto notice = std::move(waiting_.front());
    waiting_.pop_front();
    co_await tell(std::move(notice));
    const bool ends = co_await cancelled();
    if (ends) co_return ok();
    CO_TRY(co_await pause_for(kPause));
  }
}

Task<void> Notifier::flush() {
  const auto deadline = Deadline::in(kLastWords);
  while (!waiting_.empty() && !deadline.passed()) {
    auto notice = std::move(waiting_.front());
    waiting_.pop_front();
    co_await tell(std::move(notice));
  }
}

}  // namespace cupel::controller
