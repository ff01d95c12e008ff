#include "orchestrator/os/installer_templates.h"

#include <ctemplate/template.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "orchestrator/os/seed.h"

namespace cupel::os {
namespace {

using Dictionary = ctemplate::TemplateDictionary;

// The installer's own network is by DHCP, before it has this file. Which disk is written, partman
// is reported by installer.sh alone.
constexpr const char* kPreseed = R"answer(d-i debian-installer/locale string C.UTF-8
d-i keyboard-configuration/xkb-keymap select us
d-i hw-detect/load_firmware boolean true
d-i preseed/early_command string mkdir -p /tmp/cupel && wget -q -O /tmp/cupel/installer.sh {{BASE}}installer.sh && sh /tmp/cupel/installer.sh early
d-i mirror/country string manual
d-i mirror/protocol string {{PROTOCOL}}
d-i mirror/{{PROTOCOL}}/hostname string {{MIRROR_HOST}}
d-i mirror/{{PROTOCOL}}/directory string {{MIRROR_PATH}}
d-i mirror/{{PROTOCOL}}/proxy string
d-i netcfg/get_hostname string {{HOSTNAME}}
d-i netcfg/get_domain string unassigned-domain
d-i clock-setup/utc boolean true
d-i clock-setup/ntp boolean false
d-i time/zone string Etc/UTC
d-i passwd/make-user boolean false
d-i passwd/root-login boolean true
d-i passwd/root-password-crypted password !
d-i partman/early_command string sh /tmp/cupel/installer.sh disk
d-i partman-auto/method string regular
d-i partman-auto/choose_recipe select atomic
d-i partman-lvm/device_remove_lvm boolean true
d-i partman-md/device_remove_md boolean true
d-i partman-partitioning/choose_label select gpt
d-i partman-partitioning/default_label string gpt
d-i partman-partitioning/confirm_write_new_label boolean true
d-i partman/choose_partition select finish
d-i partman/confirm boolean true
d-i partman/confirm_nooverwrite boolean true
d-i partman-efi/non_efi_system boolean true
d-i apt-setup/non-free-firmware boolean true
d-i apt-setup/services-select multiselect updates
tasksel tasksel/first multiselect standard, ssh-server
d-i pkgsel/include string curl
d-i pkgsel/upgrade select none
d-i pkgsel/update-policy select none
popularity-contest popularity-contest/participate boolean false
d-i grub-installer/only_debian boolean true
d-i grub-installer/with_other_os boolean true
d-i preseed/late_command string sh /tmp/cupel/installer.sh late
d-i finish-install/reboot_in_progress note
)answer";

// For Debian's installer: busybox, GNU wget, debconf. Its syslog is what tells how far it is.
constexpr const char* kInstaller = R"script(#!/bin/sh
# Cupel beside the installer: who this machine is, which disk is its own, how far it is.
base='{{BASE}}' serial='{{SERIAL}}' wipe='{{WIPE}}' mirror='{{MIRROR}}'
here=/tmp/cupel log=/var/log/syslog console=/dev/console

say() { echo "CUPEL $*" >> "$console"; }

# A boot server that is restarted meanwhile is waited for.
ask() { wget -q -T 60 -t 20 --waitretry=10 --retry-connrefused --retry-on-http-error=429,503 -O "$@"; }
fetch() { ask "$here/$2" "$base$1"; }
post() { ask /dev/null --header='Content-Type: application/json' --post-file="$here/$2" "$base$1"; }

# The installer goes no further: what is on the disk stays as it is, and the console says why.
stop() {
  say "$*"
  while :; do sleep 3600; done
}
failed() { # CAUSE TEXT
  printf '{"cause":"%s","text":"%s"}' "$1" "$(printf %s "$2" | tr -cd 'A-Za-z0-9 ._:/,()-')" > "$here/failed"
  post failed failed || say 'the boot server does not know it'
  stop "failed $1: $2"
}

early() {
  fetch cupel-node cupel-node || failed server 'cupel-node cannot be fetched from the boot server'
  chmod 0755 "$here/cupel-node"
  "$here/cupel-node" boot hello > "$here/hello" || failed failed 'cupel-node boot hello'
  post hello hello || stop 'refused: the boot server does not take this machine'
  : > "$here/welcome"
  say 'the boot server takes this machine: installing'
  sh "$0" watch < /dev/null > /dev/null 2>&1 3>&- &
  suite=$(cat /etc/default-release 2> /dev/null || echo stable)
  wget -q -T 30 -t 3 -O /dev/null "$mirror/dists/$suite/Release" ||
    failed mirror "$mirror/dists/$suite/Release cannot be fetched"
}

# The step that the installer is in, whenever its log has grown: a question makes it silent.
watch() {
  last=
  while sleep 10; do
    step=$(sed -n "s/.*Menu item '\([a-z0-9-]*\)' selected.*/\1/p" "$log" | tail -n 1)
    broken=$(sed -n "s/.*\(Configuring '[a-z0-9-]*' failed with error code [0-9]*\).*/\1/p" "$log" | tail -n 1)
    [ -z "$broken" ] || failed installer "$broken"
    now="$step $(wc -c < "$log")"
    [ "$now" != "$last" ] || continue
    last=$now
    printf '{"state":"%s"}' "${step:-starting}" > "$here/progress"
    post progress progress
  done
}

disk() {
  [ -e "$here/welcome" ] || stop 'refused: this machine has not said hello'
  "$here/cupel-node" boot choose --serial "$serial" ${wipe:+--wipe "$wipe"} > "$here/disk" || {
    post failed disk
    stop "failed $(cat "$here/disk")"
  }
  name=$(sed -n 's/^{"disk":{"name":"\([A-Za-z0-9_-]*\)",.*/\1/p' "$here/disk")
  [ -n "$name" ] || failed failed 'cupel-node boot choose named no disk'
  debconf-set partman-auto/disk "/dev/$name"
  debconf-set grub-installer/bootdev "/dev/$name"
  say "disk /dev/$name, serial $serial"
}

late() {
  fetch seed/late late || failed server 'seed/late cannot be fetched: it is served once'
  sh "$here/late" || failed installer 'the new system could not be prepared'
  rm -f "$here/late"
  post done disk || say 'done, but the boot server is away'
  say 'done, restarting'
}

case $1 in
  early | watch | disk | late) "$1" ;;
