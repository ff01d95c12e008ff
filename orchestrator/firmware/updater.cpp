#include "orchestrator/firmware/updater.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "bmc/power.h"
#include "inventory/profile.h"
#include "inventory/versions.h"
#include "orchestrator/firmware/may_pass.h"
#include "orchestrator/firmware/previous_image.h"
#include "orchestrator/firmware/ready.h"
#include "orchestrator/firmware/resets.h"
#include "orchestrator/firmware/transfer.h"
#include "orchestrator/firmware/update_window.h"

namespace cupel::firmware {
namespace {

using How = UpdateEnd::How;
using Phase = UpdateHandle::Phase;

/// More rounds than a machine has components with stepping stones.
constexpr int kMostUpdates = 64;
/// A hold on the power ends by itself so long after the latest end that an update can have.
constexpr std::chrono::minutes kHoldMargin{60};

constexpr std::string_view kNotServed =
    " (SimpleUpdate), and no image is served: firmware: has no serve: in the inventory";
constexpr auto kSeePlan = "mend what stands against it: cupel firmware plan NODE";
constexpr auto kFirst =
    "mend what stands against it (cupel firmware plan NODE); what must precede it is written by: "
    "cupel run firmware --nodes NODE";
constexpr auto kServeIt =
    "add serve: ADDRESS:PORT, an address of this machine that the BMC reaches, to firmware: of the "
    "inventory (firmware: {manifest: images.yaml, key: site.pub, serve: \"10.0.0.1:8080\", tls: "
    "{certificate: site.pem, key: site.key}}), then retry";

const inventory::ExpectedFirmware* component_of(const inventory::Profile& profile,
                                                std::string_view name) {
  const auto at =
      std::ranges::find(profile.firmware, name, &inventory::ExpectedFirmware::component);
  return at == profile.firmware.end() ? nullptr : &*at;
}

std::string_view sending_words(const bmc::UpdateOrder& order) {
  if (order.pull_uri.empty()) return "sending";
  return order.pull_uri.starts_with("https:") ? "the BMC fetches over HTTPS"
                                              : "the BMC fetches over HTTP, not encrypted,";
}

/// One image holds both, and is written to the same targets: a bundle.
bool is_one_write(const inventory::ExpectedFirmware& one,
                  const inventory::ExpectedFirmware& other) {
  return one.image && other.image && one.image->is_named() &&
         one.image->file == other.image->file && one.image->sha256 == other.image->sha256 &&
         one.targets == other.targets;
}

std::vector<std::string> list_of(const std::set<std::string>& words) {
  return {words.begin(), words.end()};
}

bool is_of(const FirmwareUpdate& update, const UpdateHandle& handle) {
  return update.expected->component == handle.component && update.version == handle.version;
}

}  // namespace

Task<Result<UpdateEnd>> Updater::run(Deadline deadline) {
  auto ended = co_await go_on(deadline);
  co_return co_await switched_on(std::move(ended), deadline);
}

Task<Result<UpdateEnd>> Updater::resume(UpdateHandle handle, Deadline deadline) {
  auto ended = co_await go_on_from(std::move(handle), deadline);
  co_return co_await switched_on(std::move(ended), deadline);
}

/// A machine that was switched off for an update is not left so, unless it is being written.
Task<Result<UpdateEnd>> Updater::switched_on(Result<UpdateEnd> ended, Deadline deadline) {
  if (!ended || !handle_.was_on || at_work_) co_return ended;
  doors_.waiting("switching the machine on again");
  const auto on = co_await bmc::ensure_on(doors_.bmc, deadline);
  if (on) co_return ended;
  if (ended->how == How::at_baseline || on.error().code == Code::kCancelled) co_return on.error();
  ended->detail += "; it was switched off for the update, and does not come on: " + on.error().what;
  co_return ended;
}

Task<Result<UpdateEnd>> Updater::go_on(Deadline deadline) {
  for (int round = 0; round < kMostUpdates; ++round) {
    CO_TRY(auto seen, co_await look(deadline));
    if (auto refused = seen.plan.refusals(); !refused.empty())
      co_return UpdateEnd{
          How::failed, std::move(refused), {doors_.rewrite.only.empty() ? kSeePlan : kFirst}};
    auto& updates = seen.plan.updates;
    // What was written, and begins to run with the resets after the last of its kind.
    std::erase_if(updates, [&](const FirmwareUpdate& one) {
      return is_of(one, handle_) && std::ranges::all_of(one.replaces, [&](const auto& entry) {
               return std::ranges::find(written_, entry.id) != written_.end();
             });
    });
    Ended ended;
    if (!updates.empty()) {
      if (auto back = fell_back(updates.front())) co_return *std::move(back);
      if (auto late = too_late(seen.plan)) co_return *std::move(late);
      begin(seen);
      auto first = std::move(updates.front());
      CO_TRY(ended, co_await apply(std::move(first), std::move(seen.machine), deadline));
    } else if (written_.empty()) {
      CO_TRY(release());
      co_return UpdateEnd{};
    } else {
      handle_.more = false;
      CO_TRY(ended, co_await reset_and_verify(deadline));
    }
    if (ended) co_return *std::move(ended);
  }
  co_return UpdateEnd{How::failed, fmt::format("not at the baseline after {} updates: the last was "
                                               "{}",
                                               kMostUpdates, named())};
}

Task<Result<UpdateEnd>> Updater::go_on_from(UpdateHandle handle, Deadline deadline) {
  handle_ = std::move(handle);
  written_ = handle_.written;
  for (const auto& component : handle_.rewritten)
    if (doors_.rewrite.again.erase(component) > 0) doors_.rewritten.insert(component);
  at_work_ = handle_.phase != Phase::resetting && handle_.phase != Phase::refused;
  const bool refused = handle_.phase == Phase::refused;
  const bool back = handle_.writes_back();
  if (back) doors_.written_back.insert(handle_.component);
  if (refused && back) co_return back_ended(failed("the BMC was not given it, or refused it"));
  if (refused && written_.empty()) co_return co_await go_on(deadline);
  expected_ = component_of(doors_.profile, handle_.component);
  if (expected_ == nullptr)
    co_return UpdateEnd{How::failed,
                        "an update of " + named() +
                            " was begun, and the profile does not name that component any more",
                        {"name it in the profile again; where nothing of it is to be awaited: "
                         "cupel firmware forget NODE"}};
  if (refused) co_return co_await go_on(deadline);
  Task<Result<Ended>> (Updater::* const on)(Deadline) =
      handle_.phase == Phase::resetting ? &Updater::reset_and_verify : &Updater::follow;
  const bool lost = handle_.phase == Phase::pushing || handle_.phase == Phase::starting;
  CO_TRY(auto ended,
         co_await (lost ? find_push("the controller stopped", deadline) : (this->*on)(deadline)));
  if (back) co_return back_ended(std::move(ended));
  if (ended) co_return *std::move(ended);
  co_return co_await go_on(deadline);
}

Task<Result<void>> Updater::wait_for_end(UpdateHandle handle, Deadline deadline) {
  handle_ = std::move(handle);
  expected_ = component_of(doors_.profile, handle_.component);
  const bool over = handle_.phase == Phase::resetting || handle_.phase == Phase::refused;
  if (expected_ == nullptr) co_return ok();
  if (over) co_return release();
  // One that has just got the image, or the word to install it, may not show it yet.
  const bool sent = handle_.phase == Phase::pushing || handle_.phase == Phase::starting;
  for (;;) {
    const auto service = co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer));
    if (service && !service->is_at_work() && (!sent || overtime())) break;
    if (!service && !may_pass(service.error().code)) co_return service.error();
    if (far_overtime())
      co_return Error{Code::kTimeout, named() + ": the BMC does not say that it has ended"};
    CO_TRY(co_await pause_for(doors_.poll));
  }
  co_return doors_.hold_power(handle_, {});
}

