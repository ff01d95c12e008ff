#pragma once
// What the command line says, bounded. A command declares its own choices; those that all share are
// declared here.
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"

namespace cupel::burn {

/// One thing that may be said: "--hertz 2".
struct Choice {
  enum class Kind {
    kFlag,    // --unverified-baseline
    kNumber,  // --hertz 2: from low to high
    kCount,   // --rounds 17: as a number, but whole
    kSize,    // --max 16G: bytes, by 1024
    kWord,    // --pattern square: one of `words`
    kWords,   // --types bf16,fp8: some of `words`
  };
  std::string_view name;  // with its dashes
  Kind kind = Kind::kFlag;
  std::string_view fallback{};  // where it is not said; for a number one must stand here
  double low = 0;
  double high = 0;
  std::string_view words{};  // parted by commas
  std::string_view help{};
};

/// --seconds, --gpus, --self-test, --seed, --hang-after, --rounds, --passes, --repeats.
std::span<const Choice> common_choices();

class Options {
 public:
  /// `seed` stands where --seed is not said. Errors: usage.
  static Outcome<Options> parse(std::string_view command, std::span<const Choice> own,
                                std::span<const std::string_view> arguments, std::uint64_t seed);

  const std::string& command() const { return command_; }
  std::chrono::duration<double> seconds() const;
  std::chrono::duration<double> hang_after() const;
  /// In the order of the PCI bus; empty: all.
  const std::vector<int>& gpus() const { return gpus_; }
  /// How often the planted error must be found; 0: no self-test.
  int self_tests() const { return self_tests_; }
  std::uint64_t seed() const { return seed_; }
  /// 0: until the time is over.
  int rounds() const { return static_cast<int>(number("--rounds")); }
  int passes() const { return static_cast<int>(number("--passes")); }
  int repeats() const { return static_cast<int>(number("--repeats")); }

  /// What was said, else the fallback. The choice must be declared.
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  std::vector<std::string> words(std::string_view name) const;

  /// All of it as one JSON object, for the start line.
  std::string parameters() const;

 private:
  Outcome<> take(const Choice& choice, std::string_view value);

  std::string command_;
  std::vector<int> gpus_;
  int self_tests_ = 0;
  std::uint64_t seed_ = 0;
  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, bool, std::less<>> flags_;
};

/// "0,2-4": 0 2 3 4. At most 64, each below 64, none twice. Errors: usage.
Outcome<std::vector<int>> parse_gpus(std::string_view text);

/// "a,b": a b. Empty parts are left out.
std::vector<std::string> parted(std::string_view text);

}  // namespace cupel::burn
