#pragma once
// How a node's BMC and SSH server, and a rack's PDUs, are reached, from an inventory file.
#include <filesystem>
#include <vector>

#include "inventory/access.h"
#include "inventory/fwd.h"
#include "inventory/problem.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

struct RackDevice;

/// "10.0.1.11", "bmc7:8443", "[fe80::1]:443"; the port may be left out.
std::optional<Endpoint> endpoint_of(std::string_view text, std::uint16_t default_port);

/// "env:NAME", "file:PATH", "cmd:COMMAND". A relative path is relative to `folder`.
std::optional<SecretRef> secret_of(std::string_view text, const std::filesystem::path& folder);

/// The map of one node under `bmc:` or `ssh:`, with the map of `defaults:` behind it; both may be
/// nullptr.
class AccessFields {
 public:
  AccessFields(const YamlValue* own, const YamlValue* defaults, std::string what,
               const std::string& file, const std::filesystem::path& folder,
               std::vector<Problem>& problems);

  /// One for each of `count` nodes, the addresses zipped. `node` is blamed for what is missing.
  std::vector<BmcAccess> bmc(std::size_t count, Place node);
  std::vector<SshAccess> ssh(std::size_t count, Place node);
  /// One for each name, the addresses zipped.
  std::vector<Pdu> pdus(const std::vector<std::string>& names, Place where);
  /// The same of a rack's trays and shelves, whose addresses somebody else has read, one for each
  /// name. With MACs and the certificate that is shown, where they are given.
  std::vector<RackDevice> devices(const std::vector<std::string>& names,
                                  const std::vector<std::string>& addresses, Place where);

 private:
  std::vector<Endpoint> endpoints(std::size_t count, std::uint16_t port, Place whose);
  std::string needs() const;
  std::optional<SecretRef> secret(std::string_view key);
  SecretRef password(Place whose);
  std::string user(Place whose);
  BmcProtocol protocol();
  std::optional<std::string> text(std::string_view key);
  const YamlValue* value(std::string_view key);
  Place place(std::string_view key);
  Trust tls_trust();
  void read_macs_of(std::vector<RackDevice>& devices);
  void read_certificate_of(std::vector<RackDevice>& devices);
  Trust host_key_trust();
  void finish();

  std::string what_;
  std::string_view whose_ = "node";
  const std::string& file_;
  const std::filesystem::path& folder_;
  std::vector<Problem>& problems_;
  std::optional<YamlFields> own_{};
  std::optional<YamlFields> defaults_{};
};

/// The endpoints of one text with a range, "10.0.1.[11-14]:623": one for each of `count` nodes
/// (`whose`). Every fault becomes a problem at `where`, and leaves as many empty ones.
std::vector<Endpoint> zipped_endpoints(const std::string& range, std::size_t count,
                                       std::uint16_t port, const Place& where,
                                       std::vector<Problem>& problems,
                                       std::string_view whose = "node");

/// Unknown keys in `defaults:`, said once and not for each node.
void check_access_defaults(const YamlValue& defaults, const std::string& file,
                           std::vector<Problem>& problems);

}  // namespace cupel::inventory
