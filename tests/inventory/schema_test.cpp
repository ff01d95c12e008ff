// The schemas for editors: made by reading, so that whatever the readers take fits.
#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "inventory/load.h"
#include "inventory/read_shape.h"
#include "inventory/shipped.h"

namespace cupel::inventory {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::HasSubstr;

/// So much of JSON Schema as these schemas use.
void check(const YamlValue& value, const json::value& schema, const std::string& at,
           std::vector<std::string>& faults) {
  if (!schema.is_object()) return;
  const auto& object = schema.get_object();
  if (const auto* any = object.if_contains("anyOf")) {
    for (const auto& each : any->get_array()) {
      std::vector<std::string> of_this;
      check(value, each, at, of_this);
      if (of_this.empty()) return;
    }
    faults.push_back(at + " fits none");
    return;
  }
  const auto* type = object.if_contains("type");
  const auto is = [&](std::string_view word) {
    return type != nullptr && type->is_string() && type->get_string() == word;
  };
  if (is("object") && value.kind != YamlValue::Kind::map)
    return faults.push_back(at + " is no map");
  if (is("array") && value.kind != YamlValue::Kind::list)
    return faults.push_back(at + " is no list");
  if (value.kind == YamlValue::Kind::map && is("object")) {
    const auto* properties = object.if_contains("properties");
    const auto* more = object.if_contains("additionalProperties");
    for (const auto& item : value.items) {
      const auto* known =
          properties == nullptr ? nullptr : properties->get_object().if_contains(item.key);
      const auto place = at + "/" + item.key;
      if (known != nullptr)
        check(item, *known, place, faults);
      else if (more != nullptr && more->is_bool())
        faults.push_back(place + " is unknown");
      else if (more != nullptr)
        check(item, *more, place, faults);
    }
  }
  if (value.kind == YamlValue::Kind::list && is("array"))
    for (const auto& item : value.items) check(item, object.at("items"), at + "/item", faults);
}

std::vector<std::string> faults_of(std::string_view text, const json::object& schema) {
  std::vector<Problem> problems;
  const auto document = parse_yaml(text, "x.yaml", problems);
  EXPECT_TRUE(document) << to_string(problems);
  std::vector<std::string> faults;
  if (document) check(document->root, json::value(schema), "", faults);
  return faults;
}

TEST(ProfileSchema, AcceptsEveryShippedProfile) {
  const auto schema = profile_schema();
  for (const auto& file : shipped_files())
    if (file.path.starts_with("inventory/profiles/"))
      EXPECT_THAT(faults_of(file.text, schema), ::testing::IsEmpty()) << file.path;
}

TEST(ProfileSchema, KnowsWhatAnImageIsNotGiven) {
  const auto schema = profile_schema();

  EXPECT_THAT(faults_of("profile: x\nos: {seed: no, grow: yes}\n", schema), ::testing::IsEmpty());
  EXPECT_THAT(faults_of("profile: x\nos: {sed: no}\n", schema), Contains("/os/sed is unknown"));
}

TEST(ProfileSchema, KnowsEveryKeyAndNoOthers) {
  const auto schema = profile_schema();
  const auto& properties = schema.at("properties").as_object();

  for (const auto* key :
       {"profile", "extends", "description", "units", "power", "patience", "slurm", "parts",
        "rails", "firmware", "bios", "settings", "os", "without", "criteria"})
    EXPECT_TRUE(properties.contains(key)) << key;
  EXPECT_THAT(faults_of("profile: x\npowr: {idle: 1}\npower: {idle: 1, loade: 2}\n", schema),
              ::testing::ElementsAre("/powr is unknown", "/power/loade is unknown"));
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_THAT(json::serialize(schema), HasSubstr("\"at_least\""));
}

TEST(InventorySchema, KnowsEverySectionAndNoOthers) {
  const auto schema = inventory_schema();
  const auto& properties = schema.at("properties").as_object();

  for (const auto* key : {"site", "slurm", "kubernetes", "rooms", "racks", "firmware", "boot",
                          "fabric", "defaults", "nodes"})
    EXPECT_TRUE(properties.contains(key)) << key;
  EXPECT_THAT(faults_of("site: x\nnodes: [{name: a, bmc: {addres: b}, profle: c}]\n", schema),
              ::testing::UnorderedElementsAre("/nodes/item/bmc/addres is unknown",
                                              "/nodes/item/profle is unknown"));
}

TEST(ReadShape, NotesNothingWithoutAListener) {
  EXPECT_EQ(ReadShape::noting(), nullptr);
  {
    const ReadShape outer;
    {
      const ReadShape inner;
      EXPECT_EQ(ReadShape::noting(), &inner);
    }
    EXPECT_EQ(ReadShape::noting(), &outer);
  }
  EXPECT_EQ(ReadShape::noting(), nullptr);
}

}  // namespace
}  // namespace cupel::inventory
