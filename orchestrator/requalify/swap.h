#pragma once
// What a swap shows: two parts changed places, and the finding went with the part, or stayed
// where it was. Pure.
#include <span>
#include <string>
#include <vector>

#include "burnin/compared.h"
#include "orchestrator/record/node_record.h"

namespace cupel::requalify {

enum class SwapResult {
  part,        // the finding went with the part: replace it
  place,       // another part fails in the same place: slot, cable, riser, baseboard
  gone,        // neither fails any more: it was the contact, or it comes and goes
  both,        // both fail: it is neither of the two alone
  unmoved,     // the part sits where it was: it decides nothing
  unmeasured,  // place or part was not measured again, or reports no serial number: nothing is
               // known
};

struct SwapAnswer {
  std::string part{};       // as it was called when it failed: "gpu3"
  std::string is_now{};     // as it is called now; empty where it is not in this machine any more
  std::string criterion{};  // "pcie.h2d"
  SwapResult result{};
  friend bool operator==(const SwapAnswer&, const SwapAnswer&) = default;
};

/// One answer for each part and criterion that failed before and that nothing else explained. Parts
/// are known by the serial numbers that the source of their names reported, places by
/// in_place_of(). `unmeasured` unless the verdict of `after` has the criterion for the place and
/// for the part that moved; a part that is in no place of this machine now leaves only a finding of
/// the part that sits there instead. A number that was unlike the fleet's counts as measured only
/// where `compared`, of the same verdict, has others of its kind. One that was unlike the machine's
/// own history is `unmeasured`: a part that moved has no history in its new place.
std::vector<SwapAnswer> read_swap(const record::NodeRecord& before, const record::NodeRecord& after,
                                  std::span<const burnin::Compared> compared);

/// "gpu3 (now gpu4): pcie.h2d went with the part: replace it".
std::string to_string(const SwapAnswer& answer);

}  // namespace cupel::requalify
