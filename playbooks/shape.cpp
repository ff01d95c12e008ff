#include "playbooks/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace cupel::playbooks {
namespace {

using inventory::Problem;
using inventory::YamlValue;
using Kind = Shape::Kind;

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestShown = 80;

std::string shown(std::string_view text) { return shortened(printable(text), kLongestShown); }

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, fits);
}

bool is_percent(std::string_view text) {
  if (!text.ends_with('%')) return false;
  const auto share = number<int>(text.substr(0, text.size() - 1));
  return share && *share >= 0 && *share <= 100;
}

/// What was expected, where the text is not it; empty where it is.
std::string expectation(const Shape& shape, std::string_view text) {
  switch (shape.kind) {
    case Kind::name:
      return is_name(text) ? "" : "at most 64 letters, digits and ._-";
    case Kind::duration:
      return inventory::duration_of(text) ? "" : "a duration such as 90s, 15m or 72h";
    case Kind::size:
      return inventory::size_of(text) ? "" : "a size such as 64GiB or 3.84TB";
    case Kind::size_or_percent:
      return is_percent(text) || inventory::size_of(text) ? "" : "a size such as 64GiB, or 80%";
    case Kind::folder:
      return text.starts_with('/') ? "" : "an absolute path";
    case Kind::integer: {
      const auto value = number<long>(text);
      const bool fits = value && static_cast<double>(*value) >= shape.least &&
                        static_cast<double>(*value) <= shape.most;
      return fits ? ""
                  : fmt::format("a whole number from {:.0f} to {:.0f}", shape.least, shape.most);
    }
    case Kind::number: {
      const auto value = number<double>(text);
      const bool fits =
          value && std::isfinite(*value) && *value >= shape.least && *value <= shape.most;
      return fits ? "" : fmt::format("a number from {} to {}", shape.least, shape.most);
    }
    default:
      return "";
  }
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

class Check {
 public:
  Check(const std::string& file, std::vector<Problem>& problems)
      : file_{file}, problems_{problems}, before_{problems.size()} {}

  void value(const YamlValue& value, const Shape& shape, std::string_view what) {
    if (shape.kind == Kind::anything) return;
    if (shape.kind == Kind::either) return alternative(value, shape, what);
    if (shape.kind == Kind::map) return map(value, shape, what);
    if (shape.kind == Kind::table) return table(value, shape, what);
    if (shape.kind == Kind::list) return list(value, shape, what);
    if (value.kind != YamlValue::Kind::scalar)
      return report(value, fmt::format("{} must be a single value", what));
    if (value.text.size() > kLongestText)
      return report(value, fmt::format("{} is longer than {} characters", what, kLongestText));
    if (!filled_ || !value.text.contains("${")) scalar(value, shape, what);
  }
  bool passed() const { return problems_.size() == before_; }

 private:
  void report(const YamlValue& at, std::string what) {
    problems_.push_back({{file_, at.line, at.column}, std::move(what)});
  }
  void scalar(const YamlValue& value, const Shape& shape, std::string_view what) {
    if (shape.kind == Kind::word) return known_word(value, shape, what);
    const auto missed = expectation(shape, value.text);
    if (!missed.empty())
      report(value, fmt::format("{} must be {}, not '{}'", what, missed, shown(value.text)));
  }
  void known_word(const YamlValue& value, const Shape& shape, std::string_view what) {
    if (std::ranges::find(shape.words, value.text) != shape.words.end()) return;
    auto hint = shape.hint == nullptr ? std::string{} : shape.hint(value.text);
    if (hint.empty()) hint = inventory::did_you_mean(value.text, std::span{shape.words});
    if (!shape.noun.empty())
      return report(value,
                    fmt::format("there is no {} '{}'{}", shape.noun, shown(value.text), hint));
    report(value, fmt::format("{} must be {}, not '{}'{}", what, joined(shape.words),
                              shown(value.text), hint));
  }
  void alternative(const YamlValue& at, const Shape& shape, std::string_view what) {
    const auto of = [](Kind kind) {
      if (kind == Kind::list) return YamlValue::Kind::list;
      return kind == Kind::map || kind == Kind::table ? YamlValue::Kind::map
                                                      : YamlValue::Kind::scalar;
    };
    std::vector<std::string_view> forms;
    for (const auto& part : shape.parts) {
      if (of(part.kind) == at.kind) return value(at, part, what);
      forms.push_back(of(part.kind) == YamlValue::Kind::list  ? "a list"
                      : of(part.kind) == YamlValue::Kind::map ? "a map"
                                                              : "a single value");
    }
    report(at, fmt::format("{} must be {}", what, joined(forms)));
  }
  bool too_many(const YamlValue& value, const Shape& shape, std::string_view what) {
    if (static_cast<double>(value.items.size()) <= shape.most) return false;
    report(value, fmt::format("more than {:.0f} {}", shape.most, what));
    return true;
  }
  void list(const YamlValue& at, const Shape& shape, std::string_view what) {
    if (at.kind != YamlValue::Kind::list) return report(at, fmt::format("{} must be a list", what));
    if (at.items.empty()) return report(at, fmt::format("{} must not be empty", what));
    if (too_many(at, shape, what)) return;
    for (const auto& item : at.items) value(item, shape.parts[0], fmt::format("each of {}", what));
  }
  void table(const YamlValue& at, const Shape& shape, std::string_view what) {
    if (at.kind != YamlValue::Kind::map)
      return report(at, fmt::format("{} must be a map (key: value)", what));
    if (too_many(at, shape, what)) return;
    for (const auto& item : at.items) {
      if (!is_name(item.key))
        problems_.push_back(
            {{file_, item.key_line, item.key_column},
             fmt::format("'{}' must be at most 64 letters, digits and ._-", shown(item.key))});
      value(item, shape.parts[0], shown(item.key));
    }
  }
  void map(const YamlValue& at, const Shape& shape, std::string_view what) {
    if (at.kind != YamlValue::Kind::map)
      return report(at, fmt::format("{} must be a map (key: value)", what));
    for (const auto& item : at.items) {
      const auto key = std::ranges::find(shape.keys, item.key, &Key::name);
      if (key == shape.keys.end()) {
        unknown(item, shape, what);
        continue;
      }
      const bool outer = std::exchange(filled_, filled_ || key->parameters);
      value(item, key->shape, key->name);
      filled_ = outer;
    }
    for (const auto& key : shape.keys)
      if (key.required && at.entry(key.name) == nullptr)
        report(at, fmt::format("{} needs {}", what, key.name));
  }
  void unknown(const YamlValue& item, const Shape& shape, std::string_view what) {
    std::vector<std::string_view> known;
    for (const auto& key : shape.keys) known.push_back(key.name);
    problems_.push_back({{file_, item.key_line, item.key_column},
                         fmt::format("unknown key '{}' in {}{}", shown(item.key), what,
                                     inventory::did_you_mean(item.key, std::span{known}))});
  }

  const std::string& file_;
  std::vector<Problem>& problems_;
  std::size_t before_;
  bool filled_ = false;  // inside of a value that may hold parameters
};

}  // namespace

