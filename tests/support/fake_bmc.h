#pragma once
// A BMC in memory, verb by verb: whatever a test does not set is not supported, as with a protocol
// that lacks it. A door to the world, not a mock of our own functions.
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "bmc/bmc.h"

namespace cupel::test {

using namespace std::chrono_literals;

/// A console that says what the test put in, and remembers what it was told.
struct FakeLine {
  std::deque<Result<std::string>> says{};  // an error ends it; nothing more: silent until the end
  std::string heard{};
  int breaks = 0;
  int closed = 0;
};

class FakeConsole final : public bmc::Console {
 public:
  explicit FakeConsole(FakeLine& line) : line_{line} {}
  Task<Result<std::string>> read(Deadline deadline) override {
    if (!line_.says.empty()) {
      auto next = std::move(line_.says.front());
      line_.says.pop_front();
      co_return next;
    }
    CO_TRY(co_await pause_for(deadline.left()));
    co_return Error{Code::kTimeout, "silence"};
  }
  Task<Result<void>> write(std::string bytes, Deadline) override {
    line_.heard += bytes;
    co_return ok();
  }
  Task<Result<void>> send_break(Deadline) override {
    ++line_.breaks;
    co_return ok();
  }
  Task<void> close() override {
    ++line_.closed;
    co_return;
  }

 private:
  FakeLine& line_;
};

/// What it holds, and what it was asked. Outlives its Bmcs, as a machine outlives its sessions.
struct FakeMachine {
  bmc::Protocol by = bmc::Protocol::redfish;
  std::optional<Error> all{};                         // the answer to every verb
  std::map<std::string, Error, std::less<>> fails{};  // by verb
  std::optional<bmc::PowerState> power{};
  std::optional<bmc::Identity> identity{};
  std::vector<inventory::Part> parts{};
  std::optional<std::vector<bmc::ResetType>> allowed{};
  std::optional<bmc::Sensors> sensors{};
  std::optional<bmc::EventLog> log{};
  std::vector<std::string> asked{};
  std::vector<FakeLine*> lines{};  // handed out one by one, the last one again and again
  std::size_t opened = 0;
  int logged_out = 0;
};

class FakeBmc final : public bmc::Bmc {
 public:
  explicit FakeBmc(FakeMachine& machine) : machine_{machine} {}

  Task<Result<bmc::Sourced<bmc::PowerState>>> power_state(Deadline) override {
    CO_TRY(admitted("power"));
    if (!machine_.power) co_return none("power");
    co_return bmc::Sourced<bmc::PowerState>{*machine_.power, machine_.by};
  }
  Task<Result<bmc::Protocol>> reset(bmc::ResetType type, Deadline) override {
    CO_TRY(admitted("reset " + std::string{to_string(type)}));
    if (!machine_.power) co_return none("reset");
    co_return machine_.by;
  }
  Task<Result<std::vector<bmc::ResetType>>> allowed_resets(Deadline) override {
    CO_TRY(admitted("allowed"));
    if (!machine_.allowed) co_return none("allowed");
    co_return *machine_.allowed;
  }
  Task<Result<bmc::Identity>> identity(Deadline) override {
    CO_TRY(admitted("identity"));
    if (!machine_.identity) co_return none("identity");
    co_return *machine_.identity;
  }
  Task<Result<bmc::Observed>> observe(Deadline) override {
    CO_TRY(admitted("observe"));
    if (!machine_.identity) co_return none("observe");
    bmc::Observed seen;
    seen.identity = *machine_.identity;
    seen.power = machine_.power.value_or(bmc::PowerState::unknown);
    seen.parts = machine_.parts;
    seen.by = machine_.by;
    co_return seen;
  }
  Task<Result<bmc::Sensors>> sensors(Deadline) override {
    CO_TRY(admitted("sensors"));
    if (!machine_.sensors) co_return none("sensors");
    co_return *machine_.sensors;
  }
  Task<Result<bmc::EventLog>> event_log(std::optional<bmc::Seconds>, std::size_t most,
                                        Deadline) override {
    CO_TRY(admitted("log"));
    if (!machine_.log) co_return none("log");
    auto log = *machine_.log;
    const auto count = std::min(most, log.entries.size());
    log.entries.erase(log.entries.begin(), log.entries.end() - static_cast<std::ptrdiff_t>(count));
    co_return log;
  }
  Task<Result<bmc::Protocol>> reset_bmc(Deadline) override {
    CO_TRY(admitted("reset bmc"));
    co_return machine_.by;
  }
  Task<Result<std::unique_ptr<bmc::Console>>> console(Deadline) override {
    CO_TRY(admitted("console"));
    if (machine_.lines.empty()) co_return none("console");
    const auto which = std::min(machine_.opened++, machine_.lines.size() - 1);
    std::unique_ptr<bmc::Console> console = std::make_unique<FakeConsole>(*machine_.lines[which]);
    co_return console;
  }
  Task<void> log_out() override {
    ++machine_.logged_out;
    co_return;
  }

 private:
  Result<void> admitted(const std::string& verb) {
    machine_.asked.push_back(verb);
    if (machine_.all) return *machine_.all;
    if (const auto found = machine_.fails.find(verb); found != machine_.fails.end())
      return found->second;
    return ok();
  }
  static Error none(const std::string& verb) { return Error{Code::kUnsupported, "no " + verb}; }

  FakeMachine& machine_;
};

}  // namespace cupel::test
