#!/bin/sh
# run_cloud_init.sh PACKAGE FOLDER: the first boot of Debian's cloud-init with the seed in FOLDER/seed.
#
# In namespaces of its own (unshare), on this system's files, of which it changes a copy alone (overlay).
# FOLDER/seed/bonded is another network-config, which is converted alone.
# What it leaves in FOLDER: report (what the system told when it called home), hostname, authorized_keys, os.json, status,
# log; ssh/ (its host keys); eni, networkd, netplan, sysconfig: its network as cloud-init writes it for each; bonded-eni and so on of
# the other one.
set -eu
package=$1 folder=$2
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

ip link set lo up
ip link add eth0 address 52:54:00:00:00:01 type veth peer name other
mkdir "$folder/copy" "$folder/root"
mount -t tmpfs tmpfs "$folder/copy"
mkdir "$folder/copy/upper" "$folder/copy/work"
root=$folder/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/copy/upper,workdir=$folder/copy/work" "$root" || exit 77
dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/var/lib/cloud/seed/nocloud"
cp "$folder"/seed/* "$root/var/lib/cloud/seed/nocloud/"
# As an image has it; of networks only what is written is of interest here.
printf 'datasource_list: [NoCloud, None]\nlocale: C.UTF-8\nsystem_info: {network: {renderers: [eni]}}\n' \
  > "$root/etc/cloud/cloud.cfg.d/99_test.cfg"
mkdir -p "$root/etc/network"
echo "source /etc/network/interfaces.d/*" > "$root/etc/network/interfaces"
for program in ifquery ifup ifdown; do ln -sf /bin/true "$root/usr/sbin/$program"; done

# One report, and it ends.
python3 -c '
import http.server, sys
class Home(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open(sys.argv[1] + "/report", "wb").write(body)
        self.send_response(200)
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", 8000), Home)
server.timeout = 60
server.handle_request()
' "$folder" &
home=$!

for stage in "init --local" "init" "modules --mode config" "modules --mode final"; do
  # shellcheck disable=SC2086
  chroot "$root" /usr/bin/cloud-init $stage > "$folder/said" 2>&1 || cat "$folder/said" >&2
done
wait "$home"
hostname > "$folder/hostname"
chroot "$root" /usr/bin/cloud-init status --long > "$folder/status" || true
mkdir "$folder/ssh"
cp "$root"/etc/ssh/ssh_host_*.pub "$folder/ssh/"
cp "$root/root/.ssh/authorized_keys" "$root/var/lib/cupel/os.json" "$folder/"
cp "$root/var/log/cloud-init.log" "$folder/log"
cp "$root/run/cloud-init/result.json" "$folder/"
for made in site site-ran; do
  if [ -e "$root/etc/$made" ]; then cp "$root/etc/$made" "$folder/"; fi
done
cp "$root/etc/network/interfaces.d/50-cloud-init" "$folder/interfaces"
ip -o link show > "$folder/links"
chroot "$root" /usr/bin/cloud-init schema --config-file /var/lib/cloud/seed/nocloud/user-data > "$folder/schema" 2>&1 || true
# convert FILE PREFIX RENDERER/DISTRIBUTION...: what cloud-init writes for each, as $folder/PREFIXRENDERER
convert() {
  config=/var/lib/cloud/seed/nocloud/$1 prefix=$2
  shift 2
  for kind in "$@"; do
    name=$prefix${kind%/*}
    chroot "$root" /usr/bin/cloud-init devel net-convert -p "$config" -k yaml \
      -O "${kind%/*}" -D "${kind#*/}" -d "/tmp/$name" > /dev/null 2>&1
    find "$root/tmp/$name" -type f -exec cat {} + > "$folder/$name"
  done
}
convert network-config "" eni/debian networkd/debian netplan/debian sysconfig/rhel
convert bonded bonded- eni/debian networkd/debian netplan/debian sysconfig/rhel network-manager/rhel
