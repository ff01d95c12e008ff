#include "burnin/agent/node/boot/disks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"

namespace cupel::agent::boot {
namespace {

constexpr std::uint64_t kSector = 512;  // of sysfs, whatever the disk's own is
constexpr std::size_t kMostDisks = 256;
constexpr std::size_t kMostText = 256;  // of a serial number or a model

std::uint64_t whole(const Tree& tree, const std::string& path) {
  return number<std::uint64_t>(tree.text(path).value_or("")).value_or(0);
}

std::string word(const Tree& tree, const std::vector<std::string>& paths) {
  for (const auto& path : paths)
    if (const auto text = tree.text(path)) return printable(text->substr(0, kMostText));
  return {};
}

/// SCSI's page 0x80: four bytes of header, then the number in blanks. Source: SPC-4, 7.8.
std::string page_80(const Tree& tree, const std::string& folder) {
  const auto page = tree.bytes(folder + "/device/vpd_pg80", 4 + kMostText);
  return page && page->size() > 4 ? printable(trimmed(page->substr(4))) : std::string{};
}

/// A drive, and neither an optical one (SCSI type 5) nor a path of one that has several.
bool is_disk(const Tree& tree, const std::string& name) {
  const auto folder = "/sys/block/" + name;
  if (!tree.exists(folder + "/device") || tree.text(folder + "/hidden") == "1") return false;
  const auto type = tree.text(folder + "/device/type");
  return (!type || type == "0" || type == "14" || type == "20") && !name.starts_with("mtdblock") &&
         whole(tree, folder + "/size") > 0;
}

std::string wwn_of(const Tree& tree, const std::string& folder) {
  const auto reported = word(tree, {folder + "/wwid", folder + "/device/wwid"});
  // "t10.ATA..." and "nvme.8086-..." are made of serial and model.
  const bool made_up = reported.starts_with("t10.") || reported.starts_with("nvme.");
  return made_up ? std::string{} : plain_wwn(reported);
}

std::vector<Partition> partitions_of(const Tree& tree, const std::string& name) {
  std::vector<Partition> found;
  const auto folder = "/sys/block/" + name;
  for (const auto& each : tree.names(folder)) {
    const auto number = tree.text(folder + "/" + each + "/partition");
    if (!number || !each.starts_with(name)) continue;
    found.push_back({cupel::number<int>(*number).value_or(0),
                     whole(tree, folder + "/" + each + "/start") * kSector,
                     whole(tree, folder + "/" + each + "/size") * kSector});
  }
  std::ranges::sort(found, {}, &Partition::start);
  return found;
}

struct Mount {
  std::string_view device;  // "259:3"
  std::string_view place;
};

/// Source: proc_pid_mountinfo(5).
std::vector<Mount> mounts_in(std::string_view mountinfo) {
  std::vector<Mount> all;
  for (const auto line : lines(mountinfo)) {
    const auto fields = words(line);
    if (fields.size() > 4) all.push_back({fields[2], fields[4]});
  }
  return all;
}

void add_users(const Tree& tree, const std::string& folder, const std::string& name,
               const std::vector<Mount>& mounts, std::string_view swaps,
               std::vector<std::string>& used_by) {
  for (const auto& holder : tree.names(folder + "/holders")) used_by.push_back(printable(holder));
  const auto device = tree.text(folder + "/dev").value_or("");
  for (const auto& mount : mounts)
    if (!device.empty() && mount.device == device)
      used_by.push_back("mounted at " + printable(mount.place));
  for (const auto line : lines(swaps))
    if (line.starts_with("/dev/" + name + " ") || line.starts_with("/dev/" + name + "\t"))
      used_by.emplace_back("swap");
}

ReadAt reader_of(const Descriptor& file, bool& failed) {
  return [&file, &failed](std::uint64_t offset, std::size_t count) {
    std::string bytes(count, '\0');
    const auto got = ::pread(file.number(), bytes.data(), count, static_cast<off_t>(offset));
    failed |= got < 0;
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  };
}

std::vector<std::string> held(const Tree& tree, const Disk& disk) {
  const Descriptor file{::open(tree.real(disk.path()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file) return {"unreadable"};
  bool failed = false;
  auto found = holds(reader_of(file, failed), disk.size, disk.partitions);
  if (failed) found.emplace_back("unreadable");
  return found;
}

}  // namespace

std::string plain_wwn(std::string_view text) {
  auto plain = lower_case(trimmed(text));
  for (const std::string_view prefix : {"0x", "naa.", "eui.", "uuid.", "wwn-"})
    if (plain.starts_with(prefix)) plain.erase(0, prefix.size());
  if (plain.starts_with("0x")) plain.erase(0, 2);
  return plain;
}

std::vector<Disk> read_disks(const Tree& tree) {
  std::vector<Disk> found;
  const auto mountinfo = tree.bytes("/proc/self/mountinfo").value_or("");
  const auto swaps = tree.bytes("/proc/swaps").value_or("");
  const auto mounts = mounts_in(mountinfo);
  for (const auto& name : tree.names("/sys/block")) {
    if (found.size() == kMostDisks) break;
    if (!is_disk(tree, name)) continue;
    const auto folder = "/sys/block/" + name;
    Disk disk{.name = name};
    disk.serial = word(tree, {folder + "/device/serial", folder + "/serial"});
    if (disk.serial.empty()) disk.serial = page_80(tree, folder);
    disk.wwn = wwn_of(tree, folder);
    disk.model = word(tree, {folder + "/device/model"});
    disk.size = whole(tree, folder + "/size") * kSector;
    if (const auto own = whole(tree, folder + "/queue/logical_block_size"); own > 0)
      disk.sector = own;
    disk.read_only = tree.text(folder + "/ro") == "1";
    disk.removable = tree.text(folder + "/removable") == "1";
    const auto place = tree.resolved(folder + "/device").value_or("");
    disk.usb = place.find("/usb") != std::string::npos;
    disk.partitions = partitions_of(tree, name);
    add_users(tree, folder, name, mounts, swaps, disk.used_by);
    for (const auto& part : tree.names(folder))
      if (part.starts_with(name) && tree.exists(folder + "/" + part + "/partition"))
        add_users(tree, folder + "/" + part, part, mounts, swaps, disk.used_by);
    disk.holds = held(tree, disk);
    found.push_back(std::move(disk));
  }
  return found;
}

void add_disk(JsonLine& line, const Disk& disk) {
  line.add("name", disk.name)
      .add("serial", disk.serial)
      .add("wwn", disk.wwn)
      .add("model", disk.model)
      .add("size", disk.size)
      .add("read_only", disk.read_only)
      .add("removable", disk.removable)
      .add("usb", disk.usb)
      .array("holds");
  for (const auto& each : disk.holds) line.item(each);
  line.end().array("used_by");
  for (const auto& each : disk.used_by) line.item(each);
  line.end();
}

std::string described(const Disk& disk) {
  auto text = disk.name + ": " +
              (disk.serial.empty() ? "no serial number" : "serial " + disk.serial) +
              (disk.wwn.empty() ? "" : ", wwn " + disk.wwn) +
              (disk.model.empty() ? "" : ", " + disk.model) + ", " +
              plain(static_cast<double>(disk.size) / 1e9) + " GB";
  if (disk.usb) text += ", USB";
  if (!disk.holds.empty()) text += ", holds";
  for (const auto& each : disk.holds) text += " " + each;
  return text;
}

}  // namespace cupel::agent::boot
