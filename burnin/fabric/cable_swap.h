#pragma once
// Two plugs of the fabric changed places, to find out which part is slow: the plan as it is cabled
// then, and what the readings before and after say. A link is a port, a cable with its
// transceivers, and a port; an exchange of plugs joins other ports, so that of the parts of a slow
// link only those stay under suspicion that are on a slow link again. Pure.
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/fabric.h"

namespace cupel::burnin::fabric {

/// The stage whose readings an exchange is judged by.
inline constexpr std::string_view kExchangeStage = "fabric-pairs";

/// The two ports whose plugs were exchanged.
struct Exchange {
  inventory::CableEnd one{};
  inventory::CableEnd other{};
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// "leaf1-r3/7,leaf1-r3/8": ports as named_link() takes them. Errors: kInvalid.
Result<Exchange> exchange_of(std::string_view text, const inventory::Fabric& plan);

/// The plan after an exchange. Cables keep the order of their lower ends: a leaf chooses among its
/// uplinks by their ports.
struct Recabled {
  inventory::Fabric fabric{};
  std::vector<std::size_t> was{};  // of each cable: which one of the plan it is
};

/// Errors: kInvalid: a port without a cable, both ends of one cable, or ports at different sides of
/// their cables, so that an HCA would get a spine.
Result<Recabled> exchanged(const inventory::Fabric& plan, const Exchange& exchange);

/// Of cables that lead to nodes; else it is of uplinks.
bool is_of_a_node(const inventory::Fabric& plan, const Exchange& exchange);

/// A port, or a cable with its transceivers: named by its lower end in the plan.
struct LinkPart {
  enum class Kind { port, cable } kind = Kind::port;
  inventory::CableEnd at{};
  friend auto operator<=>(const LinkPart&, const LinkPart&) = default;
};

/// "port 7 of leaf1-r3", "HCA mlx5_3 of n05", "the cable that the plan has in n05 mlx5_3".
std::string to_string(const LinkPart& part);

/// The three parts of the link that ends there; none where no cable does.
std::vector<LinkPart> parts_of_link(const inventory::Fabric& plan, const Recabled& now,
                                    const inventory::CableEnd& end);

/// Links of which one is slow, by one of their ends each; one alone: it is.
using SlowLinks = std::vector<inventory::CableEnd>;

/// Of all of them as the plan has them, sorted, each once.
std::vector<LinkPart> parts_of_links(const inventory::Fabric& plan, const SlowLinks& links);

struct SwapAnswer {
  enum class Outcome {
    named,  // one of `parts` is at fault
    gone,   // none of them is on a slow link any more: it was a contact, or it comes and goes
    both,   // slow on several links now: more than one part is at fault
    open,   // no exchange was measured yet
    contradicted,  // several exchanges leave no part that is at fault in all of them
  } outcome{};
  SlowLinks was{};
  std::vector<LinkPart> parts{};    // still under suspicion
  std::vector<LinkPart> cleared{};  // no longer
  friend bool operator==(const SwapAnswer&, const SwapAnswer&) = default;
};

std::string to_string(const SwapAnswer& answer);

/// An answer for each of `before` that the exchange concerns. `after`: measured with the plan of
/// exchanged(). Errors: kInvalid, as exchanged(); and where the exchange concerns none of `before`.
Result<std::vector<SwapAnswer>> read_exchange(const inventory::Fabric& plan,
                                              const Exchange& exchange,
                                              std::span<const SlowLinks> before,
                                              std::span<const SlowLinks> after);

}  // namespace cupel::burnin::fabric
