#pragma once
// How a site's machines get their operating system: from where this machine serves boot files, and
// to whom. Data only; read by inventory/read_boot.h.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/boot_way.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// "debian-12": letters, digits, ".", "_" and "-", at most 64; the first a letter or a digit.
bool is_image_name(std::string_view name);
/// 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

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

}  // namespace cupel::inventory
