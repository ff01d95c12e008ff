#include "orchestrator/steps/node_writer.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "bmc/power.h"
#include "inventory/judge_firmware.h"
#include "inventory/model.h"
#include "inventory/profile.h"
#include "inventory/versions.h"
#include "orchestrator/firmware/may_pass.h"
#include "orchestrator/firmware/resets.h"
#include "orchestrator/firmware/update_window.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/ssh/bring_file.h"
#include "orchestrator/ssh/sent_script.h"
#include "orchestrator/steps/firmware_memory.h"
#include "orchestrator/steps/stage_together.h"
#include "orchestrator/store/power_hold.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using engine::Outcome;
using engine::StepEnd;
using engine::StepRequest;
using firmware::FirmwareUpdate;
using firmware::NodeLook;
using Phase = firmware::UpdateHandle::Phase;

constexpr std::string_view kImageFolder = "/opt/cupel/firmware";
constexpr std::size_t kLongestLook = 512u << 10;
constexpr std::chrono::seconds kLookPatience{120};
constexpr std::chrono::seconds kBringPatience{1800};
constexpr std::chrono::minutes kHoldMargin{60};
/// A tool that writes is not ended before: it may leave a part without firmware.
constexpr std::chrono::hours kLongestWrite{6};
/// More rounds than a machine has components with stepping stones.
constexpr int kMostUpdates = 64;
/// What a job that was journalled, and never began, ends with.
constexpr int kNeverBegan = 75, kLimit = 124;

/// The last line that says something.
std::string last_words(const burnin::Output& output) {
  std::string last;
  for (const auto* text : {&output.text, &output.errors})
    for (const auto line : lines(*text))
      if (!trimmed(line).empty()) last = printable(trimmed(line));
  return last.empty() ? "it said nothing" : shortened(last, 300);
}

bool resets_on_node(inventory::FirmwareReset reset) {
  return reset == inventory::FirmwareReset::device_reset;
}

}  // namespace

Task<Result<NodeLook>> look_at_parts(ssh::Session& session, const inventory::Profile& profile,
                                     bool sudo, Deadline deadline) {
  const bool gpus = std::ranges::any_of(
      profile.firmware, [](const auto& one) { return one.way == inventory::UpdateWay::site_tool; });
  auto sent = ssh::sent_script(firmware::look_script(gpus), {}, sudo);
  std::string out;
  const ssh::Sink sink = [&out](ssh::Stream stream, std::string_view piece) {
    if (stream == ssh::Stream::out)
      out += piece.substr(0, kLongestLook - std::min(out.size(), kLongestLook));
  };
  CO_TRY(co_await session.run(sent.command, std::move(sent.input), sink, deadline));
  co_return firmware::read_look(out);
}

NodeWriter::NodeWriter(StepEnvironment& environment, const StepRequest& request)
    : environment_{environment}, request_{request} {}

const inventory::Profile& NodeWriter::profile() const {
  return environment_.inventory.profile_of(request_.node);
}

Task<Result<StepEnd>> NodeWriter::run() {
  const auto bmc = environment_.bmc(request_.node);
  Result<bmc::Identity> machine = bmc::Identity{};
  auto on = co_await bmc::ensure_on(*bmc, request_.deadline);
  if (on)
    machine = co_await bmc->facts.identity(request_.deadline);
  else
    machine = std::move(on).error();
  co_await bmc->log_out();
  if (!machine) co_return ended_by_bmc(std::move(machine).error());
  for (int round = 0; round < kMostUpdates; ++round) {
    auto seen = co_await look(request_.deadline.sooner(profile().patience.post));
    if (!seen) co_return ended_by_ssh(std::move(seen).error());
    auto plan = firmware::plan_firmware(profile(), *machine, seen->parts, firmware::Writer::node);
    if (auto refused = plan.refusals(); !refused.empty())
      co_return ended_by({Code::kInvalid, std::move(refused)});
    if (plan.updates.empty()) {
      CO_TRY(remember(store::FirmwareState::End::done, {}));
      auto end = written_to_baseline(done_);
      burnin::Findings parts;
      parts.parts = seen->parts;
      for (auto& [key, value] : record::to_json(parts)) end.found.insert_or_assign(key, value);
      co_return end;
    }
    CO_TRY(auto late, too_late(plan));
    if (late) co_return *std::move(late);
    auto update = plan.updates.front();
    request_.waiting(update.expected->component + ": its image");
    auto order = co_await environment_.firmware_image(update, *machine, request_.deadline);
    if (!order)
      co_return ended_by(
          {order.error().code, update.expected->component + ": " + order.error().what});
    update.image.file = order->file;
    update.image.sha256 = order->sha256;
    auto ended = co_await write(std::move(update), *std::move(seen), plan);
    if (!ended) co_return ended_by_ssh(std::move(ended).error());
    if (*ended) co_return *std::move(*ended);
  }
  co_return ended_by({Code::kFailed, "not at the baseline after so many updates: " + named()});
}

