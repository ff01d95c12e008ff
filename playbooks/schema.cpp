#include "playbooks/schema.h"

#include <boost/json.hpp>

#include "burnin/stage.h"
#include "playbooks/format.h"

namespace cupel::playbooks {
namespace {

namespace json = boost::json;
using Kind = Shape::Kind;

constexpr std::string_view kDuration = R"(^\s*([0-9]+[smhd])+\s*$)";
constexpr std::string_view kSize =
    R"(^\s*[0-9.]+\s*(|B|kB|KB|MB|GB|TB|PB|KiB|MiB|GiB|TiB|PiB)\s*$)";
constexpr std::string_view kSizeOrPercent =
    R"(^\s*([0-9.]+\s*(|B|kB|KB|MB|GB|TB|PB|KiB|MiB|GiB|TiB|PiB)|[0-9]{1,3}%)\s*$)";
constexpr std::string_view kName = "^[A-Za-z0-9._-]{1,64}$";
constexpr std::string_view kReference = R"(\$\{)";

json::array words(std::span<const std::string_view> all) {
  json::array array;
  for (const auto each : all) array.emplace_back(each);
  return array;
}

/// YAML makes numbers and truths of what is not quoted; the playbook's reader sees texts.
json::object scalar(std::string_view pattern = {}) {
  json::object schema{{"type", {"string", "number", "boolean"}}};
  if (!pattern.empty()) schema["pattern"] = pattern;
  return schema;
}

json::object amount(const Shape& shape) {
  const bool whole = shape.kind == Kind::integer;
  const json::object written{
      {"type", whole ? "integer" : "number"}, {"minimum", shape.least}, {"maximum", shape.most}};
  const json::object quoted{{"type", "string"}, {"pattern", whole ? "^-?[0-9]+$" : "^-?[0-9.]"}};
  return {{"anyOf", json::array{written, quoted}}};
}

json::object word_schema(const Shape& shape) {
  json::object schema{{"enum", words(shape.words)}};
  if (!shape.about.empty()) schema["enumDescriptions"] = words(shape.about);
  return schema;
}

json::object map_schema(const Shape& shape, bool parameters) {
  json::object properties;
  json::array required;
  for (const auto& key : shape.keys) {
    auto schema = schema_of(key.shape, parameters || key.parameters);
    schema["description"] = key.description;
    properties[key.name] = std::move(schema);
    if (key.required) required.emplace_back(key.name);
  }
  json::object schema{
      {"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

json::object either_schema(const Shape& shape, bool parameters) {
  json::array any;
  for (const auto& part : shape.parts) any.push_back(schema_of(part, parameters));
  return {{"anyOf", any}};
}

/// `with:` of one step or stage, where `key` says `name`.
json::object with_rule(std::string_view key, std::string_view name,
                       std::span<const burnin::ParameterRow> rows) {
  json::object properties;
  json::array required;
  for (const auto& row : rows) {
    auto schema = schema_of(shape_of(row), true);
    schema["description"] = row.summary;
    if (row.fallback.empty())
      required.emplace_back(row.name);
    else
      schema["default"] = row.fallback;
    properties[row.name] = std::move(schema);
  }
  json::object with{{"properties", properties}, {"additionalProperties", false}};
  json::object then{{"properties", json::object{{"with", with}}}};
  if (!required.empty()) {
    then["properties"].as_object()["with"].as_object()["required"] = required;
    then["required"] = json::array{"with"};
  }
  const json::object is{{"properties", json::object{{key, json::object{{"const", name}}}}},
                        {"required", json::array{key}}};
  return {{"if", is}, {"then", then}};
}

json::object step_schema() {
  auto schema = schema_of(step_shape());
  json::array exactly_one;
  for (const auto* key : {"step", "stage"})
    exactly_one.push_back(json::object{{"required", json::array{key}}});
  json::array rules;
  for (const auto& row : step_kinds()) rules.push_back(with_rule("step", row.name, row.parameters));
  for (const auto& stage : burnin::stages())
    rules.push_back(with_rule("stage", stage.name, stage.parameters));
  schema["oneOf"] = std::move(exactly_one);
  schema["allOf"] = std::move(rules);
  return schema;
}

json::object plain_schema(const Shape& shape) {
  switch (shape.kind) {
    case Kind::name:
      return scalar(kName);
    case Kind::word:
      return word_schema(shape);
    case Kind::duration:
      return scalar(kDuration);
    case Kind::size:
      return scalar(kSize);
    case Kind::size_or_percent:
      return scalar(kSizeOrPercent);
    case Kind::folder:
      return scalar("^/");
    case Kind::integer:
    case Kind::number:
      return amount(shape);
    default:
      return scalar();
  }
}

}  // namespace

json::object schema_of(const Shape& shape, bool parameters) {
  switch (shape.kind) {
    case Kind::anything:
      return {};
    case Kind::map:
      return map_schema(shape, parameters);
    case Kind::either:
      return either_schema(shape, parameters);
    case Kind::list:
      return {{"type", "array"},
              {"items", schema_of(shape.parts[0], parameters)},
              {"minItems", 1},
              {"maxItems", static_cast<long>(shape.most)}};
    case Kind::table:
      return {{"type", "object"},
              {"propertyNames", json::object{{"pattern", kName}}},
              {"additionalProperties", schema_of(shape.parts[0], parameters)},
              {"maxProperties", static_cast<long>(shape.most)}};
    default:
      break;
  }
  auto schema = plain_schema(shape);
  if (!parameters || shape.kind == Kind::text) return schema;
  const json::object reference{{"type", "string"}, {"pattern", kReference}};
  return {{"anyOf", json::array{std::move(schema), reference}}};
}

json::object playbook_schema() {
  auto schema = schema_of(playbook_shape());
  const json::object item{{"type", "object"},
                          {"if", json::object{{"required", json::array{"include"}}}},
                          {"then", json::object{{"$ref", "#/$defs/include"}}},
                          {"else", json::object{{"$ref", "#/$defs/step"}}}};
  schema["properties"].as_object()["steps"].as_object()["items"] = item;
  schema["$defs"] = {{"step", step_schema()}, {"include", schema_of(include_shape())}};
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Cupel playbook";
  return schema;
}

}  // namespace cupel::playbooks
