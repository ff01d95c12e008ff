// Firmware to the profile's baseline: what is off it is written, update by update. Each push is
// journalled before it begins, and found again after a crash.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/wall_clock.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/firmware/updater.h"
#include "orchestrator/steps/firmware_end.h"
#include "orchestrator/steps/firmware_memory.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/store/power_hold.h"
#include "orchestrator/store/purpose.h"
#include "playbooks/plan.h"
#include "playbooks/rewrite.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::Outcome;
using engine::StepEnd;
using engine::StepRequest;
using firmware::UpdateEnd;
using firmware::UpdateHandle;
using How = UpdateEnd::How;

/// Somebody else's update takes minutes.
constexpr std::chrono::seconds kLookAgain{60};
/// A virtual rack's time runs faster than ours.
constexpr std::chrono::days kRehearsedClock{30};

Task<Result<void>> keep_handle(StepEnvironment& environment, const StepRequest& request,
                               UpdateHandle handle) {
  CO_TRY(remember_handle(environment, request, handle, inventory::bmc_name(request.node)));
  co_return co_await request.started(to_text(handle));
}

firmware::UpdaterInterfaces doors_for(StepEnvironment& environment, const StepRequest& request,
                                      bmc::Bmc& bmc) {
  const auto& node = request.node;
  firmware::UpdaterInterfaces doors{.profile = environment.inventory.profile_of(node), .bmc = bmc};
  doors.image = [&environment](firmware::FirmwareUpdate update, bmc::Identity machine,
                               Deadline deadline) {
    return environment.firmware_image(std::move(update), std::move(machine), deadline);
  };
  doors.keep = [&environment, &request](UpdateHandle handle) {
    return keep_handle(environment, request, std::move(handle));
  };
  doors.serve = environment.serve_image;
  doors.serve_no_more = environment.serve_image_no_more;
  doors.hold_power = [&environment, &node, held = inventory::bmc_name(node)](
                         const UpdateHandle& handle, std::chrono::seconds longest) -> Result<void> {
    if (longest.count() == 0) return store::release_power(environment.store, held);
    return store::hold_power(environment.store, held,
                             {.what = handle.component + " " + handle.version,
                              .until = seconds_now() + longest,
                              .node = node.name});
  };
  doors.forget_refusals = [&environment, &node] {
    if (environment.forget_refusals) environment.forget_refusals(node);
  };
  doors.waiting = request.waiting;
  doors.now = seconds_now;
  doors.poll = environment.ask_update_every;
  doors.pace = environment.pace;
  if (store::purpose_of(environment.store.folder()) == store::Purpose::rehearsal)
    doors.clock_may_be_off = kRehearsedClock;
  return doors;
}

/// Facts of the node, so that they outlive a retry: the component's previous image was sent; it was
/// written again.
constexpr std::string_view kWrittenBack = "firmware.written_back.";
constexpr std::string_view kRewritten = "firmware.rewritten.";

/// What earlier tries of the run have done.
struct DoneBefore {
  std::set<std::string> written_back{}, rewritten{};
};

/// Before the first await of a step: the run's state is not the step's own.
DoneBefore done_before(const StepRequest& request) {
  DoneBefore before;
  if (request.run_state == nullptr) return before;
  const auto node = request.run_state->nodes.find(request.node.name);
  if (node == request.run_state->nodes.end()) return before;
  for (const auto& [fact, value] : node->second.facts) {
    if (fact.starts_with(kWrittenBack))
      before.written_back.insert(fact.substr(kWrittenBack.size()));
    if (fact.starts_with(kRewritten)) before.rewritten.insert(fact.substr(kRewritten.size()));
  }
  return before;
}

void keep_facts(StepEnd& end, const firmware::Updater& updater) {
  boost::json::object facts;
  for (const auto& component : updater.written_back())
    facts[std::string{kWrittenBack} + component] = "yes";
  for (const auto& component : updater.rewritten())
    facts[std::string{kRewritten} + component] = "yes";
  if (!facts.empty()) end.found["facts"] = std::move(facts);
}

void set_rewrite(firmware::UpdaterInterfaces& doors, const StepRequest& request,
                 DoneBefore before) {
  doors.written_back = std::move(before.written_back);
  doors.rewrite.only = playbooks::components_to_rewrite(request.step.with);
  for (const auto& component : doors.rewrite.only) {
    auto& which = before.rewritten.contains(component) ? doors.rewritten : doors.rewrite.again;
    which.insert(component);
  }
}

