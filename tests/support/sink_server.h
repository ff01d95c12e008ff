#pragma once
// An HTTPS server that takes whatever is sent to it, and stops where a test says: for uploads. One
// thread for each connection; it keeps nothing but heads, sums and, where asked to, bodies.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inventory/model.h"

namespace cupel::test {

class SinkServer {
 public:
  struct Manner {
    enum class Then { answer, cut, silence };
    std::uint64_t reads = ~std::uint64_t{0};  // so many bytes of the body, at most
    Then then = Then::answer;
    std::string answer = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
    std::chrono::milliseconds thinks{0};  // before it answers
    bool keeps_body = false;
    bool everywhere = false;           // at every address of 127.0.0.0/8
    std::function<void()> half_way{};  // called once, when the first 64 KiB were read
  };
  struct Taken {
    std::string head;
    std::uint64_t bytes = 0;  // of the body
    std::string sha256{};
    std::string body{};
  };

  SinkServer() : SinkServer{Manner{}} {}
  explicit SinkServer(Manner manner);
  SinkServer(const SinkServer&) = delete;
  SinkServer& operator=(const SinkServer&) = delete;
  ~SinkServer();

  inventory::Endpoint endpoint() const;
  /// Every request so far, whose body has ended in one way or another.
  std::vector<Taken> taken() const;
  int connections() const;
  int most_at_once() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::test
