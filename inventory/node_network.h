#pragma once
// The networks of a node's installed system. Data only; read by inventory/read_network.h.
#include <optional>
#include <string>
#include <vector>

namespace cupel::inventory {

struct Route {
  std::string to{};   // "10.9.0.0/16"; "0.0.0.0/0" and "::/0" are default routes
  std::string via{};  // an address of the same family
};

/// What any interface may have.
struct Addressing {
  bool dhcp4 = false, dhcp6 = false;
  std::vector<std::string> addresses{};  // with their prefixes: "10.0.2.11/24"
  std::optional<long> mtu{};             // bytes
  std::vector<Route> routes{};
  std::vector<std::string> dns{}, search{};
};

struct NodePort {
  std::string name{};  // that it is given
  std::string mac{};   // "aa:bb:cc:00:11:22", by which it is found
  Addressing has{};
};

struct Bond {
  std::string name{}, mode{};  // "802.3ad", "active-backup"
  std::vector<std::string> members{};
  Addressing has{};
};

struct Vlan {
  std::string name{};
  long id = 0;
  std::string link{};  // the port or bond below it
  Addressing has{};
};

struct NodeNetwork {
  std::vector<NodePort> ports{};
  std::vector<Bond> bonds{};
  std::vector<Vlan> vlans{};
};

}  // namespace cupel::inventory
