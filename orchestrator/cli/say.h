#pragma once
// What people read on a terminal or in a pipe. Never a reason to stop: a reader that has gone away,
// or a disk that is full under standard output, must not end a run.
#include <fmt/format.h>

#include <cstdio>

namespace cupel::cli {

template <class... Values>
void say(std::FILE* to, fmt::format_string<Values...> format, Values&&... values) {
  const auto text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), to);
}

template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say(stdout, format, std::forward<Values>(values)...);
}

}  // namespace cupel::cli
