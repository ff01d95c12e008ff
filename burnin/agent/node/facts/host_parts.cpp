#include "burnin/agent/node/facts/host_parts.h"

#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {

JsonLine host_parts(const Tree& tree) {
  Report report;
  add_system(tree, report);
  add_cpus(tree, report);
  add_memory(tree, report);
  if (has_dimm_table(tree)) add_dimms(tree, report);
  add_edac(tree, report);
  add_kernel(tree, report);
  add_infiniband(tree, report);
  add_nics(tree, report);
  add_nvme_files(tree, report);
  return report.finish();
}

}  // namespace cupel::agent
