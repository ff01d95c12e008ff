#pragma once
// Structs as JSON objects and back, by the rows that Boost.Describe has of them: a key for each
// member, of the member's name unless kKey has another. Writing leaves out what is empty (texts,
// lists of texts, numbers that are absent or not finite). Reading is tolerant: what is absent or of
// another type stays empty. A type in other words than these specialises Row.
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace cupel::described {
namespace json = boost::json;

template <class T>
concept Struct = boost::describe::has_describe_members<T>::value;

/// Its members stand among those of the struct that has it.
template <class T>
inline constexpr bool kFlat = false;

/// The key of a member that is called otherwise in files that exist; empty: as the member.
template <auto Member>
inline constexpr std::string_view kKey{};

template <class Member>
constexpr std::string_view key_of(Member) {
  return kKey<Member::pointer>.empty() ? std::string_view{Member::name} : kKey<Member::pointer>;
}

template <Struct T>
json::object to_object(const T& thing);
template <Struct T>
T from_object(const json::object& object);

/// How a member of this type stands under its key. Of an enum: E known(std::string_view word).
template <class T>
struct Row;

template <>
struct Row<std::string> {
  static void put(json::object& into, std::string_view key, const std::string& text) {
    if (!text.empty()) into[key] = valid_utf8(text);
  }
  static std::string take(const json::value& value) {
    return value.is_string() ? std::string{value.get_string()} : std::string{};
  }
};

template <>
struct Row<bool> {
  static void put(json::object& into, std::string_view key, bool yes) { into[key] = yes; }
  static bool take(const json::value& value) { return value.is_bool() && value.get_bool(); }
};

template <>
struct Row<int> {
  static void put(json::object& into, std::string_view key, int number) { into[key] = number; }
  static int take(const json::value& value) {
    const auto number = value.is_number() ? value.to_number<double>() : 0;
    return std::abs(number) <= 1e9 ? static_cast<int>(number) : 0;
  }
};

template <>
struct Row<std::optional<double>> {
  static void put(json::object& into, std::string_view key, const std::optional<double>& number) {
    if (number && std::isfinite(*number)) into[key] = *number;
  }
  static std::optional<double> take(const json::value& value) {
    return value.is_number() ? std::optional{value.to_number<double>()} : std::nullopt;
  }
};

/// JSON has no NaN (RFC 8259, 6): null stands for it.
template <>
struct Row<double> {
  static void put(json::object& into, std::string_view key, double number) {
    if (std::isfinite(number))
      into[key] = number;
    else
      into[key] = nullptr;
  }
  static double take(const json::value& value) {
    return value.is_number() ? value.to_number<double>() : std::nan("");
  }
};

template <>
struct Row<std::vector<std::string>> {
  static void put(json::object& into, std::string_view key, const std::vector<std::string>& texts) {
    if (!texts.empty()) into[key] = json::array(texts.begin(), texts.end());
  }
  static std::vector<std::string> take(const json::value& value) {
    std::vector<std::string> texts;
    const auto* array = value.if_array();
    for (const auto& each : array == nullptr ? json::array{} : *array)
      if (each.is_string()) texts.emplace_back(each.get_string());
    return texts;
  }
};

template <Struct T>
struct Row<T> {
  static void put(json::object& into, std::string_view key, const T& thing) {
    into[key] = to_object(thing);
  }
  static T take(const json::value& value) {
    return value.is_object() ? from_object<T>(value.get_object()) : T{};
  }
};

template <Struct T>
struct Row<std::optional<T>> {
  static void put(json::object& into, std::string_view key, const std::optional<T>& thing) {
    if (thing) into[key] = to_object(*thing);
  }
  static std::optional<T> take(const json::value& value) {
    return value.is_object() ? std::optional{from_object<T>(value.get_object())} : std::nullopt;
  }
};

template <Struct T>
json::array to_array(const std::vector<T>& things) {
  json::array array;
  array.reserve(things.size());
  for (const auto& each : things) array.push_back(to_object(each));
  return array;
}

/// Objects; whatever else is among them is passed over.
template <Struct T>
std::vector<T> from_array(const json::value* value) {
  std::vector<T> things;
  const auto* array = value == nullptr ? nullptr : value->if_array();
  if (array == nullptr) return things;
  for (const auto& each : *array)
    if (each.is_object()) things.push_back(from_object<T>(each.get_object()));
  return things;
}

template <Struct T>
struct Row<std::vector<T>> {
  static void put(json::object& into, std::string_view key, const std::vector<T>& things) {
    into[key] = to_array(things);
  }
  static std::vector<T> take(const json::value& value) { return from_array<T>(&value); }
};

template <class T>
  requires std::is_enum_v<T>
struct EnumRow {
  static void put(json::object& into, std::string_view key, T word) { into[key] = to_string(word); }
  static T take(const json::value& value) {
    return Row<T>::known(value.is_string() ? std::string_view{value.get_string()} : "");
  }
};

template <class T, class Visit>
void each_member(Visit visit) {
  boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
      visit);
}

template <Struct T>
json::object to_object(const T& thing) {
  json::object object;
  each_member<T>([&](auto row) {
    const auto& member = thing.*row.pointer;
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (kFlat<Member>)
      for (auto& [key, value] : to_object(member)) object[key] = std::move(value);
    else
      Row<Member>::put(object, key_of(row), member);
  });
  return object;
}

template <Struct T>
T from_object(const json::object& object) {
  T thing{};
  each_member<T>([&](auto row) {
    auto& member = thing.*row.pointer;
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (kFlat<Member>) {
      member = from_object<Member>(object);
    } else {
      static const json::value absent;
      const auto* value = object.if_contains(key_of(row));
      member = Row<Member>::take(value == nullptr ? absent : *value);
    }
  });
  return thing;
}

}  // namespace cupel::described
