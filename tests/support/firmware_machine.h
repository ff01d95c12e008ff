#pragma once
// A machine whose BMC takes firmware, in memory: what it runs, what it wrote and has not begun to
// run, and what its task says. Outlives sessions, updaters and controllers.
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bmc/bmc.h"

namespace cupel::test {

struct FirmwareMachine {
  using Progress = bmc::UpdateProgress;

  std::map<std::string, std::string> runs{{"BMC", "1.0"}, {"BIOS", "2.0"}};
  std::map<std::string, std::string> written{};
  /// What makes a written version run ("reset bmc", "restart", "ac-cycle"); empty: the task's end.
  std::string activated_by{};
  bool lies = false;  // nothing that it says to have written ever runs
  std::vector<Progress> says{{.state = Progress::State::done, .reported = "Completed"}};
  std::optional<Error> push_fails{};
  std::optional<Error> first_way_fails{};  // of `ways`
  bool took_it = false;                    // although the push failed
  std::vector<std::string> busy{};
  /// So often it still says that it is at work although it has forgotten the task.
  int busy_after_gone = 0;
  /// So often a second task of the image still runs, once it was pushed.
  int second_task_runs = 0;
  bool verifies_first = false;
  std::vector<std::string> ways{};
  bool on = true;
  bool has_ac = true;
  std::vector<bmc::Sensor> sensors{};
  std::map<std::string, std::string> health{};
  std::vector<inventory::Part> parts{};
  std::chrono::seconds clock_ahead{0};
  std::uint64_t most_bytes = 0;
  /// What it answers to these although it offers them.
  std::optional<Error> ac_cycle_fails{}, bmc_reset_fails{}, install_fails{};
  /// So often it refuses right credentials where it is asked about its task.
  int refuses = 0;
  /// Before each answer about its versions.
  std::function<void()> before_versions{};
  /// Whether the network is cut just now; asked before each answer. Empty: it never is.
  std::function<bool()> is_cut{};

  std::vector<std::string> asked{};
  std::vector<bmc::UpdateOrder> pushed{};
  std::vector<bool> on_when_pushed{};
  std::vector<std::string> tickets{};
  std::size_t reported = 0;  // of `says`
  bool at_work = false;
  bool forgotten = false;  // its task, and it is at work with it
  bool power_changed_at_work = false;
  bool pushed_at_work = false;
  static constexpr const char* kSecondTask = "/redfish/v1/TaskService/Tasks/1002";

  /// Why a question is not answered, if it is not.
  std::optional<Error> silent() const {
    if (!is_cut || !is_cut()) return std::nullopt;
    return Error{Code::kUnreachable, "no route to host"};
  }

  /// `order.name`: "BIOS=2.4".
  void take(const bmc::UpdateOrder& order) {
    pushed.push_back(order);
    on_when_pushed.push_back(on);
    pushed_at_work |= at_work;
    at_work = true;
    reported = 0;
    busy = {"/redfish/v1/TaskService/Tasks/" + std::to_string(pushed.size())};
  }
  void end_of_write() {
    if (!std::exchange(at_work, false)) return;
    busy.clear();
    const auto& name = pushed.back().name;
    const auto at = name.find('=');
    if (!lies) written[name.substr(0, at)] = name.substr(at + 1);
    if (activated_by.empty()) activate();
  }
  void activate() {
    for (const auto& [id, version] : std::exchange(written, {})) runs[id] = version;
  }
  void reset(const std::string& how) {
    asked.push_back(how);
    if (at_work || second_task_runs > 0) power_changed_at_work = true;
    if (how == activated_by) activate();
  }
};

class FirmwareBmc final : public bmc::Bmc {
 public:
  explicit FirmwareBmc(FirmwareMachine& machine) : machine_{machine} {
    facts.identity = [this](Deadline) -> Task<Result<bmc::Identity>> {
      if (auto silent = machine_.silent()) co_return *silent;
      bmc::Identity who;
      who.vendor = "Acme";
      who.model = "A1";
      co_return who;
    };
    facts.observe = [this](Deadline) -> Task<Result<bmc::Observed>> {
      if (auto silent = machine_.silent()) co_return *silent;
      machine_.asked.emplace_back("observe");
      bmc::Observed seen;
      seen.parts = machine_.parts;
      co_return seen;
    };
    manager.clock = [this](Deadline) -> Task<Result<bmc::BmcClock>> {
      if (auto silent = machine_.silent()) co_return *silent;
      co_return bmc::BmcClock{.ahead = machine_.clock_ahead};
    };
    manager.reset = [this](Deadline) -> Task<Result<bmc::Protocol>> {
      if (auto silent = machine_.silent()) co_return *silent;
      if (machine_.bmc_reset_fails) co_return *machine_.bmc_reset_fails;
      machine_.reset("reset bmc");
      gone_ = true;
      co_return bmc::Protocol::redfish;
    };
    sensors.read = [this](Deadline) -> Task<Result<bmc::Sensors>> {
      if (auto silent = machine_.silent()) co_return *silent;
      co_return bmc::Sensors{.sensors = machine_.sensors};
    };
    assign_power();
    assign_update();
  }

  Task<void> log_out() override { co_return; }

