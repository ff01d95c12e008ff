#pragma once
// The command line of a program for nodes: a command declares its options as rows, and each value
// is checked against its row before the command runs.
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

/// One option: "--hertz 2".
struct Choice {
  enum class Kind {
    kFlag,     // --unverified-baseline
    kNumber,   // --hertz 2: from low to high
    kCount,    // --rounds 17: a whole number from low to high
    kSeconds,  // --every 0.5s: a number, the unit may follow
    kSize,     // --max 16G: bytes, by 1024
    kWord,     // --pattern square: one of `words`
    kWords,    // --types bf16,fp8: some of `words`
    kText,     // --folder DIR: any text
    kTimes,    // --self-test 17: a count, or alone: 1
  };
  std::string_view name;  // with its dashes
  Kind kind = Kind::kFlag;
  std::string_view fallback{};  // where the option is not given; empty: there is none
  double low = 0;
  double high = 0;
  std::string_view words{};  // separated by commas
  std::string_view help{};
};

class Options {
 public:
  /// Errors: kInvalid, naming the option that is unknown, given twice, lacks its value, or whose
  /// value its row does not allow.
  static Result<Options> read(std::span<const Choice> choices,
                              std::span<const std::string_view> arguments);

  /// Whether the command line has it.
  bool given(std::string_view name) const { return given_.contains(name); }

  /// The value given, else the row's fallback; without both 0, empty or false.
  double number(std::string_view name) const;
  std::uint64_t count(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  std::vector<std::string> words(std::string_view name) const;

  /// What belongs to no option, in its order.
  const std::vector<std::string_view>& operands() const { return operands_; }
  /// What follows "--".
  const std::vector<std::string_view>& command() const { return command_; }

  /// All values with their names, given or fallback.
  const std::map<std::string, double, std::less<>>& numbers() const { return numbers_; }
  const std::map<std::string, std::string, std::less<>>& texts() const { return texts_; }
  const std::map<std::string, bool, std::less<>>& flags() const { return flags_; }

 private:
  Result<void> take(const Choice& choice, std::string_view value);

  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, bool, std::less<>> flags_;
  std::set<std::string_view> given_;
  std::vector<std::string_view> operands_;
  std::vector<std::string_view> command_;
};

/// "a,b": a b. Empty parts are left out.
std::vector<std::string> comma_separated(std::string_view text);

/// A value as an error shows it: quoted, printable, shortened.
std::string shown(std::string_view value);

}  // namespace cupel::agent
