#include "burnin/agent/common/json_line.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace cupel::agent {

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  char digits[40];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, written.ptr};
}

JsonLine::JsonLine(std::string_view kind) { add("kind", kind); }

void JsonLine::begin() {
  const char last = text_.back();
  if (last != '{' && last != '[') text_ += ',';
}

void JsonLine::begin(std::string_view key) {
  begin();
  put(key);
  text_ += ':';
}

void JsonLine::put(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text_ += '"';
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      text_ += "\\u00";
      text_ += kDigits[byte >> 4];
      text_ += kDigits[byte & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonLine::put(double number) { text_ += number_text(number); }

JsonLine& JsonLine::add(std::string_view key, std::string_view text) {
  begin(key);
  put(text);
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, const char* text) {
  return add(key, std::string_view{text});
}

JsonLine& JsonLine::add(std::string_view key, double number) {
  return raw(key, number_text(number));
}

JsonLine& JsonLine::raw(std::string_view key, std::string_view json) {
  begin(key);
  text_ += json;
  return *this;
}

JsonLine& JsonLine::item(std::string_view text) {
  begin();
  put(text);
  return *this;
}

JsonLine& JsonLine::item(double number) {
  begin();
  put(number);
  return *this;
}

JsonLine& JsonLine::item(std::int64_t number) {
  begin();
  text_ += std::to_string(number);
  return *this;
}

JsonLine& JsonLine::object(std::string_view key) {
  begin(key);
  text_ += '{';
  open_ += '}';
  return *this;
}

JsonLine& JsonLine::array(std::string_view key) {
  begin(key);
  text_ += '[';
  open_ += ']';
  return *this;
}

JsonLine& JsonLine::object() {
  begin();
  text_ += '{';
  open_ += '}';
  return *this;
}

JsonLine& JsonLine::end() {
  text_ += open_.back();
  open_.pop_back();
  return *this;
}

std::string JsonLine::object_text() const {
  return text_ + std::string{open_.rbegin(), open_.rend()};
}

bool print(const JsonLine& line) { return write_all(STDOUT_FILENO, line.text()); }

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (written < 0 && errno != EINTR)
      return false;
  }
  return true;
}

}  // namespace cupel::agent
