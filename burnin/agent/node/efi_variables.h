#pragma once
// UEFI variables as the kernel's efivarfs shows them. Reads them, and writes none.
// Source: UEFI 2.10, 3.1.3 (load options), 3.3 (globally defined variables), 10.3 (device paths);
// Documentation/filesystems/efivarfs.rst of Linux (four bytes of attributes stand in front).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// The file of a globally defined variable: "/sys/firmware/efi/efivars/BootOrder-8be4df61-...".
std::string efi_variable_path(std::string_view name);

/// Its data, without the attributes and at most so many bytes; nothing where it is absent or empty.
std::optional<std::string> efi_variable(const Tree& tree, std::string_view name, std::size_t most);

/// Of a variable that is one byte, 0 or 1 ("SecureBoot"); nothing of any other content.
std::optional<bool> efi_flag(const Tree& tree, std::string_view name);

/// Of a variable that is a list of boot entries' numbers ("BootOrder", "BootCurrent"): at most 64.
std::vector<unsigned> efi_entries(const Tree& tree, std::string_view name);

/// "Boot000A".
std::string efi_entry_name(unsigned number);

struct DevicePathNode {
  unsigned type = 0, subtype = 0;
  std::string data{};
};

/// A variable Boot####.
struct LoadOption {
  bool active = false;
  std::string label{};                 // printable, at most 64 bytes
  std::vector<DevicePathNode> path{};  // at most 64 nodes; what follows a broken node is left out
};

/// Nothing of what is too short to be one.
std::optional<LoadOption> parse_load_option(std::string_view data);
std::optional<LoadOption> load_option(const Tree& tree, unsigned number);

/// What it starts from, in the words of a profile's boot_order: "pxe", "http", "disk", "cd", "usb",
/// "shell"; "other" where its device path shows none of them.
std::string_view boot_kind(const LoadOption& option);

}  // namespace cupel::agent
