#include "orchestrator/netboot/dhcp_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "orchestrator/netboot/identity.h"

namespace cupel::netboot {
namespace {

constexpr std::size_t kLongestLine = 512, kLongestWords = 160;

std::string shown(std::string_view text) {
  return printable(shortened(trimmed(text), kLongestWords));
}

/// "dnsmasq-dhcp[13858]: 173003652 DHCPDISCOVER(va) ..." without what stands before the message.
std::string_view message_of(std::string_view line) {
  const auto at = line.find("]: ");
  return at == line.npos ? line : line.substr(at + 3);
}

/// The rest behind `start`; nothing where it does not start so.
std::optional<std::string_view> behind(std::string_view text, std::string_view start) {
  if (!text.starts_with(start)) return {};
  return text.substr(start.size());
}

/// "DHCPOFFER(va) 10.0.0.1 52:54:... words": what was sent, and its words.
struct Packet {
  std::string_view kind{}, address{}, rest{};
  std::string mac{};
};

std::optional<Packet> packet_of(std::string_view message) {
  // With log-dhcp a transaction's number stands first.
  const auto name =
      message.find("DHCP") == message.npos ? message.find("PXE(") : message.find("DHCP");
  const auto open = message.find('('), close = message.find(") ");
  if (name == message.npos || open == message.npos || close == message.npos || open < name)
    return {};
  Packet packet{.kind = message.substr(name, open - name)};
  auto rest = trimmed(message.substr(close + 2));
  for (int i = 0; i < 2; ++i) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto word = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
    if (auto mac = normalized_mac(word)) {
      packet.mac = *std::move(mac);
      packet.rest = rest;
      return packet;
    }
    packet.address = word;
  }
  return {};
}

}  // namespace

DhcpLog::DhcpLog(std::span<const DhcpNode> nodes) {
  for (const auto& node : nodes)
    for (const auto& written : node.macs)
      if (const auto mac = normalized_mac(written)) nodes_.emplace(*mac, node.node);
}

DhcpEvent DhcpLog::event(std::string_view cause, const std::string& mac, std::string text) const {
  const auto known = nodes_.find(mac);
  return {.cause = std::string{cause},
          .node = known == nodes_.end() ? "" : known->second,
          .text = std::move(text)};
}

std::optional<DhcpEvent> DhcpLog::once(DhcpEvent problem, std::string_view whom) {
  problem.is_problem = true;
  auto key = problem.cause + " " + std::string{whom};
  if (reported_.contains(key) || reported_.size() >= kMostMachines) return {};
  reported_.insert(std::move(key));
  return problem;
}

std::optional<DhcpEvent> DhcpLog::offered(const std::string& mac, std::string_view address) {
  if (!nodes_.contains(mac)) return {};
  const auto count = ++offers_[mac];
  if (count == 1)
    return event("offered", mac, fmt::format("{} is offered {}", mac, shown(address)));
  if (count < kOffersNotTaken) return {};
  return once(event("offer-not-taken", mac,
                    fmt::format("{} was offered {} {} times and did not take it: it does not hear "
                                "this server, or another DHCP server answers it. Look at the VLAN "
                                "of its port, and for a second server",
                                mac, shown(address), count)),
              mac);
}

std::optional<DhcpEvent> DhcpLog::of_dhcp(std::string_view line) {
  if (line.contains("no address range available for DHCP request") ||
      line.contains("which has no address"))
    return once({.cause = "no-range",
                 .text = "the interface has no address in the network of boot: serve or of the "
                         "range: look at ip address show"},
                "");
  const auto packet = packet_of(line);
  if (!packet) return {};
  const auto& [kind, address, rest, mac] = *packet;
  // An acknowledgement ends with the name that the machine gives itself.
  const bool ignored = rest.ends_with("ignored") && kind != "DHCPACK";
  if (ignored && !nodes_.contains(mac))
    return once(event("unknown-mac", mac,
                      fmt::format("{} asked and gets no answer: no node of the inventory has it "
                                  "(boot: macs)",
                                  mac)),
                mac);
  if (ignored)
    return once(event("no-program", mac,
                      fmt::format("{} asked by PXE, and there is no iPXE program for its kind of "
                                  "firmware: add it to the folder of --tftp",
                                  mac)),
                mac);
  if (rest.contains("wrong server-ID"))
    return once(event("second-server", mac,
                      fmt::format("{} took the offer of another DHCP server: turn that off, or set "
                                  "boot: dhcp: mode: proxy",
                                  mac)),
                mac);
  if (rest.contains("no address"))
    return once(event("no-address", mac,
                      fmt::format("there is no address for {}: widen boot: dhcp: range, or set its "
                                  "boot: address",
                                  mac)),
                mac);
  if (kind == "DHCPDECLINE")
    return once(event("address-in-use", mac,
                      fmt::format("{} found {} in use by another machine: look who has it", mac,
                                  shown(address))),
                mac);
  if (kind == "DHCPOFFER") return offered(mac, address);
  if (kind == "PXE" && nodes_.contains(mac) && ++offers_[mac] == 1)
    return event("offered", mac, mac + " is offered its boot program");
  if (kind == "DHCPREQUEST") offers_.erase(mac);
  if (kind != "DHCPACK" || !nodes_.contains(mac)) return {};
  macs_[std::string{address}] = mac;
  return event("acknowledged", mac, fmt::format("{} has {}", mac, shown(address)));
}

std::optional<DhcpEvent> DhcpLog::of_tftp(std::string_view line) {
  const auto space = line.rfind(' ');
  const auto address = std::string{line.substr(space == line.npos ? 0 : space + 1)};
  const auto known = macs_.find(address);
  const auto mac = known == macs_.end() ? std::string{} : known->second;
  if (const auto sent = behind(line, "sent "))
    return event("sent", mac, "TFTP: sent " + shown(*sent));
  if (const auto failed = behind(line, "failed sending "))
    return once(event("tftp-timeout", mac,
                      fmt::format("TFTP: no more acknowledgements: {}. Look at its firewall, and "
                                  "whether the path carries packets of 1468 bytes",
                                  shown(*failed))),
                address);
  // PXE firmware asks for the size first, and breaks that off: 8 (RFC 2347) or 0.
  if (line.starts_with("error 8 ") || line.starts_with("error 0 ")) return {};
  if (line.starts_with("error "))
    return once(event("tftp-error", mac, "TFTP: " + shown(line)), address);
  if (line.contains(" not found for ") || line.starts_with("cannot "))
    return once(
        event("tftp-missing", mac,
              fmt::format("TFTP: {}. Only the iPXE programs of --tftp are served", shown(line))),
        address);
  return {};
}

std::optional<DhcpEvent> DhcpLog::read(std::string_view line) {
  line = line.substr(0, kLongestLine);
  const auto message = message_of(line);
  if (line.starts_with("dnsmasq-dhcp")) return of_dhcp(message);
  if (line.starts_with("dnsmasq-tftp")) return of_tftp(message);
  return {};
}

}  // namespace cupel::netboot
