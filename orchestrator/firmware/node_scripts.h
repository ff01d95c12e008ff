#pragma once
// What runs on a node for components that are written there: how it reports their versions, and how
// its tools write an image. POSIX shell; pure text. Source: mstflint(1), mstfwreset(1),
// nvme-fw-download(1), nvme-fw-commit(1), nvme-reset(1).
#include "orchestrator/firmware/firmware_plan.h"

namespace cupel::firmware {

/// Exit status of write_script(), besides those of the tools.
inline constexpr int kNoTool = 69, kDamagedImage = 74, kDriveInUse = 78;

struct NodeLook {
  std::string boot_id{};                 // another one later: the node was restarted
  std::vector<inventory::Part> parts{};  // HCAs, drives, GPUs; slot: the PCI address
};

/// `gpus`: also their VBIOS.
std::string look_script(bool gpus);
/// Errors: kMalformed where the node's answer is cut.
Result<NodeLook> read_look(std::string_view out);

struct NodeWrite {
  const inventory::ExpectedFirmware& expected;
  std::vector<inventory::Part> parts{};  // that are to be written
  std::string image{};                   // its path on the node
  std::string sha256{};
};

/// Checks the image once more, writes it into one part after the other, and resets each where the
/// profile says so; ends at the first that fails. Removes the image. Two ports of one adapter are
/// one part.
std::string write_script(const NodeWrite& write);

}  // namespace cupel::firmware
