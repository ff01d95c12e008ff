#include "orchestrator/cli/watch_there.h"

#include <fmt/format.h>

#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"

namespace cupel::cli {
namespace {

using engine::RunPhase;

constexpr std::chrono::seconds kBeginPatience{60};
constexpr std::chrono::milliseconds kLook{200};

/// Until a controller has taken up what was submitted. Errors: as ServiceClient; kTimeout.
Task<Result<void>> taken_up(const api::ServiceClient& client, engine::RunId run) {
  const auto deadline = Deadline::in(kBeginPatience);
  while (!deadline.passed()) {
    CO_TRY(const auto row, client.get(fmt::format("/api/v1/runs/{}", run)));
    if (text_at(row, "state") != to_string(RunPhase::submitted)) co_return ok();
    CO_TRY(co_await pause_for(kLook));
  }
  co_return Error{Code::kTimeout, fmt::format("run {} has not begun: cupel status", run)};
}

/// Until the run has reported its steps; nothing where it ended before, or the service is gone.
Task<std::unique_ptr<Planned>> plan_there(RunCopy& copy) {
  const auto deadline = Deadline::in(kBeginPatience);
  while (!deadline.passed()) {
    if (auto plan = copy.plan()) co_return plan;
    if (!copy.catch_up()) co_return nullptr;
    const auto run = copy.store().run(copy.run());
    if (run && run->phase == RunPhase::cancelled) co_return nullptr;
    [[maybe_unused]] const auto paused = co_await pause_for(kLook);
  }
  co_return nullptr;
}

}  // namespace

Exit watch_there(const Context& context, const api::ServiceClient& client, engine::RunId run) {
  asio::io_context waiting{1};
  const auto begun = run_to_end(waiting, taken_up(client, run));
  if (!begun) return print_error_of_service(context, begun.error());
  const auto copy = RunCopy::make(client, run);
  if (!copy) return print_error_of_service(context, copy.error());
  asio::io_context io{1};
  const auto planned = run_to_end(io, plan_there(**copy));
  const auto row = (*copy)->store().run(run);
  if (!planned || !row)
    return print_error(
        context, Error{Code::kUnreachable, fmt::format("run {} has not begun: cupel status", run)},
        Exit::unfinished);
  auto there = context;
  there.state = (*copy)->folder();
  // A connection of its own: the copy's is written by the thread that keeps it up.
  auto mine = store::Store::open(there.state);
  if (!mine) return print_error(context, mine.error(), Exit::unfinished);
  (*copy)->keep_up();
  return execute_elsewhere(there, **mine, *planned, *row);
}

std::optional<Error> waits_for_approval(const json::value& answer) {
  const auto approval = text_at(answer, "approval");
  if (!approval) return std::nullopt;
  return Error{Code::kConflict,
               fmt::format("another person is to approve it: request {}", *approval)};
}

}  // namespace cupel::cli
