#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/try.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/node/tcp/stream.h"
#include "burnin/agent/node/tcp/subcommand.h"

namespace cupel::agent {
namespace {

using tcp::Bounds;
using tcp::Clock;
using tcp::Stream;
using Kind = Choice::Kind;

constexpr std::size_t kTokenBytes = 16;
constexpr std::chrono::seconds kHello{3};     // a stranger holds the only place for so long
constexpr std::chrono::seconds kConnect{20};  // for each of two connections
constexpr int kMostStrangers = 256;
constexpr std::string_view kUp = "up", kDown = "down";  // to the server, and from it
constexpr std::string_view kGo = "go";

constexpr std::array kServeOptions{
    Choice{"--port", Kind::kCount, "0", 0, 65535, {}, "0: any that is free"},
    Choice{"--seconds", Kind::kSeconds, "10", 1, 600, {}, "of each direction"},
    Choice{"--most", Kind::kSize, "64G", 1, 1e15, {}, "bytes of each direction"},
    Choice{"--wait", Kind::kSeconds, "60", 1, 600, {}, "for the other node"}};
constexpr std::array kSendOptions{
    Choice{"--to", Kind::kText, "", 0, 0, {}, "host name or address"},
    Choice{"--port", Kind::kCount, "", 1, 65535, {}, "as the server reports it"},
    Choice{"--seconds", Kind::kSeconds, "10", 1, 600, {}, "of each direction"},
    Choice{"--most", Kind::kSize, "64G", 1, 1e15, {}, "bytes of each direction"}};

Bounds bounds_of(const Options& options) {
  return {std::chrono::duration<double>{options.number("--seconds")}, options.count("--most")};
}

Error last_error(std::string_view what) {
  return {Code::kUnreachable, std::string{what} + ": " + std::strerror(errno)};
}

Result<void> say(const JsonLine& line) {
  if (print(line)) return ok();
  return Error{Code::kFailed, "nobody reads the result"};
}

Result<void> say_sent(const tcp::Sent& sent) {
  JsonLine line{"tcp-sent"};
  line.add("bytes", sent.bytes).add("segments", sent.segments);
  line.add("retransmits", sent.retransmits).add("rtt_us", sent.rtt);
  return say(line);
}

Result<void> say_received(const tcp::Received& received) {
  JsonLine line{"tcp-received"};
  line.add("bytes", received.bytes).add("seconds", received.seconds);
  return say(line);
}

Result<std::string> new_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return last_error("getrandom");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const auto byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

/// Takes as long for a token that is nearly right as for any other.
bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

/// On every address of the node, since its own idea of its name may be 127.0.1.1; on IPv4 alone
/// where the kernel has no IPv6.
Result<Descriptor> listening(std::uint16_t port) {
  for (const bool six : {true, false}) {
    Descriptor socket{
        ::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) continue;
    constexpr int kYes = 1, kNo = 0;
    ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof kYes);
    if (six) ::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &kNo, sizeof kNo);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    const auto* address =
        six ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
    const socklen_t size = six ? sizeof v6 : sizeof v4;
    if (::bind(socket.number(), address, size) == 0 && ::listen(socket.number(), 8) == 0)
      return socket;
    if (errno == EADDRINUSE) break;
  }
  return last_error("port " + std::to_string(port));
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port)
             : ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

class Server {
 public:
  Server(Descriptor socket, std::string token) : socket_{std::move(socket)}, token_{token} {}

  /// The connection of the node that knows the token. Others are closed and counted.
  Result<Stream> accept(std::string_view direction, Clock::time_point until) {
    const auto hello = token_ + " " + std::string{direction};
    while (strangers_ <= kMostStrangers) {
      TRY(auto stream, next(until));
      const auto line = stream.read_line(std::min(until, Clock::now() + kHello));
      if (line && same_token(*line, hello)) {
        TRY(stream.write_line(kGo, until));
        return stream;
      }
      ++strangers_;
    }
    return Error{Code::kFailed, "too many connections without the token"};
  }
  int strangers() const { return strangers_; }

