// Power status of 1,000 virtual BMCs over IPMI: Cupel's client and FreeIPMI's ipmipower, in turn,
// with cipher suites 3 and 17. The BMCs are served by ipmi_farm, a process of its own beside them,
// whose CPU is reported too: it must not be what is measured. Half of the machines are on.
//
//   ipmi_bench [ROUNDS [BMCS]]     all contenders in turn, ROUNDS times (5); medians are printed
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/for_each_of.h"
#include "base/text.h"
#include "bmc/ipmi/ipmi.h"
#include "inventory/access.h"
#include "tests/bench/beside.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace {

using namespace cupel;

constexpr int kOfASubnet = 250;
constexpr int kPort = 9623;
constexpr const char* kUser = "admin";
constexpr const char* kPassword = "bench-password";

/// The BMCs, and where they are.
struct Farm {
  explicit Farm(int bmcs) : count{bmcs} {
    std::ofstream{file()} << kPassword << "\n";
    child = std::make_unique<cupel::testing::Child>(std::vector<std::string>{
        FARM_BINARY, std::to_string(count), std::to_string(kPort), file()});
    if (!child->wait_for("ready")) throw std::runtime_error{"the farm does not start"};
  }
  std::string file() const { return (folder.path() / "password").string(); }
  /// As FreeIPMI writes ranges: "127.1.[0-3].[1-250]" is not one, a list of ranges is.
  std::string hosts() const {
    std::string all;
    for (int i = 0; i < count; i += kOfASubnet)
      all += fmt::format("{}127.1.{}.[1-{}]:{}", i == 0 ? "" : ",", i / kOfASubnet,
                         std::min(kOfASubnet, count - i), kPort);
    return all;
  }

  int count;
  test::TemporaryFolder folder;
  std::unique_ptr<cupel::testing::Child> child;
};

/// How many are on, and how many off; the rest did not answer.
struct Answers {
  int on = 0, off = 0;
};

Answers ipmipower(const Farm& farm, int suite) {
  const auto ran =
      cupel::testing::run({"ipmipower", "-D", "LAN_2_0", "-h", farm.hosts(), "-u", kUser, "-p",
                           kPassword, "-l", "USER", "-I", std::to_string(suite), "--stat"});
  Answers answers;
  for (const auto line : lines(ran.out)) {
    answers.on += line.ends_with(": on");
    answers.off += line.ends_with(": off");
  }
  if (answers.on + answers.off != farm.count)
    fmt::print(stderr, "{}{}", ran.out.substr(0, 300), ran.err.substr(0, 300));
  return answers;
}

Task<Result<std::string>> password() { co_return std::string{kPassword}; }

Task<Result<bmc::PowerState>> power_of(bmc::ipmi::Transport& transport, std::string host,
                                       int suite) {
  const auto deadline = Deadline::in(std::chrono::seconds{20});
  const inventory::IpmiAccess access{.endpoint = {host, kPort}, .cipher = suite};
  const auto one = bmc::ipmi::open(transport, host, access, kUser, password);
  const auto state = co_await one->power.state(deadline);
  co_await one->log_out();
  CO_TRY(const auto reported, state);
  co_return reported.value;
}

Task<Answers> ours_of(const Farm& farm, int suite) {
  constexpr std::size_t kAtOnce = 128;
  std::vector<std::string> hosts;
  for (int i = 0; i < farm.count; ++i)
    hosts.push_back(fmt::format("127.1.{}.{}", i / kOfASubnet, i % kOfASubnet + 1));
  bmc::ipmi::Transport transport{co_await asio::this_coro::executor};
  const auto ask = [&transport, suite](const std::string& host) {
    return power_of(transport, host, suite);
  };
  const auto states = co_await for_each_of<bmc::PowerState>(std::move(hosts), kAtOnce, ask);
  Answers answers;
  for (const auto& state : states) {
    if (!state) continue;
    answers.on += *state == bmc::PowerState::on;
    answers.off += *state == bmc::PowerState::off;
  }
  const auto failed = std::ranges::find_if(states, [](const auto& state) { return !state; });
  if (failed != states.end()) fmt::print(stderr, "{}\n", failed->error().what);
  co_return answers;
}

Answers ours(const Farm& farm, int suite) {
  asio::io_context io{1};
  return run_to_end(io, ours_of(farm, suite));
}

struct Contender {
  std::string name;
  std::function<Answers(const Farm&)> run;
  std::vector<double> wall{}, cpu{};  // milliseconds
};

void measure(const Farm& farm, Contender& contender) {
  const auto cpu = bench::cpu_seconds(RUSAGE_SELF) + bench::cpu_seconds(RUSAGE_CHILDREN);
  const auto before = std::chrono::steady_clock::now();
  const auto answers = contender.run(farm);
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - before;
  contender.wall.push_back(wall.count());
  contender.cpu.push_back(
      (bench::cpu_seconds(RUSAGE_SELF) + bench::cpu_seconds(RUSAGE_CHILDREN) - cpu) * 1e3);
  const bool all = answers.on == (farm.count + 1) / 2 && answers.off == farm.count / 2;
  if (!all)
    throw std::runtime_error{fmt::format("{}: {} on and {} off, of {}", contender.name, answers.on,
                                         answers.off, farm.count)};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void print(const Farm& farm, const std::vector<Contender>& all) {
  fmt::print("power status of {} BMCs, {} CPUs; medians of {} rounds\n\n", farm.count,
             std::thread::hardware_concurrency(), all.front().wall.size());
  fmt::print("{:<28} {:>9} {:>12} {:>14}\n", "", "wall ms", "client ms", "client us/BMC");
  for (const auto& each : all)
    fmt::print("{:<28} {:>9.0f} {:>12.0f} {:>14.0f}\n", each.name, median(each.wall),
               median(each.cpu), median(each.cpu) * 1e3 / farm.count);
  const std::size_t suites = all.size() / 2;  // ours, then ipmipower's, in the same order
  for (std::size_t i = 0; i < suites; ++i) {
    const auto& peer = all[i + suites];
    const auto what = fmt::format("power status by IPMI of {} BMCs", farm.count);
    bench::print_beside({what, peer.name, "ms", median(all[i].wall), median(peer.wall)});
    bench::print_beside({what, peer.name, "ms of CPU", median(all[i].cpu), median(peer.cpu)});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const int count = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, 2500) : 1000;
  Farm farm{count};
  std::vector<Contender> all;
  for (const int suite : {3, 17})
    all.push_back({.name = fmt::format("Cupel, suite {}", suite),
                   .run = [suite](const Farm& at) { return ours(at, suite); }});
  for (const int suite : {3, 17})
    all.push_back({.name = fmt::format("ipmipower, suite {}", suite),
                   .run = [suite](const Farm& at) { return ipmipower(at, suite); }});
  for (int round = 0; round < rounds; ++round)
    for (auto& each : all) measure(farm, each);
  print(farm, all);
  farm.child->signal(SIGTERM);
  fmt::print("\nthe BMCs: {}", farm.child->wait().out.substr(std::string_view{"ready\n"}.size()));
}
