# An SSH server with host keys of this boot. Nobody can log in before the boot client has written authorized_keys.
start_sshd() {
  dropbearkey -t ed25519 -f /etc/dropbear/dropbear_ed25519_host_key > /run/cupel/dropbearkey 2>&1
  grep '^ssh-' /run/cupel/dropbearkey > /run/cupel/ssh_host_keys
  dropbear -s -j -k -r /etc/dropbear/dropbear_ed25519_host_key 2> /dev/null || say "SSH server did not start"
}
