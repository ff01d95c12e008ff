#pragma once
// What the readers of profiles and inventories ask for, noted while they read: so that the JSON
// Schema that editors use is made of the code that reads, and cannot disagree with it.
#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>

#include "inventory/yaml.h"

namespace cupel::inventory {

/// Notes of one thread, while it lives: YamlFields tells it of each key that it is asked for.
class ReadShape {
 public:
  enum class Kind { any, text, number, integer, flag, duration, size, texts, list };

  ReadShape();
  ~ReadShape();
  ReadShape(const ReadShape&) = delete;
  ReadShape& operator=(const ReadShape&) = delete;

  /// The one of this thread; nullptr where nobody notes.
  static ReadShape* noting();

  /// `map`: where it stands, by which it is known.
  void opened(const Place& map);
  void asked(const Place& map, std::string_view key, Kind kind, long least = 0, long most = 0);
  void required(const Place& map, std::string_view key);
  /// All keys were asked for: any other one is an error.
  void closed(const Place& map);

  /// As JSON Schema, of a document of the same text. A map that no reader opened as such (criteria
  /// by stage) has any keys, with values as its own.
  boost::json::object schema(const YamlDocument& document) const;

 private:
  struct Key {
    Kind kind = Kind::any;
    long least = 0, most = 0;
    bool required = false;
  };
  struct Map {
    std::map<std::string, Key, std::less<>> keys{};
    bool closed = false;
  };
  boost::json::object schema_of(const YamlValue& value, const std::string& file) const;
  boost::json::object schema_of_map(const YamlValue& value, const std::string& file,
                                    const Map& map) const;
  boost::json::object schema_of_key(const YamlValue* value, const std::string& file,
                                    const Key& key) const;
  boost::json::object schema_of_items(const YamlValue& value, const std::string& file) const;

  std::map<Place, Map> maps_{};
  ReadShape* outer_ = nullptr;
};

/// What both schemas accept, merged: properties of either, items of either.
boost::json::object merged_schemas(boost::json::object left, const boost::json::object& right);

/// Of a profile, by reading all that are shipped. Of an inventory, by reading one that has
/// everything.
boost::json::object profile_schema();
boost::json::object inventory_schema();

}  // namespace cupel::inventory
