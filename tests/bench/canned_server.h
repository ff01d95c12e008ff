#pragma once
// Many BMCs in one lean process of its own, for benchmarks: TLS, answers from memory, after a
// while. It listens on every address of 127.0.0.0/8; whoever asks is served alike. It shares no
// code with the client.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace cupel::bench {

struct Canned {
  std::unordered_map<std::string, std::string> bodies{};  // by path; anything else is 404
  std::chrono::microseconds latency{0};                   // before each answer
};

class CannedServer {
 public:
  /// Forks: no threads before it.
  explicit CannedServer(Canned canned);
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;
  ~CannedServer();

  /// "127.0.x.y" of the number `index`.
  static std::string address(int index);
  std::uint16_t port() const { return port_; }
  double cpu_seconds() const;  // of the server

  /// Close the connection after each answer from now on, as some BMCs do.
  void close_after_answers(bool close);
  long requests() const;
  long handshakes() const;  // full ones
  long resumed() const;

 private:
  struct Shared;
  Shared* shared_;
  std::uint16_t port_ = 0;
  pid_t child_ = 0;
};

}  // namespace cupel::bench
