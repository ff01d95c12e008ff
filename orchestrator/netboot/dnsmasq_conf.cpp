#include "orchestrator/netboot/dnsmasq_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <map>

#include "base/text.h"
#include "orchestrator/netboot/identity.h"

namespace cupel::netboot {
namespace {

using inventory::DhcpMode;

/// A kind of firmware, by what it says that it is.
struct Firmware {
  std::string_view tag, program;  // by TFTP; empty: by HTTP
  std::vector<int> codes;
  std::string_view service;  // dnsmasq's name for a proxy's menu
};
const std::vector<Firmware>& firmwares() {
  static const std::vector<Firmware> all{
      {"http", "", {16, 19}, ""},
      {"efi", "snponly.efi", {7, 9}, "X86-64_EFI"},
      {"arm", "snponly-arm64.efi", {11}, "ARM64_EFI"},
      {"bios", "undionly.kpxe", {0}, "x86PC"},
  };
  return all;
}

bool consists_of(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.contains(c);
  });
}

Error wrong(std::string_view what, std::string_view value) {
  return {Code::kInvalid, fmt::format("DHCP: {}: '{}'", what, printable(value))};
}

Result<void> check_address(std::string_view what, const std::string& text) {
  boost::system::error_code failure;
  (void)boost::asio::ip::make_address_v4(text, failure);
  if (failure) return wrong(fmt::format("{} is no IPv4 address", what), text);
  return ok();
}

Result<void> check_path(std::string_view what, const std::string& path) {
  if (!path.starts_with('/') || !consists_of(path, "/._-+@"))
    return wrong(fmt::format("{} is no absolute path of plain characters", what), path);
  return ok();
}

Result<void> check(const DhcpConf& conf) {
  if (!consists_of(conf.interface, "._-@")) return wrong("not an interface", conf.interface);
  TRY(check_address("the server", conf.server));
  if (conf.mode == DhcpMode::full) {
    TRY(check_address("the first address", conf.first));
    TRY(check_address("the last address", conf.last));
  }
  if (!conf.gateway.empty()) {
    TRY(check_address("the gateway", conf.gateway));
  }
  for (const auto& server : conf.dns) {
    TRY(check_address("the DNS server", server));
  }
  if (!conf.tftp_folder.empty()) {
    TRY(check_path("the TFTP folder", conf.tftp_folder));
  }
  return check_path("the state folder", conf.state_folder);
}

std::string tag_of(const DhcpNode& node) { return "node-" + node.node; }

Result<void> check(const DhcpNode& node) {
  if (!consists_of(node.node, ".-")) return wrong("a node's name is no host name", node.node);
  if (!node.base_url.empty() && !consists_of(node.base_url, ":/.-[]"))
    return wrong(node.node + ": not a boot URL", node.base_url);
  return ok();
}

std::string range_of(const DhcpConf& conf) {
  return conf.mode == DhcpMode::proxy
             ? fmt::format("dhcp-range={},proxy\n", conf.server)
             : fmt::format("dhcp-range={},{},10m\n", conf.first, conf.last);
}

std::string matches() {
  std::string text = "dhcp-match=set:ipxe,175\n";
  for (const auto& firmware : firmwares())
    for (const int code : firmware.codes)
      text += fmt::format(
          "dhcp-match=set:{0},option:client-arch,{1}\ndhcp-match=set:firmware,option:client-arch,"
          "{1}\n",
          firmware.tag, code);
  return text;
}

/// tftp-no-blocksize is never set: blocks of 512 bytes make a RAM system take minutes.
std::string tftp_of(const DhcpConf& conf) {
  if (conf.tftp_folder.empty()) return {};
  auto text = fmt::format("enable-tftp\ntftp-root={}\n", conf.tftp_folder);
  for (const auto& firmware : firmwares()) {
    if (firmware.program.empty()) continue;
    text += conf.mode == DhcpMode::proxy
                ? fmt::format("pxe-service=tag:boot,tag:!ipxe,{},Cupel,{}\n", firmware.service,
                              firmware.program)
                : fmt::format("dhcp-boot=tag:boot,tag:{},tag:!ipxe,{},,{}\n", firmware.tag,
                              firmware.program, conf.server);
  }
  return text;
}

