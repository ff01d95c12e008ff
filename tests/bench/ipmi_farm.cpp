// Many virtual BMCs that speak IPMI on loopback, in a process of their own: 127.1.0.1,
// 127.1.0.2, ..., 127.1.0.250, 127.1.1.1, ..., all on one port; user "admin". Every second machine
// is on. What serves here must not be what is measured: how many datagrams it took, and the CPU for
// them, is printed at the end (SIGTERM, or its standard input's end).
//
//   ipmi_farm COUNT PORT PASSWORD-FILE [FAULT]
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include "base/file.h"
#include "base/text.h"
#include "inventory/load_profile.h"
#include "rehearsal/ipmi/server.h"
#include "rehearsal/machine.h"
#include "tests/bench/cpu_time.h"

namespace {

using namespace cupel;
using namespace cupel::rehearsal;

constexpr int kOfASubnet = 250;
constexpr int kMost = 10 * kOfASubnet;

struct Node {
  Machine machine;
  ipmi::Server server;

  Node(asio::any_io_executor executor, const Clock& clock, const inventory::Profile& profile,
       int index, const std::vector<Fault>& faults, std::uint16_t port, const std::string& password)
      : machine{executor, clock, profile, fmt::format("n{}", index), 1, BootTimes{}, faults},
        server{executor, machine, "admin", password, {address(index), port}} {}

  static asio::ip::address_v4 address(int index) {
    return asio::ip::make_address_v4(
        fmt::format("127.1.{}.{}", index / kOfASubnet, index % kOfASubnet + 1));
  }
};

int serve(int count, std::uint16_t port, const std::string& password,
          const std::vector<Fault>& faults) {
  std::vector<inventory::Problem> problems;
  const auto profile = inventory::ProfileSource{"/nonexistent"}.load("dgx-h100", problems);
  asio::io_context io{1};
  const Clock clock{1e6};
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < count; ++i) {
    auto& node = *nodes.emplace_back(
        std::make_unique<Node>(io.get_executor(), clock, *profile, i, faults, port, password));
    const auto listens = node.server.listen();
    if (!listens) {
      fmt::print(stderr, "{}\n", listens.error().what);
      return 1;
    }
    if (i % 2 == 0) node.machine.press(Reset::on);
  }
  const auto before = bench::cpu_seconds();
  const auto end = [&](auto...) {
    for (const auto& node : nodes) {
      node->server.stop();
      node->machine.stop();
    }
    io.stop();
  };
  asio::signal_set signals{io, SIGTERM, SIGINT};
  signals.async_wait(end);
  asio::posix::stream_descriptor input{io, ::dup(STDIN_FILENO)};
  std::array<char, 16> ignored{};
  const auto is_pipe = ::lseek(STDIN_FILENO, 0, SEEK_CUR) < 0;
  if (is_pipe) input.async_read_some(asio::buffer(ignored), end);
  fmt::print("ready\n");
  std::fflush(stdout);
  io.run();
  std::uint64_t datagrams = 0;
  for (const auto& node : nodes) datagrams += node->server.service().datagrams();
  const auto used = bench::cpu_seconds() - before;
  fmt::print("{} datagrams, {:.3f} s of CPU, {:.1f} us each\n", datagrams, used,
             used * 1e6 / static_cast<double>(std::max<std::uint64_t>(datagrams, 1)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 3 ? number<int>(argv[1]).value_or(0) : 0;
  const auto port = argc > 3 ? number<std::uint16_t>(argv[2]) : std::nullopt;
  const auto* fault = argc > 4 ? fault_row(argv[4]) : nullptr;
  if (count < 1 || count > kMost || !port || (argc > 4 && fault == nullptr)) {
    fmt::print(stderr, "usage: {} COUNT PORT PASSWORD-FILE [FAULT]\n", argv[0]);
    return 2;
  }
  const auto password = read_file(argv[3], 256);
  if (!password) {
    fmt::print(stderr, "{}\n", password.error().what);
    return 2;
  }
  std::vector<Fault> faults;
  if (fault != nullptr) faults.push_back({.kind = fault->kind});
  return serve(count, *port, std::string{trimmed(*password)}, faults);
}
