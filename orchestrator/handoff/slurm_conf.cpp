#include "orchestrator/handoff/slurm_conf.h"

#include <fmt/format.h>

#include "inventory/model.h"
#include "inventory/node_range.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "inventory/slurm_site.h"

namespace cupel::handoff {
namespace {

constexpr double kMiB = 1024.0 * 1024;

int gpu_count(const inventory::Profile& profile) {
  for (const auto& parts : profile.parts)
    if (parts.kind == inventory::PartKind::gpu) return parts.count;
  return 0;
}

/// "gpu:h100:8(S:0-1)" as scontrol tells it: without the sockets.
std::string bare_gres(const std::string& gres) { return gres.substr(0, gres.find('(')); }

std::string node_line(const std::string& names, const std::string& addresses,
                      const SlurmLine& line) {
  auto text = fmt::format("NodeName={} NodeAddr={}", names, addresses);
  if (line.cpus > 0) text += fmt::format(" CPUs={}", line.cpus);
  if (line.memory_mib > 0) text += fmt::format(" RealMemory={}", line.memory_mib);
  if (!line.gres.empty()) text += " Gres=" + line.gres;
  return text + " State=UNKNOWN\n";
}

/// True if the folded range gives back the names in their order, as Slurm's zipped lines need it.
bool folds(const std::vector<std::string>& names) {
  const auto again = inventory::expand(inventory::fold_last(names));
  return again && *again == names;
}

/// One line for all nodes where names and addresses fold alike, else one for each.
std::string node_lines(const std::vector<const inventory::Node*>& nodes, const SlurmLine& line) {
  std::vector<std::string> names;
  std::vector<std::string> addresses;
  for (const auto* node : nodes) {
    names.push_back(node->slurm_name);
    addresses.push_back(node->ssh.endpoint.host);
  }
  if (folds(names) && folds(addresses))
    return node_line(inventory::fold_last(names), inventory::fold_last(addresses), line);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += node_line(names[i], addresses[i], line);
  return text;
}

}  // namespace

SlurmLine slurm_line(const inventory::Profile& profile) {
  SlurmLine line;
  line.cpus = profile.slurm_cpus;
  line.memory_mib = static_cast<long>(profile.slurm_memory_bytes / kMiB);
  const int gpus = gpu_count(profile);
  if (gpus > 0 && !profile.gpu_type.empty())
    line.gres = fmt::format("gpu:{}:{}", profile.gpu_type, gpus);
  return line;
}

std::string slurm_conf(const inventory::Inventory& inventory) {
  std::map<std::string, std::vector<const inventory::Node*>, std::less<>> by_profile;
  for (const auto& node : inventory.nodes)
    if (!inventory.kubernetes || inventory.is_of_slurm(node))
      by_profile[node.profile].push_back(&node);
  std::string text = "# slurm.conf\nGresTypes=gpu\n";
  std::string gres = "# gres.conf\n";
  std::vector<std::string> all;
  for (const auto& [name, nodes] : by_profile) {
    const auto& profile = inventory.profiles.at(name);
    const auto line = slurm_line(profile);
    text += node_lines(nodes, line);
    std::vector<std::string> names;
    for (const auto* node : nodes) names.push_back(node->slurm_name);
    all.insert(all.end(), names.begin(), names.end());
    if (!line.gres.empty())
      gres += fmt::format("NodeName={} Name=gpu Type={} File=/dev/nvidia[0-{}]\n",
                          inventory::fold_last(names), profile.gpu_type, gpu_count(profile) - 1);
  }
  const auto partition = inventory.slurm.value_or(inventory::SlurmSite{}).partition;
  text += fmt::format("PartitionName={} Nodes={} State=UP\n", partition, inventory::fold_last(all));
  return text + gres;
}

std::vector<std::string> disagreements(const inventory::Profile& profile, const SlurmNode& node) {
  std::vector<std::string> found;
  const auto line = slurm_line(profile);
  const auto memory = static_cast<long>(node.memory_bytes / kMiB);
  if (line.cpus > 0 && node.cpus < line.cpus)
    found.push_back(
        fmt::format("{}: Slurm has CPUs={}, the profile says {}", node.name, node.cpus, line.cpus));
  if (line.memory_mib > 0 && memory < line.memory_mib)
    found.push_back(fmt::format("{}: Slurm has RealMemory={}, the profile says {}", node.name,
                                memory, line.memory_mib));
  if (!line.gres.empty() && bare_gres(node.gres) != line.gres)
    found.push_back(fmt::format("{}: Slurm has Gres={}, the profile says {}", node.name,
                                node.gres.empty() ? "(none)" : node.gres, line.gres));
  return found;
}

}  // namespace cupel::handoff