/// A proxy's answers know no options: the scripts of iPXE stand in its configuration.
std::string proxy_scripts(const DhcpConf& conf, const std::vector<DhcpNode>& nodes) {
  std::string text;
  if (conf.mode != DhcpMode::proxy) return text;
  for (const auto& node : nodes)
    if (!node.base_url.empty())
      text += fmt::format("dhcp-boot=tag:{},tag:ipxe,{}boot.ipxe,,{}\n", tag_of(node),
                          node.base_url, conf.server);
  return text;
}

}  // namespace

Result<std::string> dnsmasq_conf(const DhcpConf& conf, const std::vector<DhcpNode>& nodes) {
  TRY(check(conf));
  for (const auto& node : nodes) {
    TRY(check(node));
  }
  std::string text = fmt::format(
      "# By cupel. Only DHCP and TFTP: no DNS.\n"
      "port=0\nno-resolv\nno-hosts\nno-ping\ninterface={}\nbind-dynamic\nexcept-interface=lo\n"
      "dhcp-leasefile={}/dhcp-leases\nlog-dhcp\nlog-facility={}/dhcp-log\n",
      conf.interface, conf.state_folder, conf.state_folder);
  text += range_of(conf);
  if (conf.mode == DhcpMode::full) text += "dhcp-authoritative\n";
  text += fmt::format("dhcp-hostsfile={0}/{1}\ndhcp-optsfile={0}/{2}\n", conf.state_folder,
                      kHostsFile, kOptionsFile);
  text += "dhcp-ignore=tag:!known\n";
  text += matches();
  text += "dhcp-ignore=tag:firmware,tag:!boot\n";
  // Without TFTP there is nothing to offer to PXE.
  if (conf.tftp_folder.empty()) text += "dhcp-ignore=tag:firmware,tag:!http,tag:!ipxe\n";
  text += "dhcp-option-force=tag:http,60,HTTPClient\n";
  // iPXE is not to wait for a proxy: no-pxedhcp.
  text += "dhcp-option-force=tag:ipxe,encap:175,176,1b\n";
  text += tftp_of(conf) + proxy_scripts(conf, nodes);
  if (conf.mode == DhcpMode::full) {
    if (!conf.gateway.empty()) text += fmt::format("dhcp-option=3,{}\n", conf.gateway);
    for (const auto& server : conf.dns) text += fmt::format("dhcp-option=6,{}\n", server);
  }
  return text;
}

Result<std::string> dhcp_hosts(const std::vector<DhcpNode>& nodes) {
  std::map<std::string, std::string> owners;  // of MAC addresses and addresses
  std::string text;
  const auto own = [&](const std::string& what, const DhcpNode& node) -> Result<void> {
    const auto [at, is_new] = owners.emplace(what, node.node);
    if (is_new || at->second == node.node) return ok();
    return Error{Code::kInvalid, fmt::format("DHCP: {} and {} have the same address {}: the "
                                             "inventory must tell them apart",
                                             at->second, node.node, what)};
  };
  for (const auto& node : nodes) {
    TRY(check(node));
    if (node.macs.empty()) continue;
    std::string macs;
    for (const auto& written : node.macs) {
      const auto mac = normalized_mac(written);
      if (!mac) return wrong(node.node + ": not a MAC address", written);
      TRY(own(*mac, node));
      macs += *mac + ",";
    }
    const auto address = node.address.substr(0, node.address.find('/'));
    if (!address.empty()) {
      TRY(check_address(node.node + ": its address", address));
      TRY(own(address, node));
    }
    text += fmt::format("{}set:{},{}{}{}\n", macs, tag_of(node),
                        node.base_url.empty() ? "" : "set:boot,",
                        address.empty() ? "" : address + ",", node.node);
  }
  return text;
}

Result<std::string> dhcp_options(const std::vector<DhcpNode>& nodes) {
  std::string text;
  for (const auto& node : nodes) {
    TRY(check(node));
    if (node.base_url.empty()) continue;
    const auto line = [&](std::string_view whom, std::string_view file) {
      text += fmt::format("tag:{},{},option:bootfile-name,{}{}\n", tag_of(node), whom,
                          node.base_url, file);
    };
    line("tag:http,tag:!ipxe", "ram.efi");
    line("tag:ipxe", "boot.ipxe");
    line("tag:!firmware,tag:!ipxe", "");  // the RAM system asks again
  }
  return text;
}

}  // namespace cupel::netboot
