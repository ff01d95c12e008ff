# Sourced by ../build: root.squashfs, the system with the tools of the burn-in, which the small one fetches and goes on
# in.
# shellcheck shell=bash

# What the stages run (docs/start/nodes.md), a service manager and an SSH server.
large_packages=(systemd-sysv udev dbus kmod iproute2 openssh-server ca-certificates curl procps psmisc zstd
  stress-ng fio nvme-cli smartmontools dmidecode numactl ipmitool pciutils ethtool lldpd
  infiniband-diags perftest rdma-core mstflint)

# What sets the clock, by the NTP servers of the lease or Debian's; nothing where the site brings a service of its own,
# which excludes it.
clock_package() {
  local each
  for each in "${root_packages[@]}"; do
    case ${each%%=*} in chrony | ntp | ntpsec | openntpd | ntpd-rs) return ;; esac
  done
  echo systemd-timesyncd
}

# The words of mmdebstrap, a line each, so that a test reads them. Its hooks get the root as $1.
large_root_words() {
  local included each clock
  clock=$(clock_package)
  included=$(printf '%s,' "${large_packages[@]}" ${clock:+"$clock"} "${root_packages[@]}")
  printf '%s\n' --quiet --variant=minbase --format=tar "--architectures=$deb" "--include=${included%,}"
  # Nothing reads these there; they are a third of it.
  for each in man doc info locale; do printf '%s\n' "--dpkgopt=path-exclude=/usr/share/$each/*"; done
  printf '%s\n' "--dpkgopt=path-include=/usr/share/doc/*/copyright"
  # Before packages that build drivers for the kernels that they find.
  printf '%s\n' "--essential-hook=copy-in $work/kernel/modules /usr/lib"
  printf '%s\n' "--customize-hook=copy-in $work/large/. /"
  # shellcheck disable=SC2016  # for the hook's own shell
  printf '%s\n' '--customize-hook=chroot "$1" systemctl -q enable ssh systemd-networkd' \
    '--customize-hook=chroot "$1" systemctl -q mask systemd-firstboot apt-daily.timer apt-daily-upgrade.timer' \
    '--customize-hook=chroot "$1" systemctl -q mask fstrim.timer e2scrub_all.timer' \
    '--customize-hook=chroot "$1" systemctl -q mask nvmf-autoconnect nvmefc-boot-connections' \
    '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/hostname "$1"/etc/resolv.conf'
  printf '%s\n' "--customize-hook=download /var/lib/dpkg/status $work/large-status"
  printf '%s\n' "$root" - "${root_sources[@]}"
}

# What is put into it beside packages.
large_files() {
  mkdir -p "$work/large/etc/cupel" "$work/large/etc/systemd/network" "$work/large/usr/bin" "$work/kernel"
  install -m 755 "$program" "$work/large/usr/bin/cupel-node"
  # How the controller knows that it is up: orchestrator/os/installed.h.
  echo '{"image":"root.squashfs"}' > "$work/large/etc/cupel/os.json"
  # The addresses of the small system stay, and its DHCP server sees the same client.
  printf '%s\n' '[Match]' 'Type=ether' '' '[Network]' 'DHCP=yes' 'KeepConfiguration=yes' '' '[Link]' \
    'RequiredForOnline=no' '' '[DHCPv4]' 'ClientIdentifier=mac' > "$work/large/etc/systemd/network/80-cupel.network"
  cp -rT "$(readlink -f "$work/packages/lib/modules")" "$work/kernel/modules"
}

make_large_root() {
  local words
  step "root.squashfs: $root, ${#large_packages[@]} packages and ${#root_packages[@]} of the site"
  large_files
  mapfile -t words < <(large_root_words)
  # In a process group of their own: where mmdebstrap fails, it sends SIGHUP to all of its group.
  (
    set -m
    mmdebstrap "${words[@]}" 2> "$work/mmdebstrap.log" |
      mksquashfs - "$out/root.squashfs" -tar -root-mode 0755 -no-progress -comp zstd -Xcompression-level 15 \
        > "$work/mksquashfs.log" 2>&1
  ) ||
    fail "root.squashfs: $(grep -h '^E:\|^FATAL\|rror' "$work/mmdebstrap.log" "$work/mksquashfs.log" | tail -3)"
  awk '/^Package: /{name = $2} /^Version: /{print name, $2}' "$work/large-status" >> "$out/packages"
  sort -u -o "$out/packages" "$out/packages"
}
