#pragma once
// dnsmasq's configuration: DHCP and TFTP for the nodes of the inventory, and for nobody else.
// It holds no ticket: firmware is sent to the boot server's /dhcp/, which knows its node by its MAC
// address. It changes only with the inventory. Pure. Source: dnsmasq(8); RFC 4578, 2.1 and the IANA
// registry "Processor Architecture Types"; UEFI 2.10, 24.7.
#include <span>
#include <vector>

#include "base/result.h"
#include "inventory/boot.h"
#include "inventory/fwd.h"

namespace cupel::netboot {

struct DhcpNode {
  std::string node{};
  std::vector<std::string> macs{};
  std::string address{};  // of the first MAC: "10.0.2.11", with or without a prefix; empty: any
};

struct DhcpConf {
  inventory::DhcpMode mode = inventory::DhcpMode::full;
  std::string interface{};
  std::string server{};         // this machine's IPv4 address on that interface
  std::string first{}, last{};  // of `full`; empty: only nodes with an address get one
  std::string gateway{};        // of `full`; empty: no router is announced
  std::vector<std::string> dns{};
  std::string boot_url{};  // "http://10.0.0.1:8081/dhcp/"
  /// The folder that TFTP serves, and which of tftp_programs() it has. None: UEFI HTTP boot alone.
  std::string tftp_folder{};
  std::vector<std::string> programs{};
  std::string lease_file{};
};

/// The iPXE programs, one for each kind of PXE firmware: "snponly.efi", ...
std::vector<std::string_view> tftp_programs();

/// Of the inventory's `boot:`, without TFTP and lease file. Errors: kInvalid (there is none, or the
/// site's own DHCP server answers).
Result<DhcpConf> dhcp_of(const std::optional<inventory::BootSite>& boot);

/// Nodes without a MAC address are left out: nothing can be sent to them.
std::vector<DhcpNode> dhcp_nodes(std::span<const inventory::Node* const> nodes);

/// Errors: kInvalid: a value that its line cannot hold; two nodes with one MAC address or one
/// address; no node has a MAC address.
Result<std::string> dnsmasq_conf(const DhcpConf& conf, std::span<const DhcpNode> nodes);

}  // namespace cupel::netboot