Task<Result<Updater::Seen>> Updater::look(Deadline deadline) {
  doors_.waiting("versions");
  Seen seen;
  CO_TRY(seen.machine, co_await doors_.bmc.facts.identity(deadline.sooner(kLongestAnswer)));
  CO_TRY(auto versions, co_await doors_.bmc.update.versions(deadline.sooner(kLongestAnswer)));
  seen.reported = std::move(versions.value);
  seen.plan =
      plan_firmware(doors_.profile, seen.machine, seen.reported, Writer::bmc, doors_.rewrite);
  co_return seen;
}

/// The parts of one version, of which some are written, are not parted from their resets.
Updater::Ended Updater::too_late(const FirmwarePlan& plan) const {
  if (!doors_.window || !written_.empty()) return std::nullopt;
  auto why = why_not_in(*doors_.window, doors_.profile, plan, doors_.now());
  if (why.empty()) return std::nullopt;
  return UpdateEnd{
      How::not_begun, std::move(why), {way_on_after(*doors_.window, doors_.profile, plan)}};
}

/// A BMC that showed the version, and shows another one again, runs its other copy or reports what
/// it likes: written again and again, it would do so again.
Updater::Ended Updater::fell_back(const FirmwareUpdate& update) const {
  for (const auto& entry : update.replaces) {
    const auto showed = [&](const UpdateHandle& one) {
      return is_of(update, one) && std::ranges::find(one.ids, entry.id) != one.ids.end();
    };
    if (std::ranges::none_of(shown_, showed)) continue;
    return UpdateEnd{
        How::failed,
        fmt::format("{} {}: the inventory showed it, and shows {} {} again: it is not "
                    "written a second time",
                    update.expected->component, update.version, printable(shortened(entry.id, 80)),
                    printable(shortened(entry.version, 80))),
        {"look in the BMC's log for a start of its other copy: cupel bmc NODE log"}};
  }
  return std::nullopt;
}

