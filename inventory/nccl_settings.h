#pragma once
// What NCCL needs to know of a site's network: the same for every job of its nodes.
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::inventory {

struct NcclSettings {
  std::string interface{};                           // where ranks meet; empty: not reported
  std::map<std::string, std::string> environment{};  // NCCL_IB_SL ...
  bool any_address = false;  // ranks meet on another network than that of the nodes' addresses
  friend bool operator==(const NcclSettings&, const NcclSettings&) = default;
};

/// "NCCL_IB_SL=1 NCCL_IB_TC=106". Errors: kInvalid: a name that is not NCCL's, one that a stage
/// itself sets, a sign that does not belong into a value, or more than 64.
Result<std::map<std::string, std::string>> nccl_environment(std::string_view text);

/// Errors: kInvalid: no name that Linux gives a network interface (IFNAMSIZ, netdevice(7)).
Result<std::string> network_interface(std::string_view text);

}  // namespace cupel::inventory
