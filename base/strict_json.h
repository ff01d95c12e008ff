#pragma once
// Structs as JSON and back, by the rows that Boost.Describe has of them, for what this program
// alone writes and reads. A struct is an array with a field for each member; the outermost one may
// be an object with a key for each (put_keys). Reading is strict: of what is absent, of another
// type or out of its bounds there is nothing. described_json.h is for what others
// read.
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11/algorithm.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cupel::strict {
namespace json = boost::json;

template <class T>
concept Struct = boost::describe::has_describe_members<T>::value;

/// How a member of this type stands in its field: put, and take, which has nothing of what it
/// never wrote.
template <class T>
struct Field;

template <class T>
using Read = std::optional<T>;

/// Its members stand among those of the struct that has it.
template <class T>
inline constexpr bool kFlat = false;

template <>
struct Field<std::int64_t> {
  static json::value put(std::int64_t number) { return number; }
  static Read<std::int64_t> take(const json::value& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64() && value.get_uint64() <= std::numeric_limits<std::int64_t>::max())
      return static_cast<std::int64_t>(value.get_uint64());
    return std::nullopt;
  }
};

/// Counts: whole, and not negative.
template <class T>
struct CountField {
  static json::value put(T number) { return number; }
  static Read<T> take(const json::value& value) {
    const auto number = Field<std::int64_t>::take(value);
    const bool sound = number && *number >= 0 && std::in_range<T>(*number);
    return sound ? Read<T>{static_cast<T>(*number)} : std::nullopt;
  }
};

template <>
struct Field<int> : CountField<int> {};
template <>
struct Field<std::size_t> : CountField<std::size_t> {};

template <>
struct Field<bool> {
  static json::value put(bool yes) { return yes; }
  static Read<bool> take(const json::value& value) {
    return value.is_bool() ? Read<bool>{value.get_bool()} : std::nullopt;
  }
};

template <>
struct Field<std::string> {
  static json::value put(const std::string& text) { return json::value(text); }
  static Read<std::string> take(const json::value& value) {
    return value.is_string() ? Read<std::string>{std::string{value.get_string()}} : std::nullopt;
  }
};

template <>
struct Field<std::chrono::milliseconds> {
  static json::value put(std::chrono::milliseconds span) { return span.count(); }
  static Read<std::chrono::milliseconds> take(const json::value& value) {
    const auto count = Field<std::int64_t>::take(value);
    return count ? Read<std::chrono::milliseconds>{*count} : std::nullopt;
  }
};

template <>
struct Field<std::chrono::sys_time<std::chrono::milliseconds>> {
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;
  static json::value put(Time time) { return time.time_since_epoch().count(); }
  static Read<Time> take(const json::value& value) {
    const auto since = Field<std::chrono::milliseconds>::take(value);
    return since ? Read<Time>{*since} : std::nullopt;
  }
};

/// By its number; T::`last` has the highest.
template <class T, T last>
struct NumberedField {
  static json::value put(T each) { return static_cast<int>(each); }
  static Read<T> take(const json::value& value) {
    const auto number = Field<int>::take(value);
    const bool known = number && *number <= static_cast<int>(last);
    return known ? Read<T>{static_cast<T>(*number)} : std::nullopt;
  }
};

template <class T>
struct Field<std::optional<T>> {
  static json::value put(const std::optional<T>& thing) {
    return thing ? Field<T>::put(*thing) : json::value{};
  }
  static Read<std::optional<T>> take(const json::value& value) {
    if (value.is_null()) return std::optional<T>{};
    auto thing = Field<T>::take(value);
    return thing ? Read<std::optional<T>>{std::move(thing)} : std::nullopt;
  }
};

/// Lists and sets.
template <class Container>
struct ListField {
  using Each = typename Container::value_type;
  static json::value put(const Container& things) {
    json::array array;
    array.reserve(things.size());
    for (const auto& each : things) array.push_back(Field<Each>::put(each));
    return array;
  }
  static Read<Container> take(const json::value& value) {
    if (!value.is_array()) return std::nullopt;
    Container things;
    for (const auto& each : value.get_array()) {
      auto thing = Field<Each>::take(each);
      if (!thing) return std::nullopt;
      things.insert(things.end(), *std::move(thing));
    }
    return things;
  }
};

template <class T>
struct Field<std::vector<T>> : ListField<std::vector<T>> {};
template <class... T>
struct Field<std::set<std::string, T...>> : ListField<std::set<std::string, T...>> {};

template <class T, class... More>
struct Field<std::map<std::string, T, More...>> {
  using Map = std::map<std::string, T, More...>;
  static json::value put(const Map& map) {
    json::object object;
    for (const auto& [key, each] : map) object[key] = Field<T>::put(each);
    return object;
  }
  static Read<Map> take(const json::value& value) {
    if (!value.is_object()) return std::nullopt;
    Map map;
    for (const auto& [key, each] : value.get_object()) {
      auto thing = Field<T>::take(each);
      if (!thing) return std::nullopt;
      map[std::string{key}] = *std::move(thing);
    }
    return map;
  }
};

template <class T, class Visit>
void each_member(Visit visit) {
  boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
      visit);
}

template <Struct T>
void put_fields(json::array& fields, const T& thing) {
  each_member<T>([&](auto row) {
    const auto& member = thing.*row.pointer;
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (kFlat<Member>)
      put_fields(fields, member);
    else
      fields.push_back(Field<Member>::put(member));
  });
}

/// The fields of one struct from `next` on, which is behind them then. False: one is not sound.
template <Struct T>
bool take_fields(const json::array& fields, std::size_t& next, T& thing) {
  bool sound = true;
  each_member<T>([&](auto row) {
    auto& member = thing.*row.pointer;
    using Member = std::remove_cvref_t<decltype(member)>;
    if (!sound) return;
    if constexpr (kFlat<Member>) {
      sound = take_fields(fields, next, member);
    } else {
      auto read = next < fields.size() ? Field<Member>::take(fields[next++]) : std::nullopt;
      sound = read.has_value();
      if (sound) member = *std::move(read);
    }
  });
  return sound;
}

template <Struct T>
struct Field<T> {
  static json::value put(const T& thing) {
    json::array fields;
    put_fields(fields, thing);
    return fields;
  }
  static Read<T> take(const json::value& value) {
    if (!value.is_array()) return std::nullopt;
    Read<T> thing{T{}};
    std::size_t next = 0;
    const auto& fields = value.get_array();
    const bool sound = take_fields(fields, next, *thing) && next == fields.size();
    return sound ? thing : std::nullopt;
  }
};

/// A key for each member that is described, behind those that are there.
template <Struct T>
void put_keys(json::object& into, const T& thing) {
  each_member<T>([&](auto row) {
    const auto& member = thing.*row.pointer;
    into[row.name] = Field<std::remove_cvref_t<decltype(member)>>::put(member);
  });
}

/// Other keys may stand beside them; members that are not described stay as they are. False: one is
/// absent or not sound.
template <Struct T>
bool take_keys(const json::object& from, T& thing) {
  bool sound = true;
  each_member<T>([&](auto row) {
    auto& member = thing.*row.pointer;
    const auto* value = from.if_contains(row.name);
    if (!sound || value == nullptr) {
      sound = false;
      return;
    }
    auto read = Field<std::remove_cvref_t<decltype(member)>>::take(*value);
    sound = read.has_value();
    if (sound) member = *std::move(read);
  });
  return sound;
}

}  // namespace cupel::strict
