#pragma once
// The firmware's boot entry of what was installed, and its place in the boot order.
#include <string>
#include <vector>

#include "burnin/agent/node/boot/order.h"
#include "burnin/agent/node/boot/tool.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent::boot {

struct EfiEntry {
  std::string number{};  // "0006"
  std::string label{};
  bool active = false;
  bool network = false;     // by its device path
  std::string partition{};  // GUID of the GPT's partition that it starts from, in lower case
};

struct EfiBoot {
  std::vector<std::string> order{};
  std::vector<EfiEntry> entries{};
};

/// What `efibootmgr -v` prints, of version 15 and later. Lines that it does not know are left out.
EfiBoot parse_efibootmgr(std::string_view text);

struct EnteredOs {
  std::string entry{};  // "Boot0006"
  std::vector<std::string> order{};
  std::vector<std::string> removed{};  // "Boot0003 debian": what is gone from the NVRAM
};

/// Whether a boot entry can be made: before a disk is written for it. Errors: kNoEfiVariables.
Outcome<void> check_efi_variables(const Tree& tree);

/// Removes our old entries of this label and those whose partition is on no disk of this machine,
/// makes one for the disk's EFI system partition, puts it first (or behind the network's, where the
/// order says so), and reads that back. Every other entry stays, and in its order; the network's
/// leave the order where it says so. An entry that the firmware does not let go stays too.
/// Errors: kNoEfiVariables, kNvramFull, kBootOrder.
Outcome<EnteredOs> enter_os(const Tree& tree, const std::string& disk, const BootEntry& entry,
                            const RunTool& run);

}  // namespace cupel::agent::boot
