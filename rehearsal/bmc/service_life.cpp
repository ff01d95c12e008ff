// How a BMC lives beside its machine: what it hears of it, its restarts, its moods.
#include <fmt/format.h>

#include <cmath>

#include "rehearsal/bmc/latency.h"
#include "rehearsal/bmc/phrase.h"
#include "rehearsal/bmc/service.h"

namespace cupel::rehearsal {
namespace {

const VendorBehavior& row_of(const BmcSpec& spec) {
  const auto* row = vendor_behavior_of(spec.vendor);
  return row ? *row : default_behavior();
}

/// One of several machines: its System and its Chassis are named after it, and have all of its
/// parts. What cuts the whole enclosure's power is not there.
std::unique_ptr<const SystemBehavior> own_behavior(const BmcSpec& spec) {
  if (spec.system.empty()) return nullptr;
  auto own = std::make_unique<SystemBehavior>(spec.system, row_of(spec));
  auto& layout = own->behavior.layout;
  layout.system = layout.chassis = own->system;
  layout.system_of_gpus = {};
  own->behavior.power.ac = {};
  return own;
}

BmcState state_of(BmcAccount account, const BmcSpec& spec, const VendorBehavior& behavior) {
  const auto& update_behavior =
      update_behavior_of(spec.updates.empty() ? behavior.vendor : std::string_view{spec.updates});
  BmcState state{.behavior = behavior,
                 .spec = spec,
                 .accounts = {behavior.accounts, std::move(account.user),
                              std::move(account.password), spec.factory_password},
                 .update_behavior = update_behavior,
                 .updates = Updates{update_behavior}};
  state.offset_minutes = behavior.offset_minutes;
  if (behavior.vendor == "dell") state.services["Telnet"] = {false, 23};
  return state;
}

}  // namespace

BmcService::BmcService(ManagedSystem& machine, BmcAccount account, BmcSpec spec)
    : machine_{machine},
      own_behavior_{own_behavior(spec)},
      state_{state_of(std::move(account), spec,
                      own_behavior_ ? own_behavior_->behavior : row_of(spec))},
      sessions_{state_.behavior.connection.sessions, kSessionTimeout},
      rules_{fmt::format("{}/{}/rules", machine.seed(), machine.name())},
      updates_world_{updates_world()},
      update_timer_{machine.executor(), machine.clock()},
      reset_timer_{machine.executor(), machine.clock()},
      alive_{std::make_shared<BmcService*>(this)} {
  state_.log.as_event = [this](const LogLine& line) { return event_of(view(), line); };
  take_faults();
  machine_.subscribe([weak = std::weak_ptr{alive_}](ManagedSystem::Event event) {
    if (const auto alive = weak.lock()) (*alive)->on(event);
  });
}

BmcService::~BmcService() { state_.log.end_streams(); }

void BmcService::note(LogLine line) {
  if (logins_ != this && behavior().layout.log_of_manager) return logins_->note(std::move(line));
  line.epoch = view().epoch();
  state_.log.add(std::move(line));
}

void BmcService::on(ManagedSystem::Event event) {
  if (event == ManagedSystem::Event::refitted) take_faults();
  const auto now = machine_.clock().elapsed();
  const bool live = machine_.mains();
  if (std::exchange(had_mains_, live) != live && live) drained(now);
  if (event == ManagedSystem::Event::started) state_.updates.host_started(now, updates_world_);
  const bool went_off = event == ManagedSystem::Event::powered && machine_.power() == Power::off;
  if (went_off) state_.updates.host_lost_power(now, updates_world_);
  if (went_off || event == ManagedSystem::Event::started) expect_next();
  if (auto line = line_of(event, machine_)) note(std::move(*line));
  if (event != ManagedSystem::Event::booted) return;
  take_settings();
}

/// What waited for this boot.
void BmcService::take_settings() {
  const bool committed = std::ranges::any_of(state_.jobs, [](const Job& job) { return !job.done; });
  for (auto& job : state_.jobs) job.done = true;
  if (find_fault(machine_.faults(), FaultKind::settings_ignored) != nullptr) {
    state_.bios.forget();
    state_.firmware.forget();
    return;
  }
  state_.bios.boot_reset();
  if (committed || !state_.behavior.bios.by_job) state_.bios.apply();
  state_.firmware.apply();
}

void BmcService::take_faults() {
  const auto now = machine_.faults();
  for (const auto& fault : now) {
    const bool known = std::ranges::find(known_faults_, fault) != known_faults_.end();
    if (known) continue;
    meet(fault);
  }
  known_faults_.assign(now.begin(), now.end());
  expect_reset();
  on_faults();
}

/// What a fault does when it comes, rather than as long as it is there.
void BmcService::meet(const Fault& fault) {
  // What comes with a load a BMC does not see.
  const bool seen = fault.timing.under.empty();
  if (auto line = line_of(fault); line && seen && fault.logged) note(std::move(*line));
  // Whoever sets it right, and boots, has it right.
  if (fault.kind == FaultKind::wrong_bios_setting)
    state_.bios.spoil(fault.component, fault.version);
}

/// By the rack's time, so that it is the same whenever somebody asks.
void BmcService::expect_reset() {
  const auto* fault = find_fault(machine_.faults(), FaultKind::bmc_resets);
  reset_timer_.cancel();
  if (!fault || !fault->span || *fault->span <= VirtualTime{0}) return;
  const auto now = machine_.clock().elapsed();
  const auto next = *fault->span * (std::floor(now / *fault->span) + 1);
  reset_timer_.start(next - now, [this] {
    restart();
    expect_reset();
  });
}

/// A BMC that has just started says so in seconds of the asker's clock, not of the rack's.
std::optional<HttpResponse> BmcService::busy() {
  const auto now = machine_.clock().elapsed();
  VirtualTime until{-1};
  if (const auto* fault = find_fault(machine_.faults(), FaultKind::bmc_busy)) {
    if (!first_asked_) first_asked_ = now;
    until = *first_asked_ + fault->span.value_or(VirtualTime{60});
  }
  const auto& behavior = state_.behavior.connection;
  const bool restarting = restarted_ && behavior.after_restart > VirtualTime{0};
  if (restarting) until = std::max(until, *restarted_ + kRestart + behavior.after_restart);
  const auto left = until - now;
  if (left <= VirtualTime{0}) return std::nullopt;
  if (behavior.html_when_busy) return busy_page();
  const auto wait = std::chrono::ceil<std::chrono::seconds>(machine_.clock().real(left));
  auto response = redfish_error(503, "ServiceTemporarilyUnavailable",
                                "The service is temporarily unavailable. Retry in " +
                                    std::to_string(wait.count()) + " seconds.");
  response.headers["Retry-After"] = std::to_string(wait.count());
  return response;
}

/// How long it takes for what it answers now, in our time. Paths that nobody would ask for are
/// not remembered.
std::chrono::milliseconds BmcService::thinking(const HttpRequest& request,
                                               const std::string& path) {
  if (!state_.spec.latency) return {};
  constexpr std::size_t kMostKnown = 4096;
  const auto key = request.method + " " + path;
  const bool known = asked_.contains(key) || asked_.size() < kMostKnown;
  const int count = known ? ++asked_[key] : 0;
  const bool first = known && warm_.insert(key).second;
  const auto span =
      latency_of(latency_behavior_of(behavior().vendor), {request.method, path, first},
                 machine_.seed(), machine_.name(), count);
  return std::chrono::ceil<std::chrono::milliseconds>(machine_.clock().real(span));
}

/// Its own power was gone, and is back.
void BmcService::drained(VirtualTime now) {
  state_.updates.bmc_restarted(now, updates_world_);
  state_.updates.power_drained(now, updates_world_);
  expect_next();
}

void BmcService::restart() {
  sessions_ = BmcSessions{state_.behavior.connection.sessions, kSessionTimeout};
  state_.log.end_streams();
  restarted_ = machine_.clock().elapsed();
  state_.updates.bmc_restarted(*restarted_, updates_world_);
  state_.push_claimed = false;
  expect_next();
  note({.message = "The management controller restarts.",
        .message_id = "Platform.1.0.ManagerReset",
        .sensor = "Management Subsystem Health"});
  if (on_restart) on_restart();
}

}  // namespace cupel::rehearsal
