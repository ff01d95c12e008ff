#include "base/readable_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace cupel {
namespace {

constexpr int kDeepest = 60;  // parse_json() takes 64

void make_readable_at(boost::json::value& value, int depth);

void make_readable_at(boost::json::object& object, int depth) {
  bool keys_are_right = true;
  for (auto& [key, value] : object) {
    keys_are_right = keys_are_right && valid_utf8(key) == key;
    make_readable_at(value, depth + 1);
  }
  if (keys_are_right) return;
  boost::json::object fresh;
  for (auto& [key, value] : object) fresh[valid_utf8(key)] = std::move(value);
  object = std::move(fresh);
}

void make_readable_at(boost::json::value& value, int depth) {
  if (depth > kDeepest) {
    value = nullptr;
  } else if (auto* text = value.if_string()) {
    auto valid = valid_utf8(*text);
    if (*text != valid) *text = valid;
  } else if (auto* array = value.if_array()) {
    for (auto& each : *array) make_readable_at(each, depth + 1);
  } else if (auto* object = value.if_object()) {
    make_readable_at(*object, depth);
  } else if (const auto* number = value.if_double(); number != nullptr && !std::isfinite(*number)) {
    value = nullptr;
  }
}

}  // namespace

void make_readable(boost::json::object& object) { make_readable_at(object, 1); }

double read_back_error(double one, double other) {
  return 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(one), std::abs(other));
}

}  // namespace cupel
