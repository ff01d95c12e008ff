#include "orchestrator/os/installer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/node.h"
#include "orchestrator/os/installer_templates.h"
#include "orchestrator/os/seed.h"

namespace cupel::os {
namespace {

constexpr std::size_t kLongestKey = 16u << 10, kLongestValue = 1024;

bool consists_of(std::string_view text, std::string_view also) {
  return !text.empty() && text.size() <= kLongestValue && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.contains(c);
  });
}

Error wrong(const InstallerRequest& request, std::string_view what, std::string_view value) {
  constexpr std::size_t kShown = 200;
  return {Code::kInvalid, fmt::format("{}: {}: '{}'", request.node->name, what,
                                      printable(shortened(value, kShown)))};
}

/// One line, and nothing that a shell reads otherwise.
bool is_key(std::string_view key) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '\\'; };
  return key.size() <= kLongestKey && words(key).size() >= 2 && std::ranges::all_of(key, is_plain);
}

std::string text_of(const json::object& network, std::string_view key) {
  const auto* value = network.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

Result<Mirror> mirror_of(const InstallerRequest& request) {
  const std::string_view url = request.mirror;
  const bool is_url = url.starts_with("http://") || url.starts_with("https://");
  const auto host = url.find("//") + 2;
  if (!is_url || !consists_of(url, ":/._-~") || host >= url.size() || url[host] == '/')
    return wrong(request, "the installer's image names no mirror that can be used", url);
  const auto path = std::min(url.find('/', host), url.size());
  return Mirror{std::string{url.substr(0, url.find(':'))},
                std::string{url.substr(host, path - host)},
                path == url.size() ? "/" : std::string{url.substr(path)}};
}

Result<void> check(const InstallerRequest& request) {
  const auto& node = *request.node;
  if (node.boot.disk.empty())
    return Error{Code::kInvalid, node.name +
                                     ": an installer needs the serial number of the disk that it "
                                     "writes: boot: {disk: SERIAL} of the node"};
  if (!consists_of(node.boot.disk, "._:-"))
    return wrong(request, "boot: disk is no serial number that an installer can be given",
                 node.boot.disk);
  if (!request.ticket.base_url.starts_with("http://"))
    return Error{Code::kInvalid, node.name +
                                     ": the installer cannot check the boot server's certificate: "
                                     "an image that is written can be served with boot: tls"};
  if (!consists_of(request.ticket.base_url, ":/.-[]") ||
      !consists_of(request.ticket.home_url, ":/.-[]"))
    return wrong(request, "not the URL of a ticket", request.ticket.base_url);
  if (!consists_of(installed_name(node), ".-"))
    return wrong(request, "not a host name", installed_name(node));
  if (!is_key(request.public_key))
    return wrong(request, "not a public key of SSH", request.public_key);
  for (const auto& network : request.networks)
    for (const auto& [key, value] : network.as_object())
      if (value.is_string() && !consists_of(value.get_string(), ".:/"))
        return wrong(request, "not an address", value.get_string());
  return ok();
}

/// Its network comes by DHCP, over the interface that the machine boots from. Where DHCP names no
/// resolver, none is used: the installer would ask for one, and wait for ever.
std::string arguments_of(const InstallerRequest& request) {
  auto text = fmt::format(
      "auto=true priority=critical DEBIAN_FRONTEND=text TERM=dumb netcfg/choose_interface=auto "
      "netcfg/get_nameservers= netcfg/hostname={} domain=unassigned-domain url={}{}",
      installed_name(*request.node), request.ticket.base_url, kAnswerFile);
  if (request.node->boot.macs.empty()) return text;
  auto mac = lower_case(request.node->boot.macs.front());
  std::ranges::replace(mac, ':', '-');
  return text + " BOOTIF=01-" + mac;
}

NewSystem new_system(const InstallerRequest& request) {
  NewSystem system{.host_name = installed_name(*request.node),
                   .key = request.public_key,
                   .installed = installed_text(request.node->name, request.image, request.digest),
                   .image = request.image,
                   .home_url = request.ticket.home_url};
  const bool is_fixed = !request.networks.empty() &&
                        !text_of(request.networks.front().as_object(), "address").empty();
  if (!is_fixed) return system;  // the installer's own, by DHCP
  for (const auto& each : request.networks) {
    const auto& network = each.as_object();
    FixedNetwork one{text_of(network, "mac"), text_of(network, "address"),
                     text_of(network, "gateway")};
    if (const auto* servers = network.if_contains("dns"))
      for (const auto& server : servers->as_array())
        one.dns.emplace_back(server.as_string().data(), server.as_string().size());
    system.networks.push_back(std::move(one));
  }
  return system;
}

}  // namespace

Result<InstallerFiles> debian_installer(const InstallerRequest& request) {
  TRY(check(request));
  TRY(const auto mirror, mirror_of(request));
  InstallerFiles files{.arguments = arguments_of(request)};
  files.texts[std::string{kAnswerFile}] =
      preseed_text({request.ticket.base_url, installed_name(*request.node), mirror});
  files.texts["installer.sh"] = installer_script(
      {request.ticket.base_url, request.node->boot.disk, request.wipe, request.mirror});
  files.late = late_script(new_system(request));
  return files;
}

}  // namespace cupel::os
