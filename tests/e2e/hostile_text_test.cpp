// Whoever answers at one node's SSH address may send any byte, before any key was checked: that
// must not cost the other nodes their run, nor anybody its journal.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "base/text.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

using ::testing::IsEmpty;

/// Calls itself an SSH server, and its key exchange something that is no text. Serves until it is
/// destroyed. Source: RFC 4253, 6 and 7.1.
class HostileSshServer {
 public:
  HostileSshServer() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, "127.70.1.200", &address.sin_addr);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, size) != 0 || ::listen(socket_, 16) != 0 ||
        ::getsockname(socket_, generic, &size) != 0)
      throw std::runtime_error{"no port for the hostile server"};
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this] { serve(); }};
  }
  ~HostileSshServer() {
    ::shutdown(socket_, SHUT_RDWR);  // wakes accept()
    thread_.join();
    ::close(socket_);
  }
  HostileSshServer(const HostileSshServer&) = delete;
  HostileSshServer& operator=(const HostileSshServer&) = delete;

  std::string endpoint() const { return fmt::format("127.70.1.200:{}", port_); }

 private:
  static std::string number(std::size_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
  }

  static std::string key_exchange() {
    std::string payload{'\x14'};
    payload += std::string(16, 'c');  // cookie
    const std::string name{"evil-kex-\xff\xfe\x9b"};
    for (int list = 0; list < 10; ++list) payload += number(name.size()) + name;
    payload += std::string(5, '\0');
    const auto padding = 16 - (payload.size() + 5) % 8;
    return number(1 + payload.size() + padding) + static_cast<char>(padding) + payload +
           std::string(padding, 'p');
  }

  static void send(int client, const std::string& bytes) {
    [[maybe_unused]] const auto sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  void serve() const {
    for (;;) {
      const int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      send(client, "SSH-2.0-evil\r\n");
      // The client's own name and key exchange first: else libssh may take the end for a broken
      // socket.
      constexpr ssize_t kName = 100;  // at most; the key exchange is longer
      std::array<char, 4096> heard{};
      ssize_t all = 0;
      while (all < kName) {
        const auto got = ::recv(client, heard.data(), heard.size(), 0);
        if (got <= 0) break;
        all += got;
      }
      send(client, key_exchange());
      while (::recv(client, heard.data(), heard.size(), 0) > 0) {
      }
      ::close(client);
    }
  }

  int socket_;
  std::uint16_t port_ = 0;
  std::jthread thread_{};
};

constexpr const char* kFacts = R"(playbook: facts
description: what a node says of itself
max_parallel: 8
steps:
  - step: ssh-wait
    deadline: 5s
  - stage: node-facts
  - step: verdict
)";

TEST(HostileText, BytesOfOneSshServerCostNeitherTheOtherNodesTheirRunNorTheRunItsJournal) {
  CUPEL_NEEDS_REAL_PART(Sshd::installed(), "openssh-server is not installed");
  CUPEL_NEEDS_REAL_PART(has_own_host(),
                        "no /opt of its own for cupel-node: only root may make one");
  Site site{4, Site::Slurm::none};
  const HostileSshServer hostile;
  site.write("facts.yaml", kFacts);
  auto inventory = site.read("inventory.yaml");
  const auto second = fmt::format("127.70.1.2:{}", site.sshd->port());
  inventory.replace(inventory.find(second), second.size(), hostile.endpoint());
  site.write("inventory.yaml", inventory);

  const auto ran = site.run({"run", "facts.yaml", "--json"});

  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(valid_utf8(ran.out + ran.err), ran.out + ran.err);
  const auto last = json_lines(ran.out).back();
  const auto& counts = last.at("summary").at("nodes").as_array();
  ASSERT_EQ(counts.size(), 4);
  for (const auto& node : counts)
    EXPECT_EQ(node.at("verdict"), node.at("node") == "s01-n02" ? "inconclusive" : "pass")
        << json::serialize(node);
  const auto shown = site.run({"show", "s01-n02"});
  EXPECT_THAT(shown.out, HasSubstr("evil-kex-\uFFFD\uFFFD\uFFFD"));
  EXPECT_EQ(site.run({"status"}).status, 0);
  EXPECT_THAT(site.run({"report", "1", "--html", "report.html"}).out, HasSubstr("wrote"));
  EXPECT_EQ(site.run({"store", "verify"}).status, 0);
  EXPECT_THAT(store::check_store(site.folder / "state").value().faults, IsEmpty());
}

}  // namespace
}  // namespace cupel::testing
