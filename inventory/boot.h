#pragma once
// How machines get their operating system: from where this machine serves boot files, by which ways
// a machine is made to fetch them, and what a node has that its boot goes by. Data only; read by
// inventory/read_boot.h.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"

namespace cupel::inventory {

/// A way to make a machine fetch what it boots.
enum class BootWay {
  uefi_http,  // the URL is set through the BMC
  dhcp_http,  // UEFI HTTP boot, the URL comes by DHCP
  pxe,        // by DHCP and TFTP
  media,      // a disc that the BMC fetches
};

struct BootWayRow {
  BootWay way;
  std::string_view name;
  std::string_view summary;
};

/// "debian-12": letters, digits, ".", "_" and "-", at most 64; the first a letter or a digit.
bool is_image_name(std::string_view name);
/// 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

std::span<const BootWayRow> boot_ways();
std::optional<BootWay> boot_way(std::string_view name);
std::string_view to_string(BootWay way);

enum class DhcpMode { none, proxy, full };

/// What answers DHCP while machines boot, where this machine does.
struct BootDhcp {
  DhcpMode mode = DhcpMode::none;
  std::string interface{};
  std::string first{}, last{};  // addresses that are given out; empty unless `full`
  friend bool operator==(const BootDhcp&, const BootDhcp&) = default;
};

/// A server of the site that has the images' files too, for the nodes of one rack.
struct RackMirror {
  std::string rack{};
  std::string url{};  // of the folder of images, without a slash at its end
  Place where{};
};

/// `boot:` of a site.
struct BootSite {
  std::string host{};  // an address of this machine
  std::uint16_t port = 0;
  /// PEM files; empty: HTTP.
  std::string certificate{}, key{}, ca{};
  std::string images{};  // folder of the image store; empty: in the state folder
  BootDhcp dhcp{};
  std::vector<BootWay> ways{BootWay::uefi_http, BootWay::media};  // the first to be tried first
  /// Bytes per second that may be sent, in all and to one rack; 0: as fast as it goes.
  double uplink = 0, rack_uplink = 0;
  std::vector<RackMirror> mirrors{};
  std::string gateway{};  // of the nodes that have an address of their own
  std::vector<std::string> dns{};
  Place where{};

  /// Empty: the rack has none.
  std::string mirror_of(std::string_view rack) const;
};

/// `boot:` of a node.
struct NodeBoot {
  std::vector<std::string> macs{};  // "aa:bb:cc:00:11:22"; the first is the one that it boots from
  std::string address{};            // with its prefix's length: "10.0.2.11/24"; empty: by DHCP
  std::string disk{};               // serial of the disk that the OS is written to
  std::string disk_wwn{};           // its WWN: hexadecimal digits in lower case, without a prefix
  friend bool operator==(const NodeBoot&, const NodeBoot&) = default;
};

/// `os:` of a profile: what its machines run, and which disk is their own where the inventory gives
/// no serial.
struct ProfileOs {
  std::string image{};       // of the image store; empty: the playbook says it, or there is none
  std::string sha256{};      // of that image, in lower-case hexadecimal
  std::string ram{"ram"};    // the RAM system that writes it
  std::string disk_model{};  // as the disk reports it
  double disk_size_min = 0;  // bytes
  double disk_size_max = 0;
  std::vector<BootWay> ways{};  // empty: the site's
  Place where{};
};

}  // namespace cupel::inventory
