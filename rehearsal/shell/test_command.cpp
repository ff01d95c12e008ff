// `[`: POSIX XCU test, by the number of arguments first, then by precedence.
#include "base/text.h"
#include "rehearsal/shell/builtins.h"
#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {
namespace {

struct Tester {
  const Process& process;
  std::span<const std::string> words;
  std::string& complaint;

  bool unary(const std::string& operation, const std::string& operand);
  std::optional<bool> binary(const std::string& a, const std::string& operation,
                             const std::string& b);
  bool either();
  bool both();
  bool primary();
  std::int64_t integer(const std::string& text) {
    const auto clean = trimmed(text);
    const auto value = number<std::int64_t>(clean.starts_with('+') ? clean.substr(1) : clean);
    if (!value && complaint.empty()) complaint = "Illegal number: " + text;
    return value.value_or(0);
  }
  std::string take() {
    auto word = words.front();
    words = words.subspan(1);
    return word;
  }
};

bool is_unary(const std::string& word) {
  return word.size() == 2 && word[0] == '-' &&
         std::string_view{"efdsnzrwxLhptcbSugkO"}.contains(word[1]);
}

bool Tester::unary(const std::string& operation, const std::string& operand) {
  const char what = operation[1];
  if (what == 'n') return !operand.empty();
  if (what == 'z') return operand.empty();
  if (what == 't') return false;
  if (operand.empty()) return false;
  const auto path = process.path(operand);
  const bool link = what == 'L' || what == 'h';
  const auto node = process.disk().find(path, !link);
  if (!node) return false;
  using Kind = Inode::Kind;
  switch (what) {
    case 'f':
      return node->kind == Kind::file || node->kind == Kind::generated;
    case 'd':
      return node->is_folder();
    case 's':
      return node->kind == Kind::generated || node->length() > 0;
    case 'L':
    case 'h':
      return node->kind == Kind::link;
    case 'x':
      return node->is_folder() || (node->mode & 0111) != 0;
    case 'c':
      return node->kind == Kind::device && node->bytes != "disk";
    case 'b':
      return node->kind == Kind::device && node->bytes == "disk";
    case 'p':
    case 'S':
      return false;
    default:
      return true;  // root may read and write everything
  }
}

std::optional<bool> Tester::binary(const std::string& a, const std::string& operation,
                                   const std::string& b) {
  if (operation == "=" || operation == "==") return a == b;
  if (operation == "!=") return a != b;
  if (operation == "<") return a < b;
  if (operation == ">") return a > b;
  constexpr std::array<std::string_view, 6> kNumbers{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
  if ((std::ranges::find(kNumbers, std::string_view{operation}) != kNumbers.end())) {
    const auto x = integer(a), y = integer(b);
    if (operation == "-eq") return x == y;
    if (operation == "-ne") return x != y;
    if (operation == "-lt") return x < y;
    if (operation == "-le") return x <= y;
    if (operation == "-gt") return x > y;
    return x >= y;
  }
  if (operation == "-nt" || operation == "-ot" || operation == "-ef") {
    const auto x = process.disk().find(process.path(a)), y = process.disk().find(process.path(b));
    if (operation == "-ef") return x && x == y;
    if (operation == "-ot") return y && (!x || x->modified < y->modified);
    return x && (!y || x->modified > y->modified);
  }
  return std::nullopt;
}

bool Tester::either() {
  bool value = both();
  while (!words.empty() && words.front() == "-o") {
    take();
    const bool right = both();
    value = value || right;
  }
  return value;
}

bool Tester::both() {
  bool value = primary();
  while (!words.empty() && words.front() == "-a") {
    take();
    const bool right = primary();
    value = value && right;
  }
  return value;
}

bool Tester::primary() {
  if (words.empty()) {
    complaint = "argument expected";
    return false;
  }
  if (words.size() >= 3) {
    const auto value = binary(words[0], words[1], words[2]);
    if (value) {
      words = words.subspan(3);
      return *value;
    }
  }
  const auto word = take();
  if (word == "!") return !primary();
  if (word == "(") {
    const bool value = either();
    if (words.empty() || words.front() != ")")
      complaint = "closing paren expected";
    else
      take();
    return value;
  }
  if (is_unary(word) && !words.empty()) return unary(word, take());
  return !word.empty();
}

}  // namespace

int test_command(const Process& process, const std::vector<std::string>& words,
                 std::string& complaint) {
  std::span<const std::string> rest{words};
  rest = rest.subspan(1);
  if (words[0] == "[") {
    if (rest.empty() || rest.back() != "]") {
      complaint = "missing ]";
      return 2;
    }
    rest = rest.first(rest.size() - 1);
  }
  if (rest.empty()) return 1;
  if (rest.size() == 1) return rest[0].empty() ? 1 : 0;
  Tester tester{process, rest, complaint};
  bool value = false;
  if (rest.size() == 2 && rest[0] == "!")
    value = rest[1].empty();
  else
    value = tester.either();
  if (!tester.words.empty() && rest.size() != 2 && complaint.empty())
    complaint = tester.words.front() + ": unexpected operator";
  if (!complaint.empty()) return 2;
  return value ? 0 : 1;
}

}  // namespace cupel::rehearsal
