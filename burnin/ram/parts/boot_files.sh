# Sourced by ../build: what firmware starts, made of vmlinuz and initrd.
# shellcheck shell=bash

# The command line fills so many bytes of ram.efi, and the ticket so many of ram.iso: who serves them replaces those.
cmdline_bytes=1024
ticket_bytes=4096

# Kernel, initramfs and command line as sections of systemd's EFI stub, one behind the other.
make_uki() {
  step "ram.efi"
  local section at size last args=() file
  file=$(find "$work/packages" -path "*/systemd/boot/efi/$stub" | head -1)
  [ -n "$file" ] || fail "no package has $stub"
  printf 'ID=cupel\nNAME="%s"\n' "$name" > "$work/osrel"
  printf "%-${cmdline_bytes}s" "$cmdline" > "$work/cmdline"
  printf '%s\n' "$cmdline" > "$out/command-line"
  read -r last size < <("${tools}objdump" -h "$file" |
    awk 'NF == 7 && $1 ~ /^[0-9]+$/ {address = $4; size = $3} END {print address, size}')
  at=$((16#$last + 16#$size))
  for section in osrel cmdline linux initrd; do
    case $section in
      linux) from=$out/vmlinuz ;;
      initrd) from=$out/initrd ;;
      *) from=$work/$section ;;
    esac
    at=$(((at + 4095) / 4096 * 4096))
    args+=(--add-section ".$section=$from" --change-section-vma ".$section=$(printf 0x%x $at)")
    at=$((at + $(stat -Lc %s "$from")))
  done
  "${tools}objcopy" "${args[@]}" "$file" "$out/ram.efi"
  stamp_pe "$out/ram.efi"
  [ -z "$key" ] || sbsign --key "$key" --cert "$cert" --output "$out/ram.efi" "$out/ram.efi" > "$work/sbsign.log" 2>&1 ||
    fail "sbsign: $(tail -1 "$work/sbsign.log")"
}

# The link's time, which objcopy takes from the clock, as the packages date it; no checksum, which would depend on it and
# is for drivers alone. PE/COFF 3.3, 3.4.2: 8 and 88 bytes behind "PE\0\0", whose offset is at 0x3c.
stamp_pe() { # FILE
  local at time
  at=$(od -An -tu4 -j60 -N4 "$1" | tr -d ' ')
  time=$(printf '%08x' "$SOURCE_DATE_EPOCH")
  put_bytes "$1" $((at + 8)) "\\x${time:6:2}\\x${time:4:2}\\x${time:2:2}\\x${time:0:2}"
  put_bytes "$1" $((at + 88)) '\x00\x00\x00\x00'
}

put_bytes() { # FILE OFFSET ESCAPED
  # shellcheck disable=SC2059  # the escapes are the format
  printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# For virtual media: an ESP with ram.efi, and ticket.json, whose blanks one node's ticket replaces.
make_iso() {
  step "ram.iso"
  local esp=$work/iso/efi.img size
  mkdir "$work/iso"
  size=$((($(stat -c %s "$out/ram.efi") / 1048576 + 4) * 1024))
  truncate -s ${size}K "$esp"
  mkfs.vfat --invariant -i 43555045 -n ESP "$esp" > /dev/null
  touch -d "@$SOURCE_DATE_EPOCH" "$out/ram.efi"
  mmd -i "$esp" ::/EFI ::/EFI/BOOT
  mcopy -m -i "$esp" "$out/ram.efi" "::/EFI/BOOT/$boot_name"
  printf "%-${ticket_bytes}s" '{"boot":""}' > "$work/iso/ticket.json"
  find "$work/iso" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
  xorriso -as mkisofs -quiet -iso-level 3 -V CUPEL -o "$out/ram.iso" -e efi.img -no-emul-boot -isohybrid-gpt-basdat "$work/iso" \
    > "$work/xorriso.log" 2>&1 || fail "xorriso: $(tail -2 "$work/xorriso.log")"
  ticket_place > "$out/iso-ticket"
}

# "OFFSET SIZE" of ticket.json in ram.iso.
ticket_place() {
  local found
  found=$(grep -abo '{"boot":""} \{64\}' "$out/ram.iso" | cut -d: -f1)
  [ "$(wc -w <<< "$found")" = 1 ] || fail "ram.iso does not have its ticket.json once"
  echo "$found $ticket_bytes"
}
