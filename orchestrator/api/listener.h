#pragma once
// HTTP/1.1 for the API: on Unix sockets in clear, on TCP by TLS 1.3 and in no other way. Bounds
// heads, bodies, connections and patience; cuts off who is slow or silent. What is answered is the
// handler's. One thread of its own.
#include <sys/types.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/api/exchange.h"

namespace cupel::api {

struct TlsFiles {
  std::string certificate{};  // PEM, the chain
  std::string key{};          // PEM
  std::string client_ca{};    // PEM; empty: client certificates are not asked for
};

struct ListenerLimits {
  std::uint32_t head = 16 * 1024;
  std::uint64_t body = 1024 * 1024;
  // Of the network; local ones have as many of their own, and nobody on the network takes them.
  // Of IPv6 an address is its /64.
  std::size_t connections = 1024;
  std::size_t connections_per_address = 64;
  // Of these, connections that have not got an answer to a request that was let in: what has just
  // connected leaves room for who is known.
  std::size_t strangers = 768;
  std::size_t strangers_per_address = 32;
  std::chrono::milliseconds head_patience{10'000};  // for the handshake, and for a whole head
  std::chrono::milliseconds idle{75'000};           // between two requests
  std::chrono::milliseconds body_patience{30'000};
  std::chrono::milliseconds write_patience{30'000};  // for each piece of 256 KiB
  // Behind the last answer of a connection, until the client closes it.
  std::uint64_t linger = 4 * 1024 * 1024;            // bytes that are read and dropped
  std::chrono::milliseconds linger_patience{5'000};  // in all
};

class Listener {
 public:
  using Handler = std::function<Task<Answer>(Request)>;

  Listener(ListenerLimits limits, Handler handler);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  /// Cuts every connection.
  ~Listener();

  /// Mode 0600; replaces a socket on which nobody listens. Errors: kConflict: somebody does;
  /// kStorage.
  Result<void> listen_unix(const std::filesystem::path& path);
  /// "127.0.0.1:8443"; a port of 0 becomes a number. Needs use(). Returns "https://127.0.0.1:8443".
  /// Errors: kInvalid: no address; kConflict: it is taken.
  Result<std::string> listen_tls(const std::string& address);
  /// A listening socket that systemd has made; of Unix or of TCP. Returns what it is, in words.
  /// Errors: kInvalid.
  Result<std::string> adopt(int descriptor);

  /// For connections from now on. Errors: kInvalid: no certificate, or a key of another one.
  Result<void> use(const TlsFiles& files);

  /// Called with what ended a door, on the listener's thread. Before start().
  void on_lost(std::function<void(std::exception_ptr)> lost);
  /// Serves, on a thread of its own, until the end of this object.
  void start();
  /// No handler is called any more; what is under way stays as it is until the end of this object.
  void stop();

  asio::io_context& io();
  std::size_t connections() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What ended a task of the listener's loop, as an error of the log; nullptr: nothing did.
void log_bug(std::string_view event, std::exception_ptr bug);

}  // namespace cupel::api
