// Answer files that are no YAML, by ctemplate. Every value was checked before: none has a line's
// end, a quote or a backslash.
#include <ctemplate/template.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/ip/network_v4.hpp>

#include "base/text.h"
#include "orchestrator/netboot/first_boot.h"
#include "orchestrator/netboot/identity.h"

namespace cupel::netboot {
namespace {

using Dictionary = ctemplate::TemplateDictionary;

constexpr const char* kPreseed = "cupel-preseed";
constexpr const char* kPreseedText =
    R"answer(d-i debian-installer/locale string C.UTF-8
d-i keyboard-configuration/xkb-keymap select us
d-i netcfg/choose_interface select auto
d-i netcfg/get_hostname string {{HOSTNAME}}
d-i netcfg/get_domain string unassigned-domain
{{#STATIC}}d-i netcfg/disable_autoconfig boolean true
d-i netcfg/get_ipaddress string {{ADDRESS}}
d-i netcfg/get_netmask string {{NETMASK}}
d-i netcfg/get_gateway string {{GATEWAY}}
d-i netcfg/get_nameservers string {{DNS}}
d-i netcfg/confirm_static boolean true
{{/STATIC}}d-i mirror/country string manual
d-i mirror/protocol string {{PROTOCOL}}
d-i mirror/{{PROTOCOL}}/hostname string {{MIRROR_HOST}}
d-i mirror/{{PROTOCOL}}/directory string {{MIRROR_PATH}}
d-i mirror/{{PROTOCOL}}/proxy string
d-i mirror/suite string {{SUITE}}
d-i clock-setup/utc boolean true
d-i time/zone string Etc/UTC
d-i passwd/make-user boolean false
d-i passwd/root-login boolean true
d-i passwd/root-password-crypted password !
d-i partman-auto/disk string {{DISK}}
d-i partman-auto/method string regular
d-i partman-auto/choose_recipe select atomic
d-i partman-partitioning/confirm_write_new_label boolean true
d-i partman/choose_partition select finish
d-i partman/confirm boolean true
d-i partman/confirm_nooverwrite boolean true
d-i partman-efi/non_efi_system boolean true
tasksel tasksel/first multiselect standard, ssh-server
d-i pkgsel/include string curl
popularity-contest popularity-contest/participate boolean false
d-i grub-installer/bootdev string {{DISK}}
d-i preseed/late_command string in-target mkdir -p -m 0700 /root/.ssh;{{#KEY}} echo '{{TEXT}}' >> /target/root/.ssh/authorized_keys;{{/KEY}}{{#HOME}} in-target sh -c 'printf "{\"version\":1,\"ssh_host_keys\":[\"%s\"]}" "$(cut -d" " -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)" | curl -fsS --retry 10 --data-binary @- {{URL}}';{{/HOME}} true
d-i finish-install/reboot_in_progress note
)answer";

constexpr const char* kKickstart = "cupel-kickstart";
constexpr const char* kKickstartText =
    R"answer(text
lang C.UTF-8
keyboard us
timezone Etc/UTC --utc
url --url={{MIRROR}}
{{#NETWORK}}network --device={{MAC}} --hostname={{HOSTNAME}} --activate {{#DHCP}}--bootproto=dhcp{{/DHCP}}{{#STATIC}}--bootproto=static --ip={{ADDRESS}} --netmask={{NETMASK}}{{#ROUTED}} --gateway={{GATEWAY}}{{/ROUTED}}{{#NAMED}} --nameserver={{DNS}}{{/NAMED}}{{/STATIC}}
{{/NETWORK}}rootpw --lock
{{#KEY}}sshkey --username=root "{{TEXT}}"
{{/KEY}}ignoredisk --only-use={{DISK}}
clearpart --all --initlabel --drives={{DISK}}
autopart --type=plain
bootloader --boot-drive={{DISK}}
firstboot --disable
reboot
%packages
@core
openssh-server
curl
%end
{{#HOME}}%post --erroronfail
printf '{"version":1,"ssh_host_keys":["%s"]}' "$(cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)" | curl -fsS --retry 10 --data-binary @- {{URL}}
%end
{{/HOME}})answer";

std::string expanded(const char* name, const char* text, const Dictionary& values) {
  // Kept by its name: parsed once.
  (void)ctemplate::StringToTemplateCache(name, text, ctemplate::DO_NOT_STRIP);
  std::string file;
  (void)ctemplate::ExpandTemplate(name, ctemplate::DO_NOT_STRIP, &values, &file);
  return file;
}

void add_keys(Dictionary& values, const FirstBoot& first) {
  for (const auto& key : first.authorized_keys)
    values.AddSectionDictionary("KEY")->SetValue("TEXT", key);
  if (!first.home_url.empty()) values.AddSectionDictionary("HOME")->SetValue("URL", first.home_url);
}

void add_address(Dictionary& values, const NodeNetwork& network) {
  const auto subnet = boost::asio::ip::make_network_v4(network.address);
  auto* fixed = values.AddSectionDictionary("STATIC");
  const auto dns = fmt::format("{}", fmt::join(network.dns, ","));
  fixed->SetValue("ADDRESS", subnet.address().to_string());
  fixed->SetValue("NETMASK", subnet.netmask().to_string());
  fixed->SetValue("GATEWAY", network.gateway);
  fixed->SetValue("DNS", fmt::format("{}", fmt::join(network.dns, " ")));
  if (!network.gateway.empty())
    fixed->AddSectionDictionary("ROUTED")->SetValue("GATEWAY", network.gateway);
  if (!dns.empty()) fixed->AddSectionDictionary("NAMED")->SetValue("DNS", dns);
}

struct Mirror {
  std::string_view protocol, host, path;
};
Mirror parts_of(std::string_view url) {
  const auto host = url.find("//") + 2, path = std::min(url.find('/', host), url.size());
  return {url.substr(0, url.find(':')), url.substr(host, path - host),
          path == url.size() ? "/" : url.substr(path)};
}

}  // namespace

Result<std::string> preseed(const FirstBoot& first, const Installer& installer) {
  TRY(check(first));
  TRY(check(installer));
  Dictionary values{"preseed"};
  const auto mirror = parts_of(installer.mirror);
  values.SetValue("HOSTNAME", first.hostname);
  values.SetValue("PROTOCOL", std::string{mirror.protocol});
  values.SetValue("MIRROR_HOST", std::string{mirror.host});
  values.SetValue("MIRROR_PATH", std::string{mirror.path});
  values.SetValue("SUITE", installer.suite);
  values.SetValue("DISK", installer.disk);
  if (!first.networks.empty() && !first.networks.front().address.empty())
    add_address(values, first.networks.front());
  add_keys(values, first);
  return expanded(kPreseed, kPreseedText, values);
}

Result<std::string> kickstart(const FirstBoot& first, const Installer& installer) {
  TRY(check(first));
  TRY(check(installer));
  Dictionary values{"kickstart"};
  values.SetValue("HOSTNAME", first.hostname);
  values.SetValue("MIRROR", installer.mirror);
  values.SetValue("DISK", installer.disk);
  for (const auto& network : first.networks) {
    auto* one = values.AddSectionDictionary("NETWORK");
    one->SetValue("MAC", *normalized_mac(network.mac));
    if (network.address.empty())
      one->ShowSection("DHCP");
    else
      add_address(*one, network);
  }
  add_keys(values, first);
  return expanded(kKickstart, kKickstartText, values);
}

}  // namespace cupel::netboot
