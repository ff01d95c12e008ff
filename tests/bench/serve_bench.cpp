// What the built `cupel serve` takes of the machine while no client asks anything of it, with an
// inventory and a run of 10,000 nodes in its store. Prints figures:
//   serve_bench [SECONDS]
#include <fmt/format.h>
#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "tests/bench/filled_site.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace cupel::bench {
namespace {

constexpr int kNodes = 10'000;

struct Taken {
  double cpu_s = 0;           // of all threads
  std::int64_t switches = 0;  // how often a thread went to sleep
};

/// Of each thread, since it began: time on a processor in ns is the first number of schedstat,
/// where utime and stime of stat count whole ticks of 10 ms. Source:
/// Documentation/scheduler/sched-stats.rst.
Taken taken_by(pid_t process) {
  constexpr double kPerSecond = 1e9;
  Taken taken;
  for (const auto& thread :
       std::filesystem::directory_iterator{fmt::format("/proc/{}/task", process)}) {
    std::ifstream on_processor{thread.path() / "schedstat"};
    double ns = 0;
    if (!(on_processor >> ns)) throw std::runtime_error{"this kernel has no schedstat"};
    taken.cpu_s += ns / kPerSecond;
    std::ifstream status{thread.path() / "status"};
    constexpr std::string_view kSwitches = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(kSwitches))
        taken.switches +=
            number<std::int64_t>(trimmed(std::string_view{line}.substr(kSwitches.size())))
                .value_or(0);
  }
  return taken;
}

/// For so long, or to the end of the service, which is no measurement.
void leave_alone(testing::Child& service, std::chrono::seconds time) {
  service.wait_for("(no line of it)", time);
}

int bench(int seconds) {
  const test::TemporaryFolder scratch;
  const auto site = fill_site(scratch.path(), kNodes);
  testing::Child service{{CUPEL_BINARY, "--state", site.state().string(), "serve", "--config",
                          site.settings(), "--listen", "127.0.0.1:0"}};
  if (!service.wait_for("serving ")) throw std::runtime_error{service.wait().err};
  // What it does at its start is no part of the question.
  constexpr std::chrono::seconds kSettled{10};
  leave_alone(service, kSettled);
  const auto before = taken_by(service.pid());
  leave_alone(service, std::chrono::seconds{seconds});
  const auto after = taken_by(service.pid());
  fmt::print("idle for {} s: {:.4f} % of a core, woken {:.1f} times a second\n", seconds,
             100 * (after.cpu_s - before.cpu_s) / seconds,
             static_cast<double>(after.switches - before.switches) / seconds);
  service.signal(SIGTERM);
  service.wait();
  return 0;
}

}  // namespace
}  // namespace cupel::bench

int main(int argc, char** argv) {
  constexpr int kUsual = 60;
  try {
    return cupel::bench::bench(argc > 1 ? cupel::number<int>(argv[1]).value_or(kUsual) : kUsual);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "serve_bench: {}\n", failure.what());
    return 1;
  }
}
