#include "base/ssh_agent.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace cupel {
namespace {

constexpr unsigned char kSignRequest = 13, kSignResponse = 14, kFailure = 5;
constexpr std::size_t kMostAnswer = 16UL << 10U, kMostRequest = 240UL << 10U;
constexpr time_t kPatience = 120;  // seconds: ssh-add -c asks a person
constexpr std::string_view kAlgorithm = "ssh-ed25519";

/// Source: RFC 4251, 5: "string".
void put(std::string& into, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  for (const int shift : {24, 16, 8, 0}) into += static_cast<char>(size >> shift & 0xFFU);
  into += text;
}

/// `four`: as put writes them.
std::size_t length_in(std::string_view four) {
  std::size_t size = 0;
  for (const char byte : four) size = size << 8U | static_cast<unsigned char>(byte);
  return size;
}

/// Takes one off the front; nothing where the text is shorter than it says.
std::optional<std::string_view> taken(std::string_view& from) {
  if (from.size() < 4) return std::nullopt;
  const auto size = length_in(from.substr(0, 4));
  from.remove_prefix(4);
  if (from.size() < size) return std::nullopt;
  const auto text = from.substr(0, size);
  from.remove_prefix(size);
  return text;
}

class Connection {
 public:
  Connection() : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }

  Result<void> open(std::string_view path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
      return Error{Code::kInvalid, "SSH_AUTH_SOCK is longer than the path of a socket"};
    path.copy(address.sun_path, path.size());
    const timeval patience{.tv_sec = kPatience, .tv_usec = 0};
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
      ::setsockopt(socket_, SOL_SOCKET, option, &patience, sizeof patience);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return ok();
    return Error{Code::kInvalid, "no agent answers at SSH_AUTH_SOCK (" + printable(path) +
                                     "): " + std::strerror(errno) + "; eval $(ssh-agent)"};
  }

  Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return failed();
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return ok();
  }

  Result<std::string> receive(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t got = 0; got < size;) {
      const auto came = ::recv(socket_, bytes.data() + got, size - got, 0);
      if (came < 0 && errno == EINTR) continue;
      if (came == 0) return Error{Code::kMalformed, "the agent hung up"};
      if (came < 0) return failed();
      got += static_cast<std::size_t>(came);
    }
    return bytes;
  }

 private:
  static Error failed() {
    if (errno == EAGAIN || errno == EWOULDBLOCK)
      return {Code::kTimeout, "the agent did not answer in 2 minutes"};
    return {Code::kInvalid, std::string{"the agent: "} + std::strerror(errno)};
  }

  int socket_;
};

Result<std::string> signature_in(std::string_view answer) {
  const Error strange{Code::kMalformed, "the agent did not answer as an SSH agent does"};
  if (answer.empty()) return strange;
  const auto type = static_cast<unsigned char>(answer.front());
  answer.remove_prefix(1);
  if (type == kFailure)
    return Error{Code::kUntrusted,
                 "the agent did not sign: it does not hold this key (ssh-add -L), or a person "
                 "refused"};
  if (type != kSignResponse) return strange;
  auto blob = taken(answer);
  if (!blob) return strange;
  const auto algorithm = taken(*blob), signature = taken(*blob);
  if (algorithm != kAlgorithm || !signature) return strange;
  return std::string{*signature};
}

}  // namespace

std::string ssh_key_blob(std::string_view public_key) {
  std::string blob;
  put(blob, kAlgorithm);
  put(blob, public_key);
  return blob;
}

Result<std::string> sign_by_agent(std::string_view bytes, std::string_view public_key) {
  const char* path = std::getenv("SSH_AUTH_SOCK");
  if (path == nullptr || *path == '\0')
    return Error{Code::kInvalid, "there is no agent: SSH_AUTH_SOCK is not set; eval $(ssh-agent)"};
  // ssh-agent takes messages of 256 KiB.
  if (bytes.size() > kMostRequest)
    return Error{Code::kInvalid, "over 240 KiB are too much for an SSH agent: use a key in a file"};
  std::string body, request;
  body += static_cast<char>(kSignRequest);
  put(body, ssh_key_blob(public_key));
  put(body, bytes);
  body.append(4, '\0');  // flags
  put(request, body);
  Connection agent;
  TRY(agent.open(path));
  TRY(agent.send(request));
  TRY(const auto head, agent.receive(4));
  const auto size = length_in(head);
  if (size > kMostAnswer)
    return Error{Code::kMalformed, "the agent's answer is longer than a signature"};
  TRY(const auto answer, agent.receive(size));
  return signature_in(answer);
}

}  // namespace cupel
