#pragma once
// Who is logged in to one BMC: tokens, their number and their age. No HTTP here.
#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace cupel::rehearsal {

struct BmcSession {
  std::string id;
  std::string token;
  std::string user;
  std::chrono::steady_clock::time_point used{};
};

class BmcSessions {
 public:
  BmcSessions(std::size_t limit, std::chrono::milliseconds timeout)
      : limit_{limit}, timeout_{timeout} {}

  /// Nothing where all seats are taken.
  std::optional<BmcSession> open(std::string user);
  /// The session of a token that is still good; counts as use.
  const BmcSession* use(const std::string& token);
  bool close(const std::string& id);
  const std::map<std::string, BmcSession>& all();
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }
  std::chrono::milliseconds timeout() const { return timeout_; }

 private:
  void drop_idle();

  std::size_t limit_;
  std::chrono::milliseconds timeout_;
  std::map<std::string, BmcSession> sessions_;
  int next_ = 1;
};

/// So many random bytes, in hexadecimal.
std::string random_hex(std::size_t bytes);

}  // namespace cupel::rehearsal
