#include "burnin/agent/node/facts/facts.h"

#include <array>
#include <chrono>

#include "burnin/agent/common/options.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {

std::string facts_document(const Tree& tree, const nvml::Library& library) {
  const auto began = std::chrono::steady_clock::now();
  Report report;
  report.line.add("program", "cupel-node").add("version", CUPEL_VERSION).add("protocol", 1);
  add_system(tree, report);
  add_cpus(tree, report);
  add_memory(tree, report);
  add_dimms(tree, report);
  add_edac(tree, report);
  add_kernel(tree, report);
  add_iommu(tree, report);
  add_drivers(tree, report);
  add_fabric_manager(tree, report);
  add_boot_settings(tree, report);
  add_consoles(tree, report);
  add_frequency_policy(tree, report);
  add_time(tree, report);
  add_pci(tree, report);
  add_gpus(library, report);
  add_infiniband(tree, report);
  add_nics(tree, report);
  add_nvme(tree, report);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  report.line.add("seconds", took.count());
  return report.finish().text();
}

int facts(Arguments arguments) {
  constexpr std::array kChoices{
      Choice{.name = "--root", .kind = Choice::Kind::kText, .fallback = "/"},
      Choice{.name = "--nvml", .kind = Choice::Kind::kText, .fallback = nvml::kFileName}};
  const auto options = Options::read(kChoices, arguments);
  if (!options || !options->operands().empty())
    return write_all(2, "usage: cupel-node facts [--root FOLDER] [--nvml FILE]\n"), kUsage;
  const nvml::Library library{options->text("--nvml")};
  return write_all(1, facts_document(Tree{options->text("--root")}, library)) ? kDone
                                                                              : kCannotWrite;
}

}  // namespace cupel::agent