/// The handle of the first of the plan's updates: which entries must show its version.
void Updater::begin(const Seen& seen) {
  const auto& updates = seen.plan.updates;
  const auto& update = updates.front();
  expected_ = update.expected;
  replaces_ = update.replaces;
  UpdateHandle made{.component = expected().component,
                    .version = update.version,
                    .sha256 = update.image.sha256,
                    .pushed = doors_.now(),
                    .was_on = handle_.was_on,
                    .refused_way = handle_.refused_way};
  if (!is_of(update, handle_)) written_.clear();
  made.written = written_;
  made.more = updates.size() > 1 && is_of(updates[1], made);
  for (const auto& entry : replaces_) made.ids.push_back(entry.id);
  const auto state = std::ranges::find(seen.plan.components, expected_, &ComponentState::expected);
  for (const auto& entry : state->running) {
    const auto is_it = [&](const std::string& id) { return id == entry.id; };
    const bool now = std::ranges::any_of(made.ids, is_it);
    const bool before = std::ranges::any_of(made.written, is_it);
    if (!now && (made.more || !before)) made.others.push_back(entry.id);
  }
  made.targets = state->running.size();
  made.previous = one_version(replaces_, made.targets);
  made.only = list_of(doors_.rewrite.only);
  made.rewritten = list_of(doors_.rewritten);
  made.again = std::ranges::any_of(replaces_, [&](const RunningVersion& entry) {
    return inventory::same_version(entry.version, made.version);
  });
  handle_ = std::move(made);
  reported_.clear();
}

Task<Result<Updater::Ended>> Updater::apply(FirmwareUpdate update, bmc::Identity machine,
                                            Deadline deadline) {
  doors_.waiting(named() + ": whether the machine may be written");
  auto order = co_await doors_.image(std::move(update), std::move(machine), deadline);
  if (!order && order.error().code == Code::kCancelled) co_return order.error();
  if (!order) co_return failed(named() + ": " + order.error().what);
  order->claim_is_ours = lost_ > 0;
  order->refused_way = handle_.refused_way;
  if (handle_.writes_back()) handle_.sha256 = order->sha256;
  CO_TRY(auto why_not, co_await ready_for(*order, deadline));
  if (why_not) {
    why_not->detail = named() + ": " + why_not->detail;
    co_return why_not;
  }
  if (written_.empty()) {
    // What must be off for the write is not switched on by another run meanwhile.
    CO_TRY(hold());
    auto prepared = co_await prepare_machine(deadline);
    if (!prepared) {
      CO_TRY(release());
    }
    if (!prepared && is_refused_for_good(prepared.error().code))
      co_return UpdateEnd{
          How::needs_person,
          named() + ": what must precede it cannot be done from here: " + prepared.error().what,
          {"do it by hand, take it out of the component's before: in the profile, "
           "then retry"}};
    if (!prepared) co_return std::move(prepared).error();
  }
  co_return co_await push(*std::move(order), deadline);
}

