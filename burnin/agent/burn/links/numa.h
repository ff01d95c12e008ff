#pragma once
// Which memory and which cores are near a GPU, by what the kernel says; and memory that lies where
// it was asked for. By system calls: a node need not have libnuma.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"

namespace cupel::burn {

/// "0-3,8": 0 1 2 3 8, as the kernel writes lists of cores and nodes. nullopt: not of this form, or
/// more than 8192 numbers. Source: Linux, Documentation/admin-guide/cputopology.rst.
std::optional<std::vector<int>> parse_id_list(std::string_view text);

struct NumaNode {
  int id = 0;
  std::vector<int> cores{};
  std::uint64_t free_bytes = 0;
  std::vector<int> distances{};  // to the nodes that are online, in their order

  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

/// What lies below /sys, or below another folder that looks like it.
struct Numa {
  std::filesystem::path sys = "/sys";

  /// Nodes with cores and with memory, by number: a node without cores is a GPU's own memory or an
  /// expander, and no socket. Empty where the kernel knows of no nodes.
  std::vector<NumaNode> nodes() const;
  /// The node of a PCI device ("0000:1b:00.0"). nullopt: the firmware did not say (-1).
  std::optional<int> node_of_device(std::string_view pci) const;
};

/// What is near to a device and what is far from it.
struct Places {
  std::optional<int> near{};
  std::optional<int> far{};  // the node at the largest distance from the near one

  friend bool operator==(const Places&, const Places&) = default;
};

/// One socket: near is that one, and there is no far. Of several, the device's is near; where the
/// firmware did not say which, neither is known. A device on a node without cores: near is the
/// closest that has some, if the kernel tells its distances.
Places places_of(std::span<const NumaNode> nodes, std::optional<int> device_node);

/// From now on this thread runs on these cores alone. Errors: refused, with the kernel's word.
Outcome<> pin_this_thread(std::span<const int> cores);

/// From now on this thread runs on the cores that are near to a GPU, so that what it launches and
/// the host's memory that it touches first do not cross the sockets. The node; nullopt where the
/// firmware does not say which, or the kernel refuses: the thread runs on as it did.
std::optional<int> stay_near(std::string_view pci, const Numa& numa = {});

/// Zeroed memory on one NUMA node, or, where `node` is nullopt, wherever the kernel puts it. Every
/// page is touched and then looked up, since the kernel gives another node's page without a word
/// where the one that was asked for is full.
class NodeMemory {
 public:
  /// Errors: memory (not so much there, or not all of it on the node).
  static Outcome<NodeMemory> on(std::optional<int> node, std::size_t bytes);

  NodeMemory(NodeMemory&& other) noexcept;
  NodeMemory& operator=(NodeMemory&& other) noexcept;
  ~NodeMemory();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit NodeMemory(std::span<std::byte> bytes) : bytes_{bytes} {}

  std::span<std::byte> bytes_;
};

}  // namespace cupel::burn