/// Nothing: the first update of the plan may begin.
Result<NodeWriter::Ended> NodeWriter::too_late(const firmware::FirmwarePlan& plan) {
  TRY(const auto window, window_of(request_));
  if (!window) return Ended{};
  auto why = firmware::why_not_in(*window, profile(), plan, seconds_now());
  if (why.empty()) return Ended{};
  if (!done_.empty()) {
    TRY(remember(store::FirmwareState::End::done, {}));
  }
  StepEnd end;
  end.outcome = Outcome::needs_operator;
  end.detail = std::move(why);
  if (!done_.empty()) end.found["firmware"] = to_json(done_);
  ask_for(end,
          {{.action = named_for(request_.node, firmware::way_on_after(*window, profile(), plan)),
            .part = {},
            .goes_on = false}});
  return Ended{std::move(end)};
}

Task<Result<StepEnd>> NodeWriter::resume(firmware::UpdateHandle handle) {
  handle_ = std::move(handle);
  const auto at = std::ranges::find(profile().firmware, handle_.component,
                                    &inventory::ExpectedFirmware::component);
  if (at == profile().firmware.end())
    co_return ended_by(
        {Code::kInvalid, "an update of " + named() +
                             " was begun, and the profile does not name that component any more: "
                             "name it there again; where nothing of it is to be awaited: cupel "
                             "firmware forget " +
                             request_.node.name});
  expected_ = &*at;
  Result<Ended> ended = Ended{};
  if (handle_.phase == Phase::doubtful) co_return co_await run();
  if (handle_.phase == Phase::resetting) {
    ended = co_await reset_and_verify();
  } else {
    auto spool = co_await follow(fmt::format("exit {}\n", kNeverBegan));
    if (!spool) co_return ended_by_ssh(std::move(spool).error());
    ended = co_await judge(*std::move(spool));
  }
  if (!ended) co_return ended_by_ssh(std::move(ended).error());
  if (*ended) co_return *std::move(*ended);
  co_return co_await run();
}

Task<Result<void>> NodeWriter::wait_for_end(firmware::UpdateHandle handle) {
  handle_ = std::move(handle);
  const auto at = std::ranges::find(profile().firmware, handle_.component,
                                    &inventory::ExpectedFirmware::component);
  const bool over = handle_.phase == Phase::resetting || handle_.phase == Phase::doubtful;
  if (at == profile().firmware.end() || over) co_return ok();
  expected_ = &*at;
  CO_TRY(co_await follow(fmt::format("exit {}\n", kNeverBegan)));
  co_return store::release_power(environment_.store, request_.node.name);
}

Task<Result<NodeLook>> NodeWriter::look(Deadline deadline) {
  CO_TRY(const auto session, co_await connected(environment_, request_, deadline));
  co_return co_await look_at_parts(*session, profile(), request_.node.ssh.sudo,
                                   request_.deadline.sooner(kLookPatience));
}

