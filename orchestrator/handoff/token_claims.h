#pragma once
// What a JSON web token says of itself. Its signature is not looked at: whoever is sent the token
// does that. Pure.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::handoff {

struct TokenClaims {
  std::optional<std::chrono::sys_seconds> expires{};
  std::string user{};  // "sun", where Slurm has the name
};

/// Nothing in it where `token` is none. Source: RFC 7519, 4.1.4; Slurm, "JWT Authentication".
TokenClaims token_claims(std::string_view token);

/// "2026-11-26T17:00:00Z"
std::string utc_text(std::chrono::sys_seconds time);

}  // namespace cupel::handoff
