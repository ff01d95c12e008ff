#pragma once
// What a value of a playbook may look like, as data: the parser checks by it, and the JSON Schema
// is made of it, so that an editor and `cupel run` cannot disagree. Not what a value means.
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/yaml.h"

namespace cupel::playbooks {

struct Key;

struct Shape {
  enum class Kind {
    anything,
    text,
    name,  // letters, digits and "._-": what becomes part of a step's name
    word,  // one of `words`
    duration,
    size,
    size_or_percent,
    folder,
    integer,  // from `least` to `most`
    number,
    list,    // of `parts[0]`
    map,     // with `keys`
    table,   // any names, each with a value as `parts[0]`
    either,  // any of `parts`, which differ in being scalar, list or map
  };
  Kind kind = Kind::text;
  double least = 0;
  double most = 0;  // of a list or table: how many items
  std::vector<std::string_view> words;
  std::vector<Key> keys;
  std::vector<Shape> parts;
  /// For the message about an unknown word: "there is no step 'x'"; empty: "x must be a or b".
  std::string_view noun;
  /// Something better to say of an unknown word than the nearest known one; empty: nothing.
  std::string (*hint)(std::string_view typed);
  std::vector<std::string_view> about;  // what each of `words` is; empty, or as many
};

struct Key {
  std::string_view name;
  std::string_view description;
  Shape shape;
  bool required = false;
  bool parameters = false;  // `${name}` may stand in its values
};

Shape of_kind(Shape::Kind kind);
Shape word_of(std::vector<std::string_view> words, std::string_view noun = {});
Shape integer_from(double least, double most);
Shape number_from(double least, double most);
Shape list_of(Shape item, double most);
Shape table_of(Shape value, double most);
Shape map_of(std::vector<Key> keys);
Shape either_of(std::vector<Shape> parts);

/// Whether the value has the shape; each fault becomes a problem at its place. `what` names the
/// value in messages. Where parameters may stand, a "${" that is left passes: whoever filled in the
/// values has said what is wrong with it.
bool conforms(const inventory::YamlValue& value, const Shape& shape, std::string_view what,
              const std::string& file, std::vector<inventory::Problem>& problems);

/// The shape as JSON Schema. With `parameters`, "${name}" may stand for any scalar.
/// Source: JSON Schema 2020-12.
boost::json::object schema_of(const Shape& shape, bool parameters = false);

}  // namespace cupel::playbooks
