#pragma once
// What explains what: the table behind burnin/consequences.h. Data, and the few words that it is
// written in.
#include <string_view>
#include <vector>

namespace cupel::burnin {

/// What a cause must have for a number.
enum class Sourced {
  anything,
  a_number,
  nothing,  // no number: words, or a number that was asked for and did not come
  missing,  // a number was asked for and did not come
};

using Words = std::vector<std::string_view>;

/// Causes of one kind. In texts a '*' stands for any text; an empty list is met by everything.
struct CauseKind {
  Words criteria{};
  std::string_view part = "*";  // "": the node as a whole
  Sourced reported = Sourced::anything;
  std::vector<double> values{};  // one of these was measured
  Words says{};                  // one of these is in `measured`
};

/// How the part of a consequence is connected with that of its cause.
enum class Link {
  same_part,  // it is the part, a place on it ("mlx5_7/1") or a pair with it ("gpu4-gpu5")
  group,      // the part takes part in it: counts, collectives, stages of all GPUs
};

/// What a number is compared with, where others have a fault of `counted` and the part has none.
enum class ComparedWith {
  nothing,
  partners,  // too few of them are well: a rate with them is theirs
  most,      // half of the others or more: they are what is usual
  any,       // one of the others
};

struct ConsequenceRule {
  CauseKind cause{};
  CauseKind effect{};
  Link link = Link::same_part;
  /// Nothing like it may be among the causes: then it is another fault's. No criteria: never mind.
  CauseKind unless{};
  /// The effect must say what most of its kind say, and two of them at least.
  bool in_common = false;
  /// With in_common, of counts that all GPUs lack: the highest is what they have in common.
  bool highest = false;
  ComparedWith beside = ComparedWith::nothing;
  /// The effect must lie below its limit by so much for each part of these kinds.
  double for_each = 0;
  std::vector<CauseKind> counted{};
};

/// The deeper cause first: where two explain the same, the first one does.
std::vector<ConsequenceRule> consequence_rules();

}  // namespace cupel::burnin
