#include "burnin/agent/node/stages/order.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kLongestFolder = 4096;

bool is_path_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
         c == '.' || c == '_' || c == '-';
}

bool is_folder(std::string_view path) {
  return path.starts_with('/') && path.size() <= kLongestFolder &&
         std::ranges::all_of(path, is_path_character) &&
         std::ranges::none_of(split(path, '/'), [](auto piece) { return piece == ".."; });
}

}  // namespace

std::string OrderReader::lacks(std::string_view key, const std::string& what) {
  if (why_.empty()) why_ = "the order has no " + std::string{key} + what;
  return {};
}

const std::string* OrderReader::text(std::string_view key) const {
  const auto* value = order_.find(key);
  return value == nullptr ? nullptr : value->text();
}

std::uint64_t OrderReader::amount(std::string_view key, std::uint64_t least, std::uint64_t most) {
  const auto* value = order_.find(key);
  const auto count = value == nullptr ? std::nullopt : value->count();
  if (count && *count >= least && *count <= most) return *count;
  lacks(key, " from " + std::to_string(least) + " to " + std::to_string(most));
  return 0;
}

std::string OrderReader::word(std::string_view key, std::span<const std::string_view> words) {
  const auto* value = text(key);
  const bool known = value != nullptr && std::ranges::find(words, *value) != words.end();
  return known ? *value : lacks(key, " that this stage knows");
}

std::string OrderReader::folder(std::string_view key) {
  const auto* value = text(key);
  return value != nullptr && is_folder(*value) ? *value : lacks(key, " that is a folder's path");
}

}  // namespace cupel::agent
