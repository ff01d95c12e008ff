#pragma once
// How much a counter of a port grew between two looks, and when that cannot be known. Pure.
#include <cstdint>
#include <string_view>

#include "burnin/fabric/link_look.h"

namespace cupel::burnin {

struct Growth {
  enum class Known {
    yes,
    at_least,  // it stands at its maximum now: it may have counted more
    absent,    // a look does not have it
    reset,     // it is smaller than before: cleared, or its device started again; `by`: since then
    stuck,     // it stood at its maximum before
  } known = Known::absent;
  std::uint64_t by = 0;
  bool grew() const { return by > 0; }
  bool judged() const { return known == Known::yes || known == Known::at_least; }
  friend bool operator==(const Growth&, const Growth&) = default;
};

std::string_view to_string(Growth::Known known);

/// Counters of PortCounters stop at their maximum and do not wrap.
/// Source: IBA volume 1, 16.1.3.5, PortCounters.
Growth growth_of(const LinkLook& before, const LinkLook& after, const PortId& port,
                 std::string_view counter);

/// Of a counter of mlxlink's report.
Growth reported_growth(const LinkLook& before, const LinkLook& after, const PortId& port,
                       std::string_view counter);

/// How often the link went down: by PortCounters, else by mlxlink.
Growth link_downs(const LinkLook& before, const LinkLook& after, const PortId& port);

}  // namespace cupel::burnin
