#include "orchestrator/netboot/dnsmasq_conf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <map>

#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/netboot/identity.h"

namespace cupel::netboot {
namespace {

using inventory::DhcpMode;

constexpr std::size_t kMostServers = 8, kLongestValue = 256;
constexpr int kMostTransfers = 512;  // of TFTP at a time; dnsmasq's own limit is 50
constexpr std::string_view kHttp = "http";

/// A kind of firmware, by the architecture that it reports.
struct Firmware {
  std::string_view tag;
  std::string_view program;  // by TFTP; empty: it fetches by HTTP
  std::array<int, 2> codes;  // the second may be the first
};
constexpr std::array kFirmwares{
    Firmware{kHttp, "", {16, 19}},                   // UEFI HTTP boot, x86-64 and aarch64
    Firmware{"efi", "snponly.efi", {7, 9}},          // UEFI PXE, x86-64
    Firmware{"arm", "snponly-arm64.efi", {11, 11}},  // UEFI PXE, aarch64
    Firmware{"bios", "undionly.kpxe", {0, 0}},
};

bool consists_of(std::string_view text, std::string_view also) {
  return !text.empty() && text.size() <= kLongestValue && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.contains(c);
  });
}

Error wrong(std::string_view what, std::string_view value) {
  return {Code::kInvalid,
          fmt::format("DHCP: {}: '{}'", what, printable(shortened(value, kLongestValue)))};
}

bool is_ipv4(const std::string& text) {
  boost::system::error_code failure;
  (void)boost::asio::ip::make_address_v4(text, failure);
  return !failure;
}

Result<void> check_address(std::string_view what, const std::string& text) {
  if (is_ipv4(text)) return ok();
  return wrong(fmt::format("{} is not an IPv4 address", what), text);
}

Result<void> check_path(std::string_view what, const std::string& path) {
  if (path.starts_with('/') && consists_of(path, "/._-+@")) return ok();
  return wrong(fmt::format("{} is not an absolute path of letters, digits and \"/._-+@\"", what),
               path);
}

bool has_program(const DhcpConf& conf, std::string_view program) {
  return std::ranges::find(conf.programs, program) != conf.programs.end();
}

Result<void> check_full(const DhcpConf& conf) {
  if (conf.first.empty() != conf.last.empty()) return wrong("a range has two ends", conf.first);
  if (!conf.first.empty()) {
    TRY(check_address("the range's first address", conf.first));
    TRY(check_address("the range's last address", conf.last));
  }
  if (!conf.gateway.empty()) {
    TRY(check_address("the gateway", conf.gateway));
  }
  if (conf.dns.size() > kMostServers) return wrong("too many DNS servers", conf.dns.front());
  for (const auto& server : conf.dns) {
    TRY(check_address("the DNS server", server));
  }
  return check_path("the lease file", conf.lease_file);
}

Result<void> check(const DhcpConf& conf) {
  if (!consists_of(conf.interface, "._-")) return wrong("not an interface", conf.interface);
  TRY(check_address("the server's address", conf.server));
  if (!consists_of(conf.boot_url, ":/.-")) return wrong("not a boot URL", conf.boot_url);
  if (!conf.programs.empty()) {
    TRY(check_path("the TFTP folder", conf.tftp_folder));
  }
  return conf.mode == DhcpMode::full ? check_full(conf) : ok();
}

std::string range_of(const DhcpConf& conf) {
  if (conf.mode == DhcpMode::proxy) return fmt::format("dhcp-range={},proxy\n", conf.server);
  if (conf.first.empty()) return fmt::format("dhcp-range={},static,10m\n", conf.server);
  return fmt::format("dhcp-range={},{},10m\n", conf.first, conf.last);
}

/// Addresses, and what an operating system needs beside its own.
std::string leases_of(const DhcpConf& conf) {
  if (conf.mode == DhcpMode::proxy) return {};
  std::string text = fmt::format("dhcp-leasefile={}\ndhcp-authoritative\n", conf.lease_file);
  // Without a value none is announced: dnsmasq would announce itself.
  text += conf.gateway.empty() ? std::string{"dhcp-option=option:router\n"}
                               : fmt::format("dhcp-option=option:router,{}\n", conf.gateway);
  if (!conf.dns.empty())
    text += fmt::format("dhcp-option=option:dns-server,{}\n", fmt::join(conf.dns, ","));
  return text;
}

std::string matches() {
  std::string text = "dhcp-match=set:ipxe,175\n";
  for (const auto& firmware : kFirmwares) {
    const auto [one, other] = firmware.codes;
    text += fmt::format("dhcp-match=set:{},option:client-arch,{}\n", firmware.tag, one);
    if (one != other)
      text += fmt::format("dhcp-match=set:{},option:client-arch,{}\n", firmware.tag, other);
  }
  return text;
}

std::string program_of(const DhcpConf& conf, const Firmware& firmware) {
  // An offer without a boot file costs the firmware a minute; no offer, a few seconds.
  if (!has_program(conf, firmware.program))
    return fmt::format("dhcp-ignore=tag:{},tag:!ipxe\n", firmware.tag);
  if (conf.mode == DhcpMode::full)
    return fmt::format("dhcp-boot=tag:{},tag:!ipxe,{},,{}\n", firmware.tag, firmware.program,
                       conf.server);
  std::string text;
  const auto [one, other] = firmware.codes;
  text += fmt::format("pxe-service=tag:!ipxe,{},Cupel,{}\n", one, firmware.program);
  if (one != other)
    text += fmt::format("pxe-service=tag:!ipxe,{},Cupel,{}\n", other, firmware.program);
  return text;
}

