#include "rehearsal/bmc/sessions.h"

#include <openssl/rand.h>

#include <vector>

namespace cupel::rehearsal {

std::string random_hex(std::size_t bytes) {
  std::vector<unsigned char> raw(bytes);
  if (RAND_bytes(raw.data(), static_cast<int>(raw.size())) != 1) std::abort();
  std::string text;
  for (const auto byte : raw) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

void BmcSessions::drop_idle() {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(sessions_, [&](const auto& one) { return now - one.second.used > timeout_; });
}

std::optional<BmcSession> BmcSessions::open(std::string user) {
  drop_idle();
  if (sessions_.size() >= limit_) return std::nullopt;
  BmcSession session{.id = std::to_string(next_++),
                     .token = random_hex(16),
                     .user = std::move(user),
                     .used = std::chrono::steady_clock::now()};
  sessions_[session.id] = session;
  return session;
}

const BmcSession* BmcSessions::use(const std::string& token) {
  drop_idle();
  for (auto& [id, session] : sessions_)
    if (!token.empty() && session.token == token) {
      session.used = std::chrono::steady_clock::now();
      return &session;
    }
  return nullptr;
}

bool BmcSessions::close(const std::string& id) { return sessions_.erase(id) > 0; }

const std::map<std::string, BmcSession>& BmcSessions::all() {
  drop_idle();
  return sessions_;
}

}  // namespace cupel::rehearsal
