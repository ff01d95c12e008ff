#include "burnin/agent/node/stages/nvme_guards.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr std::chrono::seconds kAskLimit{120};
constexpr std::size_t kMostTable = 4u << 20;  // bytes of /proc/mounts

bool is_number(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The device itself, or a partition of it.
bool is_of(std::string_view word, const std::string& device) {
  return word.starts_with(device) &&
         (word.size() == device.size() ||
          (word[device.size()] == 'p' && is_number(word.substr(device.size() + 1))));
}

/// Of /proc/mounts and /proc/swaps, whose lines begin with the device.
bool is_listed(std::string_view table, const std::string& device) {
  return std::ranges::any_of(lines(table), [&](std::string_view line) {
    const auto cells = words(line);
    return !cells.empty() && is_of(cells.front(), device);
  });
}

std::vector<std::string> partitions_of(const Node& node, const NvmeDrive& drive) {
  auto names = node.tree.names("/sys/block/" + drive.space);
  std::erase_if(names,
                [&](const std::string& name) { return !name.starts_with(drive.space + "p"); });
  return names;
}

std::string holder_of(const Node& node, const NvmeDrive& drive) {
  const auto folder = "/sys/block/" + drive.space;
  auto folders = partitions_of(node, drive);
  for (auto& each : folders) each.insert(0, folder + "/");
  folders.insert(folders.begin(), folder);
  for (const auto& each : folders)
    if (const auto holders = node.tree.names(each + "/holders"); !holders.empty())
      return "it is held by " + holders.front();
  return {};
}

/// A name space of several controllers is listed below its subsystem.
std::string paths_to(const Node& node, const NvmeDrive& drive) {
  static constexpr std::string_view kName = "nvme";
  const auto names = node.tree.names("/sys/block/" + drive.space + "/device");
  const auto paths = std::ranges::count_if(names, [](std::string_view name) {
    return name.starts_with(kName) && name.size() > kName.size() &&
           is_number(name.substr(kName.size()));
  });
  if (paths < 2) return {};
  return "it is reached over " + std::to_string(paths) + " paths (NVMe multipath)";
}

/// Both streams, as a person would see them.
std::string printed(const Ran& ran) { return std::string{trimmed(ran.out + ran.err)}; }

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const auto word : words(text)) line.append(line.empty() ? "" : " ").append(word);
  return line;
}

Work<Ran> ask(Node& node, std::vector<std::string> argv, std::string device) {
  argv.push_back(std::move(device));
  co_return co_await node.programs.run({.argv = std::move(argv), .limit = kAskLimit});
}

/// MOUNTPOINT="/raid": what stands between the quotes.
std::string_view quoted_in(std::string_view line) {
  const auto begin = line.find('"');
  if (begin == line.npos) return {};
  const auto rest = line.substr(begin + 1);
  return rest.substr(0, rest.find('"'));
}

Work<Ran> ask_for_mounts(Node& node, std::string device) {
  return ask(node, {"lsblk", "-n", "-P", "-o", "MOUNTPOINT"}, std::move(device));
}

/// ZFS alone leaves no holder in /sys. Where its module is not loaded `zpool` fails, and no pool is
/// imported; where it waits for an answer of the kernel there may be one.
Work<std::string> pool_of(Node& node, std::string device) {
  if (!node.programs.has("zpool")) co_return {};
  const auto status =
      co_await node.programs.run({.argv = {"zpool", "status", "-LP"}, .limit = kAskLimit});
  if (status.late) co_return "zpool cannot tell whether it belongs to a pool: it does not answer";
  for (const auto word : words(status.out))
    if (is_of(word, device)) co_return "it belongs to a ZFS pool that is imported";
  co_return {};
}

}  // namespace

std::string serial_of(const Node& node, const std::string& drive) {
  return node.tree.text("/sys/class/nvme/" + drive + "/serial").value_or("");
}

// A name may belong to another drive after a reset or a hot plug, and the kernel numbers name
// spaces by subsystem, not by controller: nvme3's may be nvme2n1.
std::string stranger(const Node& node, const NvmeDrive& drive, const std::string& was) {
  const auto of_drive = serial_of(node, drive.name);
  const auto of_space = node.tree.text("/sys/block/" + drive.space + "/device/serial").value_or("");
  if (of_drive.empty()) return "it reports no serial number";
  if (of_drive != of_space)
    return drive.space + " belongs to the drive with serial number '" + of_space + "', and " +
           drive.name + " has '" + of_drive + "'";
  if (!was.empty() && of_drive != was)
    return "another drive has its name now: serial number '" + of_drive + "', and it was '" + was +
           "'";
  return {};
}

Work<std::string> in_use(Node& node, NvmeDrive drive) {
  if (auto why = holder_of(node, drive); !why.empty()) co_return why;
  if (auto why = paths_to(node, drive); !why.empty()) co_return why;
  const auto swaps = node.tree.bytes("/proc/swaps", kMostTable).value_or("");
  if (is_listed(swaps, drive.device)) co_return "it is swapped on";
  const auto mounts = node.tree.bytes("/proc/mounts", kMostTable);
  if (!mounts || mounts->size() == kMostTable) co_return "/proc/mounts cannot be read";
  if (is_listed(*mounts, drive.device)) co_return "it is mounted";
  const auto reported = co_await ask_for_mounts(node, drive.device);
  if (reported.status != 0)
    co_return "lsblk cannot tell whether it is mounted: " + printed(reported);
  for (const auto line : lines(reported.out))
    if (!quoted_in(line).empty()) co_return "it is mounted";
  co_return co_await pool_of(node, drive.device);
}

Work<std::string> signatures(Node& node, NvmeDrive drive) {
  constexpr int kNothing = 2;  // blkid(8)
  const auto one = co_await ask(node, {"blkid", "-p"}, drive.device);
  const auto found = printed(one);
  if (one.status == 0) {
    const auto colon = found.find(": ");
    co_return "blkid finds on it: " + (colon == found.npos ? found : found.substr(colon + 2));
  }
  if (one.status != kNothing) co_return "blkid cannot tell what is on it: " + found;
  const auto all =
      co_await ask(node, {"wipefs", "--no-act", "--noheadings", "--output", "TYPE"}, drive.device);
  if (all.status != 0) co_return "wipefs cannot tell what is on it: " + printed(all);
  if (!printed(all).empty()) co_return "wipefs finds on it: " + on_one_line(printed(all));
  co_return {};
}

Work<std::string> content(Node& node, NvmeDrive drive) {
  if (!partitions_of(node, drive).empty()) co_return "it has partitions";
  if (auto found = co_await signatures(node, drive); !found.empty()) co_return found;
  const auto known = co_await ask(node, {"lsblk", "-n", "-P", "-o", "FSTYPE,PTTYPE"}, drive.device);
  if (known.status != 0 || trimmed(known.out).empty())
    co_return "lsblk cannot tell what is on it: " + printed(known);
  for (const auto line : lines(known.out))
    if (line != R"(FSTYPE="" PTTYPE="")") co_return "lsblk finds on it: " + printed(known);
  co_return {};
}

Work<std::optional<std::vector<std::string>>> mounts_on(Node& node, NvmeDrive drive) {
  const auto reported = co_await ask_for_mounts(node, drive.device);
  if (reported.status != 0) co_return std::nullopt;
  std::vector<std::string> places;
  for (const auto line : lines(reported.out)) places.emplace_back(quoted_in(line));
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  co_return places;
}

}  // namespace cupel::agent
