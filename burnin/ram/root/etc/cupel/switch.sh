# From the small RAM system into a large one, whose read-only root lies in memory: changes go beside it, in memory too.
switch_to_root() { # SQUASHFS
  mkdir -p /run/cupel/root /run/cupel/changes /sysroot
  modprobe -q loop
  mount -t squashfs -o loop,ro "$1" /run/cupel/root || { say "root.squashfs cannot be mounted"; return; }
  mount -t tmpfs -o mode=755,size=50% changes /run/cupel/changes
  mkdir /run/cupel/changes/upper /run/cupel/changes/work
  mount -t overlay -o lowerdir=/run/cupel/root,upperdir=/run/cupel/changes/upper,workdir=/run/cupel/changes/work \
    overlay /sysroot || { say "the root's overlay cannot be mounted"; return; }
  take_identity_along
  killall udhcpc dropbear 2> /dev/null
  mkdir -p /sysroot/run
  mount --move /run /sysroot/run
  for each in proc sys dev; do mount --move /$each /sysroot/$each; done
  echo "CUPEL switches to the large RAM system" > /sysroot/dev/console
  exec switch_root /sysroot /sbin/init
}

# The host key that was reported, and who may log in.
take_identity_along() {
  mkdir -p -m 700 /sysroot/root/.ssh
  cp /root/.ssh/authorized_keys /sysroot/root/.ssh/ 2> /dev/null
  rm -f /sysroot/etc/ssh/ssh_host_*
  dropbearconvert dropbear openssh /etc/dropbear/dropbear_ed25519_host_key /sysroot/etc/ssh/ssh_host_ed25519_key 2> /dev/null
  chmod 600 /sysroot/etc/ssh/ssh_host_ed25519_key
  hostname > /sysroot/etc/hostname
  cp /etc/resolv.conf /sysroot/etc/resolv.conf 2> /dev/null
}
