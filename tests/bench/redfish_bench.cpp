// Redfish power status of 1,000 BMCs: the CPU that we take against that of `curl --parallel` for
// the same URIs, in the same run, and the memory of an idle session. The BMCs are one lean process
// of their own, whose CPU is distinguished. Run it with nothing else on the machine:
//
//   redfish_bench [BMCS] [ROUNDS]
#include <fmt/format.h>
#include <malloc.h>

#include <cstdlib>
#include <fstream>

#include "base/for_each_of.h"
#include "bmc/redfish/redfish.h"
#include "inventory/access.h"
#include "tests/bench/beside.h"
#include "tests/bench/canned_server.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/captures.h"
#include "tests/support/small_machine.h"

namespace {

using namespace cupel;
namespace redfish = bmc::redfish;
using namespace std::chrono_literals;
constexpr std::size_t kAtOnce = 200;
constexpr const char* kSystem = "/redfish/v1/Systems/1";

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

Task<Result<std::string>> password() { co_return std::string{"open sesame"}; }

/// Resident, with what malloc could give back given back.
double resident_kib() {
  malloc_trim(0);
  std::ifstream file{"/proc/self/statm"};
  long total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * 4;
}

struct Cost {
  double cpu = 0, wall = 0;
  long full = 0, resumed = 0;
};

/// The cheapest of so many rounds: others on the machine only ever add.
template <class Round>
Cost best_of(const bench::CannedServer& server, int rounds, Round round) {
  Cost best{.cpu = 1e9};
  for (int i = 0; i < rounds; ++i) {
    const long full = server.handshakes(), resumed = server.resumed();
    const auto begun = Deadline::Clock::now();
    const double cpu = round();
    const std::chrono::duration<double> wall = Deadline::Clock::now() - begun;
    if (cpu < best.cpu)
      best = {cpu, wall.count(), server.handshakes() - full, server.resumed() - resumed};
  }
  return best;
}

/// One process of curl for all of them, as somebody would type it.
double by_curl(const std::filesystem::path& config) {
  const std::string command = "curl --silent --insecure --parallel --parallel-max " +
                              std::to_string(kAtOnce) + " --config " + config.string();
  const double before = bench::cpu_seconds(RUSAGE_CHILDREN);
  if (std::system(command.c_str()) != 0) fmt::print(stderr, "curl failed\n");
  return bench::cpu_seconds(RUSAGE_CHILDREN) - before;
}

class Fleet {
 public:
  Fleet(int bmcs, std::uint16_t port) {
    for (int i = 0; i < bmcs; ++i) {
      inventory::BmcAccess access{.endpoint = {bench::CannedServer::address(i), port},
                                  .user = "admin",
                                  .password = {},
                                  .trust = {}};
      const auto node = "n" + std::to_string(i);
      peers_.push_back({.node = node, .endpoint = access.endpoint, .trust = {}, .known = &keys_});
      bmcs_.push_back(redfish::open(transport_, node, access, &password, keys_));
    }
  }

  /// The CPU that it took; every answer must be there.
  double power_status() {
    const double before = bench::cpu_seconds();
    const auto ask = [](const std::unique_ptr<bmc::Bmc>* bmc) {
      return (*bmc)->power.state(Deadline::in(60s));
    };
    std::vector<const std::unique_ptr<bmc::Bmc>*> all;
    for (const auto& bmc : bmcs_) all.push_back(&bmc);
    const auto states =
        run_to_end(io_, for_each_of<bmc::Sourced<bmc::PowerState>>(std::move(all), kAtOnce, ask));
    const double cpu = bench::cpu_seconds() - before;
    check(states);
    return cpu;
  }

  /// Two questions at a time to each, so that each had two connections.
  void two_at_a_time() {
    const auto ask = [](const std::unique_ptr<bmc::Bmc>* bmc) {
      return (*bmc)->power.state(Deadline::in(60s));
    };
    std::vector<const std::unique_ptr<bmc::Bmc>*> all;
    for (const auto& bmc : bmcs_) all.insert(all.end(), 2, &bmc);
    check(
        run_to_end(io_, for_each_of<bmc::Sourced<bmc::PowerState>>(std::move(all), kAtOnce, ask)));
  }

  /// One GET of each over a new transport: nothing is known of anybody but the pins.
  double first_contact() {
    redfish::Transport fresh{io_.get_executor()};
    const double before = bench::cpu_seconds();
    const auto get = [&fresh](const redfish::Peer& peer) {
      return fresh.send(peer, redfish::Request{.path = kSystem}, Deadline::in(60s));
    };
    const auto answers = run_to_end(io_, for_each_of<redfish::Response>(peers_, kAtOnce, get));
    const double cpu = bench::cpu_seconds() - before;
    check(answers);
    return cpu;
  }

