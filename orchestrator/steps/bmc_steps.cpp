// What is asked of the BMC. Each step opens its own session and ends it on every path: BMCs have
// few.
#include <fmt/format.h>

#include "bmc/power.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {
namespace {

using engine::StepEnd;
using engine::StepRequest;

constexpr std::chrono::seconds kGrace{60};  // for an operating system to shut down by itself

/// Runs `verb` on the node's BMC and logs out, whatever came of it.
template <class Verb>
Task<Result<StepEnd>> with_bmc(Doors& doors, const StepRequest& request, Verb verb) {
  const auto bmc = doors.bmc(request.node);
  auto ended = co_await verb(*bmc, request);
  co_await bmc->log_out();
  if (ended) co_return ended;
  co_return ended_by_bmc(std::move(ended).assume_error());
}

/// What conditions and clusters may ask; what was not told is not there.
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
  return facts;
}

Task<Result<StepEnd>> observe(Doors& doors, bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("the BMC's inventory");
  CO_TRY(const auto seen, co_await bmc.observe(request.deadline));
  boost::json::object found;
  found["bmc_parts"] = record::to_json(seen.parts);
  found["unknown"] = record::to_json(seen.unknown);
  found["system_serial"] = seen.identity.serial;
  found["vendor"] = seen.identity.vendor;
  found["model"] = seen.identity.model;
  found["bios"] = seen.identity.bios_version;
  found["bmc"] = seen.identity.bmc_version;
  found["facts"] = facts_of(seen.identity);
  found["requests"] = seen.requests;
  found["by"] = to_string(seen.by);
  CO_TRY(found["evidence"], doors.store.keep_evidence(boost::json::serialize(found)));
  co_return done(
      fmt::format("{} {} {}: {} parts in {} requests", seen.identity.vendor, seen.identity.model,
                  seen.identity.serial, seen.parts.size(), seen.requests),
      std::move(found));
}

Task<Result<StepEnd>> turn_on(bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("power on");
  auto turned = co_await bmc::ensure_on(bmc, with_last_word(request.deadline));
  if (turned) co_return done("on");
  auto& error = turned.assume_error();
  if (error.code != Code::kTimeout) co_return std::move(error);
  // Is it the machine that does not come on, or the BMC that does not answer?
  const auto told = co_await bmc.power_state(request.deadline);
  if (!told) co_return std::move(error);
  StepEnd end;
  end.outcome = engine::Outcome::needs_hands;
  end.detail = std::move(error.what);
  ask_for(end, {{"look at the machine: its power supplies, their cords and lights"}});
  co_return end;
}

Task<Result<StepEnd>> turn_off(bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("power off");
  CO_TRY(co_await bmc::ensure_off(bmc, kGrace, request.deadline));
  co_return done("off");
}

Task<Result<StepEnd>> turn_off_and_on(bmc::Bmc& bmc, const StepRequest& request) {
  // Off and on are two acts: after a crash in between, off is found done, and on follows.
  CO_TRY(co_await turn_off(bmc, request));
  co_return co_await turn_on(bmc, request);
}

Result<bmc::BootTarget> target_of(const StepRequest& request) {
  const auto word = request.step.with.find("target");
  const auto wanted = word == request.step.with.end() ? std::string{"pxe"} : word->second;
  for (const auto target : {bmc::BootTarget::pxe, bmc::BootTarget::uefi_http, bmc::BootTarget::disk,
                            bmc::BootTarget::virtual_cd, bmc::BootTarget::bios_setup})
    if (to_string(target) == wanted) return target;
  return Error{Code::kInvalid,
               "boot-once: target must be pxe, http, disk, cd or bios, not '" + wanted + "'"};
}

Task<Result<StepEnd>> set_boot(bmc::Bmc& bmc, const StepRequest& request) {
  CO_TRY(const auto target, target_of(request));
  CO_TRY(co_await bmc.set_boot({.target = target, .once = true}, request.deadline));
  co_return done(fmt::format("next boot from {}", to_string(target)));
}

}  // namespace

Task<Result<StepEnd>> read_bmc_facts(Doors& doors, const StepRequest& request) {
  const auto verb = [&doors](bmc::Bmc& bmc, const StepRequest& asked) {
    return observe(doors, bmc, asked);
  };
  co_return co_await with_bmc(doors, request, verb);
}

Task<Result<StepEnd>> set_boot_once(Doors& doors, const StepRequest& request) {
  co_return co_await with_bmc(doors, request, set_boot);
}

Task<Result<StepEnd>> power_on(Doors& doors, const StepRequest& request) {
  co_return co_await with_bmc(doors, request, turn_on);
}

Task<Result<StepEnd>> power_off(Doors& doors, const StepRequest& request) {
  co_return co_await with_bmc(doors, request, turn_off);
}

Task<Result<StepEnd>> power_cycle(Doors& doors, const StepRequest& request) {
  co_return co_await with_bmc(doors, request, turn_off_and_on);
}

}  // namespace cupel::steps
