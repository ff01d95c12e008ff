#include "burnin/agent/burn/links/numa.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

namespace cupel::burn {
namespace {

// Source: Linux, include/uapi/linux/mempolicy.h.
constexpr int kPreferred = 1;
constexpr int kMostNodes = 1024;
constexpr std::size_t kMostIds = 8192;

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "Node 0 MemFree:        1044196 kB": the number of the line with this word.
std::uint64_t kilobytes(const std::filesystem::path& meminfo, std::string_view word) {
  std::ifstream file{meminfo};
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(word);
    if (at == line.npos) continue;
    const auto digits = line.find_first_of("0123456789", at + word.size());
    if (digits == line.npos) return 0;
    std::uint64_t value = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), value);
    return value;
  }
  return 0;
}

std::vector<int> distances(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::vector<int> found;
  for (int distance = 0; found.size() < kMostNodes && file >> distance;) found.push_back(distance);
  return found;
}

std::string why() { return std::strerror(errno); }

long prefer(std::span<std::byte> bytes, int node) {
  constexpr int kBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, kMostNodes / kBits> mask{};
  mask.at(node / kBits) |= 1UL << (node % kBits);
  // One bit more than there are: the kernel takes the last as not its own.
  return syscall(SYS_mbind, bytes.data(), bytes.size(), kPreferred, mask.data(), kMostNodes + 1, 0);
}

/// How many of the pages lie elsewhere; nullopt where the kernel does not tell.
std::optional<std::size_t> strays(std::span<std::byte> bytes, int node) {
  constexpr std::size_t kAtOnce = 4096;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t elsewhere = 0;
  for (std::size_t from = 0; from < bytes.size(); from += kAtOnce * page) {
    std::vector<void*> pages;
    for (auto at = from; at < bytes.size() && pages.size() < kAtOnce; at += page)
      pages.push_back(bytes.data() + at);
    std::vector<int> lies(pages.size(), -1);
    // Without nodes to move to, it only tells where they are.
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, lies.data(), 0) != 0)
      return std::nullopt;
    elsewhere += static_cast<std::size_t>(
        std::ranges::count_if(lies, [node](int where) { return where != node; }));
  }
  return elsewhere;
}

}  // namespace

std::optional<std::vector<int>> parse_id_list(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::vector<int> ids;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto part = text.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = whole(part.substr(0, dash));
    const auto last = dash == part.npos ? first : whole(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
    if (static_cast<std::size_t>(*last - *first) >= kMostIds - ids.size()) return std::nullopt;
    for (int id = *first; id <= *last; ++id) ids.push_back(id);
    const bool more = comma < text.size();
    text.remove_prefix(more ? comma + 1 : comma);
    if (more && text.empty()) return std::nullopt;
  }
  return ids;
}

std::vector<NumaNode> Numa::nodes() const {
  const auto folder = sys / "devices/system/node";
  std::vector<NumaNode> found;
  const auto online = parse_id_list(first_line(folder / "online"));
  if (!online) return found;
  for (const int id : *online) {
    const auto at = folder / ("node" + std::to_string(id));
    auto cores = parse_id_list(first_line(at / "cpulist"));
    const bool socket = cores && !cores->empty() && kilobytes(at / "meminfo", "MemTotal:") > 0;
    if (!socket) continue;
    found.push_back({.id = id,
                     .cores = std::move(*cores),
                     .free_bytes = kilobytes(at / "meminfo", "MemFree:") * 1024,
                     .distances = distances(at / "distance")});
    // The kernel counts distances over the nodes online; whoever reads them wants them by number.
    auto& by_number = found.back().distances;
    if (by_number.size() != online->size()) by_number.clear();
    std::vector<int> spread(by_number.empty() ? 0 : online->back() + 1, 0);
    for (std::size_t i = 0; i < by_number.size(); ++i) spread.at((*online)[i]) = by_number[i];
    by_number = std::move(spread);
  }
  return found;
}

std::optional<int> Numa::node_of_device(std::string_view pci) const {
  const auto node = whole(first_line(sys / "bus/pci/devices" / pci / "numa_node"));
  if (!node || *node < 0) return std::nullopt;
  return node;
}

Places places_of(std::span<const NumaNode> nodes, std::optional<int> device_node) {
  if (nodes.empty()) return {};
  if (nodes.size() == 1) return {.near = nodes[0].id};
  if (!device_node) return {};
  const auto distance = [](const NumaNode& node, int to) {
    return static_cast<std::size_t>(to) < node.distances.size() ? node.distances[to] : 0;
  };
  auto near = std::ranges::find(nodes, *device_node, &NumaNode::id);
  if (near == nodes.end()) {
    near = std::ranges::min_element(
        nodes, {}, [&](const NumaNode& node) { return distance(node, *device_node); });
    if (distance(*near, *device_node) == 0) return {};  // one of them did not say
  }
  Places places{.near = near->id};
  int farthest = -1;
  for (const auto& node : nodes) {
    if (node.id == near->id || distance(*near, node.id) <= farthest) continue;
    farthest = distance(*near, node.id);
    places.far = node.id;
  }
  return places;
}

Outcome<> pin_this_thread(std::span<const int> cores) {
  if (cores.empty()) return Failure{"refused", "no cores to run on were named"};
  const int most = std::ranges::max(cores) + 1;
  const auto size = CPU_ALLOC_SIZE(most);
  std::vector<std::byte> room(size);
  auto* set = reinterpret_cast<cpu_set_t*>(room.data());
  for (const int core : cores) CPU_SET_S(core, size, set);
  if (sched_setaffinity(0, size, set) == 0) return done();
  return Failure{"refused", "the kernel does not let this process run on cores " +
                                std::to_string(cores.front()) + " to " + std::to_string(most - 1) +
                                ": " + why() + "; look at the control group's cpuset"};
}

std::optional<int> stay_near(std::string_view pci, const Numa& numa) {
  const auto nodes = numa.nodes();
  const auto near = places_of(nodes, numa.node_of_device(pci)).near;
  const auto node =
      std::ranges::find(nodes, near, [](const NumaNode& each) { return std::optional{each.id}; });
  if (!near || node == nodes.end() || !pin_this_thread(node->cores)) return std::nullopt;
  return near;
}

Outcome<NodeMemory> NodeMemory::on(std::optional<int> node, std::size_t bytes) {
  const auto place = node ? " on NUMA node " + std::to_string(*node) : std::string{};
  const auto requested = std::to_string(bytes >> 20) + " MiB of host memory" + place;
  if (node && (*node < 0 || *node >= kMostNodes))
    return Failure{"memory", requested + ": nodes are counted from 0 to 1023"};
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return Failure{"memory", requested + ": " + why()};
  NodeMemory memory{{static_cast<std::byte*>(at), bytes}};
  if (node && prefer(memory.bytes_, *node) != 0)
    return Failure{"memory", requested + ": mbind: " + why()};
  std::memset(at, 0, bytes);
  if (!node) return memory;
  const auto elsewhere = strays(memory.bytes_, *node);
  if (!elsewhere) return Failure{"memory", requested + ": move_pages: " + why()};
  if (*elsewhere > 0)
    return Failure{"memory", requested + ": the kernel put " + std::to_string(*elsewhere) +
                                 " pages elsewhere; free memory there, or ask for less by --mib"};
  return memory;
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept : bytes_{std::exchange(other.bytes_, {})} {}

NodeMemory& NodeMemory::operator=(NodeMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

NodeMemory::~NodeMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace cupel::burn
