#pragma once
// Failures that have something in common: the same step, the same cause, and machines that are
// alike in model, firmware or place. Pure; not a verdict on any one node.
//
// The statistic is Fisher's exact test, one-sided: of the nodes that ended a step, how likely is it
// that so many of the failures fall on those with a trait, if the trait had nothing to do with it?
// It is exact for the small counts that racks give, where a chi-square is not, and unlike a lift it
// says how surprised one should be. All questions that are asked at one time share one false-alarm
// rate (Bonferroni: Dunn, "Multiple comparisons among means", 1961). Whoever looks a hundred times
// while a run goes on has a hundred times the chance of a false alarm: the rate is small for that.
#include <boost/json/array.hpp>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cupel::report {

/// What may be asked about a node: "model" -> "DGXH100". Empty values are as if not reported.
using Traits = std::map<std::string, std::string, std::less<>>;

/// Why a node failed a step.
struct TrialCause {
  std::string cause;   // without what differs from node to node: by it nodes are grouped
  std::string text{};  // what was reported of this node, for people; empty: as `cause`
};

/// A node that has ended a step, well or not.
struct Trial {
  std::string node;
  std::string step;
  std::vector<TrialCause> causes{};  // empty: it did not fail
};

/// Failed and all, of the nodes with a trait or of those without.
struct Share {
  std::size_t failed = 0, all = 0;
  friend bool operator==(const Share&, const Share&) = default;
};

/// What sets the failed nodes apart. All traits hold for the same nodes.
struct Cluster {
  Traits traits{};
  Share with{}, others{};
  double chance = 1;  // of so many by accident, this one question alone
};

/// Nodes that failed alike.
struct FailureGroup {
  std::string step;
  std::string cause;  // without what differs from node to node: the key, not for people
  std::string
      text;  // what was reported of the first of the nodes, in full words; at most 400 bytes
  std::vector<std::string> nodes{};
  std::size_t ended = 0;            // nodes that ended the step
  std::vector<Cluster> clusters{};  // the most surprising first; of the same nodes only one
};

struct ClusterRules {
  double false_alarms = 0.001;   // in so many looks at runs without any pattern, at most
  std::size_t least_failed = 3;  // with a trait: two of anything are a coincidence
};

/// The most frequent groups first; a group without clusters is there too.
std::vector<FailureGroup> group_failures(std::span<const Trial> trials,
                                         const std::map<std::string, Traits, std::less<>>& traits,
                                         const ClusterRules& rules = {});

/// The chance that at least `with.failed` of the failures fall on those with the trait.
double fisher_exact(const Share& with, const Share& others);

/// An error without what differs from node to node: its name, numbers, addresses. At most 100
/// bytes, as it is a key.
std::string cause_of(std::string_view detail, std::string_view node);

/// The same error for people, who see the node beside it: without the name in front, and with
/// whole words up to 400 bytes.
std::string words_of_cause(std::string_view detail, std::string_view node);

/// "12 of 12 with model DGXH100, bmc 1.2.3 fail at boot-once; 0 of 40 others do".
std::string to_text(const FailureGroup& group, const Cluster& cluster);
/// "boot-once: 12 of 52 nodes, for example a01-n03: HTTP 503 from 10.0.1.3".
std::string to_text(const FailureGroup& group);
boost::json::array to_json(std::span<const FailureGroup> groups);

}  // namespace cupel::report
