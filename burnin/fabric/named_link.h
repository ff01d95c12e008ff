#pragma once
// The link that a person means by the name of one of its ports. Pure.
#include <string_view>

#include "base/result.h"
#include "burnin/fabric/link_look.h"
#include "inventory/fabric.h"

namespace cupel::burnin {

struct NamedLink {
  PortId here{};
  PortId there{};  // without a device where neither the name nor the plan says it
  friend bool operator==(const NamedLink&, const NamedLink&) = default;
};

/// "n05 mlx5_3", "n05/mlx5_3", "leaf1-r3 port 7", "leaf1-r3/7", "port:leaf1-r3/7", with a second
/// port behind 2 (HCA) or as "7/1" where the plan has cages; or a whole link, as it is printed:
/// "n05 mlx5_3 - leaf1-r3 port 7". With a plan the port must be one of it, and its cable says the
/// other end. Errors: kInvalid, with the nearest name of the plan.
Result<NamedLink> named_link(std::string_view name, const inventory::Fabric* plan);

/// The same with a plan: the end of a cable as the plan has it. Errors: kInvalid.
Result<inventory::CableEnd> planned_end(std::string_view name, const inventory::Fabric& plan);

}  // namespace cupel::burnin