  void log_out() {
    const auto end = [](const std::unique_ptr<bmc::Bmc>* bmc) -> Task<Result<bool>> {
      co_await (*bmc)->log_out();
      co_return true;
    };
    std::vector<const std::unique_ptr<bmc::Bmc>*> all;
    for (const auto& bmc : bmcs_) all.push_back(&bmc);
    run_to_end(io_, for_each_of<bool>(std::move(all), kAtOnce, end));
  }

 private:
  template <class Answers>
  static void check(const Answers& answers) {
    for (const auto& answer : answers) {
      if (answer) continue;
      fmt::print(stderr, "no answer: {}\n", answer.error().what);
      std::exit(1);
    }
  }

  asio::io_context io_{1};
  Keys keys_;
  redfish::Transport transport_{io_.get_executor(), {.connections = 4096}};
  std::vector<redfish::Peer> peers_;
  std::vector<std::unique_ptr<bmc::Bmc>> bmcs_;
};

void print(std::string_view what, const Cost& ours, const Cost& curl, int bmcs,
           std::string_view asked = {}) {
  fmt::print(
      "{:<34} ours {:6.1f} us each, {:5.2f} s ({} full, {} resumed)   curl {:6.1f} us each, "
      "{:5.2f} s   ratio {:.2f}\n",
      what, ours.cpu * 1e6 / bmcs, ours.wall, ours.full, ours.resumed, curl.cpu * 1e6 / bmcs,
      curl.wall, ours.cpu / curl.cpu);
  bench::print_beside({.what = fmt::format("power status, {}", what),
                       .peer = "curl --parallel, first contact",
                       .unit = "us of CPU a BMC",
                       .ours = ours.cpu * 1e6 / bmcs,
                       .theirs = curl.cpu * 1e6 / bmcs,
                       .asked = asked});
}

bench::Canned small_bmc() {
  bench::Canned canned;
  for (const char* path : {"/redfish/v1", "/redfish/v1/Systems", kSystem, "/redfish/v1/Managers",
                           "/redfish/v1/Managers/1"})
    canned.bodies[path] = serialize(test::small_machine(path));
  return canned;
}

std::filesystem::path curl_config(const test::TemporaryFolder& folder, int bmcs,
                                  std::uint16_t port) {
  const auto config = folder.path() / "curl.conf";
  std::ofstream file{config};
  for (int i = 0; i < bmcs; ++i)
    file << "url = \"https://" << bench::CannedServer::address(i) << ":" << port << kSystem
         << "\"\noutput = \"/dev/null\"\n";
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  const int bmcs = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  bench::CannedServer server{small_bmc()};
  const test::TemporaryFolder folder;
  const auto config = curl_config(folder, bmcs, server.port());
  const auto curl = best_of(server, rounds, [&] { return by_curl(config); });

  Fleet fleet{bmcs, server.port()};
  const double empty = resident_kib();
  fleet.power_status();  // logs in, finds the machine
  fleet.power_status();
  const double idle = resident_kib();
  const long before_two = server.handshakes() + server.resumed();
  fleet.two_at_a_time();
  const long second = server.handshakes() + server.resumed() - before_two;
  const double after_two = resident_kib();
  fmt::print("{} BMCs; power status of each, of {} rounds the cheapest; CPU of the client\n", bmcs,
             rounds);
  print("first contact (full handshakes)",
        best_of(server, rounds, [&] { return fleet.first_contact(); }), curl, bmcs, "<= 0.7");
  print("again, on kept connections", best_of(server, rounds, [&] { return fleet.power_status(); }),
        curl, bmcs);
  server.close_after_answers(true);
  fleet.power_status();  // the last answer on what was kept
  print("again, TLS sessions resumed",
        best_of(server, rounds, [&] { return fleet.power_status(); }), curl, bmcs);
  const double closed = resident_kib();
  fmt::print(
      "memory of an idle session: {:.1f} KiB with its connection kept; {:.1f} KiB after two "
      "questions at a time ({} second connections made); {:.1f} KiB with none and its TLS sessions "
      "kept; bound 64 KiB\n",
      (idle - empty) / bmcs, (after_two - empty) / bmcs, second, (closed - empty) / bmcs);
  fleet.log_out();
  return 0;
}
