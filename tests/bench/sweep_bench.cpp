// A full inventory sweep of many captured DGX H100s, each answer 50 ms late: how near we come to
// the bound that this latency and two requests at a time per BMC set. The BMCs are one lean process
// of their own with all answers in memory. Run it with nothing else on the machine:
//
//   sweep_bench [BMCS ...]       by default 50, 100 and 200
#include <fmt/format.h>

#include <cstdlib>

#include "base/for_each_of.h"
#include "bmc/redfish/redfish.h"
#include "inventory/access.h"
#include "tests/bench/beside.h"
#include "tests/bench/canned_server.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/captures.h"

namespace {

using namespace cupel;
namespace redfish = bmc::redfish;
using namespace std::chrono_literals;
constexpr auto kLatency = 50ms;

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

bench::Canned dgx(const std::filesystem::path& tree) {
  bench::Canned canned{.latency = kLatency};
  for (const auto& entry : std::filesystem::recursive_directory_iterator{tree}) {
    if (entry.path().filename() != "index.json") continue;
    auto text = read_file(entry.path(), 64u << 20);
    const auto path = "/" + entry.path().parent_path().lexically_relative(tree).string();
    if (text) canned.bodies[path] = *std::move(text);
  }
  return canned;
}

Task<Result<bmc::Observed>> read(redfish::Transport& transport, Keys& keys, int index,
                                 std::uint16_t port) {
  const inventory::BmcAccess access{.endpoint = {bench::CannedServer::address(index), port},
                                    .user = "admin",
                                    .password = {},
                                    .trust = {}};
  const auto bmc = redfish::open(transport, "n" + std::to_string(index), access, &password, keys);
  auto seen = co_await bmc->facts.observe(Deadline::in(10min));
  co_await bmc->log_out();
  co_return seen;
}

void sweep(const bench::CannedServer& server, int bmcs) {
  asio::io_context io{1};
  redfish::Transport transport{io.get_executor(), {.connections = 2048}};
  Keys keys;
  std::vector<int> all;
  for (int i = 0; i < bmcs; ++i) all.push_back(i);
  const auto each = [&](int index) { return read(transport, keys, index, server.port()); };
  const long before = server.requests();
  const double cpu = bench::cpu_seconds(), theirs = server.cpu_seconds();
  const auto begun = Deadline::Clock::now();
  const auto answers = run_to_end(
      io, for_each_of<bmc::Observed>(std::move(all), static_cast<std::size_t>(bmcs), each));
  const std::chrono::duration<double> wall = Deadline::Clock::now() - begun;
  const auto requests = static_cast<double>(server.requests() - before);
  std::size_t parts = 0;
  for (const auto& answer : answers) {
    if (answer) parts += answer->parts.size();
    if (!answer) fmt::print(stderr, "no inventory: {}\n", answer.error().what);
  }
  redfish::Handshakes made;
  for (int i = 0; i < bmcs; ++i) {
    const auto of_one = transport.handshakes({bench::CannedServer::address(i), server.port()});
    made.full += of_one.full;
    made.resumed += of_one.resumed;
  }
  const double used = bench::cpu_seconds() - cpu, served = server.cpu_seconds() - theirs;
  const double bound = requests / bmcs / 2 * std::chrono::duration<double>{kLatency}.count();
  fmt::print(
      "{:4} BMCs: {:6.2f} s, bound {:6.2f} s, reached {:3.0f} %; {:.0f} requests and {} parts "
      "each, {:.1f} TLS handshakes and {:.1f} resumed; {:.0f} requests/s; CPU a request: ours "
      "{:.0f} us ({:.0f} % of a core), the BMCs' "
      "{:.0f} us ({:.0f} %)\n",
      bmcs, wall.count(), bound, 100 * bound / wall.count(), requests / bmcs,
      parts / static_cast<std::size_t>(bmcs), double(made.full) / bmcs, double(made.resumed) / bmcs,
      requests / wall.count(), used * 1e6 / requests, 100 * used / wall.count(),
      served * 1e6 / requests, 100 * served / wall.count());
  bench::print_beside({.what = fmt::format("inventory of {} BMCs", bmcs),
                       .peer = "bound by latency",
                       .unit = "requests/s",
                       .ours = requests / wall.count(),
                       .theirs = requests / bound,
                       .asked = ">= 0.95"});
}

}  // namespace

int main(int argc, char** argv) {
  const auto tree = test::capture("nvidia_viking");
  if (!tree) {
    fmt::print(stderr, "no capture nvidia_viking in {}\n", test::captures().string());
    return 1;
  }
  const bench::CannedServer server{dgx(*tree)};
  std::vector<int> sizes{50, 100, 200};
  if (argc > 1) sizes.clear();
  for (int i = 1; i < argc; ++i) sizes.push_back(std::max(1, std::atoi(argv[i])));
  for (const int bmcs : sizes) sweep(server, bmcs);
  return 0;
}
