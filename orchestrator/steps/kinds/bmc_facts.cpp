// Identity, parts and firmware, as the BMC tells them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/readable_json.h"
#include "base/text.h"
#include "burnin/parameters.h"
#include "inventory/expected_parts.h"
#include "inventory/judge_firmware.h"
#include "inventory/model.h"
#include "inventory/profile.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/bmc_watch.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/part_places.h"
#include "orchestrator/steps/uniformity.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

/// What conditions and clusters may ask; what was not reported is not there.
boost::json::object facts_of(const bmc::Identity& identity) {
  boost::json::object facts;
  const auto tell = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) facts[name] = value;
  };
  tell("bmc.vendor", identity.vendor);
  tell("bmc.version", identity.bmc_version);
  tell("bios.version", identity.bios_version);
  tell("system.model", identity.model);
  tell("system.serial", identity.serial);
  tell("bmc.mac", fmt::format("{}", fmt::join(identity.bmc_macs, " ")));
  return facts;
}

std::string text_of(const bmc::BiosValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return fmt::format("{}", std::get<double>(value));
}

void not_reported(bmc::Observed& seen, std::string fact, const Error& error) {
  seen.unknown.push_back({std::move(fact), "BMC", error.what});
}

/// What the BMC calls critical and is no part, a name in each line: chassis, and what its sensors
/// read of a machine that is on (rails of one that is off read nothing).
Task<Result<std::string>> critical_names(bmc::Bmc& bmc, bmc::Observed& seen,
                                         const StepRequest& request) {
  constexpr std::size_t kMostNames = 16;
  constexpr std::chrono::seconds kPatience{120};
  auto names = seen.critical;
  if (seen.power == bmc::PowerState::on) {
    const auto read = co_await bmc.sensors.read(request.deadline.sooner(kPatience));
    if (!read && read.error().code == Code::kCancelled) co_return read.error();
    const bool has_none = !read && read.error().code == Code::kUnsupported;
    if (!read && !has_none) not_reported(seen, "sensors", read.error());
    if (read)
      for (const auto& sensor : read->sensors)
        if (sensor.health == "Critical" && sensor.value) names.push_back("sensor " + sensor.name);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : "\n") + printable(shortened(names[i], 80));
  co_return text;
}

/// What the audit asks beside the parts. A BMC that does not tell has reported everything else.
/// Errors: kCancelled; of the settings that the profile wants, whatever may be better next time.
Task<Result<boost::json::object>> further_facts(bmc::Bmc& bmc, const inventory::Profile& profile,
                                                bmc::Observed& seen, const StepRequest& request) {
  boost::json::object facts;
  const auto clock = co_await bmc.manager.clock(request.deadline);
  if (clock)
    facts[inventory::kClockFact] = std::to_string(clock->ahead.count());
  else
    not_reported(seen, "clock", clock.error());
  if (!clock && clock.error().code == Code::kCancelled) co_return clock.error();
  CO_TRY(const auto critical, co_await critical_names(bmc, seen, request));
  facts[inventory::kCriticalFact] = critical;
  if (profile.bios.empty()) co_return facts;
  const auto bios = co_await bmc.bios.read(request.deadline);
  const auto lost =
      !bios && (bios.error().code == Code::kCancelled || is_transient(bios.error().code));
  // What the profile wants reported is asked for again.
  if (lost) co_return bios.error();
  if (!bios) {
    not_reported(seen, "BIOS settings", bios.error());
    co_return facts;
  }
  for (const auto& expected : profile.bios) {
    const auto& current = bios->current;
    const auto found = current.find(expected.attribute);
    if (found == current.end()) continue;
    facts[std::string{inventory::kBiosFact} + expected.attribute] = text_of(found->second);
  }
  co_return facts;
}

/// What is short, and may be read whole when asked again: a list of parts, or the versions, which
/// are read last of all, so that a restart can have cost them alone. Empty: there is nothing, or
/// what it lacks is not asked for.
std::string worth_another_reading(const inventory::Profile& profile, const bmc::Observed& seen) {
  for (const auto& expected : profile.parts) {
    const auto* partial = inventory::partial_list(seen.partial, expected.kind);
    const auto there = std::ranges::count(seen.parts, expected.kind, &inventory::Part::kind);
    if (partial != nullptr && partial->passing && there < expected.count)
      return fmt::format("{}s", to_string(expected.kind));
  }
  if (std::ranges::none_of(seen.partial, &inventory::PartialList::passing)) return {};
  for (const auto& expected : profile.firmware) {
    const auto tells = [&](const inventory::Part& part) {
      return !part.firmware.empty() && inventory::covers(expected, part);
    };
    if (expected.way == inventory::UpdateWay::bmc && std::ranges::none_of(seen.parts, tells))
      return "versions";
  }
  return {};
}

