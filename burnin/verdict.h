#pragma once
// What is said of a node in the end, and why. Data: made by orchestrator/steps/verdict.cpp, read by
// the hand-off and the reports, which never judge again.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

enum class Decision {
  pass,          // everything that was to be measured was, and met its criterion
  fail,          // found out, and bad
  inconclusive,  // could not find out
};

std::string_view to_string(Decision decision);

/// A number and its limits, for programs; people read `measured` and `wanted`.
struct Quantity {
  std::optional<double> value{};  // as measured; nothing where no measurement came
  std::optional<double> at_least{};
  std::optional<double> at_most{};
  std::string unit{};

  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// One reason for a verdict that is no pass.
struct Cause {
  Decision decision = Decision::fail;  // fail or inconclusive
  std::string part{};                  // "gpu3"; empty: the node as a whole
  std::string criterion{};             // "gpu.ecc.uncorrected", "audit: missing", "step power-on"
  std::string measured{};              // "2 errors"; "nothing" where no measurement came
  std::string wanted{};                // "at most 0 errors"
  std::string evidence{};              // SHA-256 of the raw output; empty: there is none
  std::string remedy{};
  std::vector<std::string> stages{};  // in which it was seen; the evidence is the first one's
  Quantity quantity{};                // empty where it is no number
  std::string consequence_of{};       // the cause that explains it; burnin/consequences.h

  friend bool operator==(const Cause&, const Cause&) = default;
};

/// One number against its criterion, met or not: what a report shows.
struct Checked {
  std::string stage{};
  std::string part{};
  std::string measure{};
  std::string measured{};  // "81.5 GiB"; "nothing" where no measurement came
  std::string wanted{};    // "at least 79 GiB"
  bool met = false;
  std::string source{};  // where the wanted number comes from

  friend bool operator==(const Checked&, const Checked&) = default;
};

struct Verdict {
  Decision decision = Decision::inconclusive;
  std::vector<Cause> causes{};
  std::vector<Checked> checked{};
};

/// "gpu3: gpu.ecc.uncorrected 2 errors, wanted at most 0 errors".
std::string to_string(const Cause& cause);

}  // namespace cupel::burnin
