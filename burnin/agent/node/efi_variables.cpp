#include "burnin/agent/node/efi_variables.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "burnin/agent/common/little_endian.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kAttributes = 4;
constexpr std::size_t kMostEntries = 64, kMostNodes = 64;
constexpr std::size_t kMostOption = 8192;
constexpr std::size_t kLongestLabel = 64;  // bytes

struct Sign {
  unsigned type, subtype;
  std::string_view kind;
};

// The first that a path has counts, in the order in which the controller reads a BMC's path
// (orchestrator/settings/boot_sequence.cpp). Source: UEFI 2.10, 10.3.4 and 10.3.5.
constexpr std::array kSigns{
    Sign{3, 24, "http"},  // URI
    Sign{3, 11, "pxe"},   // MAC address
    Sign{4, 2, "cd"},     // El Torito
    Sign{3, 15, "usb"},   // USB class
    Sign{3, 5, "usb"},    // USB
    Sign{4, 1, "disk"},   // a partition
    Sign{3, 23, "disk"},  // NVMe namespace
    Sign{3, 18, "disk"},  // SATA
    Sign{3, 2, "disk"},   // SCSI
    Sign{3, 22, "disk"},  // SAS
    Sign{3, 29, "disk"},  // eMMC
};

}  // namespace

std::string efi_variable_path(std::string_view name) {
  return "/sys/firmware/efi/efivars/" + std::string{name} + "-8be4df61-93ca-11d2-aa0d-00e098032b8c";
}

std::optional<std::string> efi_variable(const Tree& tree, std::string_view name, std::size_t most) {
  auto all = tree.bytes(efi_variable_path(name), kAttributes + most);
  if (!all || all->size() <= kAttributes) return std::nullopt;
  all->erase(0, kAttributes);
  return all;
}

std::optional<bool> efi_flag(const Tree& tree, std::string_view name) {
  const auto data = efi_variable(tree, name, 2);
  if (!data || data->size() != 1 || little_endian(*data, 0, 1) > 1) return std::nullopt;
  return little_endian(*data, 0, 1) == 1;
}

std::vector<unsigned> efi_entries(const Tree& tree, std::string_view name) {
  std::vector<unsigned> entries;
  const auto data = efi_variable(tree, name, 2 * kMostEntries).value_or("");
  for (std::size_t at = 0; at + 1 < data.size(); at += 2)
    entries.push_back(little_endian(data, at, 2));
  return entries;
}

std::string efi_entry_name(unsigned number) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string name = "Boot";
  for (int shift = 12; shift >= 0; shift -= 4) name += kDigits[number >> shift & 15];
  return name;
}

std::optional<LoadOption> parse_load_option(std::string_view data) {
  constexpr std::size_t kHeader = 6;  // attributes, length of the path
  constexpr std::size_t kNode = 4;    // type, subtype, length
  if (data.size() < kHeader) return std::nullopt;
  LoadOption option{.active = (little_endian(data, 0, 1) & 1) != 0};
  auto at = kHeader;  // of the label: UCS-2, without surrogate pairs (2.10, 2.3.1)
  for (; at + 1 < data.size() && little_endian(data, at, 2) != 0; at += 2)
    if (option.label.size() < 4 * kLongestLabel)
      append_utf8(option.label, little_endian(data, at, 2));
  option.label = shortened(trimmed(printable(option.label)), kLongestLabel);
  at += 2;
  const auto end = std::min<std::size_t>(at + little_endian(data, 4, 2), data.size());
  while (at + kNode <= end && option.path.size() < kMostNodes) {
    const auto length = little_endian(data, at + 2, 2);
    if (length < kNode || at + length > end) break;
    option.path.push_back({little_endian(data, at, 1), little_endian(data, at + 1, 1),
                           std::string{data.substr(at + kNode, length - kNode)}});
    at += length;
  }
  return option;
}

std::optional<LoadOption> load_option(const Tree& tree, unsigned number) {
  const auto data = efi_variable(tree, efi_entry_name(number), kMostOption);
  return data ? parse_load_option(*data) : std::nullopt;
}

std::string_view boot_kind(const LoadOption& option) {
  for (const auto& sign : kSigns) {
    const auto is_it = [&](const DevicePathNode& node) {
      return node.type == sign.type && node.subtype == sign.subtype;
    };
    if (std::ranges::any_of(option.path, is_it)) return sign.kind;
  }
  return lower_case(option.label).contains("shell") ? "shell" : "other";
}

}  // namespace cupel::agent
