#include "inventory/read_bmc.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/text.h"
#include "inventory/names.h"
#include "inventory/node_range.h"
#include "inventory/read_access.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

// Port 26Fh (IPMI 2.0, 13.1.1).
constexpr long kIpmiPort = 623;

std::string text_of(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

}  // namespace

std::vector<std::string> one_for_each(std::string_view what, const std::vector<std::string>& ranges,
                                      const Place& where, std::size_t count, Problems& problems) {
  std::vector<std::string> words;
  for (const auto& range : ranges) {
    if (words.size() > count) break;
    auto expanded = expand(range);
    if (!expanded) {
      problems.push_back({where, expanded.error().what});
      return {};
    }
    for (auto& word : *expanded) words.push_back(std::move(word));
  }
  if (words.size() == count) return words;
  problems.push_back(
      {where, fmt::format("{} {} for {} nodes: give one for each", words.size(), what, count)});
  return {};
}

std::optional<std::uint32_t> ipv4_of(std::string_view text) {
  std::uint32_t address = 0;
  const auto pieces = split(text, '.');
  if (pieces.size() != 4) return std::nullopt;
  for (const auto piece : pieces) {
    const auto octet = number<std::uint32_t>(piece);
    if (!octet || *octet > 255 || (piece.size() > 1 && piece[0] == '0')) return std::nullopt;
    address = address << 8 | *octet;
  }
  return address;
}

IpmiFields::IpmiFields(const YamlValue* own, const YamlValue* defaults, const std::string& file,
                       Problems& problems)
    : own_{own}, defaults_{defaults}, file_{file}, problems_{problems} {}

std::optional<bool> IpmiFields::word(const YamlValue* value) {
  if (value == nullptr || value->kind != YamlValue::Kind::scalar) return std::nullopt;
  if (value->text == "true" || value->text == "yes") return true;
  if (value->text == "false" || value->text == "no") return false;
  return std::nullopt;
}

bool IpmiFields::is_needed(const YamlValue* value, const std::string& blamed) {
  if (value == nullptr) return false;
  if (value->kind == YamlValue::Kind::map) return true;
  const auto given = word(value);
  if (!given)
    problems_.push_back({{file_, value->line, value->column},
                         blamed + " must be true, false, or a map with address, port, cipher"});
  return given.value_or(false);
}

void IpmiFields::read(std::vector<BmcAccess>& nodes, const Place& protocol) {
  const bool first = !nodes.empty() && nodes.front().protocol == BmcProtocol::ipmi;
  const auto* deciding = own_ != nullptr ? own_ : defaults_;
  const bool asked = is_needed(deciding, "ipmi");
  if (first && word(deciding) == false)
    problems_.push_back({protocol, "bmc protocol is ipmi, and ipmi is false"});
  if (!asked && !first) return;
  std::optional<YamlFields> own;
  std::optional<YamlFields> defaults;
  if (own_ != nullptr && own_->kind == YamlValue::Kind::map)
    own.emplace(*own_, "ipmi", file_, problems_);
  if (defaults_ != nullptr && defaults_->kind == YamlValue::Kind::map)
    defaults.emplace(*defaults_, "ipmi", file_, problems_);
  const auto holder = [&](std::string_view key) -> YamlFields* {
    if (own && own->has(key)) return &*own;
    return defaults && defaults->has(key) ? &*defaults : nullptr;
  };
  long port = kIpmiPort;
  if (auto* fields = holder("port")) port = fields->integer("port", 1, 65'535).value_or(port);
  std::optional<int> cipher;
  if (auto* fields = holder("cipher")) {
    const auto suite = fields->integer("cipher", 3, 17);
    if (suite && *suite != 3 && *suite != 17)
      fields->report(fields->place("cipher"), "cipher must be suite 3 or 17");
    if (suite) cipher = static_cast<int>(*suite);
  }
  std::vector<Endpoint> endpoints;
  if (const auto range = own ? own->text("address") : std::nullopt)
    endpoints = zipped_endpoints(*range, nodes.size(), static_cast<std::uint16_t>(port),
                                 own->place("address"), problems_);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto host = nodes[i].endpoint.host;
    nodes[i].ipmi = IpmiAccess{
        endpoints.empty() ? Endpoint{host, static_cast<std::uint16_t>(port)} : endpoints[i],
        cipher};
  }
  if (own) own->finish();
  if (!defaults) return;
  for (const auto key : {"port", "cipher"}) defaults->has(key);
  defaults->finish();
}

std::optional<FactoryLogin> read_factory(const YamlValue& value, const std::string& file,
                                         const std::filesystem::path& folder, Problems& problems) {
  YamlFields fields{value, "factory", file, problems};
  FactoryLogin login;
  login.user = fields.required("user");
  if (const auto fault = login.user.empty() ? std::nullopt : fault_in_name(Named::user, login.user))
    fields.report(fields.place("user"), *fault);
  const auto password = fields.required("password");
  auto secret = secret_of(password, folder);
  if (!password.empty() && !secret)
    fields.report(fields.place("password"), std::string{kSecretForm});
  if (secret) secret->named = fields.place("password");
  login.password = std::move(secret).value_or(SecretRef{});
  fields.finish();
  return login;
}

