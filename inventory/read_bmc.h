#pragma once
// What stands under `bmc:` besides address, user and password: IPMI, the factory's login, MACs, and
// the networks in which BMCs are. Not how they are reached by HTTPS: that is read_access.h.
#include <filesystem>
#include <span>
#include <vector>

#include "base/result.h"
#include "inventory/access.h"
#include "inventory/problem.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

inline constexpr std::string_view kSecretForm =
    "password must say where the secret is: env:NAME, file:PATH or cmd:COMMAND; "
    "never the secret itself";

/// At most so many addresses in all of `bmc_networks:`, and in one `cupel bmc scan`.
inline constexpr std::size_t kMostAddresses = 4096;

/// `ipmi:` of some nodes and of `defaults:`, both may be nullptr: true, false, or a map, whose keys
/// stand behind each other one by one.
class IpmiFields {
 public:
  IpmiFields(const YamlValue* own, const YamlValue* defaults, const std::string& file,
             std::vector<Problem>& problems);

  /// Into the nodes, which have their HTTPS endpoint and protocol already. `protocol` is blamed
  /// where that says ipmi and there is none.
  void read(std::vector<BmcAccess>& nodes, const Place& protocol);

 private:
  static std::optional<bool> word(const YamlValue* value);
  bool is_needed(const YamlValue* value, const std::string& blamed);

  const YamlValue* own_;
  const YamlValue* defaults_;
  const std::string& file_;
  std::vector<Problem>& problems_;
};

/// `factory: {user, password}`. Every fault becomes a problem.
std::optional<FactoryLogin> read_factory(const YamlValue& value, const std::string& file,
                                         const std::filesystem::path& folder,
                                         std::vector<Problem>& problems);

/// Puts the node's name where the secret's place says {node}: "file:secrets/{node}". In a
/// variable's name every other sign than letters and digits becomes '_'. A name that could lead
/// elsewhere (a path, a shell) becomes a problem.
SecretRef secret_of_node(SecretRef secret, std::string_view node, const Place& where,
                         std::vector<Problem>& problems);

/// The BMC's own and its factory's.
void read_secrets_of_node(BmcAccess& bmc, std::string_view node, const Place& where,
                          std::vector<Problem>& problems);

/// The words of `ranges`, which must be as many as there are nodes; `what` names them in the
/// problem. Empty where they are not.
std::vector<std::string> one_for_each(std::string_view what, const std::vector<std::string>& ranges,
                                      const Place& where, std::size_t count,
                                      std::vector<Problem>& problems);

/// One for each node, or ranges that give as many: "aa:bb:cc:00:11:[22-25]".
void read_macs(const std::vector<std::string>& ranges, const Place& where,
               std::vector<BmcAccess>& nodes, std::vector<Problem>& problems);

/// The Id of a System for each node, or ranges that give as many: "Node[0-3]".
void read_systems(const std::vector<std::string>& ranges, const Place& where,
                  std::vector<BmcAccess>& nodes, std::vector<Problem>& problems);

/// "AA-BB-CC-00-11-22" as "aa:bb:cc:00:11:22"; nothing for anything else, and for a MAC of no
/// single port (all zeros, all ones, a group). Source: IEEE 802-2014, 8.2.2.
std::optional<std::string> mac_of(std::string_view text);

/// "10.0.1.0" as a number; no leading zeros, which some read as octal.
std::optional<std::uint32_t> ipv4_of(std::string_view text);

/// An IPv4 network as `bmc_networks:` and `cupel bmc scan` name it, host by host; the network's own
/// address and its broadcast are no hosts (but of a /31 or /32). Errors: kInvalid: not such a
/// network, one with host bits, or more than kMostAddresses.
/// Source: RFC 4632, 3.1; RFC 3021.
Result<std::vector<std::string>> hosts_of(std::string_view network);

/// The hosts of all these networks, each once, in the networks' order. Errors: as hosts_of;
/// kInvalid where all of them together have more than kMostAddresses.
Result<std::vector<std::string>> hosts_in(std::span<const std::string> networks);

/// `bmc_networks:` of a site.
std::vector<std::string> read_networks(YamlFields& site, std::vector<Problem>& problems);

}  // namespace cupel::inventory
