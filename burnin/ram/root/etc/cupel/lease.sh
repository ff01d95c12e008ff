#!/bin/sh
# What udhcpc got for one NIC: its address, and in /run/cupel/lease.NIC what the boot client may want of it.
case $1 in
  deconfig) ip -4 addr flush dev "$interface" ;;
  bound | renew)
    ip -4 addr flush dev "$interface"
    ip addr add "$ip/${mask:-24}" dev "$interface"
    # One way out: that of the NIC that answered first.
    [ -z "$router" ] || ip route add default via "${router%% *}" dev "$interface" 2> /dev/null
    for each in $dns; do
      grep -qs "^nameserver $each$" /etc/resolv.conf || echo "nameserver $each" >> /etc/resolv.conf
    done
    {
      echo "interface=$interface"
      echo "address=$ip/${mask:-24}"
      echo "mac=$(cat "/sys/class/net/$interface/address")"
      echo "server=$serverid"
      echo "bootfile=${bootfile:-$boot_file}"
    } > "/run/cupel/.lease.$interface"
    mv "/run/cupel/.lease.$interface" "/run/cupel/lease.$interface"
    [ -e /run/cupel/lease ] || ln -s "lease.$interface" /run/cupel/lease
    grep -qs "^$interface " /run/cupel/addresses || echo "$interface $ip/${mask:-24}" >> /run/cupel/addresses ;;
esac
