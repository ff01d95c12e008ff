#pragma once
// What a program logs while it works: one line each, with the run, the node and the step that it is
// about. For people and log collectors; the truth belongs in the journal. The library that writes
// the lines (spdlog) is included in log.cpp alone.
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace cupel::log {

/// error: act now. warning: the run changed course. info: follow the run.
enum class Level { info, warning, error };

/// What a line is about; "-" where nothing is named.
struct About {
  std::int64_t run = 0;
  std::string_view node{};
  std::string_view step{};
};

/// `event`: a constant name, such as "step-ended". Always one line: control characters are left
/// out. From any thread. A line that cannot be written is lost, and stops nothing.
///
///   2026-11-23T12:00:00.123Z info run=12 node=a01-n07 step=gemm step-ended: done
void write(Level level, const About& about, std::string_view event, std::string_view text);

inline void info(const About& about, std::string_view event, std::string_view text) {
  write(Level::info, about, event, text);
}
inline void warning(const About& about, std::string_view event, std::string_view text) {
  write(Level::warning, about, event, text);
}
inline void error(const About& about, std::string_view event, std::string_view text) {
  write(Level::error, about, event, text);
}

/// How each line is written. `json`: one object with `time`, `level`, `event`, `text`, and `run`,
/// `node` and `step` where they are named; for log collectors.
enum class Form { text, json };

/// From now on; text before. From any thread.
void use(Form form);

/// Nothing is logged before one of these. Where standard error is journald's, each line has its
/// priority in front ("<4>") instead of time and level. Source: sd-daemon(3).
void to_stderr();
/// Appended, mode 0600; a symbolic link is refused, and a pipe that no program reads. Errors:
/// kStorage; the log stays as it was.
Result<void> to_file(const std::filesystem::path& file);
void off();
bool is_on();

}  // namespace cupel::log
