// The BIOS settings of a machine that leaves its tenant, back to its maker's defaults. Never
// restarts the machine: a later step does, and `verify` sees then what has come of it. Idempotent:
// what a crash has left is asked for again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/settings/bios_defaults.h"
#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;
using settings::BiosDefaults;

constexpr std::string_view kBefore = "bios.not_default", kAfter = "bios.defaults";
constexpr std::string_view kUnknown = "unknown";
constexpr std::size_t kMostNames = 64, kMostReported = 12, kLongestName = 80;
constexpr std::chrono::seconds kLookAgain{15};

/// A BMC that shows no settings may reset them all the same: nothing is compared then. Errors:
/// those after which it is asked again.
Task<Result<BiosDefaults>> look_at_defaults(bmc::Bmc& bmc, Deadline deadline) {
  const auto again = [](const Error& error) {
    return error.code == Code::kCancelled || is_transient(error.code);
  };
  const auto reported = co_await bmc.bios.read(deadline);
  if (!reported && again(reported.error())) co_return reported.error();
  if (!reported) co_return BiosDefaults{};
  const auto registry = co_await bmc.settings.bios_registry(deadline);
  if (!registry && again(registry.error())) co_return registry.error();
  if (!registry) co_return BiosDefaults{};
  co_return settings::bios_defaults(*reported, *registry);
}

/// Names that hold a comma could not be distinguished in a fact.
std::vector<std::string> kept_names(const BiosDefaults& defaults) {
  std::vector<std::string> names;
  for (const auto& name : defaults.off) {
    const bool plain = name.size() <= kLongestName && printable(name) == name;
    if (plain && !name.contains(',') && names.size() < kMostNames) names.push_back(name);
  }
  return names;
}

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostReported, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + printable(shortened(names[i], kLongestName));
  if (names.size() > kMostReported)
    text += fmt::format(" and {} more", names.size() - kMostReported);
  return text;
}

Task<Result<StepEnd>> ask_for_reset(bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("the BIOS settings");
  CO_TRY(const BiosDefaults before, co_await look_at_defaults(bmc, request.deadline));
  CO_TRY(co_await bmc.bios.reset(request.deadline));
  const auto names = before.compared == 0 ? std::string{kUnknown}
                                          : fmt::format("{}", fmt::join(kept_names(before), ","));
  const auto now = before.compared == 0
                       ? std::string{"the machine's registry names no defaults"}
                       : fmt::format("now {} of {} attributes are not as its registry has them",
                                     before.off.size(), before.compared);
  co_return done("the next boot sets the BIOS to its maker's defaults; " + now,
                 {{"facts", {{kBefore, names}}}});
}

/// Those that were not as their maker's, and are so still.
std::vector<std::string> left_of(const std::vector<std::string>& before, const BiosDefaults& now) {
  std::vector<std::string> left;
  std::ranges::copy_if(before, std::back_inserter(left), [&](const auto& name) {
    return std::ranges::find(now.off, name) != now.off.end();
  });
  return left;
}

StepEnd not_verified() {
  return done(
      "the BMC accepted the reset of the BIOS, and what came of it is not verified: the "
      "machine's registry names no defaults",
      {{"facts", {{kAfter, "not verified"}}}});
}

/// A machine that still boots shows the old values.
StepEnd not_yet(const std::vector<std::string>& left) {
  StepEnd end;
  end.outcome = engine::Outcome::wait;
  end.retry_after = kLookAgain;
  end.detail =
      "no boot has reset the BIOS yet; as before it, and not as the maker's: " + listed_names(left);
  return end;
}

/// Values that firmware itself sets are never as the registry has them, so that one that stays is
/// named, and no failure: only a boot that has changed none of them is.
Task<Result<StepEnd>> see_what_came(StepEnvironment& environment, bmc::Bmc& bmc,
                                    const StepRequest& request) {
  CO_TRY(const auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto output = record.facts.find(kBefore);
  if (output == record.facts.end())
    co_return Error{Code::kInvalid,
                    "no reset of the BIOS was asked for in this run: put a bios-reset before it"};
  CO_TRY(const BiosDefaults now, co_await look_at_defaults(bmc, request.deadline));
  if (output->second == kUnknown || now.compared == 0) co_return not_verified();
  std::vector<std::string> before;
  for (const auto name : split(output->second, ','))
    if (!name.empty()) before.emplace_back(name);
  const auto left = left_of(before, now);
  if (!before.empty() && left.size() == before.size()) co_return not_yet(left);
  const auto right = fmt::format("{} of {}", now.compared - now.off.size(), now.compared);
  auto text = fmt::format("{} BIOS attributes are as their maker's registry has them", right);
  if (!now.off.empty()) text += "; not so: " + listed_names(now.off);
  co_return done(std::move(text), {{"facts", {{kAfter, right}}}});
}

Task<Result<StepEnd>> perform_bios_reset(StepEnvironment& environment, const StepRequest& request) {
  const auto given = request.step.with.find("verify");
  const bool verifies = given != request.step.with.end() && given->second == "yes";
  const auto verb = [&](bmc::Bmc& bmc, const StepRequest& asked) {
    return verifies ? see_what_came(environment, bmc, asked) : ask_for_reset(bmc, asked);
  };
  co_return co_await with_bmc(environment, request, verb);
}

}  // namespace

StepType bios_reset() {
  return {.kind = playbooks::StepKind::bios_reset, .perform = perform_bios_reset};
}

}  // namespace cupel::steps::kinds