Result<StepEnd> end_of(const StepRequest& request, UpdateEnd ended,
                       const firmware::Updater& updater) {
  const auto& written = updater.done();
  if (ended.how == How::at_baseline) {
    auto end = written_to_baseline(written);
    if (!updater.rewritten().empty())
      end.detail = fmt::format("written again: {}", fmt::join(updater.rewritten(), ", "));
    return end;
  }
  boost::json::object found;
  if (!written.empty()) found["firmware"] = to_json(written);
  StepEnd end;
  end.found = std::move(found);
  end.detail = std::move(ended.detail);
  end.outcome = Outcome::reject;
  if (ended.how == How::needs_person || ended.how == How::not_begun)
    end.outcome = Outcome::needs_operator;
  if (ended.how == How::busy) {
    end.outcome = Outcome::wait;
    end.retry_after = kLookAgain;
  }
  std::vector<record::Needed> needs;
  for (auto& advice : ended.advice)
    needs.push_back({.action = named_for(request.node, std::move(advice)), .goes_on = false});
  if (!needs.empty()) ask_for(end, std::move(needs));
  return end;
}

/// Of a try that ended without an end of the update nothing is known.
Result<void> remember(StepEnvironment& environment, const StepRequest& request,
                      const Result<UpdateEnd>& ended, const firmware::Updater& updater) {
  using End = store::FirmwareState::End;
  if (!ended || ended->how == How::busy) return ok();
  const bool all_begun_is_done = ended->how == How::not_begun && !updater.done().empty();
  if (ended->how == How::not_begun && !all_begun_is_done) return ok();
  auto end = updater.may_be_at_work() ? End::in_doubt : End::failed;
  if (ended->how == How::at_baseline || all_begun_is_done) end = End::done;
  const bool written = updater.handle().phase == UpdateHandle::Phase::resetting;
  if (ended->how == How::needs_person && written) end = End::staged;
  return remember_end(environment, request, {end, ended->detail, updater.handle(), updater.done()});
}

/// From `begun`, where an update was begun already.
Task<Result<StepEnd>> bring_to_baseline(StepEnvironment& environment, const StepRequest& request,
                                        DoneBefore before, std::optional<UpdateHandle> begun) {
  auto window = window_of(request);
  if (!window) co_return ended_by(std::move(window).error());
  const auto bmc = environment.bmc(request.node);
  auto doors = doors_for(environment, request, *bmc);
  doors.window = *std::move(window);
  set_rewrite(doors, request, std::move(before));
  firmware::Updater updater{std::move(doors)};
  const auto until = with_last_word(request.deadline);
  Result<UpdateEnd> ended = Error{Code::kMalformed, ""};
  if (begun)
    ended = co_await updater.resume(*std::move(begun), until);
  else
    ended = co_await updater.run(until);
  co_await bmc->log_out();
  CO_TRY(remember(environment, request, ended, updater));
  auto end =
      ended ? end_of(request, *std::move(ended), updater) : ended_by_bmc(std::move(ended).error());
  if (end) keep_facts(*end, updater);
  co_return end;
}

Task<Result<StepEnd>> reattach_firmware(StepEnvironment& environment, const StepRequest& request) {
  auto before = done_before(request);
  auto handle = firmware::update_handle_of(*request.handle);
  if (!handle) co_return ended_by(std::move(handle).error());
  co_return co_await bring_to_baseline(environment, request, std::move(before), *std::move(handle));
}

Task<Result<StepEnd>> perform_firmware(StepEnvironment& environment, const StepRequest& request) {
  if (!environment.inventory.profile_of(request.node).has_bmc_images())
    co_return done("nothing to do: the profile names no image");
  if (!environment.firmware_image)
    co_return ended_by({Code::kInvalid, "this controller has no images to write"});
  auto before = done_before(request);
  auto free = co_await check_free(environment, request);
  if (!free) co_return ended_by(std::move(free).error());
  auto begun = take_over_update(environment, request);
  if (!begun) co_return ended_by(std::move(begun).error());
  co_return co_await bring_to_baseline(environment, request, std::move(before), *std::move(begun));
}

Task<Result<void>> let_it_end(StepEnvironment& environment, const StepRequest& request) {
  auto handle = firmware::update_handle_of(*request.handle);
  if (!handle) co_return ok();
  const auto bmc = environment.bmc(request.node);
  firmware::Updater updater{doors_for(environment, request, *bmc)};
  auto ended = co_await updater.wait_for_end(*std::move(handle), request.deadline);
  co_await bmc->log_out();
  co_return ended;
}

}  // namespace

StepType firmware() {
  return {.kind = playbooks::StepKind::firmware,
          .perform =
              [](StepEnvironment& environment, const StepRequest& request) {
                return with_next_command(request, perform_firmware(environment, request));
              },
          .reattach =
              [](StepEnvironment& environment, const StepRequest& request) {
                return with_next_command(request, reattach_firmware(environment, request));
              },
          .abort = let_it_end};
}

}  // namespace cupel::steps::kinds