/// The first way that the BMC offers and has not refused, and that goes from here: it fetches only
/// what is served. Empty: there is none.
std::string Updater::way_of(const bmc::UpdateService& service,
                            const bmc::UpdateOrder& order) const {
  const auto is_open = [&](const std::string& way) {
    return way != order.refused_way && (way != kFetches || doors_.serve);
  };
  const auto way = std::ranges::find_if(service.ways, is_open);
  return way == service.ways.end() ? std::string{} : *way;
}

/// The BMC could fetch the image itself, and nothing serves it.
bool Updater::lacks_server(const bmc::UpdateService& service, const bmc::UpdateOrder& order) const {
  const bool fetches = std::ranges::find(service.ways, kFetches) != service.ways.end();
  return fetches && !doors_.serve && order.refused_way != kFetches;
}

/// Nothing: it may be pushed now. Where the BMC fetches images itself, this one is served from now
/// on.
Task<Result<Updater::Ended>> Updater::ready_for(bmc::UpdateOrder& order, Deadline deadline) {
  CO_TRY(const auto service, co_await doors_.bmc.update.service(deadline));
  auto why_not = why_not_this(service, order);
  if (!why_not && (done_.empty() || handle_.writes_back())) {
    CO_TRY(why_not, co_await why_not_now(doors_.bmc, doors_.clock_may_be_off, deadline));
  }
  const auto way = way_of(service, order);
  if (!why_not && way.empty() && lacks_server(service, order))
    co_return failed("this BMC can only fetch images itself" + std::string{kNotServed}, {kServeIt});
  if (why_not || way != kFetches) co_return why_not;
  auto served = co_await doors_.serve(order, service.fetches_by, deadline);
  if (!served && served.error().code == Code::kCancelled) co_return std::move(served).error();
  if (!served) co_return Ended{UpdateEnd{How::failed, std::move(served).error().what}};
  order.pull_uri = served_ = *std::move(served);
  co_return Ended{};
}

/// What must precede it. A machine that ran before is switched on again at the end.
Task<Result<void>> Updater::prepare_machine(Deadline deadline) {
  for (const auto reset : expected().before) {
    doors_.waiting(named() + ": " + std::string{text_of(reset)} + " before it");
    if (reset == inventory::FirmwareReset::host_off) {
      CO_TRY(const auto power, co_await doors_.bmc.power.state(deadline));
      const bool runs = power.value != bmc::PowerState::off;
      // Kept before it is off: whoever comes after a crash switches it on again.
      if (runs && !std::exchange(handle_.was_on, true)) {
        CO_TRY(co_await enter(Phase::refused));
      }
    }
    CO_TRY(co_await prepare(doors_.bmc, reset, deadline, doors_.drained, doors_.pace));
  }
  co_return ok();
}