 private:
  void assign_power() {
    power.state = [this](Deadline) -> Task<Result<bmc::Sourced<bmc::PowerState>>> {
      if (auto silent = machine_.silent()) co_return *silent;
      // Once gone, once back: whoever waits for a restart sees both.
      if (std::exchange(gone_, false)) co_return Error{Code::kUnreachable, "it restarts"};
      co_return bmc::Sourced{machine_.on ? bmc::PowerState::on : bmc::PowerState::off};
    };
    power.allowed_resets = [](Deadline) -> Task<Result<std::vector<bmc::ResetType>>> {
      co_return std::vector<bmc::ResetType>{};
    };
    power.has_ac_cycle = [this](Deadline) -> Task<Result<bool>> { co_return machine_.has_ac; };
    power.reset = [this](bmc::ResetType type, Deadline) -> Task<Result<bmc::Protocol>> {
      if (auto silent = machine_.silent()) co_return *silent;
      using enum bmc::ResetType;
      if (type == ac_cycle && machine_.ac_cycle_fails) co_return *machine_.ac_cycle_fails;
      const bool restarts = type == force_restart || type == power_cycle;
      machine_.reset(restarts ? "restart" : std::string{to_string(type)});
      machine_.on = type != force_off && type != graceful_shutdown && type != ac_cycle;
      gone_ = type == ac_cycle;
      co_return bmc::Protocol::redfish;
    };
  }

  void assign_update() {
    update.versions = [this](Deadline) -> Task<Result<bmc::Sourced<Parts>>> {
      if (auto silent = machine_.silent()) co_return *silent;
      if (machine_.before_versions) machine_.before_versions();
      Parts list;
      for (const auto& [id, version] : machine_.runs) {
        inventory::Part part{.kind = inventory::PartKind::firmware, .name = id};
        part.firmware = version;
        part.source = "/redfish/v1/UpdateService/FirmwareInventory/" + id;
        if (const auto reported = machine_.health.find(id); reported != machine_.health.end())
          part.health = reported->second;
        list.push_back(std::move(part));
      }
      co_return bmc::Sourced{std::move(list)};
    };
    update.service = [this](Deadline) -> Task<Result<bmc::UpdateService>> {
      if (auto silent = machine_.silent()) co_return *silent;
      if (machine_.forgotten && --machine_.busy_after_gone <= 0) machine_.end_of_write();
      bmc::UpdateService service{
          .ways = machine_.ways, .busy = machine_.busy, .most_bytes = machine_.most_bytes};
      if (machine_.verifies_first) service.verifies = "verify";
      if (!machine_.pushed.empty() && machine_.second_task_runs > 0)
        service.busy.emplace_back(FirmwareMachine::kSecondTask);
      co_return service;
    };
    update.push = [this](bmc::UpdateOrder order, Deadline) -> Task<Result<bmc::UpdateTicket>> {
      machine_.asked.push_back("push " + order.name);
      if (auto silent = machine_.silent()) {
        if (machine_.took_it) machine_.take(order);
        co_return *silent;
      }
      if (machine_.first_way_fails && order.refused_way.empty())
        co_return *machine_.first_way_fails;
      if (machine_.push_fails) {
        if (machine_.took_it) machine_.take(order);
        co_return *machine_.push_fails;
      }
      machine_.take(order);
      co_return bmc::UpdateTicket{"multipart", machine_.busy.front()};
    };
    update.go_on = [this](bmc::UpdateTicket ticket, Deadline) -> Task<Result<bmc::UpdateTicket>> {
      if (auto silent = machine_.silent()) co_return *silent;
      machine_.asked.push_back("go on " + ticket.task);
      if (machine_.install_fails) co_return *machine_.install_fails;
      co_return bmc::UpdateTicket{"start", ticket.task + "-install"};
    };
    update.progress = [this](bmc::UpdateTicket ticket, Deadline) {
      return progress(std::move(ticket));
    };
  }

  Task<Result<bmc::UpdateProgress>> progress(bmc::UpdateTicket ticket) {
    using State = bmc::UpdateProgress::State;
    if (auto silent = machine_.silent()) co_return *silent;
    if (machine_.refuses > 0 && machine_.refuses-- > 0)
      co_return Error{Code::kRefused, "HTTP 401: Unauthorized"};
    if (ticket.task == FirmwareMachine::kSecondTask)
      co_return bmc::UpdateProgress{.state = machine_.second_task_runs-- > 1 ? State::running
                                                                             : State::done};
    machine_.tickets.push_back(ticket.task);
    const auto which = std::min(machine_.reported++, machine_.says.size() - 1);
    auto reported = machine_.says[which];
    // Whether an image is verified or installed then, only the ticket says.
    if (reported.state == State::done && ticket.way == "verify") reported.state = State::verified;
    const bool goes_on = reported.state == State::running || reported.state == State::verified;
    if (reported.state == State::gone && machine_.busy_after_gone > 0) {
      machine_.forgotten = true;
      co_return reported;
    }
    if (!goes_on) machine_.end_of_write();
    co_return reported;
  }

  using Parts = std::vector<inventory::Part>;

  FirmwareMachine& machine_;
  bool gone_ = false;
};

}  // namespace cupel::test
