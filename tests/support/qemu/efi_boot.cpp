#include "tests/support/qemu/efi_boot.h"

#include <algorithm>
#include <charconv>

#include "tests/support/qemu/qemu_machine.h"

namespace cupel::rehearsal {
namespace {

constexpr char kHardware = 1, kAcpi = 2, kMessaging = 3, kMedia = 4, kEnd = 0x7f;
constexpr char kPci = 1, kScsi = 2, kIpv4 = 12, kUri = 24, kNvme = 23, kHardDrive = 1;

std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string node(char type, char subtype, std::string_view body) {
  return std::string{type, subtype} + number(body.size() + 4, 2) + std::string{body};
}

std::string end_of_path() { return node(kEnd, '\xff', {}); }

/// The nodes of an option's path, each with its type, subtype and body.
struct Node {
  char type, subtype;
  std::string_view body;
};
std::vector<Node> nodes_of(std::string_view option) {
  std::vector<Node> nodes;
  std::size_t at = 6;  // attributes, length of the path; then the description
  while (at + 2 <= option.size() && (option[at] != 0 || option[at + 1] != 0)) at += 2;
  at += 2;
  while (at + 4 <= option.size() && option[at] != kEnd) {
    const auto size = static_cast<std::size_t>(static_cast<std::uint8_t>(option[at + 2])) |
                      static_cast<std::size_t>(static_cast<std::uint8_t>(option[at + 3])) << 8;
    if (size < 4 || size > option.size() - at) break;
    nodes.push_back({option[at], option[at + 1], option.substr(at + 4, size - 4)});
    at += size;
  }
  return nodes;
}

bool has(const std::vector<Node>& nodes, char type, char subtype) {
  return std::ranges::any_of(
      nodes, [&](const Node& one) { return one.type == type && one.subtype == subtype; });
}

bool is(const std::vector<Node>& nodes, EfiNode requested) {
  const bool ipv4 = has(nodes, kMessaging, kIpv4), uri = has(nodes, kMessaging, kUri);
  switch (requested) {
    case EfiNode::ipv4_pxe:
      return ipv4 && !uri;
    case EfiNode::uri:
      return ipv4 && uri;
    case EfiNode::disk:
      return has(nodes, kMedia, kHardDrive) || has(nodes, kMessaging, kNvme);
  }
  return false;
}

std::optional<std::uint16_t> boot_number(std::string_view name) {
  std::uint16_t value = 0;
  if (name.size() != 8 || !name.starts_with("Boot")) return std::nullopt;
  const auto read = std::from_chars(name.data() + 4, name.data() + 8, value, 16);
  return read.ptr == name.data() + 8 ? std::optional{value} : std::nullopt;
}

void boot_next(EfiVariables& variables, std::string_view option) {
  if (const auto value = boot_number(option)) variables.set_global("BootNext", number(*value, 2));
}

void boot_next_of(EfiVariables& variables, EfiNode kind) {
  if (const auto option = option_of(variables, kind)) boot_next(variables, *option);
}

void boot_own(EfiVariables& variables, std::string_view description, std::string_view path) {
  variables.set_global(kOptionOfBmc, load_option(description, path));
  boot_next(variables, kOptionOfBmc);
}

}  // namespace

std::string load_option(std::string_view description, std::string_view device_path) {
  constexpr std::uint64_t kActive = 1;
  return number(kActive, 4) + number(device_path.size(), 2) + ucs2(description) +
         std::string{device_path};
}

std::string uri_path(std::string_view uri) { return node(kMessaging, kUri, uri) + end_of_path(); }

std::string disc_drive_path() {
  constexpr std::uint64_t kPciRoot = 0x0a0341d0;  // EISA id of PNP0A03
  return node(kAcpi, 1, number(kPciRoot, 4) + number(0, 4)) +
         node(kHardware, kPci, std::string{'\0', kDiscSlot}) +
         node(kMessaging, kScsi, number(0, 2) + number(0, 2)) + end_of_path();
}

std::optional<std::string> option_of(const EfiVariables& variables, EfiNode kind) {
  for (const auto& name : variables.global_names()) {
    if (!boot_number(name) || name == kOptionOfBmc) continue;
    const auto option = variables.global(name);
    if (option && is(nodes_of(*option), kind)) return name;
  }
  return std::nullopt;
}

void choose_boot(EfiVariables& variables, const BootOverride& requested) {
  variables.erase_global("BootNext");
  variables.erase_global(kOptionOfBmc);
  if (requested.enabled == "Disabled") return;
  if (requested.target == "UefiHttp" && !requested.uri.empty())
    boot_own(variables, "UEFI HTTP boot of the BMC", uri_path(requested.uri));
  else if (requested.target == "UefiHttp")
    boot_next_of(variables, EfiNode::uri);
  else if (requested.target == "Cd" || requested.target == "UsbCd")
    boot_own(variables, "Virtual disc of the BMC", disc_drive_path());
  else if (requested.target == "Pxe")
    boot_next_of(variables, EfiNode::ipv4_pxe);
  else if (requested.target == "Hdd")
    boot_next_of(variables, EfiNode::disk);
}

}  // namespace cupel::rehearsal