/// tftp-no-blocksize is never set: blocks of 512 bytes make a transfer ten times as long.
std::string boot_of(const DhcpConf& conf) {
  std::string text;
  if (conf.mode == DhcpMode::full) {
    text += fmt::format("dhcp-option-force=tag:{},60,HTTPClient\n", kHttp);
    text += fmt::format("dhcp-boot=tag:{},tag:!ipxe,{}ram.efi\n", kHttp, conf.boot_url);
    // iPXE is not to wait for a proxy: no-pxedhcp. Source: iPXE, dhcp.h, DHCP_EB_NO_PXEDHCP.
    text += "dhcp-option-force=tag:ipxe,encap:175,176,1b\n";
  }
  text += fmt::format("dhcp-boot=tag:ipxe,{}boot.ipxe,,{}\n", conf.boot_url, conf.server);
  if (!conf.programs.empty())
    text +=
        fmt::format("enable-tftp\ntftp-root={}\ntftp-max={}\n", conf.tftp_folder, kMostTransfers);
  for (const auto& firmware : kFirmwares)
    if (!firmware.program.empty()) text += program_of(conf, firmware);
  return text;
}

/// Who has an address: its MAC or IPv4 address → the node.
using Owners = std::map<std::string, std::string>;

Result<void> own(Owners& owners, const std::string& what, const std::string& node) {
  const auto [at, is_new] = owners.emplace(what, node);
  if (is_new) return ok();
  return Error{Code::kInvalid,
               fmt::format("DHCP: {} and {} both have {}: correct boot: in the inventory",
                           at->second, node, what)};
}

/// No name is sent: words such as "ignore" and "12h" mean something else there.
Result<std::string> host_lines(Owners& owners, const DhcpNode& node) {
  if (!consists_of(node.node, "._-")) return wrong("not a node's name", node.node);
  auto address = node.address.substr(0, node.address.find('/'));
  if (address.contains(':')) address.clear();  // IPv6: not by this server
  if (!address.empty()) {
    TRY(check_address(node.node + ": its address", address));
    TRY(own(owners, address, node.node));
  }
  std::string text = fmt::format("# {}\n", node.node);
  for (const auto& written : node.macs) {
    const auto mac = normalized_mac(written);
    if (!mac) return wrong(node.node + ": not a MAC address", written);
    TRY(own(owners, *mac, node.node));
    text += fmt::format("dhcp-host={}{}\n", *mac, address.empty() ? "" : "," + address);
    address.clear();
  }
  return text;
}

}  // namespace

std::vector<std::string_view> tftp_programs() {
  std::vector<std::string_view> programs;
  for (const auto& firmware : kFirmwares)
    if (!firmware.program.empty()) programs.push_back(firmware.program);
  return programs;
}

Result<DhcpConf> dhcp_of(const std::optional<inventory::BootSite>& boot) {
  if (!boot)
    return Error{Code::kInvalid,
                 "the inventory has no boot: add boot: {serve: ADDRESS:PORT, dhcp: {mode, "
                 "interface}} (docs/do/os.md)"};
  if (boot->dhcp.mode == DhcpMode::none)
    return Error{Code::kInvalid,
                 "the inventory leaves DHCP to the site's own server (boot: dhcp: mode: none). Set "
                 "mode: proxy to boot beside it, mode: full to replace it, or give it the boot "
                 "files of docs/do/os.md"};
  DhcpConf conf{.mode = boot->dhcp.mode,
                .interface = boot->dhcp.interface,
                .server = boot->host,
                .first = boot->dhcp.first,
                .last = boot->dhcp.last,
                .gateway = is_ipv4(boot->gateway) ? boot->gateway : ""};
  std::ranges::copy_if(boot->dns, std::back_inserter(conf.dns), is_ipv4);
  conf.boot_url = fmt::format("{}://{}:{}/dhcp/", boot->certificate.empty() ? "http" : "https",
                              boot->host, boot->port);
  return conf;
}

std::vector<DhcpNode> dhcp_nodes(std::span<const inventory::Node* const> nodes) {
  std::vector<DhcpNode> known;
  for (const auto* node : nodes)
    if (!node->boot.macs.empty())
      known.push_back({node->name, node->boot.macs, node->boot.address});
  return known;
}

Result<std::string> dnsmasq_conf(const DhcpConf& conf, std::span<const DhcpNode> nodes) {
  TRY(check(conf));
  if (nodes.empty())
    return Error{Code::kInvalid,
                 "DHCP: no node has a MAC address: set boot: {macs: [...]} in the inventory"};
  std::string text = fmt::format(
      "# Written by cupel boot dhcp. DHCP and TFTP for the nodes below; no DNS.\n"
      "port=0\nno-resolv\nno-hosts\nno-ping\n"
      "interface={}\nexcept-interface=lo\nbind-dynamic\n",
      conf.interface);
  text += range_of(conf) + leases_of(conf);
  text += "# A MAC address that is not below gets no answer.\ndhcp-ignore=tag:!known\n";
  text += matches() + boot_of(conf);
  Owners owners;
  for (const auto& node : nodes) {
    TRY(const auto lines, host_lines(owners, node));
    text += lines;
  }
  return text;
}

}  // namespace cupel::netboot
