// What `echo` and `printf` print, as dash does it.
#include <fmt/format.h>

#include <cstdio>

#include "base/text.h"
#include "rehearsal/shell/builtins.h"

namespace cupel::rehearsal {
namespace {

bool octal(char c) { return c >= '0' && c <= '7'; }

/// One escape behind a backslash. `zero`: \0nnn as echo and %b write it. False: \c, nothing more.
bool escape(std::string_view& text, std::string& into, bool zero) {
  const char c = text.front();
  text.remove_prefix(1);
  constexpr std::string_view kFrom{"abfnrtv\\"}, kTo{"\a\b\f\n\r\t\v\\"};
  if (const auto at = kFrom.find(c); at != kFrom.npos) {
    into += kTo[at];
    return true;
  }
  if (c == 'c' && zero) return false;
  if ((zero && c == '0') || (!zero && octal(c))) {
    int value = zero ? 0 : c - '0';
    for (int digits = zero ? 3 : 2; digits > 0 && !text.empty() && octal(text.front()); --digits) {
      value = value * 8 + (text.front() - '0');
      text.remove_prefix(1);
    }
    into += static_cast<char>(value);
    return true;
  }
  into += '\\';
  into += c;
  return true;
}

/// False where \c said to stop.
bool unescaped(std::string_view text, std::string& into) {
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\' || text.empty()) {
      into += c;
      continue;
    }
    if (!escape(text, into, true)) return false;
  }
  return true;
}

struct Printer {
  const std::vector<std::string>& words;
  std::string& text;
  std::string& complaint;
  std::size_t next = 2;
  bool good = true;
  bool stop = false;

  std::string argument() { return next < words.size() ? words[next++] : std::string{}; }
  std::int64_t integer() {
    const auto word = argument();
    if (word.empty()) return 0;
    if (word.front() == '\'' || word.front() == '"')
      return word.size() > 1 ? static_cast<unsigned char>(word[1]) : 0;
    char* end = nullptr;
    errno = 0;
    const auto value = std::strtoll(word.c_str(), &end, 0);
    if (*end != '\0') {
      complaint = end == word.c_str() ? word + ": expected numeric value"
                                      : word + ": not completely converted";
      good = false;
    }
    return value;
  }
  void conversion(std::string_view& format);
  void once(std::string_view format);
};

void Printer::conversion(std::string_view& format) {
  std::string spec{"%"};
  constexpr std::size_t kLongestSpec = 24;
  while (!format.empty() && spec.size() < kLongestSpec &&
         std::string_view{"-+ #0123456789.*"}.contains(format.front())) {
    if (format.front() == '*')
      spec += std::to_string(std::clamp<std::int64_t>(integer(), -4096, 4096));
    else
      spec += format.front();
    format.remove_prefix(1);
  }
  if (format.empty()) {
    complaint = "missing format character";
    good = false;
    return;
  }
  const char kind = format.front();
  format.remove_prefix(1);
  char buffer[8192];
  if (kind == '%') {
    text += '%';
  } else if (kind == 's' || kind == 'b') {
    std::string value;
    const auto word = argument();
    if (kind == 's')
      value = word;
    else
      stop = !unescaped(word, value);
    if (spec == "%") {
      text += value;
      return;
    }
    std::snprintf(buffer, sizeof buffer, (spec + "s").c_str(), value.c_str());
    text += buffer;
  } else if (kind == 'c') {
    text += argument().substr(0, 1);
  } else if (std::string_view{"diouxX"}.contains(kind)) {
    std::snprintf(buffer, sizeof buffer, (spec + "ll" + kind).c_str(),
                  static_cast<long long>(integer()));
    text += buffer;
  } else if (std::string_view{"eEfFgG"}.contains(kind)) {
    const auto word = argument();
    std::snprintf(buffer, sizeof buffer, (spec + kind).c_str(), std::strtod(word.c_str(), nullptr));
    text += buffer;
  } else {
    complaint = std::string{"%"} + kind + ": invalid directive";
    good = false;
    stop = true;
  }
}

void Printer::once(std::string_view format) {
  while (!format.empty() && !stop) {
    const char c = format.front();
    format.remove_prefix(1);
    if (c == '%')
      conversion(format);
    else if (c == '\\' && !format.empty())
      escape(format, text, false);
    else
      text += c;
  }
}

}  // namespace

std::string echo_text(const std::vector<std::string>& words) {
  std::size_t i = 1;
  const bool newline = !(words.size() > 1 && words[1] == "-n");
  if (!newline) ++i;
  std::string joined, text;
  for (auto at = i; at < words.size(); ++at) joined += (at > i ? " " : "") + words[at];
  if (!unescaped(joined, text)) return text;
  return newline ? text + "\n" : text;
}

bool printf_text(const std::vector<std::string>& words, std::string& text, std::string& complaint) {
  auto copy = words;
  if (copy.size() > 1 && copy[1] == "--") copy.erase(copy.begin() + 1);
  if (copy.size() < 2) {
    complaint = "usage: printf format [arg ...]";
    return false;
  }
  Printer printer{copy, text, complaint};
  constexpr std::size_t kMost = 8u << 20;
  for (;;) {
    const auto before = printer.next;
    printer.once(copy[1]);
    const bool again = printer.next < copy.size() && printer.next > before;
    if (printer.stop || !again || text.size() > kMost) return printer.good;
  }
}

}  // namespace cupel::rehearsal
