// A BMC's updates in time: what they do to the machine, and who wakes them.
#include "base/text.h"
#include "rehearsal/bmc/service.h"
#include "rehearsal/bmc/update_request.h"

namespace cupel::rehearsal {

UpdateWorld BmcService::updates_world() {
  return {.install = [this](const Flash& flash) { machine_.flash(flash.component, flash.version); },
          .print_error =
              [this](std::string_view text) {
                note({.severity = "Critical",
                      .message = std::string{text},
                      .message_id = "Update.1.0.ActivateFailed",
                      .sensor = "System Firmware Progress",
                      .alert = true});
              },
          .restart_bmc = [this] { restart(); },
          .brick =
              [this](const Flash& flash) {
                const bool bmc = flash.component == "HostBMC_0";
                machine_.break_down(bmc ? FaultKind::bmc_dead : FaultKind::boot_hangs);
              },
          .epoch = [this] { return view().epoch(); }};
}

Change BmcService::change_of(const HttpRequest& request, const std::string& path,
                             const ReceivedBody& received) {
  return {.machine = machine_,
          .state = state_,
          .path = path,
          .empty = trimmed(request.body).empty(),
          .note = [this](LogLine line) { note(std::move(line)); },
          .restart = [this] { restart(); },
          .updates_world = updates_world_,
          .received = received,
          .fetch = [this](const std::string& id, const LoopbackUri& from,
                          UpdateRequest asked) { fetch(id, from, std::move(asked)); },
          .chunked = lower_case(request.header("transfer-encoding")).contains("chunked"),
          .has_condition = !request.header("if-match").empty(),
          .sessions = &sessions_};
}

/// What the rack's time has brought since somebody looked last.
void BmcService::settle() {
  state_.updates.advance(machine_.clock().elapsed(), updates_world_);
  expect_next();
}

void BmcService::expect_next() {
  const auto next = state_.updates.next();
  update_timer_.cancel();
  if (!next) return;
  update_timer_.start(*next - machine_.clock().elapsed(), [this] { settle(); });
}

/// A task's monitor, where this vendor has one that is no resource. Source: DSP0266,
/// "Asynchronous operations": 202 while it runs.
std::optional<HttpResponse> BmcService::monitored(const HttpRequest& request,
                                                  const std::string& path) {
  const auto& behavior = state_.update_behavior;
  if (request.method != "GET" || behavior.monitor.empty()) return std::nullopt;
  for (const auto& update : state_.updates.all()) {
    if (update.is_hidden()) continue;
    if (path != monitor_of(view(), update.id)) continue;
    const bool over = update.is_over() || update.stage == Update::Stage::verified;
    auto reported = answer(over ? 200 : 202, task_of(view(), update));
    if (!over) reported.headers["Location"] = path;
    if (over && behavior.monitor_deletes) state_.updates.forget(std::string{update.id});
    return reported;
  }
  return std::nullopt;
}

}  // namespace cupel::rehearsal
