#include "orchestrator/certificate/revoked.h"

#include <fmt/format.h>

#include "base/text.h"
#include "inventory/boot.h"

namespace cupel::certificate {
namespace {

constexpr std::size_t kMostShown = 200;  // bytes of a line, in an error

/// In lower case; empty: the line has none.
std::string digest_of(std::string_view line) {
  const auto pieces = words(line);
  auto word = pieces.empty() ? std::string{} : lower_case(pieces.front());
  return inventory::is_sha256(word) ? word : std::string{};
}

}  // namespace

Result<void> check_revoked(std::string_view list, const Revocable& certificate) {
  std::size_t number = 0, malformed = 0;
  for (const auto each : lines(list)) {
    ++number;
    const auto line = trimmed(each);
    if (line.empty() || line.starts_with('#')) continue;
    const auto digest = digest_of(line);
    const auto shown = printable(line.substr(0, kMostShown));
    if (digest.empty()) {
      if (malformed == 0) malformed = number;
    } else if (digest == certificate.payload || digest == certificate.file) {
      return Error{Code::kUntrusted, "this certificate was revoked: " + shown};
    } else if (digest == certificate.key_id) {
      return Error{Code::kUntrusted, "the key that signed it was revoked: " + shown};
    }
  }
  if (malformed == 0) return ok();
  return Error{
      Code::kInvalid,
      fmt::format("line {} does not begin with a SHA-256 of 64 hexadecimal digits: what it "
                  "revokes is not known",
                  malformed)};
}

}  // namespace cupel::certificate
