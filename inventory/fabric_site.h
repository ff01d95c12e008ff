#pragma once
// The fabric of a site, as its operators wrote it down. Read by inventory/read_fabric.h.
#include <cstddef>
#include <optional>
#include <string>

#include "inventory/fabric.h"
#include "inventory/fabric_rule.h"
#include "inventory/forwarding.h"
#include "inventory/nccl_settings.h"
#include "inventory/problem.h"
#include "inventory/ufm_site.h"

namespace cupel::inventory {

/// How the site's fabric is to be cabled.
struct FabricSite {
  Fabric fabric{};
  std::optional<FabricRule> rule{};  // nothing: from a file
  std::string file{};                // of cables
  ForwardingTables forwarding{};     // empty: none are known
  std::string forwarding_file{};
  std::size_t left_out = 0;  // rows of it that are of other networks
  Place first_left_out{};
  NcclSettings nccl{};
  std::optional<UfmSite> ufm{};  // nothing: none is asked
  Place where{};
};

}  // namespace cupel::inventory
