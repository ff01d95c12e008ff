#pragma once
// A small machine's /proc, /sys and /dev in a folder of its own, as a test writes it: two sockets,
// GPUs behind a PCIe switch each, HCAs, drives.
#include <filesystem>
#include <fstream>

#include "burnin/agent/node/tree.h"
#include "tests/support/captures.h"

namespace cupel::agent {

class NodeTree {
 public:
  std::string root() const { return folder_.path().string(); }
  Tree tree() const { return Tree{root()}; }

  void write(const std::string& path, std::string_view text) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << text << '\n';
  }
  void write_bytes(const std::string& path, const std::string& bytes) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << bytes;
  }
  /// `to` is a path of the tree.
  void link(const std::string& from, const std::string& to) const {
    const std::filesystem::path file = root() + from;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(std::filesystem::relative(root() + to, file.parent_path()),
                                    file);
  }

  /// One PCI function at a place below /sys/devices; also in the list of all.
  void pci(const std::string& place, std::string_view type, std::string_view vendor,
           const std::string& link, const std::string& most) const {
    const auto folder = "/sys/devices/" + place;
    const auto address = std::string{last_name(place)};
    write(folder + "/class", type);
    write(folder + "/vendor", vendor);
    write(folder + "/device", "0x2330");
    write(folder + "/numa_node", "0");
    // "32.0 x16"
    write(folder + "/current_link_speed", link.substr(0, link.find(' ')) + " GT/s PCIe");
    write(folder + "/current_link_width", link.substr(link.find('x') + 1));
    write(folder + "/max_link_speed", most.substr(0, most.find(' ')) + " GT/s PCIe");
    write(folder + "/max_link_width", most.substr(most.find('x') + 1));
    this->link("/sys/bus/pci/devices/" + address, folder);
  }

  void hca(const std::string& name, const std::string& place) const {
    const auto folder = "/sys/class/infiniband/" + name;
    link(folder + "/device", "/sys/devices/" + place);
    write(folder + "/hca_type", "MT4129");
    write(folder + "/fw_ver", "28.41.1000");
    write(folder + "/board_id", "MT_0000000838");
    write(folder + "/node_guid", "946d:ae03:00f5:1a2c");
    const auto port = folder + "/ports/1";
    write(port + "/state", "4: ACTIVE");
    write(port + "/phys_state", "5: LinkUp");
    write(port + "/rate", "400 Gb/sec (4X NDR)");
    write(port + "/link_layer", "InfiniBand");
    for (const auto* counter :
         {"port_xmit_data", "port_rcv_data", "symbol_error", "link_downed", "link_error_recovery",
          "port_rcv_errors", "port_xmit_discards", "local_link_integrity_errors",
          "excessive_buffer_overrun_errors", "port_xmit_wait"})
      write(port + "/counters/" + counter, "0");
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace cupel::agent