std::string partial_words(const std::vector<inventory::PartialList>& partial) {
  std::string kinds;
  for (const auto& each : partial)
    kinds += fmt::format("{}{}s", kinds.empty() ? "" : ", ", to_string(each.kind));
  if (kinds.empty()) return {};
  return fmt::format("; could not list all {}: {}: {}", kinds, partial.front().source,
                     partial.front().why);
}

Task<Result<StepEnd>> observe(StepEnvironment& environment, bmc::Bmc& bmc,
                              const StepRequest& request) {
  request.waiting("the BMC's inventory");
  CO_TRY(auto seen, co_await bmc.facts.observe(request.deadline));
  const auto& profile = environment.inventory.profile_of(request.node);
  CO_TRY(auto further, co_await further_facts(bmc, profile, seen, request));
  boost::json::object found;
  found["bmc_parts"] = record::to_json(seen.parts);
  found["bmc_partial"] = record::to_json(seen.partial);
  found["unknown"] = record::to_json(seen.unknown);
  found["system_serial"] = seen.identity.serial;
  found["vendor"] = seen.identity.vendor;
  found["model"] = seen.identity.model;
  found["bios"] = seen.identity.bios_version;
  found["bmc"] = seen.identity.bmc_version;
  auto facts = facts_of(seen.identity);
  // What the node itself cannot see; its BIOS it reports itself, in other words.
  auto unseen = seen.parts;
  std::erase_if(unseen, [](const auto& part) {
    const bool is_firmware = part.kind == inventory::PartKind::firmware && part.name != "bios";
    return part.kind != inventory::PartKind::psu && !is_firmware;
  });
  for (auto& [name, value] : version_facts(unseen)) facts[name] = std::move(value);
  for (auto& [name, value] : place_facts(seen.parts, true)) facts[name] = std::move(value);
  for (auto& [name, value] : further) facts[name] = std::move(value);
  found["facts"] = std::move(facts);
  found["requests"] = seen.requests;
  found["by"] = to_string(seen.by);
  make_readable(found);
  CO_TRY(found["evidence"], environment.store.keep_evidence(boost::json::serialize(found)));
  // Its parts have these names from here on, and what its log says is new. A further reading after
  // the burn (`as: after`) leaves the log to the stages, which judge what it says.
  if (request.step.name.contains('@')) {
    environment.board->logs[request.node.name].parts.reset();
  } else {
    environment.board->logs.erase(request.node.name);
    const auto mark = co_await log_mark(environment, bmc, request);
    if (mark) found[kLogMark] = *mark;
  }
  auto end = done(fmt::format("{} {} {}: {} parts in {} requests{}", seen.identity.vendor,
                              seen.identity.model, seen.identity.serial, seen.parts.size(),
                              seen.requests, partial_words(seen.partial)),
                  std::move(found));
  if (const auto lacks = worth_another_reading(profile, seen); !lacks.empty()) {
    end.outcome = engine::Outcome::retry;
    // What was read stands where no reading is whole.
    end.at_last = engine::Outcome::done;
    end.detail += fmt::format("; {} are read again", lacks);
  }
  co_return end;
}

bool is_unanswered(const StepEnd& end) {
  if (end.outcome != engine::Outcome::retry) return false;
  const auto* error = end.found.if_contains("error");
  return error != nullptr && (error->as_string() == to_string(Code::kUnreachable) ||
                              error->as_string() == to_string(Code::kTimeout));
}

/// A BMC that does not answer is asked for the last time when `answer` has passed since the step's
/// first try began.
void bound_tries(const StepRequest& request, std::chrono::seconds answer, StepEnd& end) {
  constexpr std::chrono::milliseconds kLongestPause{60'000};
  if (!is_unanswered(end)) return;
  const auto since = std::chrono::milliseconds{request.step.deadline} - request.deadline.left();
  const auto left = answer - since;
  if (left > kLongestPause) return;
  if (left.count() > 0) {
    end.retry_after = left;
    return;
  }
  end.outcome = end.at_last;
  end.detail +=
      fmt::format(" (not retried: no answer in {} s, and this playbook waits {} s)",
                  std::chrono::floor<std::chrono::seconds>(since).count(), answer.count());
}

Task<Result<StepEnd>> perform_bmc_facts(StepEnvironment& environment, const StepRequest& request) {
  const auto answer = burnin::duration_parameter(playbooks::row_of(request.step.kind).parameters,
                                                 request.step.with, "answer");
  if (!answer) co_return ended_by(answer.error());
  const auto verb = [&environment](bmc::Bmc& bmc, const StepRequest& asked) {
    return observe(environment, bmc, asked);
  };
  auto ended = co_await with_bmc(environment, request, verb);
  if (ended) bound_tries(request, *answer, *ended);
  co_return ended;
}

}  // namespace

StepType bmc_facts() {
  return {.kind = playbooks::StepKind::bmc_facts, .perform = perform_bmc_facts};
}

}  // namespace cupel::steps::kinds
