#pragma once
// The branches of a node's /sys, each about one kind of part. system_tree.h plants them all.
#include <string>

#include "rehearsal/hardware.h"

namespace cupel::rehearsal {

class FileSystem;
class Host;

struct PciFunction {
  std::string address, vendor, device, type, driver;
  int gen = 5, gen_max = 5, width = 16, width_max = 16, numa = 0;
};

/// "/sys/bus/pci/devices/0000:1b:00.0"
std::string pci_folder(const std::string& address);
void plant_pci(FileSystem& disk, const PciFunction& function);
/// A device file; `name` says what reading it gives.
void plant_device(FileSystem& disk, const std::string& path, std::string name);

void plant_adapter(Host& host, const Adapter& adapter);
void plant_drive(Host& host, const Drive& drive);
void plant_gpu(Host& host, const Gpu& gpu);
void plant_memory_controllers(Host& host);
void plant_sensors(Host& host);

}  // namespace cupel::rehearsal
