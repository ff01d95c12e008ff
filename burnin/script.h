#pragma once
// What the stages' shell scripts have in common: POSIX sh, and a few lines of our own ("cupel-...")
// between the tool's words, so that parse() knows what was asked for and why nothing came.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "burnin/stage.h"

namespace cupel::burnin::script {

/// The first lines of every script: English, and the folders where our own programs and the
/// administrators' tools lie.
std::string head();

/// Ends the script where `tool` is not installed: it has proven nothing then.
std::string needs(std::string_view tool);

/// Says what this run was to do, for asked().
std::string asks(std::string_view what, double amount);

/// Errors: kNoMeasurement, in the script's own words, where it gave up.
Result<void> check_gave_up(const Output& output);

/// What asks() said; nothing where the script did not come so far.
std::optional<double> asked(const Output& output, std::string_view what);

/// What follows `mark` in its line ("cupel-gave-up: "), wherever the line stands; nothing if
/// absent.
std::optional<std::string_view> after_mark(const Output& output, std::string_view mark);

/// The same in a part of the output.
std::optional<std::string_view> after_mark_in(std::string_view text, std::string_view mark);

/// What stands between the lines "cupel-begin: NAME" and "cupel-end".
struct Section {
  std::string name;  // clean
  std::string_view text{};
  bool whole = false;  // its end was reported
};

/// All of them, in order; at most 1024. Views into `text`.
std::vector<Section> sections(std::string_view text);

/// A node's word as it may stand in a record: printable ASCII, trimmed, at most 160 bytes. A byte
/// of another alphabet becomes '?'.
std::string clean(std::string_view text);

/// A finite number, the whole text.
std::optional<double> finite(std::string_view text);

/// The first line of what a tool complained about, or "it said nothing".
std::string complaint(const Output& output);

}  // namespace cupel::burnin::script