Task<Result<NodeWriter::Ended>> NodeWriter::write(FirmwareUpdate update, NodeLook seen,
                                                  const firmware::FirmwarePlan& plan) {
  expected_ = update.expected;
  replaces_ = update.replaces;
  handle_ = {.component = update.expected->component,
             .version = update.version,
             .sha256 = update.image.sha256,
             .pushed = seconds_now()};
  handle_.ticket = {"node", fmt::format("{}/cupel-{}-run{}-{}", ssh::kJobFolder, random_hex(8),
                                        request_.run, request_.step.name)};
  request_.waiting(named() + ": bringing the image");
  auto image =
      co_await environment_.image_bytes(update.image.file, handle_.sha256, request_.deadline);
  if (!image && image.error().code == Code::kUntrusted) co_return failed(image.error().what);
  if (!image) co_return std::move(image).error();
  firmware::NodeWrite order{.expected = expected(),
                            .image = std::string{kImageFolder} + "/" + handle_.sha256,
                            .sha256 = handle_.sha256};
  for (const auto& part : seen.parts) {
    if (!inventory::covers(expected(), part)) continue;
    ++handle_.targets;
    const auto is_it = [&](const auto& one) { return one.id == part.name; };
    if (std::ranges::any_of(replaces_, is_it))
      order.parts.push_back(part);
    else
      handle_.others.push_back(part.name);
  }
  {
    CO_TRY(const auto session, co_await connected(environment_, request_, request_.deadline));
    CO_TRY(co_await ssh::bring_file(
        *session, {std::string{kImageFolder}, handle_.sha256, handle_.sha256, **image},
        request_.node.ssh.sudo, request_.deadline.sooner(kBringPatience)));
  }
  image->reset();
  // To fetch and to bring the image may have taken the rest of the window.
  CO_TRY(auto late, too_late(plan));
  if (late) co_return late;
  const auto longest = kLongestWrite + expected().settles + kHoldMargin;
  CO_TRY(store::hold_power(environment_.store, request_.node.name,
                           {.what = named(),
                            .until = seconds_now() + longest,
                            .by = std::string{playbooks::row_of(request_.step.kind).name},
                            .node = request_.node.name}));
  CO_TRY(co_await enter(Phase::writing));
  CO_TRY(auto spool, co_await follow(write_script(order)));
  co_return co_await judge(std::move(spool));
}

/// The job, from its start or from where it is: what was started before is not started again.
Task<Result<Spool>> NodeWriter::follow(std::string script) {
  auto step = request_.step;
  step.job = burnin::Job{std::move(script), expected().takes, kLongestWrite};
  const StepRequest inner{request_.run,
                          request_.node,
                          {},
                          step,
                          request_.attempt,
                          handle_.ticket.task,
                          request_.deadline,
                          request_.stop,
                          request_.started,
                          request_.waiting};
  request_.waiting(named() + ": writing");
  Follower follower{environment_, inner, job_of(environment_, request_.node, handle_.ticket.task)};
  auto spool = co_await follower.follow();
  if (spool) co_await follower.clean_up();
  co_return spool;
}

Task<Result<NodeWriter::Ended>> NodeWriter::judge(Spool spool) {
  if (spool.stopped) co_return co_await in_doubt(named() + ": the job that wrote it was ended");
  const int status = spool.output.exit_status;
  // Nothing of it is at work: it never began, or the node was restarted and has forgotten it.
  if (!spool.lost && status == kNeverBegan) {
    CO_TRY(store::release_power(environment_.store, request_.node.name));
    co_return Ended{};
  }
  if (status == kLimit)
    co_return co_await in_doubt(fmt::format("{}: not written after {} h; {}", named(),
                                            kLongestWrite.count(), last_words(spool.output)));
  if (!spool.lost && status != 0)
    co_return failed(fmt::format("{}: {}", named(), last_words(spool.output)));
  co_return co_await reset_and_verify();
}

Task<Result<NodeWriter::Ended>> NodeWriter::reset_and_verify() {
  if (handle_.phase != Phase::resetting) {
    CO_TRY(co_await enter(Phase::resetting));
  }
  const auto& resets = expected().follow;
  while (handle_.resets_done < resets.size()) {
    const auto which = resets[handle_.resets_done];
    request_.waiting(named() + ": " + std::string{firmware::text_of(which)});
    if (!resets_on_node(which)) {
      const auto bmc = environment_.bmc(request_.node);
      auto reset = co_await firmware::do_reset(*bmc, which, request_.deadline);
      co_await bmc->log_out();
      if (!reset && is_transient(reset.error().code)) co_return std::move(reset).error();
      if (!reset && reset.error().code == Code::kCancelled) co_return std::move(reset).error();
      if (!reset) {
        // What an operator did by hand shows.
        const auto seen = co_await look(request_.deadline);
        if (seen && shows_version(*seen)) break;
        if (firmware::is_refused_for_good(reset.error().code))
          co_return staged(which, std::move(reset).error().what);
        co_return failed(named() + " is written, and must have: " +
                         std::string{firmware::text_of(which)} + ": " + reset.error().what);
      }
    }
    ++handle_.resets_done;
    CO_TRY(co_await enter(Phase::resetting));
  }
  auto shown = co_await verify();
  if (!shown && shown.error().code != Code::kFailed) co_return std::move(shown).error();
  if (!shown) co_return failed(std::move(shown).error().what);
  CO_TRY(store::release_power(environment_.store, request_.node.name));
  done_.push_back({handle_.component, handle_.version, std::exchange(replaces_, {})});
  co_return Ended{};
}

