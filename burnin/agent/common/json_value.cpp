#include "burnin/agent/common/json_value.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "base/utf8.h"

namespace cupel::agent {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_{text} {}

  Result<JsonValue> document() {
    TRY(auto value, this->value(0));
    skip_blanks();
    if (at_ != text_.size()) return wrong("more than one value");
    return value;
  }

 private:
  Error wrong(std::string_view why) const {
    return {Code::kMalformed, "JSON, byte " + std::to_string(at_) + ": " + std::string{why}};
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (at_ < text_.size() &&
           std::string_view{" \t\r\n"}.find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Result<JsonValue> value(int depth) {
    if (depth > JsonValue::kMostDepth) return wrong("nested too deeply");
    skip_blanks();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"': {
        TRY(auto text, string());
        return JsonValue{std::move(text)};
      }
      case 't':
        if (take_word("true")) return JsonValue{true};
        break;
      case 'f':
        if (take_word("false")) return JsonValue{false};
        break;
      case 'n':
        if (take_word("null")) return JsonValue{};
        break;
      default:
        return number();
    }
    return wrong("no value");
  }

  Result<JsonValue> object(int depth) {
    JsonValue::Object all;
    take('{');
    if (take('}')) return JsonValue{std::move(all)};
    do {
      skip_blanks();
      if (peek() != '"') return wrong("a key expected");
      TRY(auto key, string());
      if (!take(':')) return wrong("':' expected");
      TRY(auto each, value(depth + 1));
      if (!all.try_emplace(std::move(key), std::move(each)).second)
        return wrong("a key stands there twice");
    } while (take(','));
    if (!take('}')) return wrong("',' or '}' expected");
    return JsonValue{std::move(all)};
  }

  Result<JsonValue> array(int depth) {
    JsonValue::Array all;
    take('[');
    if (take(']')) return JsonValue{std::move(all)};
    do {
      TRY(auto each, value(depth + 1));
      all.push_back(std::move(each));
    } while (take(','));
    if (!take(']')) return wrong("',' or ']' expected");
    return JsonValue{std::move(all)};
  }

  Result<JsonValue> number() {
    const auto start = at_;
    take_word("-");
    if (peek() == '0' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))
      return wrong("a number begins with 0");
    if (!is_digit(peek())) return wrong("no value");
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      ++at_;
      if (!is_digit(peek())) return wrong("a digit expected");
      while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!is_digit(peek())) return wrong("a digit expected");
      while (is_digit(peek())) ++at_;
    }
    double number = 0;
    const auto [end, failure] = std::from_chars(text_.data() + start, text_.data() + at_, number);
    if (failure != std::errc{} || end != text_.data() + at_) return wrong("a number too large");
    return JsonValue{number};
  }

  Result<std::string> string() {
    std::string text;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return valid_utf8(text);
      }
      if (static_cast<unsigned char>(c) < 0x20) return wrong("a control character");
      if (c != '\\') {
        text += c;
        continue;
      }
      ++at_;
      TRY(escape(text));
    }
    return wrong("a string without an end");
  }

  /// At the character behind the backslash; stays at the last one that belongs to it.
  Result<void> escape(std::string& text) {
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (peek() != 'u') {
      const auto which = at_ < text_.size() ? kFrom.find(peek()) : kFrom.npos;
      if (which == kFrom.npos) return wrong("no such escape");
      text += kTo[which];
      return ok();
    }
    TRY(auto point, four_digits());
    if (point >= 0xD800 && point < 0xDC00) {
      if (!text_.substr(at_ + 1).starts_with("\\u")) return wrong("half a character");
      at_ += 2;
      TRY(const auto low, four_digits());
      if (low < 0xDC00 || low > 0xDFFF) return wrong("half a character");
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    } else if (point >= 0xDC00 && point <= 0xDFFF) {
      return wrong("half a character");
    }
    append_utf8(text, point);
    return ok();
  }

  /// At the 'u'; stays at the last digit.
  Result<std::uint32_t> four_digits() {
    std::uint32_t point = 0;
    const auto digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), point, 16);
    if (digits.size() != 4 || failure != std::errc{} || end != digits.data() + 4)
      return wrong("four hex digits expected");
    at_ += 4;
    return point;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<JsonValue> JsonValue::parse(std::string_view text) {
  if (text.size() > kMostBytes)
    return Error{Code::kMalformed, "JSON of more than " + std::to_string(kMostBytes) + " bytes"};
  return JsonReader{text}.document();
}

std::optional<std::uint64_t> JsonValue::count() const {
  const auto* value = number();
  constexpr double kMost = 9007199254740992.0;
  if (value == nullptr || *value < 0 || *value > kMost || *value != std::floor(*value))
    return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto* all = object();
  if (all == nullptr) return nullptr;
  const auto found = all->find(key);
  return found == all->end() ? nullptr : &found->second;
}

}  // namespace cupel::agent
