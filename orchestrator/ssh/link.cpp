#include "orchestrator/ssh/link.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>

#include "base/text.h"

namespace cupel::ssh {
namespace {

using asio::ip::tcp;

/// A node that vanished without a word is noticed after this long, even where nobody asks anything
/// of it: a command may run for hours in silence.
constexpr int kSilentSeconds = 30;
constexpr int kProbeSeconds = 10;
constexpr int kProbes = 3;

/// After so many turns without waiting, others get theirs.
constexpr unsigned kTurnsInARow = 64;

void tune(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay{true}, ignored);
  socket.set_option(tcp::socket::keep_alive{true}, ignored);
  const int fd = socket.native_handle();
  const int unacknowledged_ms = (kSilentSeconds + kProbes * kProbeSeconds) * 1000;
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kSilentSeconds, sizeof kSilentSeconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeSeconds, sizeof kProbeSeconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

void configure(ssh_session session, int descriptor) {
  const int no = 0;
  const auto set = [session](ssh_options_e option, const void* value) {
    ssh_options_set(session, option, value);
  };
  set(SSH_OPTIONS_PROCESS_CONFIG, &no);  // no ~/.ssh/config
  set(SSH_OPTIONS_SSH_DIR, "/nonexistent");
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null");  // trust is ours to keep: inventory/trust.h
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  set(SSH_OPTIONS_HOST, "node");
  set(SSH_OPTIONS_FD, &descriptor);
  set(SSH_OPTIONS_GSSAPI_DELEGATE_CREDENTIALS, &no);
  set(SSH_OPTIONS_COMPRESSION, "no");
  // What every sshd since 2014 speaks, the cheapest first; the tail is for old appliances.
  set(SSH_OPTIONS_KEY_EXCHANGE,
      "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
      "diffie-hellman-group16-sha512,diffie-hellman-group14-sha256");
  set(SSH_OPTIONS_HOSTKEYS, "ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256");
  for (const auto ciphers : {SSH_OPTIONS_CIPHERS_C_S, SSH_OPTIONS_CIPHERS_S_C})
    set(ciphers,
        "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,"
        "aes256-ctr");
  ssh_set_blocking(session, 0);
}

Result<std::vector<tcp::endpoint>> literal(const inventory::Endpoint& endpoint) {
  boost::system::error_code failure;
  const auto address = asio::ip::make_address(endpoint.host, failure);
  if (failure) return Error{Code::kNotFound, "not an address"};
  return std::vector{tcp::endpoint{address, endpoint.port}};
}

Task<Result<std::vector<tcp::endpoint>>> resolve(inventory::Endpoint endpoint) {
  auto reported = literal(endpoint);
  if (reported) co_return reported;
  const auto executor = co_await asio::this_coro::executor;
  tcp::resolver resolver{executor};
  const auto port = std::to_string(endpoint.port);
  const auto [failure, found] =
      co_await resolver.async_resolve(endpoint.host, port, asio::as_tuple(asio::use_awaitable));
  if (failure == asio::error::operation_aborted)
    co_return Error{Code::kCancelled, "stopped while resolving"};
  if (failure)
    co_return Error{Code::kUnreachable,
                    "cannot resolve " + endpoint.host + ": " + failure.message()};
  std::vector<tcp::endpoint> addresses;
  for (const auto& entry : found) addresses.push_back(entry.endpoint());
  co_return addresses;
}

}  // namespace

Task<Result<tcp::socket>> dial(inventory::Endpoint endpoint) {
  CO_TRY(auto addresses, co_await resolve(endpoint));
  const auto executor = co_await asio::this_coro::executor;
  tcp::socket socket{executor};
  const auto [failure, used] =
      co_await asio::async_connect(socket, addresses, asio::as_tuple(asio::use_awaitable));
  if (failure == asio::error::operation_aborted)
    co_return Error{Code::kCancelled, "stopped while connecting"};
  if (failure)
    co_return Error{Code::kUnreachable,
                    "connect to " + to_string(endpoint) + ": " + failure.message()};
  tune(socket);
  co_return std::move(socket);
}

Link::Link(tcp::socket socket)
    : socket_{std::move(socket)}, session_{ssh_new()}, event_{ssh_event_new()} {
  configure(session_, ::fcntl(socket_.native_handle(), F_DUPFD_CLOEXEC, 3));
}

void Link::open_for_channels() {
  // Only now: libssh makes what it polls while it connects, and an event takes what is there.
  ssh_event_add_session(event_, session_);
  joined_ = true;
  // libssh makes the descriptor blocking while it connects. It only writes to a socket that takes
  // something, but all it has: on a blocking one, a large upload would hold up everybody.
  const int fd = socket_.native_handle();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool Link::pump() {
  const int outcome = ssh_event_dopoll(event_, 0);
  broken_ = broken_ || outcome == SSH_ERROR;
  return outcome == SSH_OK;
}

Link::~Link() {
  if (joined_) ssh_event_remove_session(event_, session_);
  ssh_event_free(event_);
  // libssh leaves a descriptor open that it was given as an option. Ours is a duplicate made for it
  // alone: without the option it closes it, unless it did when the other side went.
  ssh_options_set(session_, SSH_OPTIONS_FD, nullptr);
  ssh_disconnect(session_);
  ssh_free(session_);
}

Error Link::broken(std::string_view attempt) const {
  const char* reason = ssh_get_error(session_);
  std::string why = reason != nullptr && *reason != '\0' ? reason : "connection closed by the node";
  return Error{Code::kUnreachable, std::string{attempt} + ": " + printable(why)};
}

Task<Result<void>> Link::ready() {
  const bool stop = co_await cancelled();
  if (stop) co_return Error{Code::kCancelled, "stopped while talking to the node"};
  if (!alive()) co_return broken("connection lost");
  const bool writable = (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0;
  // What is there already needs no trip through the reactor. This never spins: libssh polls the
  // same descriptor for the same events, and takes in whatever made this call return.
  const auto events = static_cast<short>(writable ? POLLIN | POLLOUT : POLLIN);
  pollfd now{socket_.native_handle(), events, 0};
  if (++turns_ % kTurnsInARow != 0 && ::poll(&now, 1, 0) > 0) co_return ok();
  co_return co_await wait_for(writable);
}

Task<Result<void>> Link::wait_for(bool writable) {
  boost::system::error_code failure;
  if (writable) {
    auto either = asio::experimental::make_parallel_group(
        socket_.async_wait(tcp::socket::wait_read, asio::deferred),
        socket_.async_wait(tcp::socket::wait_write, asio::deferred));
    const auto [order, read_failure, write_failure] =
        co_await either.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    failure = order.front() == 0 ? read_failure : write_failure;
  } else {
    const auto [read_failure] =
        co_await socket_.async_wait(tcp::socket::wait_read, asio::as_tuple(asio::use_awaitable));
    failure = read_failure;
  }
  if (failure == asio::error::operation_aborted)
    co_return Error{Code::kCancelled, "stopped while talking to the node"};
  if (failure) co_return Error{Code::kUnreachable, "connection lost: " + failure.message()};
  co_return ok();
}

}  // namespace cupel::ssh
