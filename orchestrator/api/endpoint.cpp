#include "orchestrator/api/endpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace cupel::api {
namespace {

using asio::ip::tcp;
constexpr int kBacklog = 1024;
constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START

/// Closed unless it is given away.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_{fd} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  int give() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Error cannot_listen(Code code, const std::string& where) {
  return Error{code, fmt::format("cannot listen at {}: {}", where, std::strerror(errno))};
}

/// Nothing where the path is empty or longer than the kernel takes (unix(7)).
std::optional<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

/// Whether a process listens on the socket.
bool is_served(const sockaddr_un& address) {
  const Descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  // EAGAIN: so many wait already that it would have to wait, too (connect(2)).
  return ::connect(probe.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno == EAGAIN;
}

std::string text_of(const tcp::endpoint& endpoint) {
  const auto host = endpoint.address().to_string();
  return fmt::format(fmt::runtime(endpoint.address().is_v6() ? "[{}]:{}" : "{}:{}"), host,
                     endpoint.port());
}

/// Errors: kInvalid.
Result<tcp::endpoint> endpoint_of(const std::string& text) {
  const auto colon = text.rfind(':');
  auto host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  boost::system::error_code none;
  const auto address = asio::ip::make_address(host, none);
  const auto port = colon == text.npos
                        ? std::nullopt
                        : number<std::uint16_t>(std::string_view{text}.substr(colon + 1));
  if (none || !port)
    return Error{Code::kInvalid,
                 fmt::format("'{}' is no address and port, such as 10.0.0.5:8443 or [::]:8443",
                             printable(text))};
  return tcp::endpoint{address, *port};
}

tcp::endpoint endpoint_of(const sockaddr_storage& storage, socklen_t size) {
  tcp::endpoint endpoint;
  std::memcpy(endpoint.data(), &storage, std::min<std::size_t>(size, endpoint.capacity()));
  return endpoint;
}

}  // namespace

bool is_served(const std::filesystem::path& socket) {
  const auto address = unix_address(socket.string());
  return address && is_served(*address);
}

Result<int> listening_unix_socket(const std::filesystem::path& path) {
  const auto text = path.string();
  const auto address = unix_address(text);
  if (!address)
    return Error{Code::kInvalid,
                 fmt::format("the socket's path '{}' is empty or over {} bytes: name another one "
                             "with --socket",
                             text, sizeof address->sun_path - 1)};
  struct stat found{};
  if (::lstat(text.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode))
      return Error{Code::kConflict, fmt::format("{} is there already, and is no socket", text)};
    if (is_served(*address))
      return Error{Code::kConflict, fmt::format("another process serves at {}", text)};
    ::unlink(text.c_str());
  }
  Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  // Closed to others from the moment that it exists: fchmod before bind() is what it is made with.
  if (socket.fd() < 0 || ::fchmod(socket.fd(), 0600) != 0 ||
      ::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::chmod(text.c_str(), 0600) != 0 || ::listen(socket.fd(), kBacklog) != 0)
    return cannot_listen(Code::kStorage, text);
  return socket.give();
}

Result<ListeningSocket> listening_tcp_socket(const std::string& address) {
  TRY(const auto endpoint, endpoint_of(address));
  const int family = endpoint.address().is_v6() ? AF_INET6 : AF_INET;
  Descriptor socket{::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const int yes = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (socket.fd() < 0 ||
      ::bind(socket.fd(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::listen(socket.fd(), kBacklog) != 0)
    return cannot_listen(Code::kConflict, address);
  TRY(auto listening, adopted_socket(socket.fd()));
  socket.give();
  return listening;
}

Result<ListeningSocket> adopted_socket(int descriptor) {
  int listens = 0;
  socklen_t size = sizeof listens;
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &length) != 0)
    return Error{Code::kInvalid,
                 fmt::format("descriptor {} is no socket that listens: see ListenStream= of the "
                             "unit of systemd that passes it",
                             descriptor)};
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  ListeningSocket socket{descriptor, storage.ss_family, {}};
  if (storage.ss_family == AF_UNIX)
    socket.address = reinterpret_cast<const sockaddr_un&>(storage).sun_path;
  else
    socket.address = text_of(endpoint_of(storage, length));
  return socket;
}

std::vector<int> passed_descriptors() {
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : number<int>(text).value_or(0);
  };
  const int count = variable("LISTEN_PID") == ::getpid() ? variable("LISTEN_FDS") : 0;
  std::vector<int> passed;
  for (int i = 0; i < std::min(count, 16); ++i) passed.push_back(kFirstPassed + i);
  // Not for the programs that this one starts.
  for (const auto* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  return passed;
}

std::optional<Peer> peer_of(int descriptor, bool is_local) {
  Peer peer;
  peer.local = is_local;
  if (is_local) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
      return std::nullopt;
    peer.user = credentials.uid;
    peer.address = "unix";
    return peer;
  }
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&storage), &length) != 0)
    return std::nullopt;
  peer.address = endpoint_of(storage, length).address().to_string();
  return peer;
}

void set_no_delay(int descriptor) {
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace cupel::api