 private:
  Result<Stream> next(Clock::time_point until) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return Error{Code::kTimeout, "the other node did not connect"};
      pollfd ready{socket_.number(), POLLIN, 0};
      if (::poll(&ready, 1, static_cast<int>(left)) < 0 && errno != EINTR)
        return last_error("poll");
      Descriptor peer{::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
      if (peer) return Stream{std::move(peer)};
    }
  }

  Descriptor socket_;
  std::string token_;
  int strangers_ = 0;
};

Result<void> serve(const Options& options) {
  const auto bounds = bounds_of(options);
  TRY(auto socket, listening(static_cast<std::uint16_t>(options.count("--port"))));
  TRY(const auto token, new_token());
  JsonLine ready{"tcp-ready"};
  ready.add("port", port_of(socket)).add("token", token);
  TRY(say(ready));
  Server server{std::move(socket), token};
  const std::chrono::duration<double> wait{options.number("--wait")};
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
  TRY(auto up, server.accept(kUp, until));
  TRY(const auto received, up.receive(bounds));
  TRY(say_received(received));
  TRY(auto down, server.accept(kDown, Clock::now() + kConnect));
  TRY(const auto sent, down.send(bounds));
  TRY(say_sent(sent));
  JsonLine strangers{"tcp-refused"};
  strangers.add("count", server.strangers());
  return say(strangers);
}

Result<Stream> enter(const Options& options, std::string_view token, std::string_view direction) {
  const auto until = Clock::now() + kConnect;
  TRY(auto stream, tcp::connect_to(options.text("--to"),
                                   static_cast<std::uint16_t>(options.count("--port")), until));
  TRY(stream.write_line(std::string{token} + " " + std::string{direction}, until));
  const auto answer = stream.read_line(until);
  if (!answer || *answer != kGo)
    return Error{Code::kFailed, options.text("--to") + " refused the token"};
  return stream;
}

/// Nothing but its first line: what is secret is in no command line.
Result<std::string> token_of_input() {
  std::array<char, 256> bytes{};
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto got = ::read(0, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  const std::string_view text{bytes.data(), size};
  const auto token = text.substr(0, text.find('\n'));
  if (token.size() == 2 * kTokenBytes) return std::string{token};
  return Error{Code::kInvalid, "standard input has no token"};
}

Result<void> send(const Options& options) {
  const auto bounds = bounds_of(options);
  TRY(const auto token, token_of_input());
  TRY(auto up, enter(options, token, kUp));
  TRY(const auto sent, up.send(bounds));
  TRY(say_sent(sent));
  TRY(auto down, enter(options, token, kDown));
  TRY(const auto received, down.receive(bounds));
  return say_received(received);
}

/// Not with the program's name in front: lines of a stage that begin with "cupel-" are its marks.
int print_error(const Error& error, int status) {
  write_all(2, "tcp: " + error.what + "\n");
  return status;
}

}  // namespace

int measure_tcp(Arguments arguments) {
  const bool serves = !arguments.empty() && arguments.front() == "serve";
  const bool sends = !arguments.empty() && arguments.front() == "send";
  if (!serves && !sends) return print_error({Code::kInvalid, "expected serve or send"}, kUsage);
  const auto rows = serves ? std::span<const Choice>{kServeOptions} : kSendOptions;
  const auto options = Options::read(rows, arguments.subspan(1));
  if (!options) return print_error(options.error(), kUsage);
  if (!options->operands().empty() || !options->command().empty())
    return print_error({Code::kInvalid, "an argument that belongs to no option"}, kUsage);
  if (sends && (!options->given("--to") || !options->given("--port")))
    return print_error({Code::kInvalid, "send needs --to and --port"}, kUsage);
  const auto ended = serves ? serve(*options) : send(*options);
  return ended ? kDone : print_error(ended.error(), kFoundOutNothing);
}

}  // namespace cupel::agent
