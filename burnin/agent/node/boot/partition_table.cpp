#include "burnin/agent/node/boot/partition_table.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/json_value.h"
#include "burnin/agent/node/boot/signatures.h"

namespace cupel::agent::boot {
namespace {

/// The digits at its end.
int number_of(std::string_view node) {
  const auto last = node.find_last_not_of("0123456789");
  return cupel::number<int>(node.substr(last == node.npos ? 0 : last + 1)).value_or(0);
}

std::string text_of(const JsonValue& value, std::string_view key) {
  const auto* found = value.find(key);
  return found != nullptr && found->text() != nullptr ? *found->text() : std::string{};
}

std::uint64_t count_of(const JsonValue& value, std::string_view key) {
  const auto* found = value.find(key);
  return found == nullptr ? 0 : found->count().value_or(0);
}

/// Of kFileSystems, what is in these bytes of a disk or a partition.
std::string known_file_system(const Descriptor& file, std::uint64_t start, std::uint64_t size) {
  const ReadAt read = [&file, start, size](std::uint64_t offset, std::size_t count) {
    const auto left = offset < size ? size - offset : 0;
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(count, left)), '\0');
    const auto got =
        ::pread(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(start + offset));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  };
  const auto found = signatures(read, size);
  for (const auto known : kFileSystems)
    if (std::ranges::find(found, known) != found.end()) return std::string{known};
  return {};
}

}  // namespace

Outcome<PartitionTable> read_partition_table(const std::string& disk, const RunTool& run) {
  const Argv argv{"sfdisk", "-J", disk};
  const auto reported = run(argv, {}, kToolLimit);
  if (reported.status != 0)
    return Failure{Cause::kGrow, disk + ": " + failure_text(argv, reported)};
  const auto parsed = JsonValue::parse(reported.out);
  const auto* table = parsed ? parsed->find("partitiontable") : nullptr;
  if (table == nullptr) return Failure{Cause::kGrow, disk + ": sfdisk reports no partition table"};
  PartitionTable found{.label = text_of(*table, "label")};
  const auto* all = table->find("partitions");
  if (all == nullptr || all->array() == nullptr) return found;
  for (const auto& each : *all->array()) {
    const auto node = text_of(each, "node");
    found.entries.push_back({number_of(node), node, text_of(each, "type"), count_of(each, "start"),
                             count_of(each, "size"), text_of(each, "uuid")});
  }
  std::ranges::sort(found.entries, {}, &TableEntry::start);
  return found;
}

std::optional<TableEntry> efi_system_partition(const PartitionTable& table) {
  constexpr std::string_view kGpt = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", kMbr = "ef";
  for (const auto& each : table.entries)
    if (lower_case(each.type) == kGpt || lower_case(each.type) == kMbr) return each;
  return std::nullopt;
}

std::string file_system_of(const std::string& node) {
  const Descriptor file{::open(node.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file) return {};
  const auto size = ::lseek(file.number(), 0, SEEK_END);
  return known_file_system(file, 0, size > 0 ? static_cast<std::uint64_t>(size) : 0);
}

std::string file_system_on(const std::string& disk, const TableEntry& entry) {
  constexpr std::uint64_t kSector = 512;
  const Descriptor file{::open(disk.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file) return {};
  return known_file_system(file, entry.start * kSector, entry.size * kSector);
}

Outcome<Mounted> Mounted::open(const TableEntry& entry, const std::string& file_system,
                               const std::string& options) {
  const std::string folder = "/run/cupel/mnt";
  for (const auto* each : {"/run/cupel", folder.c_str()})
    if (::mkdir(each, 0700) != 0 && errno != EEXIST)
      return Failure{Cause::kFailed, folder + ": " + std::strerror(errno)};
  // What lies on it is a stranger's: nothing of it runs here.
  if (::mount(entry.node.c_str(), folder.c_str(), file_system.c_str(),
              MS_NOSUID | MS_NODEV | MS_NOEXEC, options.empty() ? nullptr : options.c_str()) != 0)
    return Failure{Cause::kFailed, entry.node + " (" + file_system +
                                       (options.empty() ? "" : ", " + printable(options)) +
                                       ") cannot be mounted: " + std::strerror(errno)};
  return Mounted{folder};
}

Mounted::Mounted(Mounted&& other) noexcept : folder_{std::exchange(other.folder_, {})} {}

Mounted::~Mounted() {
  if (!folder_.empty()) ::umount2(folder_.c_str(), 0);
}

}  // namespace cupel::agent::boot
