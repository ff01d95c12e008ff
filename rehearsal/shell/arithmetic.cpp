// $(( )): POSIX XCU 2.6.4, the operators of C on 64-bit integers that wrap.
#include <cctype>

#include "base/text.h"
#include "rehearsal/shell/shell.h"

namespace cupel::rehearsal {
namespace {

using Value = std::int64_t;
using Unsigned = std::uint64_t;

class Reader {
 public:
  Reader(std::string_view text, Shell& shell) : text_{text}, shell_{shell} {}

  Result<Value> all() {
    TRY(const Value value, assignment());
    blanks();
    if (!text_.empty()) return wrong();
    return value;
  }

 private:
  static Error wrong() { return {Code::kInvalid, "arithmetic expression: expecting primary"}; }
  void blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())))
      text_.remove_prefix(1);
  }
  bool take(std::string_view operation) {
    blanks();
    if (!text_.starts_with(operation)) return false;
    // "<" is not the start of "<<", nor "&" of "&&"; "=" not of "==".
    const char after = text_.size() > operation.size() ? text_[operation.size()] : '\0';
    if (operation.size() == 1 && std::string_view{"<>&|"}.contains(operation[0]) &&
        after == operation[0])
      return false;
    if (operation.size() == 1 && std::string_view{"+-*/%&|^<>!"}.contains(operation[0]) &&
        after == '=')
      return false;
    if ((operation == "<<" || operation == ">>") && after == '=') return false;
    text_.remove_prefix(operation.size());
    return true;
  }
  std::string name() {
    blanks();
    std::size_t end = 0;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      ++end;
    if (end == 0 || std::isdigit(static_cast<unsigned char>(text_[0]))) return {};
    const std::string found{text_.substr(0, end)};
    text_.remove_prefix(end);
    return found;
  }
  static std::optional<Value> literal(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
      base = 16;
      text.remove_prefix(2);
    } else if (text.size() > 1 && text.starts_with('0')) {
      base = 8;
      text.remove_prefix(1);
    }
    Value value = 0;
    const auto [stop, failure] =
        std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (failure != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return value;
  }
  Value variable(const std::string& of) const {
    const auto text = std::string{trimmed(shell_.value(of).value_or(""))};
    if (text.starts_with('-')) return -literal(text.substr(1)).value_or(0);
    return literal(text).value_or(0);
  }

  Result<Value> assignment() {
    const auto before = text_;
    const auto to = name();
    if (!to.empty()) {
      blanks();
      constexpr std::array<std::string_view, 11> kAssign{
          "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "="};
      for (const auto operation : kAssign) {
        if (!text_.starts_with(operation) || text_.starts_with("==")) continue;
        text_.remove_prefix(operation.size());
        TRY(Value value, assignment());
        if (operation != "=") {
          TRY(value, apply(operation.substr(0, operation.size() - 1), variable(to), value));
        }
        shell_.assign(to, std::to_string(value));
        return value;
      }
    }
    text_ = before;
    return ternary();
  }

  Result<Value> ternary() {
    TRY(const Value test, binary(0));
    if (!take("?")) return test;
    TRY(const Value yes, assignment());
    if (!take(":")) return wrong();
    TRY(const Value no, assignment());
    return test != 0 ? yes : no;
  }

  static Result<Value> apply(std::string_view operation, Value a, Value b) {
    const auto ua = static_cast<Unsigned>(a), ub = static_cast<Unsigned>(b);
    if (operation == "+") return static_cast<Value>(ua + ub);
    if (operation == "-") return static_cast<Value>(ua - ub);
    if (operation == "*") return static_cast<Value>(ua * ub);
    if (operation == "/" || operation == "%") {
      if (b == 0) return Error{Code::kInvalid, "arithmetic expression: division by zero"};
      if (b == -1) return operation == "/" ? static_cast<Value>(0 - ua) : 0;
      return operation == "/" ? a / b : a % b;
    }
    if (operation == "<<") return static_cast<Value>(ua << (ub & 63));
    if (operation == ">>") return a >> (ub & 63);
    if (operation == "<") return a < b;
    if (operation == ">") return a > b;
    if (operation == "<=") return a <= b;
    if (operation == ">=") return a >= b;
    if (operation == "==") return a == b;
    if (operation == "!=") return a != b;
    if (operation == "&") return a & b;
    if (operation == "^") return a ^ b;
    if (operation == "|") return a | b;
    if (operation == "&&") return a != 0 && b != 0;
    return a != 0 || b != 0;
  }

  Result<Value> binary(std::size_t level) {
    static const std::vector<std::vector<std::string_view>> kLevels{{"||"},
                                                                    {"&&"},
                                                                    {"|"},
                                                                    {"^"},
                                                                    {"&"},
                                                                    {"==", "!="},
                                                                    {"<=", ">=", "<", ">"},
                                                                    {"<<", ">>"},
                                                                    {"+", "-"},
                                                                    {"*", "/", "%"}};
    if (level == kLevels.size()) return unary();
    TRY(Value left, binary(level + 1));
    for (;;) {
      bool found = false;
      for (const auto operation : kLevels[level]) {
        if (!take(operation)) continue;
        TRY(const Value right, binary(level + 1));
        TRY(left, apply(operation, left, right));
        found = true;
        break;
      }
      if (!found) return left;
    }
  }

  Result<Value> unary() {
    if (++depth_ > 64) return Error{Code::kInvalid, "arithmetic expression: nested too deeply"};
    auto value = primary();
    --depth_;
    return value;
  }

  Result<Value> primary() {
    if (take("!")) {
      TRY(const Value value, unary());
      return value == 0;
    }
    if (take("~")) {
      TRY(const Value value, unary());
      return ~value;
    }
    if (take("-")) {
      TRY(const Value value, unary());
      return static_cast<Value>(0 - static_cast<Unsigned>(value));
    }
    if (take("+")) return unary();
    if (take("(")) {
      TRY(const Value value, assignment());
      if (!take(")")) return wrong();
      return value;
    }
    if (const auto of = name(); !of.empty()) return variable(of);
    std::size_t end = 0;
    while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
    const auto value = end == 0 ? std::nullopt : literal(text_.substr(0, end));
    if (!value) return wrong();
    text_.remove_prefix(end);
    return *value;
  }

  std::string_view text_;
  Shell& shell_;
  int depth_ = 0;
};

}  // namespace

Result<std::int64_t> arithmetic(std::string_view expression, Shell& shell) {
  if (trimmed(expression).empty()) return 0;
  return Reader{expression, shell}.all();
}

}  // namespace cupel::rehearsal