esac
)script";

constexpr const char* kLate = R"script(#!/bin/sh
# The new system's name, who may log in, its networks by MAC address, and how it reports.
set -eu
target=${1:-/target}
umask 077
mkdir -p "$target/root/.ssh" "$target/var/lib/cupel"
cat >> "$target/root/.ssh/authorized_keys" <<'CUPEL_END'
{{KEY}}
CUPEL_END
cat > "$target/var/lib/cupel/home" <<'CUPEL_END'
{{HOME_SCRIPT}}CUPEL_END
chmod 0700 "$target/var/lib/cupel/home"
cat > "$target/var/lib/cupel/home.env" <<'CUPEL_END'
CUPEL_HOME={{HOME_URL}}
CUPEL_IMAGE={{IMAGE}}
CUPEL_END
umask 022
cat > "$target/var/lib/cupel/os.json" <<'CUPEL_END'
{{INSTALLED}}CUPEL_END
chmod 0755 "$target/var/lib/cupel"
echo '{{HOSTNAME}}' > "$target/etc/hostname"
units=$target/etc/systemd/system
mkdir -p "$units/multi-user.target.wants"
cat > "$units/cupel-home.service" <<'CUPEL_END'
[Unit]
Description=Report to the controller that installed this system
Wants=network-online.target
After=network-online.target ssh.service
ConditionPathExists=/var/lib/cupel/home.env

[Service]
EnvironmentFile=/var/lib/cupel/home.env
ExecStart=/var/lib/cupel/home
ExecStopPost=/bin/rm -f /var/lib/cupel/home.env

