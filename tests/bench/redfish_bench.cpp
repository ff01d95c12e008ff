// Redfish GETs per second of the client's CPU: ours against `curl --parallel`, on the same local
// HTTPS server, whose own CPU is not counted. Run it with nothing else on the machine.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "base/for_each_of.h"
#include "bmc/redfish/transport.h"
#include "tests/support/captures.h"
#include "tests/support/https_server.h"

namespace {

using namespace cupel;
namespace redfish = bmc::redfish;
using namespace std::chrono_literals;
constexpr int kServers = 4;  // BMCs
constexpr int kGets = 500;   // from each
constexpr const char* kPath = "/redfish/v1";

class Keys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view name) override {
    const auto known = pins_.find(std::string{name});
    return known == pins_.end() ? std::nullopt : std::optional{known->second};
  }
  void pin(std::string_view name, std::string_view key) override { pins_[std::string{name}] = key; }

 private:
  std::map<std::string, std::string> pins_;
};

std::vector<std::unique_ptr<test::HttpsServer>>& servers() {
  static auto all = [] {
    std::vector<std::unique_ptr<test::HttpsServer>> made;
    for (int i = 0; i < kServers; ++i)
      made.push_back(std::make_unique<test::HttpsServer>(test::HttpsServer::Options{}));
    return made;
  }();
  return all;
}

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Of this thread alone: the servers run on theirs.
double thread_cpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return seconds(now);
}

double children_cpu() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void ours(benchmark::State& state) {
  auto& all = servers();
  double cpu = 0;
  int good = 0, asked = 0;
  for (auto _ : state) {
    asio::io_context io;
    redfish::Transport transport{io.get_executor()};
    Keys keys;
    std::vector<redfish::Peer> peers;
    for (int i = 0; i < kGets * kServers; ++i) {
      const auto which = static_cast<std::size_t>(i % kServers);
      peers.push_back({.node = "n" + std::to_string(which),
                       .endpoint = all[which]->endpoint(),
                       .trust = {},
                       .known = &keys});
    }
    asked += static_cast<int>(peers.size());
    const auto get = [&](const redfish::Peer& peer) {
      return transport.send(peer, redfish::Request{.path = kPath}, Deadline::in(60s));
    };
    const double before = thread_cpu();
    auto answers =
        run_to_end(io, for_each_of<redfish::Response>(std::move(peers), 2 * kServers, get));
    cpu += thread_cpu() - before;
    for (const auto& answer : answers) good += answer && answer.assume_value().status == 200;
  }
  if (good != asked) state.SkipWithError("not every GET was answered");
  state.counters["gets_per_cpu_s"] = asked / cpu;
}

void curl_parallel(benchmark::State& state) {
  auto& all = servers();
  const test::TemporaryFolder folder;
  const auto config = folder.path() / "curl.conf";
  std::ofstream file{config};
  for (int i = 0; i < kGets * kServers; ++i) {
    const auto& server = all[static_cast<std::size_t>(i % kServers)];
    file << "url = \"https://" << to_string(server->endpoint()) << kPath
         << "\"\noutput = \"/dev/null\"\n";
  }
  file.close();
  const std::string command = "curl --silent --insecure --parallel --parallel-max " +
                              std::to_string(2 * kServers) + " --config " + config.string();
  double cpu = 0;
  int asked = 0;
  for (auto _ : state) {
    const double before = children_cpu();
    if (std::system(command.c_str()) != 0) state.SkipWithError("curl failed");
    cpu += children_cpu() - before;
    asked += kGets * kServers;
  }
  state.counters["gets_per_cpu_s"] = asked / cpu;
}

BENCHMARK(ours)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(curl_parallel)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace

BENCHMARK_MAIN();
