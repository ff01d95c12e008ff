#include "orchestrator/api/field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/yaml.h"

namespace cupel::api {
namespace {

namespace json = boost::json;
using Kind = Field::Kind;

constexpr std::size_t kMostSettings = 100;
constexpr std::size_t kMostTexts = 64;
constexpr std::string_view kNamePattern = "^[A-Za-z0-9._@/:+-]{1,128}$";
constexpr std::string_view kCursorPattern = "^[A-Za-z0-9:;,._@/-]{1,4096}$";
constexpr std::string_view kPagePattern = "^[0-9]{1,18}$";
constexpr std::string_view kDigestPattern = "^[0-9a-f]{64}$";

bool is_one_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) != 0 || others.contains(static_cast<char>(c));
  });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string wrong_integer(const Field& field, std::optional<std::int64_t> value) {
  if (value && *value >= field.least && *value <= field.most) return {};
  return fmt::format("is no whole number from {} to {}", field.least, field.most);
}

/// Each as a text of the field would be.
std::string wrong_list(const Field& field, const json::value& value) {
  const auto* list = value.if_array();
  if (list == nullptr) return "is no list of texts";
  if (list->size() > kMostTexts) return fmt::format("has over {} texts", kMostTexts);
  for (const auto& each : *list) {
    auto wrong = each.is_string() ? wrong_text(field, each.get_string()) : "is no text";
    if (!wrong.empty()) return fmt::format("has one that {}", wrong);
  }
  return {};
}

std::string wrong_value(const Field& field, const json::value& value) {
  switch (field.kind) {
    case Kind::integer: {
      boost::system::error_code none;
      const auto number = value.is_int64() || value.is_uint64()
                              ? value.to_number<std::int64_t>(none)
                              : std::int64_t{0};
      const bool whole = (value.is_int64() || value.is_uint64()) && !none;
      return wrong_integer(field, whole ? std::optional{number} : std::nullopt);
    }
    case Kind::flag:
      return value.is_bool() ? "" : "is neither true nor false";
    case Kind::texts:
      return wrong_list(field, value);
    case Kind::settings: {
      const auto* object = value.if_object();
      if (object == nullptr) return "is no object of texts";
      if (object->size() > kMostSettings) return fmt::format("has over {} members", kMostSettings);
      for (const auto& [name, each] : *object)
        if (!each.is_string() || each.get_string().size() > 1000 || has_control(each.get_string()))
          return fmt::format("has no text of at most 1000 bytes at '{}'",
                             shortened(std::string_view{name}, 100));
      return {};
    }
    default:
      return value.is_string() ? wrong_text(field, value.get_string()) : "is no text";
  }
}

json::object texts_schema(const Field& field) {
  json::object schema{{"type", "string"}};
  switch (field.kind) {
    case Kind::name:
      schema["pattern"] = kNamePattern;
      break;
    case Kind::cursor:
      schema["pattern"] = kCursorPattern;
      break;
    case Kind::page:
      schema["pattern"] = kPagePattern;
      break;
    case Kind::digest:
      schema["pattern"] = kDigestPattern;
      break;
    case Kind::time:
      schema["format"] = "date-time";
      break;
    case Kind::word:
      schema["enum"] = json::array(field.words.begin(), field.words.end());
      break;
    default:
      schema["minLength"] = 1;
      schema["maxLength"] = field.most;
      break;
  }
  return schema;
}

}  // namespace

json::object schema_of(const Field& field) {
  json::object schema;
  switch (field.kind) {
    case Kind::integer:
      schema = {{"type", "integer"}, {"minimum", field.least}, {"maximum", field.most}};
      break;
    case Kind::flag:
      schema = {{"type", "boolean"}};
      break;
    case Kind::number:
      schema = {{"type", "number"}};
      break;
    case Kind::texts:
      schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
      break;
    case Kind::settings:
      schema = {{"type", "object"},
                {"maxProperties", kMostSettings},
                {"additionalProperties", {{"type", "string"}, {"maxLength", 1000}}}};
      break;
    case Kind::object:
      schema = {{"type", "object"}};
      break;
    case Kind::list:
      schema = {{"type", "array"}, {"items", json::object{}}};
      break;
    case Kind::any:
      break;
    default:
      schema = texts_schema(field);
      break;
  }
  if (!field.what.empty()) schema["description"] = field.what;
  return schema;
}

json::object schema_of(std::span<const Field> fields, bool closed) {
  json::object members;
  json::array required;
  for (const auto& field : fields) {
    auto member = schema_of(field);
    if (closed && field.kind == Kind::texts) {  // of a request: as wrong_list() has it
      member["maxItems"] = kMostTexts;
      member["items"] = texts_schema(field);
    }
    members[field.name] = std::move(member);
    if (field.required) required.emplace_back(field.name);
  }
  json::object schema{{"type", "object"}, {"properties", std::move(members)}};
  if (!required.empty()) schema["required"] = std::move(required);
  if (closed) schema["additionalProperties"] = false;
  return schema;
}

std::string wrong_text(const Field& field, std::string_view text) {
  switch (field.kind) {
    case Kind::integer:
      return wrong_integer(field, number<std::int64_t>(text));
    case Kind::flag:
      return text == "true" || text == "false" ? "" : "is neither true nor false";
    case Kind::word:
      if (std::ranges::find(field.words, text) != field.words.end()) return {};
      return fmt::format("is none of {}{}", fmt::join(field.words, ", "),
                         inventory::did_you_mean(text, field.words));
    case Kind::name:
      if (!text.empty() && text.size() <= 128 && is_one_of(text, "._@/:+-")) return {};
      return "is no name: 1 to 128 letters, digits and . _ - @ / : +";
    case Kind::cursor:
      if (!text.empty() && text.size() <= 4096 && is_one_of(text, ":;,._@/-")) return {};
      return "is no cursor of an earlier answer";
    case Kind::page: {
      const bool sound =
          text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos && !text.empty();
      return sound ? "" : "is no cursor of an earlier answer";
    }
    case Kind::digest: {
      const bool sound =
          text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
      return sound ? "" : "is no SHA-256 of 64 hexadecimal digits";
    }
    default:
      if (text.empty()) return "is empty";
      if (std::cmp_greater(text.size(), field.most))
        return fmt::format("has over {} bytes", field.most);
      return has_control(text) ? "has a control character" : "";
  }
}

std::vector<Fault> faults_in(std::span<const Field> fields, const json::object& body) {
  std::vector<Fault> faults;
  std::vector<std::string_view> known;
  for (const auto& field : fields) {
    known.push_back(field.name);
    const auto* value = body.if_contains(field.name);
    if (value == nullptr) {
      if (field.required) faults.push_back({fmt::format("body.{}", field.name), "is missing"});
      continue;
    }
    if (auto wrong = wrong_value(field, *value); !wrong.empty())
      faults.push_back({fmt::format("body.{}", field.name), std::move(wrong)});
  }
  for (const auto& member : body) {
    const std::string_view name{member.key()};
    if (std::ranges::find(known, name) != known.end()) continue;
    faults.push_back(
        {"body." + shortened(name, 100),
         "is unknown" + inventory::did_you_mean(name, std::span<const std::string_view>{known})});
    if (faults.size() >= 100) break;
  }
  return faults;
}

}  // namespace cupel::api