/// What the node reports decides, whatever the tool said.
Task<Result<void>> NodeWriter::verify() {
  const auto until = request_.deadline.sooner(expected().settles);
  std::string why;
  for (;;) {
    request_.waiting(named() + ": its version");
    auto seen = co_await look(until);
    if (!seen && seen.error().code == Code::kCancelled) co_return std::move(seen).error();
    auto shown = seen ? shows_version(*seen) : Result<void>{seen.error()};
    if (shown) co_return ok();
    // The last try may have had no time left: what the node itself has shown says more.
    if (seen || why.empty()) why = shown.error().what;
    if (until.passed()) co_return Error{Code::kFailed, named() + ": " + why};
    CO_TRY(co_await pause_for(environment_.ask_update_every));
  }
}

Result<void> NodeWriter::shows_version(const NodeLook& seen) const {
  std::size_t right = 0;
  for (const auto& part : seen.parts) {
    if (!inventory::covers(expected(), part)) continue;
    const bool stays = std::ranges::find(handle_.others, part.name) != handle_.others.end();
    if (!stays && !inventory::same_version(part.firmware, handle_.version))
      return Error{Code::kFailed, "the node shows " + part.name + " " + part.firmware};
    ++right;
  }
  if (right >= handle_.targets) return ok();
  return Error{Code::kFailed, fmt::format("the node shows {} of {} parts", right, handle_.targets)};
}

Result<NodeWriter::Ended> NodeWriter::failed(std::string why) {
  TRY(store::release_power(environment_.store, request_.node.name));
  TRY(remember(store::FirmwareState::End::failed, why));
  StepEnd end;
  end.outcome = Outcome::reject;
  end.detail = std::move(why);
  if (!done_.empty()) end.found["firmware"] = to_json(done_);
  ask_for(end, {{.action = "leave the machine powered; look at the part on the node, and retry",
                 .part = {},
                 .goes_on = false}});
  return Ended{std::move(end)};
}

/// Written, and good: it runs once an operator has done what the BMC does not. Not written again.
Result<NodeWriter::Ended> NodeWriter::staged(inventory::FirmwareReset reset, std::string why) {
  TRY(store::release_power(environment_.store, request_.node.name));
  StepEnd end;
  end.outcome = Outcome::needs_operator;
  end.detail = fmt::format("{} is written, and must have: {}, which cannot be done from here: {}",
                           named(), firmware::text_of(reset), why);
  TRY(remember(store::FirmwareState::End::staged, end.detail));
  if (!done_.empty()) end.found["firmware"] = to_json(done_);
  ask_for(end, {{.action = named_for(request_.node, firmware::by_hand(reset)),
                 .part = {},
                 .goes_on = false}});
  return Ended{std::move(end)};
}

/// A part may be without firmware: nothing may restart the node, and a person decides.
Task<Result<NodeWriter::Ended>> NodeWriter::in_doubt(std::string why) {
  CO_TRY(co_await enter(Phase::doubtful));
  CO_TRY(remember(store::FirmwareState::End::in_doubt, why));
  StepEnd end;
  end.outcome = Outcome::needs_operator;
  end.detail = std::move(why);
  if (!done_.empty()) end.found["firmware"] = to_json(done_);
  ask_for(end, {{.action = named_for(request_.node,
                                     "leave the machine powered: look on the node whether the tool "
                                     "still writes, and at the part; then: "
                                     "cupel firmware continue NODE"),
                 .part = {},
                 .goes_on = false}});
  co_return Ended{std::move(end)};
}

Result<void> NodeWriter::remember(store::FirmwareState::End end, std::string words) {
  return remember_end(environment_, request_, {end, std::move(words), handle_, done_});
}

Task<Result<void>> NodeWriter::enter(Phase phase) {
  handle_.phase = phase;
  CO_TRY(remember_handle(environment_, request_, handle_, request_.node.name));
  co_return co_await request_.started(to_text(handle_));
}

}  // namespace cupel::steps
