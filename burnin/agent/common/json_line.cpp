#include "burnin/agent/common/json_line.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace cupel::agent {

JsonLine::JsonLine(std::string_view kind) : text_{"{"}, open_{"}"} { add("kind", kind); }

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

void JsonLine::put(double number) {
  char digits[40];
  const auto written = std::to_chars(digits, digits + sizeof digits, number);
  text_ += std::isfinite(number) ? std::string_view{digits, written.ptr} : "null";
}

JsonLine& JsonLine::add(std::string_view key, std::string_view text) {
  begin(key);
  put(text);
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, const char* text) {
  return add(key, std::string_view{text});
}

JsonLine& JsonLine::add(std::string_view key, bool yes) {
  begin(key);
  text_ += yes ? "true" : "false";
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, double number) {
  begin(key);
  put(number);
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, std::int64_t number) {
  begin(key);
  text_ += std::to_string(number);
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, std::uint64_t number) {
  begin(key);
  text_ += std::to_string(number);
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, int number) { return add(key, std::int64_t{number}); }

JsonLine& JsonLine::add_null(std::string_view key) {
  begin(key);
  text_ += "null";
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

std::string JsonLine::text() const {
  return text_ + std::string{open_.rbegin(), open_.rend()} + "\n";
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
