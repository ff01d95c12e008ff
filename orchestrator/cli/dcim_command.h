#pragma once
// `cupel inventory import netbox`: from NetBox or Nautobot, where a site keeps its machines.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

CommandRow import_row(Context& context);

}  // namespace cupel::cli
