#pragma once
// What a kind of machine runs. Read by inventory/read_boot.h.
#include <string>
#include <vector>

#include "inventory/boot_way.h"
#include "inventory/node_os.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// `os:` of a profile: what its machines run, and which disk is their own where the inventory gives
/// no serial.
struct ProfileOs {
  std::string image{};       // of the image store; empty: the playbook says it, or there is none
  std::string sha256{};      // of that image, in lower-case hexadecimal
  std::string ram{"ram"};    // the RAM system that writes it
  bool seed = true;          // false: the image has no cloud-init, and nothing is put on its root
  bool grow = true;          // false: the image divides its disk itself
  std::string disk_model{};  // as the disk reports it
  double disk_size_min = 0;  // bytes
  double disk_size_max = 0;
  std::vector<BootWay> ways{};  // empty: the site's
  UserDataLayers user_data{};   // of the profiles that it extends, and its own
  Place where{};
};

}  // namespace cupel::inventory
