#pragma once
// The command line of cupel-burn: the options that all commands share, and those that a command
// declares itself.
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/common/options.h"

namespace cupel::burn {

using agent::Choice;

/// --seconds, --gpus, --self-test, --seed, --hang-after, --rounds, --passes, --repeats.
std::span<const Choice> common_choices();

class Options {
 public:
  /// `seed` stands where --seed is not given. Errors: usage.
  static Outcome<Options> parse(std::string_view command, std::span<const Choice> own,
                                std::span<const std::string_view> arguments, std::uint64_t seed);

  const std::string& command() const { return command_; }
  std::chrono::duration<double> seconds() const;
  std::chrono::duration<double> hang_after() const;
  /// In the order of the PCI bus; empty: all.
  const std::vector<int>& gpus() const { return gpus_; }
  /// How often the planted error must be found; 0: no self-test.
  int self_tests() const { return static_cast<int>(number("--self-test")); }
  std::uint64_t seed() const { return seed_; }
  /// 0: until the time is over.
  int rounds() const { return static_cast<int>(number("--rounds")); }
  int passes() const { return static_cast<int>(number("--passes")); }
  int repeats() const { return static_cast<int>(number("--repeats")); }

  bool given(std::string_view name) const { return values_.given(name); }
  /// The value given, else the fallback. The choice must be declared.
  double number(std::string_view name) const { return values_.number(name); }
  bool flag(std::string_view name) const { return values_.flag(name); }
  const std::string& word(std::string_view name) const { return values_.text(name); }
  std::vector<std::string> words(std::string_view name) const { return values_.words(name); }

  /// What was given, as words of a command line, without these options.
  std::vector<std::string> given_but(std::span<const std::string_view> left_out) const;

  /// All of it as one JSON object, for the start line.
  std::string parameters() const;

 private:
  std::string command_;
  agent::Options values_;
  std::vector<int> gpus_;
  std::uint64_t seed_ = 0;
};

/// "0,2-4": 0 2 3 4. At most 64, each below 64, none twice. Errors: usage.
Outcome<std::vector<int>> parse_gpus(std::string_view text);

}  // namespace cupel::burn
