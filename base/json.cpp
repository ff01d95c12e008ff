#include "base/json.h"

#include "base/text.h"

namespace cupel {

Result<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = 64;
  json::stream_parser parser{{}, options};
  json::error_code failure;
  const auto used = parser.write_some(text.data(), text.size(), failure);
  if (!failure && parser.done() && trimmed(text.substr(used)).empty()) return parser.release();
  if (!failure) parser.finish(failure);
  if (!failure && parser.done() && trimmed(text.substr(used)).empty()) return parser.release();
  const auto reason = failure ? failure.message() : std::string{"something follows the document"};
  return Error{Code::kMalformed, "not JSON at byte " + std::to_string(used) + ": " + reason};
}

const json::value* find(const json::value& root, std::string_view path) {
  const json::value* at = &root;
  for (const auto key : split(path, '/')) {
    const auto* object = at->if_object();
    if (object == nullptr) return nullptr;
    at = object->if_contains(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::optional<std::string> text_at(const json::value& root, std::string_view path) {
  const auto* value = find(root, path);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr) return std::nullopt;
  const auto bare = trimmed({text->data(), text->size()});
  if (bare.empty()) return std::nullopt;
  return std::string{bare};
}

std::optional<bool> flag_at(const json::value& root, std::string_view path) {
  const auto* value = find(root, path);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}

std::optional<double> number_at(const json::value& root, std::string_view path) {
  const auto* value = find(root, path);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return number<double>(trimmed(value->get_string()));
  if (value->is_number()) return value->to_number<double>();
  return std::nullopt;
}

}  // namespace cupel
