#pragma once
// Which repairs of a link were tried, and whether they helped: what was recorded of a link, and
// what two looks say of it now. Pure; the record is kept by its caller, in the form of to_json().
#include <boost/json/object.hpp>
#include <span>

#include "burnin/fabric/link_health.h"

namespace cupel::burnin {

/// At a link a repair was done, or it was judged by two looks.
struct LinkEvent {
  enum class Kind { repaired, judged } kind = Kind::repaired;
  std::chrono::sys_seconds at{};  // of the repair, or of the second look
  PortId here{};
  PortId there{};  // without a device where the other end is not known
  std::string by{};
  Repair did{};                       // of a repair, as is `note`
  std::string note{};                 // in the words of the person
  std::chrono::sys_seconds since{};   // of a judgement: the first look
  std::vector<LinkDefect> defects{};  // of a judgement; none: nothing is wrong
  friend bool operator==(const LinkEvent&, const LinkEvent&) = default;
};

inline constexpr std::size_t kLongestNote = 1000;  // bytes

/// "reseat (dust in it)", "errors: PortRcvErrors grew by ...", "nothing is wrong since ...".
std::string what_text(const LinkEvent& event);

boost::json::object to_json(const LinkEvent& event);
/// For programs: with its `kind` and `by`, too.
boost::json::object full_json(const LinkEvent& event);
/// `by` is its caller's. Errors: kMalformed.
Result<LinkEvent> link_event(LinkEvent::Kind kind, const boost::json::object& data);

enum class Outcome {
  helped,       // nothing is wrong after the repair
  not_helped,   // a fault of before is there still; or some fault, and what it was is not known
  other_fault,  // the faults of before are gone, others are there
  open,         // it is not known yet
  recovered,    // it flapped in one window and not since, without a repair: it was brought up
  gone,         // its faults are gone without a repair: they may come back
};

std::string_view to_string(Outcome outcome);

/// A link that was repaired, or was bad, since it was last judged.
struct LinkProgress {
  LookedLink link{};
  Outcome outcome{};
  std::vector<LinkEvent> repairs{};  // oldest first
  std::optional<LinkEvent> was{};    // the judgement before; nothing: none is recorded
  std::vector<LinkDefect> now{};
  std::string why{};  // of `open`: why, and what is to be done
  friend bool operator==(const LinkProgress&, const LinkProgress&) = default;
};

struct FabricProgress {
  std::vector<LinkProgress> links{};
  /// Of each finding of the health, as many: repairs that were tried, oldest first. They are no
  /// longer among its steps.
  std::vector<std::vector<LinkEvent>> tried{};
  std::vector<LinkEvent> unmatched{};  // repairs at ports that no link has
  std::vector<LinkEvent> judged{};     // what is to be recorded: only what the record does not say
};

/// A repair counts as tried for so long, and for as long as no look found the link well.
inline constexpr std::chrono::days kRepairCounts{30};

/// `health` is what judge_links() found by the same looks; steps that were tried, and those before
/// them in the order, are taken out of it. `history` in any order. A repair helped where two looks
/// after it, 125 minutes apart, find nothing wrong and leave nothing of the link unassessed.
FabricProgress follow_repairs(LinkHealth& health, const LinkLook* before, const LinkLook& after,
                              std::span<const LinkEvent> history);

}  // namespace cupel::burnin
