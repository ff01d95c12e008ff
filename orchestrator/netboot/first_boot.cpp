#include "orchestrator/netboot/first_boot.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/netboot/identity.h"

namespace cupel::netboot {
namespace {

namespace json = boost::json;
namespace ip = boost::asio::ip;

constexpr std::size_t kLongestKey = 16 * 1024;

Error wrong(std::string_view what, std::string_view value) {
  return {Code::kInvalid, fmt::format("{}: '{}'", what, printable(shortened(value, 200)))};
}

bool consists_of(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.contains(c);
  });
}

bool is_address(const std::string& text) {
  boost::system::error_code failure;
  (void)ip::make_address(text, failure);
  return !failure;
}

/// One line, and nothing that a shell or an answer file reads otherwise.
bool is_key(std::string_view key) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '\\'; };
  return key.size() <= kLongestKey && words(key).size() >= 2 && std::ranges::all_of(key, is_plain);
}

Result<void> check(const NodeNetwork& network) {
  if (!normalized_mac(network.mac)) return wrong("not a MAC address", network.mac);
  if (network.address.empty()) return ok();
  boost::system::error_code failure;
  (void)ip::make_network_v4(network.address, failure);
  if (failure) return wrong("no address with a prefix's length", network.address);
  if (!network.gateway.empty() && !is_address(network.gateway))
    return wrong("the gateway is no address", network.gateway);
  for (const auto& server : network.dns)
    if (!is_address(server)) return wrong("the DNS server is no address", server);
  return ok();
}

json::object network_v2(const std::vector<NodeNetwork>& networks) {
  json::object ethernets;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const auto& network = networks[i];
    json::object one{{"match", {{"macaddress", *normalized_mac(network.mac)}}}};
    if (network.address.empty()) {
      one["dhcp4"] = true;
    } else {
      one["addresses"] = json::array{network.address};
      if (!network.gateway.empty())
        one["routes"] = json::array{{{"to", "0.0.0.0/0"}, {"via", network.gateway}}};
      if (!network.dns.empty()) {
        const json::array servers(network.dns.begin(), network.dns.end());
        one["nameservers"] = json::object{{"addresses", servers}};
      }
    }
    ethernets[fmt::format("boot{}", i)] = std::move(one);
  }
  return {{"version", 2}, {"ethernets", std::move(ethernets)}};
}

json::object cloud_config(const FirstBoot& first) {
  const json::array keys(first.authorized_keys.begin(), first.authorized_keys.end());
  json::object config{{"hostname", first.hostname},
                      {"preserve_hostname", false},
                      {"disable_root", false},
                      {"ssh_pwauth", false},
                      {"users", json::array{{{"name", "root"}, {"ssh_authorized_keys", keys}}}}};
  if (!first.ca.empty()) config["ca_certs"] = json::object{{"trusted", json::array{first.ca}}};
  if (!first.home_url.empty())
    config["phone_home"] = {{"url", first.home_url},
                            {"post", json::array{"pub_key_ed25519", "pub_key_ecdsa", "hostname"}},
                            {"tries", 20}};
  return config;
}

std::string meta_data(const FirstBoot& first, const std::string& instance) {
  return json::serialize(
      json::object{{"instance-id", instance}, {"local-hostname", first.hostname}});
}

}  // namespace

Result<void> check(const FirstBoot& first) {
  if (!consists_of(first.hostname, ".-")) return wrong("not a host name", first.hostname);
  for (const auto& key : first.authorized_keys)
    if (!is_key(key)) return wrong("not a public key of SSH", key);
  for (const auto& network : first.networks) {
    TRY(check(network));
  }
  if (!first.home_url.empty() && !consists_of(first.home_url, ":/.-[]"))
    return wrong("not a home URL", first.home_url);
  return ok();
}

Result<void> check(const Installer& installer) {
  if (!installer.disk.starts_with("/dev/") || !consists_of(installer.disk, "/._:-"))
    return wrong("not a disk", installer.disk);
  const bool is_url =
      installer.mirror.starts_with("http://") || installer.mirror.starts_with("https://");
  if (!is_url || !consists_of(installer.mirror, ":/._-~"))
    return wrong("not a mirror", installer.mirror);
  if (!consists_of(installer.suite, "._-/")) return wrong("not a suite", installer.suite);
  return ok();
}

Result<std::map<std::string, std::string>> cloud_seed(const FirstBoot& first,
                                                      const std::string& instance) {
  TRY(check(first));
  return std::map<std::string, std::string>{
      {"meta-data", meta_data(first, instance)},
      {"user-data", "#cloud-config\n" + json::serialize(cloud_config(first)) + "\n"},
      {"network-config", json::serialize(network_v2(first.networks))}};
}

Result<std::map<std::string, std::string>> autoinstall_seed(const FirstBoot& first,
                                                            const std::string& instance,
                                                            const std::string& disk_serial) {
  TRY(check(first));
  if (!consists_of(disk_serial, "._-")) return wrong("not a disk's serial number", disk_serial);
  const json::object install{
      {"version", 1},
      {"interactive-sections", json::array{}},
      {"network", network_v2(first.networks)},
      {"ssh", {{"install-server", true}, {"allow-pw", false}}},
      {"storage", {{"layout", {{"name", "direct"}, {"match", {{"serial", disk_serial}}}}}}},
      {"user-data", cloud_config(first)},
      {"shutdown", "reboot"}};
  return std::map<std::string, std::string>{
      {"meta-data", meta_data(first, instance)},
      {"user-data",
       "#cloud-config\n" + json::serialize(json::object{{"autoinstall", install}}) + "\n"}};
}

}  // namespace cupel::netboot
