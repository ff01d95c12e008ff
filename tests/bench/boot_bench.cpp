// The boot server: boot scripts for many nodes, and one image to many machines at once, against
// nginx with the same file and the same clients in the same run. The clients are a process of
// their own; what they receive the kernel drops (recv(2), MSG_TRUNC).
//
//   boot_bench [CLIENTS] [MEGABYTES]
#include <arpa/inet.h>
#include <fmt/format.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "orchestrator/netboot/boot_service.h"
#include "orchestrator/netboot/ipxe_script.h"
#include "tests/bench/beside.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/captures.h"

namespace {

using namespace cupel;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

/// "VmHWM" or "VmRSS" of /proc/self/status, in MiB.
double memory(std::string_view what) {
  std::ifstream file{"/proc/self/status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(what)) return std::strtod(line.c_str() + what.size() + 1, nullptr) / 1024;
  return 0;
}

[[noreturn]] void fail(std::string_view what) {
  fmt::print(stderr, "{}: {}\n", what, std::strerror(errno));
  std::exit(1);
}

/// Each client's address is its own: 127.1.0.1, 127.1.0.2 ...
sockaddr_in address_of(std::uint32_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  return address;
}

int connected(std::size_t client, std::uint16_t port) {
  constexpr std::uint32_t kServer = 0x7F000001, kClients = 0x7F010001;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto from = address_of(kClients + static_cast<std::uint32_t>(client), 0);
  const auto to = address_of(kServer, port);
  if (socket < 0 || ::bind(socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
      ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    fail("a client");
  return socket;
}

/// In a child: fetches each path once, all at the same time. Bytes that came, of which `size` each
/// are the file.
void fetch_all(const std::vector<std::string>& paths, std::uint16_t port, std::uint64_t size) {
  const int events = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> sockets;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const int socket = connected(i, port);
    const auto request =
        fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", paths[i]);
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("send");
    epoll_event requested{.events = EPOLLIN, .data = {.fd = socket}};
    ::epoll_ctl(events, EPOLL_CTL_ADD, socket, &requested);
    sockets.push_back(socket);
  }
  std::uint64_t bytes = 0;
  std::size_t open = sockets.size();
  std::array<epoll_event, 64> ready{};
  while (open > 0) {
    const int count = ::epoll_wait(events, ready.data(), ready.size(), 60'000);
    if (count <= 0) fail("nothing came for a minute");
    for (int i = 0; i < count; ++i) {
      const int socket = ready[static_cast<std::size_t>(i)].data.fd;
      const auto got = ::recv(socket, nullptr, 1u << 20, MSG_TRUNC | MSG_DONTWAIT);
      if (got > 0) {
        bytes += static_cast<std::uint64_t>(got);
      } else if (got == 0 || errno != EAGAIN) {
        ::close(socket);
        --open;
      }
    }
  }
  if (bytes < size * paths.size()) {
    fmt::print(stderr, "{} bytes came, and {} were asked for\n", bytes, size * paths.size());
    ::_exit(1);
  }
}

/// Seconds; 0 where it failed.
double fetched_by_child(const std::vector<std::string>& paths, std::uint16_t port,
                        std::uint64_t size) {
  const auto begun = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    fetch_all(paths, port, size);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? since(begun) : 0;
}

struct Bed {
  test::TemporaryFolder folder{};
  std::size_t clients = 0;
  std::uint64_t bytes = 0;
  std::string image() const { return (folder.path() / "images" / "disk.raw.zst").string(); }
};

void make_image(const Bed& bed) {
  fs::create_directories(bed.folder.path() / "images");
  std::ofstream file{bed.image(), std::ios::binary};
  std::string piece(1u << 20, 'x');
  for (std::uint64_t at = 0; at < bed.bytes; at += piece.size()) {
    for (std::size_t i = 0; i < piece.size(); i += 512)
      piece[i] = static_cast<char>(at / piece.size() + i);
    file << piece;
  }
}

/// nginx with sendfile, as its packages configure it, two workers as the boot server has two
/// threads.
class Nginx {
 public:
  explicit Nginx(const Bed& bed) : root_{bed.folder.path() / "nginx"} {
    fs::create_directories(root_);
    std::ofstream{root_ / "nginx.conf"} << fmt::format(
        "daemon off;\nworker_processes 2;\npid {0}/pid;\nerror_log {0}/error.log;\nuser root;\n"
        "events {{ worker_connections 4096; }}\n"
        "http {{ sendfile on; tcp_nopush on; access_log {0}/access.log;\n"
        "client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f;\n"
        "uwsgi_temp_path {0}/u; scgi_temp_path {0}/s;\n"
        "server {{ listen 127.0.0.1:{1}; root {2}; }} }}\n",
        root_.string(), kPort, (bed.folder.path() / "images").string());
    child_ = ::fork();
    if (child_ == 0) {
      const auto conf = (root_ / "nginx.conf").string();
      ::execl("/usr/sbin/nginx", "nginx", "-c", conf.c_str(), nullptr);
      ::_exit(127);
    }
    const auto begun = Clock::now();
    while (!answers())
      if (since(begun) > 10 || ::waitpid(child_, nullptr, WNOHANG) != 0) fail("nginx");
  }
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;
  ~Nginx() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }
  static constexpr std::uint16_t kPort = 48'081;

 private:
  static bool answers() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto to = address_of(0x7F000001, kPort);
    const bool there = ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    ::close(socket);
    return there;
  }
  fs::path root_;
  pid_t child_ = 0;
};

double by_nginx(const Bed& bed) {
  const Nginx nginx{bed};
  const std::vector<std::string> paths(bed.clients, "/disk.raw.zst");
  return fetched_by_child(paths, Nginx::kPort, bed.bytes);
}

netboot::BootOrder order_of(std::size_t node, const Bed& bed) {
  return {.machine = {.node = fmt::format("n{}", node),
                      .serial = fmt::format("S{}", node),
                      .macs = {fmt::format("52:54:00:{:02x}:{:02x}:{:02x}", node >> 16 & 255,
                                           node >> 8 & 255, node & 255)},
                      .arch = "x86_64",
                      .rack = fmt::format("r{}", node / 18)},
          .order = {{"version", 1}, {"action", "deploy"}},
          .files = {{"image", bed.image()}},
          .kernel_arguments = "console=ttyS0 quiet"};
}

struct Served {
  std::unique_ptr<netboot::BootService> service{};
  std::vector<std::string> paths{};
};

Served serve(asio::io_context& io, const Bed& bed, std::size_t nodes) {
  netboot::BootServerOptions options;
  options.endpoint = {asio::ip::make_address("127.0.0.1"), 0};
  options.folder = (bed.folder.path() / "images").string();
  auto started = netboot::BootService::start(io.get_executor(), std::move(options));
  if (!started) {
    fmt::print(stderr, "{}\n", started.error().what);
    std::exit(1);
  }
  Served served{*std::move(started)};
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto ticket = served.service->issue(order_of(i, bed));
    if (!ticket) {
      fmt::print(stderr, "{}\n", ticket.error().what);
      std::exit(1);
    }
    served.paths.push_back(ticket->base_url.substr(served.service->url().size()) + "image");
  }
  return served;
}

void render(std::size_t nodes) {
  const double cpu = bench::cpu_seconds();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto script = netboot::ipxe_script(
        {.base_url = fmt::format("http://10.0.0.1:8081/boot/{:032x}/", i),
         .kernel_arguments = fmt::format("console=ttyS0 quiet cupel.node=n{}", i),
         .ticket_arguments = fmt::format("cupel.boot=http://10.0.0.1:8081/boot/{:032x}/", i)});
    bytes += script ? script->size() : 0;
  }
  fmt::print("{} boot scripts, {} bytes: {:.3f} s of CPU\n", nodes, bytes,
             bench::cpu_seconds() - cpu);
}

}  // namespace

