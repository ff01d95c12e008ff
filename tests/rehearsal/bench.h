#pragma once
// One virtual node without a rack around it, on a loop of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/load_profile.h"
#include "rehearsal/rack_timer.h"
#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {

inline inventory::Profile shipped_profile(std::string_view name) {
  std::vector<inventory::Problem> problems;
  const inventory::ProfileSource source{"/nonexistent"};
  auto profile = source.load(std::string{name}, problems);
  return profile ? *profile : inventory::Profile{};
}
inline inventory::Profile dgx() {
  static const auto kProfile = shipped_profile("dgx-h100");  // read once: most tests want it
  return kProfile;
}

/// A rack's loop and its clock, for what stands on them in a test: made first, gone last.
struct RackLoop {
  explicit RackLoop(double speed) : clock{speed} {}

  template <class Condition>
  bool run_until(Condition condition) {
    const auto until = Clock::Real::now() + std::chrono::minutes{1};
    io.restart();
    while (!condition() && Clock::Real::now() < until)
      if (io.run_one_until(until) == 0) break;
    return condition();
  }
  void pass(VirtualTime span) {
    bool over = false;
    RackTimer timer{io.get_executor(), clock};
    timer.start(span, [&] { over = true; });
    run_until([&] { return over; });
  }

  asio::io_context io{1};
  Clock clock;
};

struct Ran {
  std::string out{};
  std::string err{};
  int status = 0;
};

/// A node that has booted, and a speed at which waiting costs nothing.
class Bench {
 public:
  explicit Bench(std::vector<Fault> faults = {}, double speed = 10000,
                 const inventory::Profile& profile = dgx())
      : clock{speed},
        machine{io.get_executor(), clock, profile, "v01-n01", 1, BootTimes{}, std::move(faults)},
        host{io.get_executor(), machine} {
    machine.press(Reset::on);
    run_until([this] { return machine.up(); });
  }
  ~Bench() {
    host.kill_all();
    machine.stop();
    io.restart();
    io.run();
  }

  template <class Condition>
  bool run_until(Condition condition, std::chrono::seconds patience = std::chrono::seconds{120}) {
    const auto until = Clock::Real::now() + patience;
    const auto work = [&] {
      while (!condition() && io.poll_one() > 0) {
      }
    };
    io.restart();
    // As a rack's loop does: while it works, hardly any time passes. What was begun before this
    // call is work too: a command's first steps on a busy machine take milliseconds, which are
    // minutes of the rack at rest.
    clock.work();
    work();
    while (!condition() && Clock::Real::now() < until) {
      if (io.stopped()) break;
      clock.rest();
      io.run_one_until(until);
      clock.work();
      work();
    }
    return condition();
  }

  Ran sh(const std::string& script, const std::string& input = {}) {
    const auto in = std::make_shared<Pipe>(), out = std::make_shared<Pipe>(),
               err = std::make_shared<Pipe>();
    in->queue = input;
    in->writer_gone = true;
    out->capacity = err->capacity = 64u << 20;
    // Its own: a process that outlives our patience is ended, and says so, when the host is.
    const auto status = std::make_shared<std::optional<int>>();
    const auto started = host.run(script, pipe_reader(in), pipe_writer(out), pipe_writer(err), {},
                                  [status](int ended) { *status = ended; });
    if (!started) return {.err = "no process", .status = -1};
    run_until([&] { return status->has_value(); });
    return {.out = out->queue, .err = err->queue, .status = status->value_or(-1)};
  }

  asio::io_context io{1};
  Clock clock;
  Machine machine;
  Host host;
};

}  // namespace cupel::rehearsal
