#pragma once
// Listening sockets as the kernel has them, and who is at the other end of a connection. Blocking,
// at the start of the service alone.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/api/exchange.h"

namespace cupel::api {

struct ListeningSocket {
  int descriptor = -1;
  int family = 0;
  std::string address{};  // "127.0.0.1:8443", "[::1]:8443", or the path
};

/// Mode 0600. Replaces one that was left behind. Errors: kConflict: another process listens there;
/// kStorage.
Result<int> listening_unix_socket(const std::filesystem::path& path);

/// Whether a process listens at the socket, and this user may ask it. Does not wait.
bool is_served(const std::filesystem::path& socket);

/// Errors: kInvalid: no address and port; kConflict: it is taken.
Result<ListeningSocket> listening_tcp_socket(const std::string& address);

/// Errors: kInvalid: no socket, or one that does not listen.
Result<ListeningSocket> adopted_socket(int descriptor);

/// The descriptors that systemd has passed to this process, and no other. Source: sd_listen_fds(3).
std::vector<int> passed_descriptors();

/// Nothing where the connection has gone.
std::optional<Peer> peer_of(int descriptor, bool is_local);

void set_no_delay(int descriptor);

}  // namespace cupel::api
