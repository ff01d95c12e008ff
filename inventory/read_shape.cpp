#include "inventory/read_shape.h"

#include <algorithm>
#include <boost/json.hpp>

namespace cupel::inventory {
namespace {

namespace json = boost::json;

thread_local ReadShape* noting_now = nullptr;

json::object of_type(std::string_view type) { return {{"type", type}}; }

/// YAML's words for a text may look like a number or a truth.
json::object scalar_schema() { return {{"type", json::array{"string", "number", "boolean"}}}; }

constexpr std::string_view kAnyOf = "anyOf";

json::value type_of(const json::object& schema) {
  const auto* type = schema.if_contains("type");
  return type == nullptr ? json::value{} : *type;
}

/// A map here and a list of such maps there: each kind of value once, with all that was seen of it.
json::object either(const json::object& left, const json::object& right) {
  json::array all;
  const auto add = [&](const json::object& schema) {
    for (auto& known : all)
      if (type_of(known.get_object()) == type_of(schema)) {
        known = merged_schemas(known.get_object(), schema);
        return;
      }
    all.push_back(schema);
  };
  for (const auto* each : {&left, &right}) {
    const auto* alternatives = each->if_contains(kAnyOf);
    if (alternatives == nullptr)
      add(*each);
    else
      for (const auto& one : alternatives->get_array()) add(one.get_object());
  }
  return {{kAnyOf, std::move(all)}};
}

json::object duration_schema() { return {{"type", "string"}, {"pattern", "^([0-9]+[smhd])+$"}}; }

json::object texts_schema() {
  json::object list{{"type", "array"}, {"items", scalar_schema()}};
  return {{"anyOf", json::array{scalar_schema(), std::move(list)}}};
}

}  // namespace

ReadShape::ReadShape() : outer_{noting_now} { noting_now = this; }
ReadShape::~ReadShape() { noting_now = outer_; }
ReadShape* ReadShape::noting() { return noting_now; }

void ReadShape::opened(const Place& map) { maps_.try_emplace(map); }

void ReadShape::asked(const Place& map, std::string_view key, Kind kind, long least, long most) {
  auto& known = maps_[map].keys.try_emplace(std::string{key}).first->second;
  // A reader asks for a text to make a number of it: the last word counts, but for "is it there".
  if (kind != Kind::any) known = {kind, least, most, known.required};
}

void ReadShape::required(const Place& map, std::string_view key) {
  maps_[map].keys.try_emplace(std::string{key}).first->second.required = true;
}

void ReadShape::closed(const Place& map) { maps_[map].closed = true; }

json::object ReadShape::schema(const YamlDocument& document) const {
  return schema_of(document.root, document.file);
}

json::object ReadShape::schema_of(const YamlValue& value, const std::string& file) const {
  const auto found = maps_.find({file, value.line, value.column});
  if (found != maps_.end() && value.kind == YamlValue::Kind::map)
    return schema_of_map(value, file, found->second);
  if (value.kind == YamlValue::Kind::map) {
    json::object each;
    for (const auto& item : value.items)
      each = merged_schemas(std::move(each), schema_of(item, file));
    json::object map = of_type("object");
    map["additionalProperties"] = std::move(each);
    return map;
  }
  if (value.kind == YamlValue::Kind::list)
    return {{"type", "array"}, {"items", schema_of_items(value, file)}};
  return {};
}

json::object ReadShape::schema_of_items(const YamlValue& value, const std::string& file) const {
  json::object items;
  for (const auto& item : value.items)
    items = merged_schemas(std::move(items), schema_of(item, file));
  return items;
}

json::object ReadShape::schema_of_map(const YamlValue& value, const std::string& file,
                                      const Map& map) const {
  json::object properties;
  json::array required;
  for (const auto& [name, key] : map.keys) {
    properties[name] = schema_of_key(value.entry(name), file, key);
    if (key.required) required.emplace_back(name);
  }
  json::object object = of_type("object");
  object["properties"] = std::move(properties);
  if (!required.empty()) object["required"] = std::move(required);
  if (map.closed) object["additionalProperties"] = false;
  return object;
}

json::object ReadShape::schema_of_key(const YamlValue* value, const std::string& file,
                                      const Key& key) const {
  switch (key.kind) {
    case Kind::text:
      return scalar_schema();
    case Kind::number:
      return of_type("number");
    case Kind::integer:
      return {{"type", "integer"}, {"minimum", key.least}, {"maximum", key.most}};
    case Kind::flag:
      return {{"enum", json::array{true, false, "yes", "no"}}};
    case Kind::duration:
      return duration_schema();
    case Kind::size:
      return {{"type", json::array{"string", "number"}}};
    case Kind::texts:
      return texts_schema();
    case Kind::list: {
      const bool is_list = value != nullptr && value->kind == YamlValue::Kind::list;
      return {{"type", "array"},
              {"items", is_list ? schema_of_items(*value, file) : json::object{}}};
    }
    case Kind::any:
      return value == nullptr ? json::object{} : schema_of(*value, file);
  }
  __builtin_unreachable();
}

json::object merged_schemas(json::object left, const json::object& right) {
  if (left.empty()) return right;
  if (right.empty()) return left;
  if (left.contains(kAnyOf) || type_of(left) != type_of(right)) return either(left, right);
  for (const auto& [key, value] : right) {
    auto* mine = left.if_contains(key);
    if (mine == nullptr) {
      left[key] = value;
    } else if (key == "properties" && mine->is_object() && value.is_object()) {
      for (const auto& [name, schema] : value.get_object()) {
        auto& known = mine->get_object()[name];
        if (!known.is_object())
          known = schema;
        else if (schema.is_object())
          known = merged_schemas(known.get_object(), schema.get_object());
      }
    } else if (mine->is_object() && value.is_object()) {
      *mine = merged_schemas(mine->get_object(), value.get_object());
    }
  }
  return left;
}

}  // namespace cupel::inventory