int main(int argc, char** argv) {
  Bed bed;
  bed.clients = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 200;
  bed.bytes = (argc > 2 ? static_cast<std::uint64_t>(std::atoi(argv[2])) : 64) << 20;
  constexpr std::size_t kNodes = 10'000;
  render(kNodes);
  make_image(bed);
  asio::io_context io;
  const double cpu = bench::cpu_seconds();
  const auto served = serve(io, bed, bed.clients);
  fmt::print("{} tickets: {:.3f} s of CPU\n", bed.clients, bench::cpu_seconds() - cpu);
  if (!fs::exists("/usr/sbin/nginx"))
    fmt::print("nginx is not installed: apt install nginx-light\n");
  double best = 0, best_peer = 0;
  malloc_trim(0);
  const double before = memory("VmRSS");
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    const auto mib = static_cast<double>(bed.bytes >> 20) * static_cast<double>(bed.clients);
    const double own = fetched_by_child(served.paths, served.service->port(), bed.bytes);
    const double peer = fs::exists("/usr/sbin/nginx") ? by_nginx(bed) : 0;
    best = std::max(best, own > 0 ? mib / own : 0);
    best_peer = std::max(best_peer, peer > 0 ? mib / peer : 0);
    fmt::print("{} clients, {} MiB each: cupel {:.0f} MiB/s, nginx {:.0f} MiB/s\n", bed.clients,
               bed.bytes >> 20, own > 0 ? mib / own : 0, peer > 0 ? mib / peer : 0);
  }
  if (best_peer > 0)
    bench::print_beside({.what = fmt::format("{} MiB to {} machines", bed.bytes >> 20, bed.clients),
                         .peer = "nginx",
                         .unit = "MiB/s",
                         .ours = best,
                         .theirs = best_peer,
                         .asked = ">= 0.9"});
  fmt::print("memory: {:.1f} MiB more than before\n", memory("VmHWM") - before);
}
