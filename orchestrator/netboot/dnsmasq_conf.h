#pragma once
// dnsmasq's configuration: who is answered, and what each boots. Machines that the inventory does
// not know get no answer, and neither does firmware of a node that is not to boot over the network:
// an offer without a boot file costs it a minute for each network port. Pure. Source: dnsmasq(8);
// RFC 4578, 2.1 and the IANA registry of "Processor Architecture Types".
#include <vector>

#include "base/result.h"
#include "inventory/boot.h"

namespace cupel::netboot {

struct DhcpNode {
  std::string node{};
  std::vector<std::string> macs{};
  std::string address{};   // "10.0.2.11", with or without a prefix's length; empty: any
  std::string base_url{};  // of its boot ticket; empty: it is not to boot over the network
};

struct DhcpConf {
  inventory::DhcpMode mode = inventory::DhcpMode::full;
  std::string interface{};
  std::string server{};         // this machine's address there
  std::string first{}, last{};  // of `full`
  std::string gateway{};
  std::vector<std::string> dns{};
  /// Holds snponly.efi, undionly.kpxe and snponly-arm64.efi, or those of them that nodes need;
  /// empty: no TFTP, UEFI HTTP boot alone.
  std::string tftp_folder{};
  std::string state_folder{};  // where the files below, leases and log are
};

/// What dnsmasq reads again at SIGHUP, by its name in the state folder.
inline constexpr std::string_view kHostsFile = "dhcp-hosts", kOptionsFile = "dhcp-options";

/// Errors: kInvalid (a value that is not what its line wants).
Result<std::string> dnsmasq_conf(const DhcpConf& conf, const std::vector<DhcpNode>& nodes);
/// Errors: kInvalid (two nodes with one MAC address or one address, a name or MAC that is none).
Result<std::string> dhcp_hosts(const std::vector<DhcpNode>& nodes);
Result<std::string> dhcp_options(const std::vector<DhcpNode>& nodes);

}  // namespace cupel::netboot
