#include "orchestrator/os/seed.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/os/network_config.h"

namespace cupel::os {
namespace {

/// Host keys, serial and MACs of the system, reported once; it tries again while the network comes
/// up. Needs curl, or Python 3, which cloud-init needs too.
constexpr std::string_view kHomeScript = R"sh(#!/bin/sh
# Reports this system to the controller that installed it. More than once: a controller that has
# just been restarted may have lost the first report.
set -eu
joined() { out=; while read -r word; do out="$out${out:+,}\"$word\""; done; printf '[%s]' "$out"; }
plain() { tr -cd 'A-Za-z0-9 ._:/+=@-' ; }
keys=$(cat /etc/ssh/ssh_host_*_key.pub | cut -d' ' -f1,2 | joined)
macs=$(for nic in /sys/class/net/*; do
  if [ "$(cat "$nic/type")" = 1 ]; then cat "$nic/address"; fi # Ethernet: InfiniBand has no MAC address
done | grep -v '^00:00:00:00:00:00$' | sort -u | joined)
serial=$( (cat /sys/class/dmi/id/product_serial 2>/dev/null || true) | plain)
while read -r device place rest; do
  if [ "$place" = / ]; then root=$(printf '%s' "$device" | plain); fi
done < /proc/mounts
body=$(printf '{"version":1,"ssh_host_keys":%s,"serial":"%s","macs":%s,"booted_from":"%s","image":"%s"}' \
  "$keys" "$serial" "$macs" "$root" "$CUPEL_IMAGE")
report() {
  if command -v curl >/dev/null; then
    printf '%s' "$body" | curl -fsS -m 30 ${CUPEL_CA:+--cacert "$CUPEL_CA"} \
      -H 'Content-Type: application/json' --data-binary @- "$CUPEL_HOME"
  else
    printf '%s' "$body" | python3 -c '
import os, ssl, sys, urllib.request
ca = os.environ.get("CUPEL_CA")
context = ssl.create_default_context(cafile=ca) if ca else None
request = urllib.request.Request(os.environ["CUPEL_HOME"], sys.stdin.buffer.read(),
                                 {"Content-Type": "application/json"})
urllib.request.urlopen(request, timeout=30, context=context)'
  fi
}
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  if report; then break; fi
  sleep 6
done
for again in 30 60 120; do
  sleep "$again"
  report || true
done
)sh";

constexpr std::string_view kHomeProgram = "/var/lib/cupel/home";
constexpr std::string_view kCaFile = "/var/lib/cupel/ca.pem";

json::object file(std::string_view path, std::string_view mode, std::string content) {
  return {{"path", path},
          {"owner", "root:root"},
          {"permissions", mode},
          {"content", std::move(content)}};
}

json::array files_of(const SeedRequest& request) {
  json::array files;
  files.push_back(file(kInstalledFile, "0644",
                       installed_text(request.node->name, request.image, request.digest)));
  files.push_back(file(kHomeProgram, "0700", std::string{kHomeScript}));
  if (!request.ca.empty()) files.push_back(file(kCaFile, "0644", request.ca));
  return files;
}

/// In the background: cloud-init must not wait for it.
std::string home_command(const SeedRequest& request) {
  std::string command = fmt::format("CUPEL_HOME={} CUPEL_IMAGE={} ", shell_quoted(request.home_url),
                                    shell_quoted(request.image));
  if (!request.ca.empty()) command += fmt::format("CUPEL_CA={} ", kCaFile);
  return command + fmt::format("{} < /dev/null > /dev/null 2>&1 &", kHomeProgram);
}

/// Cupel's own keys stay as they are: inventory/user_data.h refuses them of a site. The report does
/// not wait for the site's commands, and the exit status of the script is that of the last of them.
void add_user_data(json::object& cloud, const json::object& user_data) {
  for (const auto& [key, value] : user_data) {
    auto* own = cloud.if_contains(key);
    if (own == nullptr) {
      cloud[key] = value;
    } else if (own->is_array() && value.is_array()) {
      for (const auto& each : value.get_array()) own->get_array().push_back(each);
    }
  }
}

std::string user_data(const SeedRequest& request) {
  json::object cloud{{"hostname", installed_name(*request.node)},
                     {"preserve_hostname", false},
                     {"disable_root", false},
                     {"ssh_pwauth", false},
                     {"ssh_deletekeys", true},
                     {"ssh_authorized_keys", json::array{request.public_key}},
                     {"write_files", files_of(request)},
                     {"runcmd", json::array{home_command(request)}}};
  add_user_data(cloud, request.user_data);
  return "#cloud-config\n" + json::serialize(cloud) + "\n";
}

/// Found by its MAC address. The default route is a network: cloud-init 22.4.2 refuses "default"
/// for all but netplan.
json::object interface_of(const json::object& network) {
  json::object one{{"match", {{"macaddress", network.at("mac")}}}};
  const auto* address = network.if_contains("address");
  if (address == nullptr) {
    one["dhcp4"] = true;
    one["optional"] = true;
    return one;
  }
  one["addresses"] = json::array{*address};
  if (const auto* gateway = network.if_contains("gateway")) {
    const bool ipv6 = gateway->as_string().find(':') != json::string::npos;
    one["routes"] =
        json::array{json::object{{"to", ipv6 ? "::/0" : "0.0.0.0/0"}, {"via", *gateway}}};
  }
  if (const auto* dns = network.if_contains("dns")) one["nameservers"] = {{"addresses", *dns}};
  return one;
}

/// Of the NICs that the node boots by.
json::object boot_networks(const SeedRequest& request) {
  json::object ethernets;
  for (const auto& network : request.networks) {
    const auto name = fmt::format("boot{}", ethernets.size());
    auto interface = interface_of(network.as_object());
    // What cloud-init 22.4.2 writes for ifupdown and systemd-networkd is of that name. With a name
    // for one that is not there it configures none at all.
    if (ethernets.empty()) interface["set-name"] = name;
    ethernets[name] = std::move(interface);
  }
  return {{"version", 2}, {"ethernets", std::move(ethernets)}};
}

}  // namespace

std::string installed_text(const std::string& node, const std::string& image,
                           const std::string& digest) {
  return json::serialize(
             json::object{{"cupel_os", 1}, {"node", node}, {"image", image}, {"sha256", digest}}) +
         "\n";
}

std::string_view home_script() { return kHomeScript; }

const std::string& installed_name(const inventory::Node& node) {
  const bool own = !node.host_name.empty() && node.host_name != inventory::kAnyHostName;
  return own ? node.host_name : node.name;
}

std::map<std::string, std::string> make_seed(const SeedRequest& request) {
  // A new installation is a new instance: cloud-init does all of it again.
  constexpr std::size_t kIdDigits = 16;
  const auto id = sha256_hex(request.home_url).substr(0, kIdDigits);
  std::map<std::string, std::string> seed{
      {"meta-data",
       json::serialize(json::object{{"instance-id", "cupel-" + id},
                                    {"local-hostname", installed_name(*request.node)}}) +
           "\n"},
      {"user-data", user_data(request)}};
  const auto& own = request.node->network;
  if (own || !request.networks.empty())
    seed["network-config"] =
        json::serialize(own ? network_config(*own) : boot_networks(request)) + "\n";
  return seed;
}

}  // namespace cupel::os
