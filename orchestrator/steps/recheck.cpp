// How it shows from afar that a person has repaired something.
#include "orchestrator/steps/missing_parts.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

constexpr std::chrono::seconds kAnswerPatience{20};
constexpr std::chrono::seconds kPartsPatience{120};
constexpr std::size_t kRoundsBetweenParts = 5;  // a list of parts is dozens of requests

Task<bool> bmc_answers(RecheckRequest request) {
  const auto bmc = request.bmc(request.node);
  const auto power = co_await bmc->power.state(Deadline::in(kAnswerPatience));
  co_await bmc->log_out();
  co_return power.has_value();
}

Task<bool> node_answers(RecheckRequest request) {
  const auto session = co_await request.ssh(request.node, Deadline::in(kAnswerPatience));
  co_return session.has_value();
}

/// By the BMC's own list: who misses a part there looks there. One that is not whole shows nothing.
Task<bool> parts_are_back(RecheckRequest request) {
  const auto bmc = request.bmc(request.node);
  const auto seen = co_await bmc->facts.observe(Deadline::in(kPartsPatience));
  co_await bmc->log_out();
  if (!seen || seen->parts.empty()) co_return false;
  const auto missing = missing_by_bmc(request.inventory, request.node, seen->parts, seen->partial);
  co_return std::ranges::none_of(request.parts,
                                 [&](const std::string& part) { return is_of(missing, part); });
}

}  // namespace

constinit const Recheck kBmcAnswers{.look = bmc_answers, .seen = "its BMC answers again"};
constinit const Recheck kNodeAnswers{.look = node_answers, .seen = "the machine answers again"};
// What an audit judges is read by bmc-facts.
constinit const Recheck kPartsAreBack{.look = parts_are_back,
                                      .seen = "its BMC shows the missing parts again",
                                      .every = kRoundsBetweenParts,
                                      .from = playbooks::StepKind::bmc_facts};

}  // namespace cupel::steps
