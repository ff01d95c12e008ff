#pragma once
// What one machine is to do in one boot: the answer to its hello, read strictly and bounded.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/node/boot/disk_choice.h"
#include "burnin/agent/node/boot/write_image.h"

namespace cupel::agent::boot {

enum class Erase { kNone, kNvme, kAta };

struct BootEntry {
  std::string label{};
  std::string efi{};  // "\EFI\debian\shimx64.efi"
  bool network_first = false;
  bool network_drop = false;  // out of the boot order; the entries themselves stay
};

/// A RAM system's own root, fetched as one file.
struct RootFile {
  std::string file{};
  std::string sha256{};
  std::uint64_t size = 0;
};

struct Order {
  std::string node{};
  bool deploy = false;  // else it stays up for whoever logs in
  std::string hostname{};
  std::vector<std::string> authorized_keys{};
  std::optional<RootFile> root{};
  ImageOrder image{};
  DiskHint disk{};
  std::string wipe{};
  Erase erase = Erase::kNone;
  bool grow = false;
  std::optional<BootEntry> boot_entry{};
  bool bios = false;  // a BIOS starts the image as well: without EFI variables it has no entry
  bool seed = false;
};

/// Errors: kOrder, naming the key.
Outcome<Order> parse_order(std::string_view json);

}  // namespace cupel::agent::boot
