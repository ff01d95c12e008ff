#pragma once
// How well faults are found: what was planted against what a run said of it. Pure. Knows nothing of
// how anything was planted.
#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// One fault, and what is to be found of it.
struct Planted {
  std::string fault;
  std::string node;
  burnin::Decision verdict = burnin::Decision::fail;
  std::string part{};     // "gpu5"; empty: the node as a whole
  std::string check{};    // the cause's criterion
  std::string like{};     // what was measured has this in it
  std::string because{};  // what was measured of any of the causes has this in it
  bool slow = false;      // it is enough that the part is reported as slow, whatever the verdict
  std::string needs{};    // what nobody looks for yet; empty: it must be found
};

struct Detection {
  Planted planted;
  burnin::Decision verdict = burnin::Decision::inconclusive;
  std::string part{}, check{}, measured{};  // of the first cause
  bool found = false;                       // the verdict is the expected one
  bool right = false;                       // and so is the part, and the check
  std::chrono::milliseconds took{0};        // to the evidence, from the node's first step
  int tests = 0;                            // steps done until then
};

/// `speed`: how much faster than ours the machines' time ran; `took` is theirs.
Detection detected(const Planted& planted, const NodeSummary& node, double speed);

struct Score {
  int looked_for = 0, found = 0, right = 0;  // faults that are to be found
  int to_bear = 0, borne = 0;                // faults that are to pass
  int healthy = 0, blamed = 0;               // nodes without a fault, and how many did not pass
  int not_yet = 0;                           // what nobody looks for

  double recall() const;     // of what is to be found, what was
  double precision() const;  // of what was blamed, what had to be
  double right_part() const;
  bool whole() const;  // all found and named right, nobody else blamed
};

Score score_of(std::span<const Detection> detections, std::span<const NodeSummary> healthy);

/// "found", "wrong part", "missed", "borne", "not borne", "not looked for yet".
std::string_view outcome_of(const Detection& detection);

boost::json::object to_json(const Detection& detection);
boost::json::object to_json(const Score& score);

}  // namespace cupel::report
