#include "orchestrator/handoff/token_claims.h"

#include <fmt/chrono.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/text.h"

namespace cupel::handoff {

TokenClaims token_claims(std::string_view token) {
  constexpr std::size_t kLongest = 16u << 10;
  constexpr double kLatest = 253402300799;  // the end of year 9999
  TokenClaims claims;
  const auto parts = split(token, '.');
  if (parts.size() != 3 || token.size() > kLongest) return claims;
  std::string usual{parts[1]};  // from the alphabet of RFC 4648, 5
  for (char& c : usual) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const auto bytes = from_base64(usual);
  if (!bytes) return claims;
  const auto parsed = parse_json(*bytes);
  if (!parsed) return claims;
  const auto expires = number_at(*parsed, "exp");
  if (expires && *expires >= 0 && *expires <= kLatest)
    claims.expires = std::chrono::sys_seconds{std::chrono::seconds{static_cast<long>(*expires)}};
  claims.user = text_at(*parsed, "sun").value_or("");
  return claims;
}

std::string utc_text(std::chrono::sys_seconds time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time.time_since_epoch().count()));
}

}  // namespace cupel::handoff
