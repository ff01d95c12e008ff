#pragma once
// The disks of this machine: what the kernel reports of each, what it holds, and who uses it.
#include <cstdint>
#include <string>
#include <vector>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/boot/signatures.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent::boot {

struct Disk {
  std::string name{};    // "nvme0n1"
  std::string serial{};  // empty: it reports none
  std::string wwn{};     // as it is compared: lower case, without "0x", "naa." and "eui."
  std::string model{};
  std::uint64_t size = 0;
  std::uint64_t sector = 512;  // bytes that its partition tables count in
  bool read_only = false;
  bool removable = false;
  bool usb = false;
  std::vector<std::string> holds{};
  std::vector<std::string> used_by{};  // "mounted at /data", "dm-0", "md127", "swap"
  std::vector<Partition> partitions{};

  std::string path() const { return "/dev/" + name; }
};

/// "0x5000CCA27A1B2C3D", "naa.5000cca27a1b2c3d": "5000cca27a1b2c3d".
std::string plain_wwn(std::string_view text);

/// All disks, in natural order; not optical drives, loops, RAM disks or what is made of disks.
std::vector<Disk> read_disks(const Tree& tree);

/// The fields of a disk into the object that is open.
void add_disk(JsonLine& line, const Disk& disk);

/// "nvme0n1: serial S6XNNA0W, wwn 0025.., SAMSUNG MZQL2, 3.84 TB, holds gpt ext4"
std::string described(const Disk& disk);

}  // namespace cupel::agent::boot
