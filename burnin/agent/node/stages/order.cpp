#include "burnin/agent/node/stages/order.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kLongestFolder = 4096, kLongestName = 64, kLongestHost = 255;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Those, and no others but these.
bool has_only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text,
                             [&](char c) { return is_letter_or_digit(c) || others.contains(c); });
}

bool is_folder(std::string_view path) {
  return path.starts_with('/') && path.size() <= kLongestFolder && has_only(path, "/._-") &&
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

std::optional<std::uint64_t> OrderReader::amount_if_any(std::string_view key, std::uint64_t least,
                                                        std::uint64_t most) {
  if (order_.find(key) == nullptr) return std::nullopt;
  return amount(key, least, most);
}

bool OrderReader::flag(std::string_view key) {
  const auto* value = order_.find(key);
  const auto* flag = value == nullptr ? nullptr : value->boolean();
  if (flag == nullptr) lacks(key, " that is true or false");
  return flag != nullptr && *flag;
}

bool is_device_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && is_letter_or_digit(name.front()) &&
         has_only(name, "_-.");
}

std::string OrderReader::name(std::string_view key) {
  const auto* value = text(key);
  return value != nullptr && is_device_name(*value) ? *value
                                                    : lacks(key, " that is a device's name");
}

std::string OrderReader::host(std::string_view key) {
  const auto* value = text(key);
  const bool good = value != nullptr && !value->empty() && value->size() <= kLongestHost &&
                    !value->starts_with('-') && has_only(*value, "_-.:%");
  return good ? *value : lacks(key, " that is a host's name or address");
}

const JsonValue::Array& OrderReader::list(std::string_view key, std::size_t most) {
  static const JsonValue::Array kNone;
  const auto* value = order_.find(key);
  if (value == nullptr) return kNone;
  if (value->array() != nullptr && value->array()->size() <= most) return *value->array();
  lacks(key, " that is a list of " + std::to_string(most) + " at most");
  return kNone;
}

}  // namespace cupel::agent
