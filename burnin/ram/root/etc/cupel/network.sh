# Addresses by DHCP, over every NIC that has a link, the one that the machine booted from first. A port of an LACP bond
# that waits for its partner takes up to 32 s to carry anything.
link_wait=32
lease_wait=60

nics() {
  for each in /sys/class/net/*; do
    # Not lo, nor what is made of other links.
    [ -e "$each/device" ] && echo "${each##*/}"
  done
}

has_link() { [ "$(cat "/sys/class/net/$1/carrier" 2> /dev/null)" = 1 ]; }

# "eth0 link, eth1 no link"
links() {
  for each in $(nics); do
    if has_link "$each"; then echo "$each link"; else echo "$each no link"; fi
  done | tr '\n' ',' | sed 's/,$//; s/,/, /g'
}

ask_for_address() { # NIC: in the background, for as long as the machine is up
  [ -e "/run/cupel/asked.$1" ] && return
  : > "/run/cupel/asked.$1"
  udhcpc -i "$1" -f -t 5 -T 2 -A 5 -O bootfile -O tftp -x "hostname:$(hostname)" -s /etc/cupel/lease.sh > /dev/null 2>&1 &
}

bring_up_network() {
  ip link set lo up
  hostname cupel-ram
  first=$(argument BOOTIF | sed 's/^01-//; s/-/:/g' | tr A-F a-f)
  : > /run/cupel/addresses
  waited=0
  while [ $waited -lt $((link_wait * 5)) ]; do
    for nic in $(nics); do
      ip link set "$nic" up 2> /dev/null
      has_link "$nic" || continue
      # The others come when this one has had time to answer.
      [ -z "$first" ] || [ "$(cat "/sys/class/net/$nic/address")" = "$first" ] || [ $waited -ge 50 ] || continue
      ask_for_address "$nic"
    done
    [ -s /run/cupel/addresses ] && return 0
    waited=$((waited + 1))
    usleep 200000
  done
  waited=0
  while [ ! -s /run/cupel/addresses ] && [ $waited -lt $((lease_wait - link_wait)) ]; do
    waited=$((waited + 1))
    sleep 1
  done
  [ -s /run/cupel/addresses ]
}
