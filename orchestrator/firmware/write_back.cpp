// The last way to recover: the image of the version that ran before is written back, once. It is a
// push like any other, and the node has failed however it ends.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/versions.h"
#include "orchestrator/firmware/may_pass.h"
#include "orchestrator/firmware/updater.h"

namespace cupel::firmware {
namespace {

using How = UpdateEnd::How;
using Phase = UpdateHandle::Phase;

constexpr std::size_t kLongestWhy = 600;

}  // namespace

/// What would be written back. Only over the new version, or over a part that is sick or gone: a
/// machine that still runs the old version has nothing to recover from. Errors: kFailed.
Result<FirmwareUpdate> Updater::previous_of(const Seen& seen) const {
  const auto refuse = [](std::string why) { return Error{Code::kFailed, std::move(why)}; };
  if (doors_.written_back.contains(handle_.component))
    return refuse("it was sent in this run before");
  if (handle_.again) return refuse("the component ran the same version before");
  if (handle_.previous.empty())
    return refuse("not all entries of the component ran one version before");
  const auto at = std::ranges::find(seen.plan.components, expected_, &ComponentState::expected);
  if (at == seen.plan.components.end()) return refuse("the component is not reported");
  FirmwareUpdate update{expected_, handle_.previous, {}, expected().targets, {}};
  bool is_new = false, is_sick = at->running.size() < handle_.targets;
  for (const auto& entry : at->running) {
    is_new = is_new || inventory::same_version(entry.version, handle_.version);
    is_sick = is_sick || std::ranges::any_of(seen.reported, [&](const auto& part) {
                return part.name == entry.id && part.health == "Critical";
              });
    if (!inventory::same_version(entry.version, handle_.previous)) update.replaces.push_back(entry);
  }
  if (!is_new && !is_sick)
    return refuse("no part of it runs " + handle_.version + ", and none is Critical");
  if (update.replaces.empty()) update.replaces = at->running;
  return update;
}

/// Nothing is sent before it is certain that the BMC is at work with nothing: the update has ended
/// by itself, and the BMC answers and says that it is idle. Errors: kFailed; of the BMC.
Task<Result<Updater::WayBack>> Updater::way_back(bool ended_itself, Deadline deadline) {
  if (!ended_itself) co_return Error{Code::kFailed, "the update did not end by itself"};
  CO_TRY(const auto service, co_await doors_.bmc.update.service(deadline.sooner(kLongestAnswer)));
  if (!service.busy.empty())
    co_return Error{Code::kFailed, "the BMC is at work with " + short_word(service.busy.front())};
  CO_TRY(auto seen, co_await look(deadline));
  CO_TRY(auto update, previous_of(seen));
  co_return WayBack{std::move(update), std::move(seen.machine)};
}

Task<Result<Updater::Ended>> Updater::write_back(WayBack back, std::string why, Deadline deadline) {
  if (!served_.empty()) doors_.serve_no_more(std::exchange(served_, {}));
  UpdateHandle made{.phase = Phase::refused,
                    .component = handle_.component,
                    .version = back.update.version,
                    .targets = handle_.targets,
                    .was_on = handle_.was_on,
                    .instead_of = handle_.version,
                    .why = shortened(why, kLongestWhy),
                    .refused_way = handle_.refused_way,
                    .only = handle_.only,
                    .rewritten = handle_.rewritten};
  for (const auto& entry : back.update.replaces) made.ids.push_back(entry.id);
  replaces_ = back.update.replaces;
  handle_ = std::move(made);
  reported_.clear();
  auto ended = co_await apply(std::move(back.update), std::move(back.machine), deadline);
  CO_TRY(auto end, back_ended(std::move(ended)));
  co_return Ended{std::move(end)};
}

/// The node has failed, whatever became of the previous image. `ended` nothing: it runs.
Result<UpdateEnd> Updater::back_ended(Result<Ended> ended) {
  TRY(auto how, std::move(ended));
  const auto old = short_word(handle_.version), now = short_word(handle_.instead_of);
  const auto look_into =
      fmt::format("find out why {} {} did not run before it is written again: cupel bmc NODE log",
                  handle_.component, now);
  if (!how)
    return UpdateEnd{How::failed,
                     fmt::format("{}; recovered to the old version: {} runs {} again", handle_.why,
                                 handle_.component, old),
                     {look_into}};
  if (!at_work_) {
    TRY(release());
  }
  if (how->how != How::needs_person) how->how = How::failed;
  how->detail = fmt::format("{}; the previous image: {}", handle_.why, how->detail);
  if (how->advice.empty()) how->advice.push_back("leave the machine powered; " + look_into);
  return *std::move(how);
}

}  // namespace cupel::firmware
