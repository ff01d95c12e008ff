// One virtual BMC of each vendor, over HTTPS on loopback, in a process of its own: for trying a
// tool by hand. User "admin"; each prints "vendor https://127.0.0.1:PORT". Their machines are on.
// Ends with its standard input or by SIGTERM.
//
//   bmc_farm PASSWORD-FILE [SPEED]
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include "base/file.h"
#include "base/text.h"
#include "inventory/load_profile.h"
#include "rehearsal/bmc/server.h"
#include "rehearsal/machine.h"

namespace {

using namespace cupel;
using namespace cupel::rehearsal;

struct Node {
  Machine machine;
  BmcServer server;

  Node(asio::any_io_executor executor, const Clock& clock, const inventory::Profile& profile,
       const std::string& vendor, const std::string& password)
      : machine{executor, clock, profile, vendor + "-n01", 1, BootTimes{}, {}},
        server{executor,
               machine,
               {"admin", password},
               make_certificate(vendor + "-n01-bmc", "127.0.0.1").assume_value(),
               {asio::ip::address_v4::loopback(), 0},
               BmcSpec{.vendor = vendor}} {}
};

int serve(const std::string& password, double speed) {
  std::vector<inventory::Problem> problems;
  const auto profile = inventory::ProfileSource{"/nonexistent"}.load("dgx-h100", problems);
  asio::io_context io{1};
  const Clock clock{speed};
  std::vector<std::unique_ptr<Node>> nodes;
  for (const auto& row : all_manners()) {
    auto& node = *nodes.emplace_back(std::make_unique<Node>(io.get_executor(), clock, *profile,
                                                            std::string{row.vendor}, password));
    const auto listens = node.server.listen();
    if (!listens) {
      fmt::print(stderr, "{}\n", listens.assume_error().what);
      return 1;
    }
    node.machine.press(Reset::on);
    fmt::print("{} https://127.0.0.1:{}\n", row.vendor, node.server.port());
  }
  std::fflush(stdout);
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
  const bool is_pipe = ::lseek(STDIN_FILENO, 0, SEEK_CUR) < 0;
  if (is_pipe) input.async_read_some(asio::buffer(ignored), end);
  io.run();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const auto password = count > 1 ? read_file(words[1], 1024) : Result<std::string>{std::string{}};
  const double speed = count > 2 ? number<double>(words[2]).value_or(60) : 60;
  if (count < 2 || count > 3 || !password) {
    fmt::print(stderr, "bmc_farm PASSWORD-FILE [SPEED]\n");
    return 2;
  }
  return serve(std::string{trimmed(password.assume_value())}, speed);
}
