#pragma once
// What dnsmasq logs, line by line: who got what, and the named causes of what goes wrong. It gives
// no advice twice for one machine. Pure. Source: dnsmasq 2.90, rfc2131.c, dhcp.c and tftp.c.
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "orchestrator/netboot/dnsmasq_conf.h"

namespace cupel::netboot {

struct DhcpEvent {
  std::string cause{};  // a stable word: "offered", "acknowledged", "sent", "unknown-mac", ...
  std::string node{};   // empty: not known
  std::string text{};   // for people, with what to do where something is wrong
  bool is_problem = false;
  friend bool operator==(const DhcpEvent&, const DhcpEvent&) = default;
};

class DhcpLog {
 public:
  /// So many machines are remembered; of others nothing is reported.
  static constexpr std::size_t kMostMachines = 100'000;
  /// So many offers in a row without a request are no accident.
  static constexpr int kOffersNotTaken = 3;

  explicit DhcpLog(std::span<const DhcpNode> nodes);

  /// Nothing where the line says nothing that matters, or nothing new.
  std::optional<DhcpEvent> read(std::string_view line);

 private:
  std::optional<DhcpEvent> of_dhcp(std::string_view line);
  std::optional<DhcpEvent> of_tftp(std::string_view line);
  std::optional<DhcpEvent> offered(const std::string& mac, std::string_view address);
  DhcpEvent event(std::string_view cause, const std::string& mac, std::string text) const;
  std::optional<DhcpEvent> once(DhcpEvent problem, std::string_view whom);

  std::map<std::string, std::string, std::less<>> nodes_{};  // by MAC
  std::map<std::string, int, std::less<>> offers_{};         // by MAC, since its last request
  std::map<std::string, std::string, std::less<>> macs_{};   // by address, of those who have one
  std::set<std::string> reported_{};
};

}  // namespace cupel::netboot
