// How a BMC lives beside its machine: what it hears of it, its restarts, its moods.
#include "rehearsal/bmc/phrase.h"
#include "rehearsal/bmc/service.h"

namespace cupel::rehearsal {
namespace {

BmcState state_of(BmcAccount account, const BmcSpec& spec) {
  const auto* row = manners_of(spec.vendor);
  const auto& manners = row ? *row : usual_manners();
  BmcState state{.manners = manners,
                 .spec = spec,
                 .accounts = {manners.accounts, std::move(account.user),
                              std::move(account.password), spec.factory_password}};
  state.offset_minutes = manners.offset_minutes;
  if (manners.vendor == "dell") state.services["Telnet"] = {false, 23};
  return state;
}

Rule rule_of(const WrongAnswer& wrong) {
  Rule rule{.method = wrong.method, .path = wrong.path, .times = wrong.times, .late = wrong.late};
  rule.status = wrong.status;
  if (!wrong.body.empty()) rule.body = wrong.body;
  return rule;
}

}  // namespace

BmcService::BmcService(Machine& machine, BmcAccount account, BmcSpec spec)
    : machine_{machine},
      state_{state_of(std::move(account), spec)},
      sessions_{state_.manners.connection.sessions, kSessionTimeout},
      alive_{std::make_shared<BmcService*>(this)} {
  state_.log.as_event = [this](const LogLine& line) { return event_of(view(), line); };
  take_faults();
  machine_.subscribe([weak = std::weak_ptr{alive_}](Machine::Event event) {
    if (const auto alive = weak.lock()) (*alive)->on(event);
  });
}

BmcService::~BmcService() { state_.log.end_streams(); }

void BmcService::note(LogLine line) {
  line.epoch = view().epoch();
  state_.log.add(std::move(line));
}

void BmcService::on(Machine::Event event) {
  if (event == Machine::Event::refitted) take_faults();
  if (auto line = line_of(event, machine_)) note(std::move(*line));
  if (event != Machine::Event::booted) return;
  const bool committed = std::ranges::any_of(state_.jobs, [](const Job& job) { return !job.done; });
  if (committed || !state_.manners.bios.by_job) state_.bios.apply();
  for (auto& job : state_.jobs) job.done = true;
}

void BmcService::take_faults() {
  const auto now = machine_.faults();
  for (const auto& fault : now) {
    const bool known = std::ranges::find(known_faults_, fault) != known_faults_.end();
    if (known) continue;
    if (auto line = line_of(fault)) note(std::move(*line));
    if (fault.kind == FaultKind::bmc_answer) fault_rules_.push_back({rule_of(fault.answer)});
  }
  const bool none = find_fault(now, FaultKind::bmc_answer) == nullptr;
  if (none) fault_rules_.clear();
  known_faults_.assign(now.begin(), now.end());
}

void BmcService::misbehave(Rule rule) {
  std::erase_if(rules_, [](const Active& one) {
    return one.rule.times > 0 && one.met >= one.rule.skip + one.rule.times;
  });
  if (rules_.size() < kMostRules) rules_.push_back({std::move(rule)});
}

BmcService::Active* BmcService::rule_for(const HttpRequest& request, const std::string& path) {
  for (auto* rules : {&rules_, &fault_rules_}) {
    for (auto& active : *rules) {
      const auto& rule = active.rule;
      const bool fits = (rule.method.empty() || rule.method == request.method) &&
                        (rule.path.empty() || is_like(path, rule.path));
      if (!fits) continue;
      if (rule.times > 0 && active.met >= rule.skip + rule.times) continue;
      if (active.met++ >= rule.skip) return &active;
    }
  }
  return nullptr;
}

/// A BMC that has just started says so in seconds of the asker's clock, not of the rack's.
std::optional<HttpResponse> BmcService::busy() {
  const auto now = machine_.clock().elapsed();
  VirtualTime until{-1};
  if (const auto* fault = find_fault(machine_.faults(), FaultKind::bmc_busy)) {
    if (!first_asked_) first_asked_ = now;
    until = *first_asked_ + fault->span.value_or(VirtualTime{60});
  }
  const auto& manners = state_.manners.connection;
  const bool restarting = restarted_ && manners.after_restart > VirtualTime{0};
  if (restarting) until = std::max(until, *restarted_ + kRestart + manners.after_restart);
  const auto left = until - now;
  if (left <= VirtualTime{0}) return std::nullopt;
  if (manners.html_when_busy) return busy_page();
  const auto wait = std::chrono::ceil<std::chrono::seconds>(machine_.clock().real(left));
  auto response = redfish_error(503, "ServiceTemporarilyUnavailable",
                                "The service is temporarily unavailable. Retry in " +
                                    std::to_string(wait.count()) + " seconds.");
  response.headers["Retry-After"] = std::to_string(wait.count());
  return response;
}

void BmcService::restart() {
  sessions_ = BmcSessions{state_.manners.connection.sessions, kSessionTimeout};
  state_.log.end_streams();
  restarted_ = machine_.clock().elapsed();
  note({.message = "The management controller restarts.",
        .message_id = "Platform.1.0.ManagerReset",
        .sensor = "Management Subsystem Health"});
  if (on_restart) on_restart();
}

}  // namespace cupel::rehearsal
