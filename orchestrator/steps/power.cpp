#include "orchestrator/steps/power.h"

#include "bmc/power.h"

namespace cupel::steps {

using engine::StepEnd;
using engine::StepRequest;

constexpr std::chrono::seconds kGrace{60};  // for an operating system to shut down by itself

Task<Result<StepEnd>> turn_on(bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("power on");
  auto turned = co_await bmc::ensure_on(bmc, with_last_word(request.deadline));
  if (turned) co_return done("on");
  auto& error = turned.error();
  if (error.code != Code::kTimeout) co_return std::move(error);
  // Is it the machine that does not come on, or the BMC that does not answer?
  const auto reported = co_await bmc.power.state(request.deadline);
  if (!reported) co_return std::move(error);
  StepEnd end;
  end.outcome = engine::Outcome::needs_operator;
  end.detail = std::move(error.what);
  // Fans and lights tell a machine that does not start from a BMC that reports a wrong state.
  ask_for(end, {{"look whether the machine runs: if it does, its BMC reports a wrong power state: "
                 "restart that (cupel bmc NODE reset); if not, look at its power supplies, their "
                 "cords and lights"}});
  co_return end;
}

Task<Result<StepEnd>> turn_off(bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("power off");
  CO_TRY(co_await bmc::ensure_off(bmc, kGrace, request.deadline));
  co_return done("off");
}

}  // namespace cupel::steps
