#pragma once
// What a run has not tested: an acceptance is worth only what was measured. Pure.
#include <boost/json/array.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/report/summary.h"

namespace cupel::report {

inline constexpr std::string_view kNotInPlaybook = "not in the playbook";

struct Untested {
  std::string what;                  // a step or several, a measure, a fact
  std::string why;                   // "skipped by kim: on order", "not in the playbook"
  std::vector<std::string> nodes{};  // empty: all

  friend bool operator==(const Untested&, const Untested&) = default;
};

/// Steps that nodes did not do or did not end, in the order of the playbook; then measures without
/// data; then what tools did not tell; then stages that are in no step of the run.
std::vector<Untested> untested_of(const RunSummary& summary);

boost::json::array to_json(std::span<const Untested> untested);

}  // namespace cupel::report
