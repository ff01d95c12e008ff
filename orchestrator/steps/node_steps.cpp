#include "orchestrator/steps/node_steps.h"

#include "orchestrator/record/codec.h"

namespace cupel::steps {

using engine::Outcome;
using engine::StepEnd;
using playbooks::StepKind;

StepEnd done(std::string detail, boost::json::object found) {
  StepEnd end;
  end.detail = std::move(detail);
  end.found = std::move(found);
  return end;
}

Result<StepEnd> ended_by(Error error) {
  if (error.code == Code::kCancelled || error.code == Code::kStorage) return error;
  StepEnd end;
  end.outcome = is_transient(error.code) ? Outcome::retry : Outcome::reject;
  // What a BMC or a tool says against its own protocol is no verdict on the machine.
  end.found["error"] = to_string(error.code);
  end.detail = std::move(error.what);
  end.retry_after = error.retry_after;
  return end;
}

void ask_for(StepEnd& end, std::vector<record::Needed> needs) {
  end.found["hands"] = record::to_json(needs);
}

Result<StepEnd> ended_by_bmc(Error error) {
  const auto code = error.code;
  auto ended = ended_by(std::move(error));
  if (!ended || !is_transient(code)) return ended;
  auto& end = *ended;
  if (code == Code::kUnreachable) {
    end.at_last = Outcome::needs_hands;
    ask_for(end, {{"look at the BMC: its network cable, its power, its lights"}});
  } else {
    end.at_last = Outcome::suspect_bmc;
    ask_for(end, {{"look at the BMC; pull its power for a minute where it does not recover"}});
  }
  return ended;
}

Result<StepEnd> ended_by_ssh(Error error) {
  const bool silent = error.code == Code::kUnreachable || error.code == Code::kTimeout;
  auto ended = ended_by(std::move(error));
  if (!ended || !silent) return ended;
  ended->at_last = Outcome::needs_hands;
  ask_for(*ended, {{"look at the machine: its screen, its network cables"}});
  return ended;
}

Deadline with_last_word(Deadline deadline) {
  const auto margin = std::min(std::chrono::milliseconds{5000}, deadline.left() / 4);
  return Deadline::at(deadline.when() - margin);
}

Task<Result<StepEnd>> NodeSteps::perform(engine::StepRequest request) {
  switch (request.step.kind) {
    case StepKind::bmc_password:
      co_return co_await change_bmc_password(doors_, request);
    case StepKind::slurm_drain:
      co_return co_await drain_in_slurm(doors_, request);
    case StepKind::bmc_facts:
      co_return co_await read_bmc_facts(doors_, request);
    case StepKind::boot_once:
      co_return co_await set_boot_once(doors_, request);
    case StepKind::power_on:
      co_return co_await power_on(doors_, request);
    case StepKind::power_off:
      co_return co_await power_off(doors_, request);
    case StepKind::power_cycle:
      co_return co_await power_cycle(doors_, request);
    case StepKind::ssh_wait:
      co_return co_await wait_for_ssh(doors_, request);
    case StepKind::stage:
      co_return co_await run_stage(doors_, request);
    case StepKind::audit:
      co_return co_await audit_parts(doors_, request);
    case StepKind::verdict:
      co_return co_await judge_node(doors_, request);
    case StepKind::hand_off:
      co_return co_await hand_off(doors_, request);
    case StepKind::approval:
      // The engine waits for the person by itself, and asks nobody to do anything.
      co_return done("approved");
  }
  __builtin_unreachable();
}

Task<Result<void>> NodeSteps::let_go(engine::StepRequest request) {
  // Nothing else starts anything that goes on by itself.
  if (request.step.kind != StepKind::stage || !request.handle) co_return ok();
  co_return co_await end_stage(doors_, request);
}

}  // namespace cupel::steps
