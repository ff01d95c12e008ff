#include "burnin/agent/burn/nccl_meeting.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/small_file.h"

namespace cupel::burn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostFile = 4096;  // of 256 digits and blanks around them
constexpr std::chrono::milliseconds kStandardInput{60'000};
constexpr std::chrono::milliseconds kPause{200};
constexpr std::chrono::milliseconds kOneTry{3000};

Failure usage(std::string message) { return {.code = "usage", .message = std::move(message)}; }

Outcome<Meeting> meeting_of(std::string_view hex) {
  const auto bytes = bytes_of_nccl_id(hex);
  if (!bytes) return usage(bytes.error().what);
  Meeting meeting;
  std::memcpy(meeting.raw.bytes.data(), bytes->data(), bytes->size());
  meeting.id = *decode_nccl_id(hex);
  return meeting;
}

struct Place {
  sockaddr_storage address{};
  socklen_t size = 0;
};

Place place_of(const NcclId& id) {
  Place place;
  sockaddr_in four{};
  if (::inet_pton(AF_INET, id.address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(id.port);
    std::memcpy(&place.address, &four, sizeof four);
    place.size = sizeof four;
    return place;
  }
  sockaddr_in6 six{};
  ::inet_pton(AF_INET6, id.address.c_str(), &six.sin6_addr);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(id.port);
  std::memcpy(&place.address, &six, sizeof six);
  place.size = sizeof six;
  return place;
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  else if (address.sa_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (bytes == nullptr ||
      ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr)
    return {};
  return text.data();
}

/// Addresses are compared in the one form that inet_ntop(3) writes.
std::string one_form(const std::string& written) {
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET, written.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    return text_of(reinterpret_cast<const sockaddr&>(four));
  }
  if (::inet_pton(AF_INET6, written.c_str(), &six.sin6_addr) != 1) return {};
  six.sin6_family = AF_INET6;
  return text_of(reinterpret_cast<const sockaddr&>(six));
}

/// Whoever writes the id may be slower than this process, and may have left standard input in a
/// mode in which reading does not wait. Errors: usage.
Outcome<std::string> read_standard_input(std::chrono::milliseconds patience) {
  const auto failed = [](const std::string& why) { return usage("--id-file -: " + why); };
  const auto until = Clock::now() + patience;
  std::string content;
  std::array<char, kMostFile> piece{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int polled = left.count() <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()));
    if (polled < 0 && errno != EINTR) return failed(std::string{"poll: "} + std::strerror(errno));
    if (polled < 0) continue;
    if (polled == 0)
      return failed("standard input did not end within " + std::to_string(patience.count() / 1000) +
                    " s");
    const auto got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got < 0) return failed(std::strerror(errno));
    if (got == 0) return content;
    content.append(piece.data(), static_cast<std::size_t>(got));
    if (content.size() > kMostFile)
      return failed("longer than " + std::to_string(kMostFile) + " bytes");
  }
}

/// Errors: usage: it is no address, or no interface has it.
Outcome<std::string> interface_with(const std::string& written) {
  const auto requested = one_form(written);
  if (requested.empty())
    return usage("--address takes an IP address, not " + agent::shown(written));
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0)
    return Failure{.code = "nccl", .message = std::string{"getifaddrs: "} + std::strerror(errno)};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all{first, &::freeifaddrs};
  for (const auto* one = first; one != nullptr; one = one->ifa_next)
    if (one->ifa_addr != nullptr && text_of(*one->ifa_addr) == requested)
      return std::string{one->ifa_name};
  return usage("no network interface of this node has the address " + requested +
               ": name the interface (--interface), or leave --address out (address: any in the "
               "inventory's fabric: nccl:)");
}

/// 0: connected. Else errno.
int try_once(const Place& place, std::chrono::milliseconds patience) {
  const int family = place.address.ss_family;
  const agent::Descriptor socket{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return errno;
  const auto* address = reinterpret_cast<const sockaddr*>(&place.address);
  if (::connect(socket.number(), address, place.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd ready{.fd = socket.number(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Outcome<Meeting> make_id(const nccl::Library& library) {
  Meeting meeting;
  TRY(library.check(library->ncclGetUniqueId(&meeting.raw), "ncclGetUniqueId"));
  const auto* bytes = reinterpret_cast<const unsigned char*>(meeting.raw.bytes.data());
  auto id = decode_nccl_id(std::span{bytes, meeting.raw.bytes.size()});
  if (!id) return usage("NCCL " + library.version_name() + ": " + id.error().what);
  meeting.id = *std::move(id);
  return meeting;
}

Outcome<Meeting> read_id(const Options& options) {
  if (options.given("--id")) return meeting_of(options.word("--id"));
  const auto& file = options.word("--id-file");
  if (file == "-") {
    TRY(const auto text, read_standard_input(kStandardInput));
    return meeting_of(text);
  }
  const auto text = agent::read_small(file, kMostFile);
  if (!text) return usage("--id-file " + agent::shown(file) + ": " + text.error().what);
  return meeting_of(*text);
}

Outcome<> choose_interface(const Options& options) {
  std::string name;
  if (options.given("--interface")) {
    name = options.word("--interface");
  } else if (options.given("--address")) {
    TRY(name, interface_with(options.word("--address")));
  }
  if (!name.empty()) ::setenv("NCCL_SOCKET_IFNAME", ("=" + name).c_str(), 1);
  return done();
}

Outcome<> reach(const NcclId& id, std::chrono::duration<double> within,
                const std::function<bool()>& is_over) {
  const auto place = place_of(id);
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(within);
  for (;;) {
    const int error = try_once(place, kOneTry);
    if (error == 0) return done();
    if (Clock::now() + kPause >= until || is_over())
      return Failure{.code = "nccl",
                     .message = "no TCP connection to " + id.address + " port " +
                                std::to_string(id.port) +
                                ", where the ranks meet: " + std::strerror(error) +
                                ". Check that the process that made the id lives, that the "
                                "address is this node's to reach (--interface), and that no "
                                "firewall blocks net.ipv4.ip_local_port_range"};
    ::poll(nullptr, 0, static_cast<int>(kPause.count()));
  }
}

agent::JsonLine id_line(const NcclId& id, std::string_view version) {
  agent::JsonLine line{"nccl-id"};
  line.add("id", id.hex).add("address", id.address).add("port", static_cast<int>(id.port));
  if (!version.empty()) line.add("nccl", version);
  return line;
}

}  // namespace cupel::burn
