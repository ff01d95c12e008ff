#include "orchestrator/os/node_failure.h"

#include <algorithm>
#include <array>

namespace cupel::os {
namespace {

constexpr std::string_view kLogIn =
    "log in to the RAM system, which is still up, and look: ssh root@PEER";

constexpr std::array kFailures{
    NodeFailureRow{"disk-missing", "the disk that is to be written is not there",
                   "look whether the drive is in its bay; correct boot: disk in the inventory"},
    NodeFailureRow{"disk-ambiguous", "several disks are as the disk that is to be written",
                   "name it by its serial number: boot: disk in the inventory"},
    NodeFailureRow{"disk-not-empty", "the disk holds something",
                   "look what it holds; where it may go: with: {wipe: yes} of the step os, and "
                   "boot: disk in the inventory"},
    NodeFailureRow{"disk-refused",
                   "the disk is removable, read-only, in use, or has larger sectors than images",
                   "name another disk: boot: disk in the inventory; where its sectors are larger: "
                   "format it with sectors of 512 bytes"},
    NodeFailureRow{"image-too-large", "the image is larger than the disk",
                   "name a larger disk, or build a smaller image"},
    NodeFailureRow{"wrong-hash", "the image is not the one that was pinned",
                   "check it here: cupel image verify; then the network between here and the node"},
    NodeFailureRow{"cut", "the image broke off again and again",
                   "look at the network between here and the node"},
    NodeFailureRow{"no-efi-variables", "the machine was not started by UEFI",
                   "set the BIOS to UEFI boot, or install an image that a BIOS starts"},
    NodeFailureRow{"nvram-full", "the firmware has no room for a boot entry",
                   "remove stale boot entries, or reset the NVRAM in the BIOS setup"},
    NodeFailureRow{"write-error", "the disk reported a write error", "replace the drive"},
    NodeFailureRow{"read-back", "the disk gives back other bytes than were written",
                   "replace the drive"},
    NodeFailureRow{"out-of-memory", "the RAM system ran out of memory",
                   "look at the machine's memory; use a smaller RAM system"},
    NodeFailureRow{"erase", "the disk could not be erased", kLogIn},
    NodeFailureRow{
        "mirror", "the installer does not reach its mirror",
        "look whether the node's network reaches it, and whether it has that suite; "
        "another mirror: cupel image installer NAME --kernel FILE --initrd FILE --mirror URL"},
    NodeFailureRow{"installer", "the installer failed",
                   "look at its console, and at /var/log/syslog there: cupel bmc NODE console"},
};

}  // namespace

NodeFailureRow node_failure(std::string_view cause) {
  const auto found = std::ranges::find(kFailures, cause, &NodeFailureRow::cause);
  return found != kFailures.end() ? *found : NodeFailureRow{cause, cause, kLogIn};
}

}  // namespace cupel::os
