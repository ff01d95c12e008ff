#include "orchestrator/store/packed_text.h"

#include "base/base64.h"
#include "base/text.h"
#include "orchestrator/store/gzip.h"

namespace cupel::store {
namespace {

constexpr std::string_view kMark = "gz:";
constexpr std::size_t kWorthwhile = 4096;  // bytes: a page of the database
constexpr std::size_t kLargest = 512u << 20;

/// Empty if it is no base64 with all its padding.
std::string packed_bytes(std::string_view text) {
  return text.size() % 4 == 0 ? from_base64(text).value_or("") : "";
}

}  // namespace

std::string packed_text(std::string text) {
  // PostgreSQL keeps no NUL and nothing but UTF-8.
  const bool plain = text.find('\0') == text.npos && valid_utf8(text) == text;
  if (plain && text.size() < kWorthwhile) return text;
  const auto bytes = gzipped(text);
  if (plain && bytes.size() / 3 * 4 + 8 >= text.size()) return text;
  return std::string{kMark} + base64(bytes);
}

std::string unpacked_text(std::string kept) {
  if (!kept.starts_with(kMark)) return kept;
  auto text = gunzipped(packed_bytes(std::string_view{kept}.substr(kMark.size())), kLargest);
  return text ? *std::move(text) : std::move(kept);
}

}  // namespace cupel::store