[Install]
WantedBy=multi-user.target
CUPEL_END
ln -sf ../cupel-home.service "$units/multi-user.target.wants/cupel-home.service"
{{#FIXED}}mkdir -p "$target/etc/systemd/network" "$target/etc/network" "$units/network-online.target.wants"
{{#NETWORK}}cat > "$target/etc/systemd/network/10-cupel-{{NUMBER}}.network" <<'CUPEL_END'
[Match]
MACAddress={{MAC}}

{{#DHCP}}[Link]
RequiredForOnline=no

[Network]
DHCP=yes
{{/DHCP}}{{#ADDRESSED}}[Network]
Address={{ADDRESS}}
{{#ROUTED}}Gateway={{GATEWAY}}
{{/ROUTED}}{{/ADDRESSED}}CUPEL_END
{{/NETWORK}}{{#RESOLVED}}cat > "$target/etc/resolv.conf" <<'CUPEL_END'
{{#SERVER}}nameserver {{DNS}}
{{/SERVER}}CUPEL_END
{{/RESOLVED}}printf 'auto lo\niface lo inet loopback\n' > "$target/etc/network/interfaces"
ln -sf /lib/systemd/system/systemd-networkd.service "$units/multi-user.target.wants/systemd-networkd.service"
ln -sf /lib/systemd/system/systemd-networkd-wait-online.service \
  "$units/network-online.target.wants/systemd-networkd-wait-online.service"
{{/FIXED}})script";

std::string expanded(const char* name, const char* text, const Dictionary& values) {
  // Kept by its name: parsed once.
  (void)ctemplate::StringToTemplateCache(name, text, ctemplate::DO_NOT_STRIP);
  std::string file;
  (void)ctemplate::ExpandTemplate(name, ctemplate::DO_NOT_STRIP, &values, &file);
  return file;
}

void add_network(Dictionary& fixed, const FixedNetwork& network, std::size_t number) {
  auto* one = fixed.AddSectionDictionary("NETWORK");
  one->SetIntValue("NUMBER", static_cast<long>(number));
  one->SetValue("MAC", network.mac);
  if (network.address.empty()) {
    one->ShowSection("DHCP");
    return;
  }
  auto* addressed = one->AddSectionDictionary("ADDRESSED");
  addressed->SetValue("ADDRESS", network.address);
  if (!network.gateway.empty())
    addressed->AddSectionDictionary("ROUTED")->SetValue("GATEWAY", network.gateway);
}

}  // namespace

std::string preseed_text(const PreseedAnswers& answers) {
  Dictionary values{"preseed"};
  values.SetValue("BASE", answers.base_url);
  values.SetValue("HOSTNAME", answers.host_name);
  values.SetValue("PROTOCOL", answers.mirror.protocol);
  values.SetValue("MIRROR_HOST", answers.mirror.host);
  values.SetValue("MIRROR_PATH", answers.mirror.path);
  return expanded("cupel-preseed", kPreseed, values);
}

std::string installer_script(const InstallerReports& reports) {
  Dictionary values{"installer"};
  values.SetValue("BASE", reports.base_url);
  values.SetValue("SERIAL", reports.serial);
  values.SetValue("WIPE", reports.wipe ? reports.serial : "");
  values.SetValue("MIRROR", reports.mirror);
  return expanded("cupel-installer", kInstaller, values);
}

std::string late_script(const NewSystem& system) {
  Dictionary values{"late"};
  values.SetValue("KEY", system.key);
  values.SetValue("HOME_SCRIPT", std::string{home_script()});
  values.SetValue("HOME_URL", system.home_url);
  values.SetValue("IMAGE", system.image);
  values.SetValue("INSTALLED", system.installed);
  values.SetValue("HOSTNAME", system.host_name);
  if (system.networks.empty()) return expanded("cupel-late", kLate, values);
  auto* fixed = values.AddSectionDictionary("FIXED");
  Dictionary* resolved = nullptr;
  for (std::size_t i = 0; i < system.networks.size(); ++i) {
    add_network(*fixed, system.networks[i], i);
    for (const auto& server : system.networks[i].dns) {
      if (resolved == nullptr) resolved = fixed->AddSectionDictionary("RESOLVED");
      resolved->AddSectionDictionary("SERVER")->SetValue("DNS", server);
    }
  }
  return expanded("cupel-late", kLate, values);
}

}  // namespace cupel::os
