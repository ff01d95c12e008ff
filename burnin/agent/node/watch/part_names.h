#pragma once
// Which part sits at a PCI address, as the rest of Cupel calls it: gpu3, mlx5_5, nvme0.
#include <map>
#include <string>

#include "burnin/agent/common/nvml.h"
#include "burnin/agent/node/kernel_messages.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

class PartNames {
 public:
  /// GPUs as NVML counts them; where it does not work, in the order of their addresses. Read once:
  /// a GPU that falls off its bus later keeps its name.
  PartNames(const Tree& tree, const nvml::Library& library);

  /// "pci 0000:1a:01.0" for what is nothing of interest, empty for no address at all.
  std::string at(const std::string& address) const;
  /// Of a message: by its address, by the network name ("ib6" is a port of mlx5_6), or as the line
  /// itself says; empty: the node as a whole.
  std::string of(const KernelMessage& message) const;

  const std::map<std::string, std::string>& all() const { return by_address_; }

 private:
  std::map<std::string, std::string> by_address_;
  std::map<std::string, std::string> by_network_;
};

}  // namespace cupel::agent
