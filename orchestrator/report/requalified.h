#pragma once
// That a run renews a part of what an earlier run has proven, and leaves the rest standing: written
// into the run's first event, so that its hash chain covers it. Data, and its JSON.
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cupel::report {

struct Requalified {
  std::int64_t run = 0;                // whose evidence stands where this run renews none
  std::vector<std::string> changes{};  // "gpu3 replaced: serial A is now serial B"
  std::vector<std::string> voided{};   // base names of the stages whose evidence is void
  /// Of these, what one node alone cannot renew; and stages that failed since and are not of it.
  std::vector<std::string> open{};
  friend bool operator==(const Requalified&, const Requalified&) = default;
};

boost::json::object to_json(const Requalified& requalified);
/// Nothing where there is none, or it names no run.
std::optional<Requalified> requalified_from(const boost::json::value* value);

}  // namespace cupel::report