SecretRef secret_of_node(SecretRef secret, std::string_view node, const Place& where,
                         Problems& problems) {
  constexpr std::string_view kName = "{node}";
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  auto at = secret.where.find(kName);
  if (at == secret.where.npos) return secret;
  const bool plain = !node.empty() && node.find_first_not_of(kPlain) == node.npos &&
                     node.front() != '.' && node.front() != '-';
  if (!plain) {
    problems.push_back({where, fmt::format("a password with {{node}} in it needs names of letters, "
                                           "digits, '-', '_' and '.', not '{}'",
                                           printable(node))});
    return secret;
  }
  std::string name{node};
  if (secret.kind == SecretRef::Kind::env)
    for (char& c : name)
      if (c == '.' || c == '-') c = '_';
  for (; at != secret.where.npos; at = secret.where.find(kName, at + name.size()))
    secret.where.replace(at, kName.size(), name);
  return secret;
}

void read_secrets_of_node(BmcAccess& bmc, std::string_view node, const Place& where,
                          Problems& problems) {
  bmc.password = secret_of_node(std::move(bmc.password), node, where, problems);
  if (bmc.factory)
    bmc.factory->password = secret_of_node(std::move(bmc.factory->password), node, where, problems);
}

std::optional<std::string> mac_of(std::string_view text) {
  constexpr std::size_t kLength = 17;
  if (text.size() != kLength) return std::nullopt;
  std::string mac = lower_case(text);
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool between = i % 3 == 2;
    if (between && (mac[i] == ':' || mac[i] == '-'))
      mac[i] = ':';
    else if (between || std::string_view{"0123456789abcdef"}.find(mac[i]) == std::string_view::npos)
      return std::nullopt;
  }
  constexpr std::string_view kOdd = "13579bdf";  // the lowest bit of the first octet: a group
  const bool group = kOdd.find(mac[1]) != std::string_view::npos;
  if (group || mac == "00:00:00:00:00:00") return std::nullopt;
  return mac;
}

void read_macs(const std::vector<std::string>& ranges, const Place& where,
               std::vector<BmcAccess>& nodes, Problems& problems) {
  const auto macs = one_for_each("MACs", ranges, where, nodes.size(), problems);
  for (std::size_t i = 0; i < macs.size(); ++i) {
    const auto mac = mac_of(macs[i]);
    if (!mac)
      problems.push_back({where, "'" + macs[i] + "' is not the MAC of a port (aa:bb:cc:00:11:22)"});
    nodes[i].mac = mac.value_or("");
  }
}

void read_systems(const std::vector<std::string>& ranges, const Place& where,
                  std::vector<BmcAccess>& nodes, Problems& problems) {
  constexpr std::size_t kLongestId = 128;
  const auto systems = one_for_each("Systems", ranges, where, nodes.size(), problems);
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const auto& id = systems[i];
    const bool good = !id.empty() && id.size() <= kLongestId && !id.contains('/');
    if (!good)
      problems.push_back(
          {where, "'" + id +
                      "' is not the Id of a System: the last word of its URI, Node0 of "
                      "/redfish/v1/Systems/Node0"});
    nodes[i].system = id;
  }
}

Result<std::vector<std::string>> hosts_of(std::string_view network) {
  const auto slash = network.find('/');
  const auto address = ipv4_of(network.substr(0, slash));
  const auto bits =
      slash == network.npos ? std::nullopt : number<unsigned>(network.substr(slash + 1));
  if (!address || !bits || *bits > 32)
    return Error{Code::kInvalid,
                 fmt::format("'{}' is not an IPv4 network such as 10.0.1.0/24", network)};
  const auto size = std::uint64_t{1} << (32 - *bits);
  if (*address % size != 0)
    return Error{
        Code::kInvalid,
        fmt::format("'{}' is an address within {}/{}", network,
                    text_of(static_cast<std::uint32_t>(*address - *address % size)), *bits)};
  if (size > kMostAddresses)
    return Error{Code::kInvalid, fmt::format("'{}' has {} addresses: at most {}, a /20", network,
                                             size, kMostAddresses)};
  const bool ends = size > 2;  // a network's own address and its broadcast
  std::vector<std::string> hosts;
  for (std::uint64_t i = ends ? 1 : 0; i + (ends ? 1 : 0) < size; ++i)
    hosts.push_back(text_of(static_cast<std::uint32_t>(*address + i)));
  return hosts;
}

Result<std::vector<std::string>> hosts_in(std::span<const std::string> networks) {
  std::vector<std::string> all;
  std::set<std::string, std::less<>> known;
  for (const auto& network : networks) {
    TRY(auto hosts, hosts_of(network));
    for (auto& host : hosts) {
      if (known.insert(host).second) all.push_back(std::move(host));
    }
  }
  if (all.size() > kMostAddresses)
    return Error{Code::kInvalid, fmt::format("the networks have {} addresses in all: at most {}",
                                             all.size(), kMostAddresses)};
  return all;
}

std::vector<std::string> read_networks(YamlFields& site, Problems& problems) {
  std::vector<std::string> networks = site.texts("bmc_networks");
  std::size_t all = 0;
  for (const auto& network : networks) {
    const auto hosts = hosts_of(network);
    if (hosts) {
      all += hosts->size();
      continue;
    }
    problems.push_back({site.place("bmc_networks"), hosts.error().what});
  }
  if (all > kMostAddresses)
    problems.push_back(
        {site.place("bmc_networks"),
         fmt::format("bmc_networks have {} addresses in all: at most {}", all, kMostAddresses)});
  return networks;
}

}  // namespace cupel::inventory
