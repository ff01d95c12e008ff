// What is asked of the BMC. Each step opens its own session and ends it on every path: BMCs have
// few.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/readable_json.h"
#include "base/text.h"
#include "bmc/power.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/bmc_watch.h"
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
  co_return ended_by_bmc(std::move(ended).error());
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

std::string text_of(const bmc::BiosValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return fmt::format("{}", std::get<double>(value));
}

void not_told(bmc::Observed& seen, std::string fact, const Error& error) {
  seen.unknown.push_back({std::move(fact), "BMC", error.what});
}

/// What the audit asks beside the parts. A BMC that does not tell has told everything else.
/// Errors: kCancelled; of the settings that the profile wants, whatever may be better next time.
Task<Result<boost::json::object>> further_facts(bmc::Bmc& bmc, const inventory::Profile& profile,
                                                bmc::Observed& seen, const StepRequest& request) {
  boost::json::object facts;
  const auto clock = co_await bmc.clock(request.deadline);
  if (clock)
    facts[inventory::kClockFact] = std::to_string(clock->ahead.count());
  else
    not_told(seen, "clock", clock.error());
  if (!clock && clock.error().code == Code::kCancelled) co_return clock.error();
  if (profile.bios.empty()) co_return facts;
  const auto bios = co_await bmc.bios(request.deadline);
  const auto lost =
      !bios && (bios.error().code == Code::kCancelled || is_transient(bios.error().code));
  // What the profile wants told is asked for again.
  if (lost) co_return bios.error();
  if (!bios) {
    not_told(seen, "BIOS settings", bios.error());
    co_return facts;
  }
  for (const auto& wanted : profile.bios) {
    const auto& current = bios->current;
    const auto found = current.find(wanted.attribute);
    if (found == current.end()) continue;
    facts[std::string{inventory::kBiosFact} + wanted.attribute] = text_of(found->second);
  }
  co_return facts;
}

Task<Result<StepEnd>> observe(Doors& doors, bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("the BMC's inventory");
  CO_TRY(auto seen, co_await bmc.observe(request.deadline));
  const auto& profile = doors.inventory.profile_of(request.node);
  CO_TRY(auto further, co_await further_facts(bmc, profile, seen, request));
  boost::json::object found;
  found["bmc_parts"] = record::to_json(seen.parts);
  found["unknown"] = record::to_json(seen.unknown);
  found["system_serial"] = seen.identity.serial;
  found["vendor"] = seen.identity.vendor;
  found["model"] = seen.identity.model;
  found["bios"] = seen.identity.bios_version;
  found["bmc"] = seen.identity.bmc_version;
  auto facts = facts_of(seen.identity);
  for (auto& [name, value] : further) facts[name] = std::move(value);
  found["facts"] = std::move(facts);
  found["requests"] = seen.requests;
  found["by"] = to_string(seen.by);
  make_readable(found);
  CO_TRY(found["evidence"], doors.store.keep_evidence(boost::json::serialize(found)));
  // From here on, what its log says is new, and its parts have these names.
  doors.board->logs.erase(request.node.name);
  const auto mark = co_await log_mark(doors, bmc, request);
  if (mark) found[kLogMark] = *mark;
  co_return done(
      fmt::format("{} {} {}: {} parts in {} requests", seen.identity.vendor, seen.identity.model,
                  seen.identity.serial, seen.parts.size(), seen.requests),
      std::move(found));
}

Task<Result<StepEnd>> turn_on(bmc::Bmc& bmc, const StepRequest& request) {
  request.waiting("power on");
  auto turned = co_await bmc::ensure_on(bmc, with_last_word(request.deadline));
  if (turned) co_return done("on");
  auto& error = turned.error();
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

/// One line of the log, as a person reads it.
std::string line_of(const bmc::LogEntry& entry) {
  constexpr std::size_t kLongest = 160;
  std::string text;
  if (entry.time) text += fmt::format("{:%Y-%m-%d %H:%M:%S} ", *entry.time);
  const bool notable = !entry.severity.empty() && entry.severity != "OK";
  if (notable) text += entry.severity + ": ";
  text += entry.message;
  // An IPMI entry's message may be the state alone.
  if (!entry.sensor.empty() && !entry.message.contains(entry.sensor))
    text += " (" + entry.sensor + ")";
  return shortened(printable(text), kLongest);
}

}  // namespace

Task<std::string> last_word_of_bmc(Doors& doors, const StepRequest& request) {
  constexpr std::size_t kMostLines = 3;
  std::string text;
  const auto deadline = with_last_word(request.deadline);
  const auto bmc = doors.bmc(request.node);
  const auto power = co_await bmc->power_state(deadline);
  if (power) {
    text = to_string(power->value);
    const auto log = co_await bmc->event_log(std::nullopt, kMostLines, deadline);
    if (log)
      for (const auto& entry : log->entries) text += "; " + line_of(entry);
  }
  co_await bmc->log_out();
  co_return text;
}

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
