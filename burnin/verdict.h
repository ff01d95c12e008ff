#pragma once
// What is reported of a node in the end, and why. Data: made by orchestrator/steps/verdict.cpp,
// read by the hand-off and the reports, which never judge again.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/compared.h"

namespace cupel::burnin {

enum class Decision {
  pass,          // everything that was to be measured was, and met its criterion
  fail,          // found out, and bad
  inconclusive,  // could not find out
};

std::string_view to_string(Decision decision);

/// A number and its limits. Limits are in `unit`, unless `unit_of_limits` names another one: then
/// the two cannot be compared.
struct Quantity {
  std::optional<double> value{};  // as measured; nothing where no measurement came
  std::optional<double> at_least{};
  std::optional<double> at_most{};
  std::string unit{};
  std::string unit_of_limits{};

  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// How far the value lies inside of the nearer limit, in `unit`; negative: so far outside. Nothing
/// where there is no value, no limit, or another unit.
std::optional<double> margin(const Quantity& quantity);

/// A number was asked for, and none came.
bool is_missing(const Quantity& quantity);

/// One reason for a verdict that is no pass.
struct Cause {
  Decision decision = Decision::fail;  // fail or inconclusive
  std::string part{};                  // "gpu3"; empty: the node as a whole
  std::string criterion{};             // "gpu.ecc.uncorrected", "audit: missing", "step power-on"
  // Words, of what is no number: what a step said, the model of a part. Numbers are in `quantity`;
  // burnin/verdict_text.h makes the words of both.
  std::string measured{};
  std::string expected{};
  std::string evidence{};  // SHA-256 of the raw output; empty: there is none
  std::string remedy{};
  std::vector<std::string> stages{};  // in which it was seen; the evidence is the first one's
  Quantity quantity{};                // empty where it is no number
  std::string consequence_of{};       // the cause that explains it; burnin/consequences.h
  std::string criterion_id{};         // of Checked; empty where it is no criterion of the profile
  std::string place{};                // where in the part: "SM 17, round 3"

  friend bool operator==(const Cause&, const Cause&) = default;
};

enum class Met {
  met,
  failed,
  missing,  // the stage ran, but this number did not come: no evidence, so no pass
};

std::string_view to_string(Met met);

/// One criterion of the profile for one part, met or not.
struct Checked {
  std::string stage{};
  std::string part{};  // empty: the node as a whole
  std::string measure{};
  Quantity quantity{};
  Met met = Met::missing;
  std::string source{};        // where the limits come from
  std::string criterion_id{};  // "gemm/gemm.bf16.rate"; "gemm/...#2" where the profile has several
  std::string place{};         // where in the part, if it is not met: "SM 17, round 3"
  std::string remedy{};        // what a person should do; empty where it is met

  friend bool operator==(const Checked&, const Checked&) = default;
};

struct Verdict {
  Decision decision = Decision::inconclusive;
  std::vector<Cause> causes{};
  std::vector<Checked> checked{};
  /// Worse than its like, the furthest behind first: for people, and decides nothing.
  std::vector<Compared> slow{};
};

}  // namespace cupel::burnin
