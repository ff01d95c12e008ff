#pragma once
// What speaks against writing to an NVMe drive itself. Why these guards:
// docs/build/decisions/drives.md.
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// A drive's controller and its name space, as the kernel calls them: "nvme3", "nvme2n1".
struct NvmeDrive {
  std::string name{};
  std::string space{};
  std::string device{};  // of the name space, for open(2)
};

/// The controller's serial number; empty where it reports none.
std::string serial_of(const Node& node, const std::string& drive);

/// Why the name space is not that drive's, or the drive not the one with the serial number `was`.
/// Empty where it is. `was` is empty when it is asked for the first time.
std::string stranger(const Node& node, const NvmeDrive& drive, const std::string& was);

/// Why it is in use at this moment, which cannot be forced; empty where nothing shows that it is.
Work<std::string> in_use(Node& node, NvmeDrive drive);

/// The part of content() that is read from the drive at this moment: what blkid and wipefs find.
Work<std::string> signatures(Node& node, NvmeDrive drive);

/// What lies on it, in the eyes of the kernel, blkid (one signature), wipefs (all of them, at both
/// ends of the device) and udev's database behind lsblk. Empty: nothing. A tool that fails proves
/// nothing, and speaks against writing.
Work<std::string> content(Node& node, NvmeDrive drive);

/// Where its file systems are mounted, in order, each once. Nothing where lsblk cannot tell.
Work<std::optional<std::vector<std::string>>> mounts_on(Node& node, NvmeDrive drive);

}  // namespace cupel::agent
