#include "orchestrator/settings/boot_sequence.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::settings {
namespace {

constexpr std::string_view kDisk = "disk";

struct Sign {
  std::string_view part;  // of a text, lower case
  std::string_view kind;
};

// The first that is found counts: a disk behind USB is a stick, an address on a NIC with an URI is
// HTTP.
constexpr std::array<Sign, 13> kInPath{{{"/uri(", "http"},
                                        {"mac(", "pxe"},
                                        {"cdrom(", "cd"},
                                        {"usbclass(", "usb"},
                                        {"usb(", "usb"},
                                        {"hd(", kDisk},
                                        {"hd_", kDisk},
                                        {"nvme(", kDisk},
                                        {"sata(", kDisk},
                                        {"scsi(", kDisk},
                                        {"sas(", kDisk},
                                        {"emmc(", kDisk},
                                        {"vendisk(", kDisk}}};
constexpr std::array<Sign, 5> kAliases{
    {{"uefihttp", "http"}, {"pxe", "pxe"}, {"hdd", kDisk}, {"cd", "cd"}, {"usb", "usb"}}};
constexpr std::array<Sign, 10> kInName{{{"shell", "shell"},
                                        {"http", "http"},
                                        {"pxe", "pxe"},
                                        {"network", "pxe"},
                                        {"cd_dvd", "cd"},
                                        {"dvd", "cd"},
                                        {"cd-rom", "cd"},
                                        {"usb", "usb"},
                                        {"harddisk", kDisk},
                                        {"hard disk", kDisk}}};

template <class Signs>
std::string_view found_in(const std::string& text, const Signs& signs) {
  const auto reported = lower_case(text);
  for (const auto& sign : signs)
    if (reported.contains(sign.part)) return sign.kind;
  return {};
}

std::string_view kind_of_reference(const std::string& reference,
                                   const std::vector<bmc::BootOption>& options) {
  const auto option = std::ranges::find(options, reference, &bmc::BootOption::reference);
  return option == options.end() ? std::string_view{} : kind_of(*option);
}

}  // namespace

std::string_view kind_of(const bmc::BootOption& option) {
  if (const auto kind = found_in(option.path, kInPath); !kind.empty()) return kind;
  const auto alias = lower_case(option.alias);
  for (const auto& known : kAliases)
    if (alias == known.part) return known.kind;
  return found_in(option.name, kInName);
}

std::vector<std::string> in_order(const std::vector<std::string>& order,
                                  const std::vector<bmc::BootOption>& options,
                                  const std::vector<std::string>& kinds) {
  const auto rank = [&](const std::string& reference) {
    return std::ranges::find(kinds, kind_of_reference(reference, options)) - kinds.begin();
  };
  auto sorted = order;
  std::ranges::stable_sort(sorted, {}, rank);
  return sorted;
}

std::string kinds_in(const std::vector<std::string>& order,
                     const std::vector<bmc::BootOption>& options) {
  std::string text;
  std::string_view last;
  for (const auto& reference : order) {
    auto kind = kind_of_reference(reference, options);
    if (kind.empty()) kind = "other";
    if (kind == last) continue;
    text += (text.empty() ? "" : ", ") + std::string{kind};
    last = kind;
  }
  return text;
}

std::size_t network_before_disk(const std::vector<std::string>& order,
                                const std::vector<bmc::BootOption>& options) {
  std::size_t count = 0;
  for (const auto& reference : order) {
    const auto kind = kind_of_reference(reference, options);
    if (kind == kDisk) return count;
    if (kind == "pxe" || kind == "http") ++count;
  }
  return 0;
}

}  // namespace cupel::settings