Task<Result<Updater::Ended>> Updater::push(bmc::UpdateOrder order, Deadline deadline) {
  auto why_not = co_await look_again(order, deadline);
  if (!why_not || *why_not) {
    CO_TRY(release());
    co_return why_not;
  }
  handle_.pushed = doors_.now();
  CO_TRY(hold());
  if (handle_.writes_back()) doors_.written_back.insert(handle_.component);
  CO_TRY(co_await enter(Phase::pushing));
  at_work_ = true;
  doors_.waiting(fmt::format("{}: {} {:.0f} MB", named(), sending_words(order),
                             std::ceil(static_cast<double>(order.bytes) / 1e6)));
  auto ticket = co_await doors_.bmc.update.push(order, deadline);
  if (ticket) {
    handle_.ticket = *std::move(ticket);
    handle_.pushed = doors_.now();
    CO_TRY(co_await enter(Phase::writing));
    co_return co_await follow(deadline);
  }
  auto error = std::move(ticket).error();
  if (error.code == Code::kCancelled) co_return error;
  if (!was_refused(error.code)) co_return co_await find_push(std::move(error.what), deadline);
  // Whatever the BMC shows from now on is not this image.
  at_work_ = false;
  CO_TRY(co_await enter(Phase::refused));
  if (bmc::took_nothing(error) && order.refused_way.empty())
    co_return co_await push_another_way(std::move(order), std::move(error.what), deadline);
  CO_TRY(release());
  if (error.code == Code::kBusy) co_return UpdateEnd{How::busy, std::move(error.what)};
  co_return failed(std::move(error.what));
}

/// A service may offer a way that it does not have. The BMC took nothing of the image: the next way
/// is tried, once, and the handle names the one that was refused.
Task<Result<Updater::Ended>> Updater::push_another_way(bmc::UpdateOrder order, std::string why,
                                                       Deadline deadline) {
  const auto service = co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer));
  if (!service && service.error().code == Code::kCancelled) co_return service.error();
  if (!service) co_return failed(std::move(why));
  order.refused_way = way_of(*service, order);
  const bool is_last = way_of(*service, order).empty();
  if (is_last && lacks_server(*service, order))
    co_return failed(why + "; this BMC can fetch images itself" + std::string{kNotServed},
                     {kServeIt});
  if (is_last) co_return failed(std::move(why));
  handle_.refused_way = order.refused_way;
  CO_TRY(auto why_not, co_await ready_for(order, deadline));
  if (!why_not) co_return co_await push(std::move(order), deadline);
  CO_TRY(release());
  why_not->detail = why + "; by another way: " + why_not->detail;
  co_return why_not;
}

/// Its version is looked for once the last one of its kind is written, and the resets are done.
Result<Updater::Ended> Updater::written_in_part() {
  TRY(release());
  written_.insert(written_.end(), handle_.ids.begin(), handle_.ids.end());
  done_.push_back({handle_.component, handle_.version, std::exchange(replaces_, {})});
  return Ended{};
}

Result<void> Updater::hold() {
  return doors_.hold_power(handle_, expected().takes + expected().settles + kHoldMargin);
}

/// The image is not served any more, and the power is free.
Result<void> Updater::release() {
  if (!served_.empty()) doors_.serve_no_more(std::exchange(served_, {}));
  return doors_.hold_power(handle_, {});
}

Result<Updater::Ended> Updater::finished() {
  TRY(release());
  done_.push_back({handle_.component, handle_.version, std::exchange(replaces_, {})});
  if (handle_.writes_back()) return Ended{};
  note_rewritten();
  shown_.push_back(handle_);
  shown_.back().ids.insert(shown_.back().ids.end(), written_.begin(), written_.end());
  written_.clear();
  return Ended{};
}

/// The version of the baseline was written, not a stepping stone's: with it, what is in the same
/// image.
void Updater::note_rewritten() {
  if (!inventory::same_version(handle_.version, expected().version)) return;
  for (const auto& one : doors_.profile.firmware) {
    if (&one != expected_ && !is_one_write(one, expected())) continue;
    if (doors_.rewrite.again.erase(one.component) > 0) doors_.rewritten.insert(one.component);
  }
}

Result<Updater::Ended> Updater::failed(std::string why, std::vector<std::string> advice) {
  if (!at_work_) {
    TRY(release());
  }
  return Ended{UpdateEnd{How::failed, std::move(why), std::move(advice)}};
}

Task<Result<void>> Updater::enter(UpdateHandle::Phase phase) {
  handle_.phase = phase;
  co_return co_await doors_.keep(handle_);
}

}  // namespace cupel::firmware