Shape of_kind(Shape::Kind kind) {
  Shape shape{};
  shape.kind = kind;
  return shape;
}

Shape word_of(std::vector<std::string_view> words, std::string_view noun) {
  auto shape = of_kind(Kind::word);
  shape.words = std::move(words);
  shape.noun = noun;
  return shape;
}

Shape integer_from(double least, double most) {
  auto shape = of_kind(Kind::integer);
  shape.least = least;
  shape.most = most;
  return shape;
}

Shape number_from(double least, double most) {
  auto shape = integer_from(least, most);
  shape.kind = Kind::number;
  return shape;
}

Shape list_of(Shape item, double most) {
  auto shape = of_kind(Kind::list);
  shape.parts = {std::move(item)};
  shape.most = most;
  return shape;
}

Shape table_of(Shape value, double most) {
  auto shape = list_of(std::move(value), most);
  shape.kind = Kind::table;
  return shape;
}

Shape map_of(std::vector<Key> keys) {
  auto shape = of_kind(Kind::map);
  shape.keys = std::move(keys);
  return shape;
}

Shape either_of(std::vector<Shape> parts) {
  auto shape = of_kind(Kind::either);
  shape.parts = std::move(parts);
  return shape;
}

bool conforms(const YamlValue& value, const Shape& shape, std::string_view what,
              const std::string& file, std::vector<Problem>& problems) {
  Check check{file, problems};
  check.value(value, shape, what);
  return check.passed();
}

}  // namespace cupel::playbooks
