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

/// A console that says what the test put in, and remembers what it was given.
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
  std::vector<inventory::PartialList> partial{};
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
  explicit FakeBmc(FakeMachine& machine) : machine_{machine} {
    using bmc::Sourced, bmc::PowerState;
    answers(power.state, "power", [&machine] {
      return machine.power.transform([&](auto is) { return Sourced<PowerState>{is, machine.by}; });
    });
    power.reset = [this](bmc::ResetType type, Deadline) {
      return answer<bmc::Protocol>("reset " + std::string{to_string(type)}, [this] {
        return machine_.power.transform([this](auto) { return machine_.by; });
      });
    };
    answers(power.allowed_resets, "allowed", [&machine] { return machine.allowed; });
    answers(facts.identity, "identity", [&machine] { return machine.identity; });
    answers(facts.observe, "observe", [&machine] { return observed(machine); });
    answers(sensors.read, "sensors", [&machine] { return machine.sensors; });
    answers(log.read, "log", [&machine](auto, std::size_t most) { return newest(machine, most); });
    answers(manager.reset, "reset bmc", [&machine] { return std::optional{machine.by}; });
    answers(console.open, "console", [&machine] { return opened(machine); });
  }

  Task<void> log_out() override {
    ++machine_.logged_out;
    co_return;
  }

 private:
  template <class T>
  using Held = std::function<std::optional<T>()>;

  /// What `get` returns, or kUnsupported where that is nothing.
  template <class T, class... Args, class Get>
  void answers(bmc::Verb<T(Args...)>& verb, std::string name, Get get) {
    verb = [this, name, get](Args... args, Deadline) {
      return answer<T>(name, [=] { return get(args...); });
    };
  }
  template <class T>
  Task<Result<T>> answer(std::string verb, Held<T> get) {
    CO_TRY(admitted(verb));
    auto held = get();
    if (!held) co_return Error{Code::kUnsupported, "no " + verb};
    co_return *std::move(held);
  }

  static std::optional<bmc::Observed> observed(const FakeMachine& machine) {
    if (!machine.identity) return std::nullopt;
    bmc::Observed seen;
    seen.identity = *machine.identity;
    seen.power = machine.power.value_or(bmc::PowerState::unknown);
    seen.parts = machine.parts;
    seen.partial = machine.partial;
    seen.by = machine.by;
    return seen;
  }
  static std::optional<bmc::EventLog> newest(const FakeMachine& machine, std::size_t most) {
    auto held = machine.log;
    if (held && held->entries.size() > most)
      held->entries.erase(held->entries.begin(),
                          held->entries.end() - static_cast<std::ptrdiff_t>(most));
    return held;
  }
  static std::optional<std::unique_ptr<bmc::Console>> opened(FakeMachine& machine) {
    if (machine.lines.empty()) return std::nullopt;
    const auto which = std::min(machine.opened++, machine.lines.size() - 1);
    return std::make_unique<FakeConsole>(*machine.lines[which]);
  }

  Result<void> admitted(const std::string& verb) {
    machine_.asked.push_back(verb);
    if (machine_.all) return *machine_.all;
    if (const auto found = machine_.fails.find(verb); found != machine_.fails.end())
      return found->second;
    return ok();
  }

  FakeMachine& machine_;
};

}  // namespace cupel::test
