# Sourced by ../build: the tree of the initramfs in $work/tree, and its archive.
# shellcheck shell=bash

# With the libraries that they name. What is only there sometimes is left out where it is absent.
programs=(/usr/sbin/dropbear /usr/bin/dropbearkey /usr/bin/dropbearconvert /usr/bin/curl /usr/bin/zstd /usr/sbin/sfdisk
  /usr/sbin/e2fsck /usr/sbin/resize2fs /usr/sbin/xfs_growfs /usr/bin/btrfs /usr/bin/efibootmgr /usr/sbin/nvme /usr/sbin/hdparm
  /usr/bin/tpm2_nvread)
# Loaded by name while a program runs.
also_libraries=(libgcc_s.so.1 libtss2-tcti-device.so.0)

# PATH: where it lies in the packages, whether /usr is merged there or not.
in_packages() {
  local each
  for each in "$1" "${1#/usr}" "/usr$1" "${1/\/bin\///sbin/}" "${1#/usr}"; do
    if [ -e "$work/packages$each" ] || [ -L "$work/packages$each" ]; then echo "$work/packages$each"; return; fi
  done
  return 1
}

library() { # NAME: its path in the packages
  local folder
  for folder in "usr/lib/$arch-linux-gnu" "lib/$arch-linux-gnu" usr/lib lib; do
    if [ -e "$work/packages/$folder/$1" ]; then echo "$work/packages/$folder/$1"; return; fi
  done
  # Some packages keep what is theirs alone in a folder of their own.
  folder=$(find "$work/packages/usr/lib" -name "$1" | head -1)
  [ -n "$folder" ] || fail "no package has the library $1"
  echo "$folder"
}

add_libraries_of() { # ELF FILE: all that it needs, and what they need
  local name from
  for name in $("${tools}readelf" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [ ! -e "$tree/lib/$arch-linux-gnu/$name" ] || continue
    from=$(library "$name")
    cp -L "$from" "$tree/lib/$arch-linux-gnu/$name"
    add_libraries_of "$from"
  done
}

add_program() { # FILE PLACE
  local loader
  rm -f "$tree$2" "$tree/bin/$(basename "$2")"
  install -D -m 755 "$1" "$tree$2"
  loader=$("${tools}readelf" -l "$1" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
  [ -n "$loader" ] || return 0
  [ -e "$tree$loader" ] || install -D -m 755 "$(library "$(basename "$loader")")" "$tree$loader"
  add_libraries_of "$1"
}

make_tree() {
  local each from
  step "programs"
  tree=$work/tree
  mkdir -p "$tree"/{bin,sbin,dev,etc/cupel,etc/dropbear,lib/"$arch"-linux-gnu,mnt,proc,root/.ssh,run,sys,tmp,usr/bin,usr/sbin,var}
  chmod 700 "$tree/root" "$tree/root/.ssh"
  ln -s ../run "$tree/var/run"
  install -m 755 "$(in_packages /bin/busybox)" "$tree/bin/busybox"
  applets "$tree/bin/busybox" | while read -r each; do
    [ "$each" = busybox ] || ln -s busybox "$tree/bin/$each"
  done
  ln -s ../bin/busybox "$tree/sbin/modprobe"  # the kernel's, for what it wants itself
  for each in "${programs[@]}"; do
    from=$(in_packages "$each") || fail "no package has $each"
    add_program "$from" "$each"
  done
  for each in "${also_libraries[@]}"; do
    cp -L "$(library "$each")" "$tree/lib/$arch-linux-gnu/$each"
  done
  add_program "$program" /bin/cupel-node
  add_modules
  cp -r "$here/root/." "$tree/"
  chmod 755 "$tree/init" "$tree"/etc/cupel/*.sh
  if [ -n "$ca" ]; then install -m 644 "$ca" "$tree/etc/cupel/ca.pem"; fi
  if [ -n "$any_boot_server" ]; then touch "$tree/etc/cupel/any-boot-server"; fi
  if [ -n "$boot_host" ]; then echo "$boot_host" > "$tree/etc/cupel/boot-host"; fi
}

# The names of busybox's commands: from the program where it runs here, else from the list that is in it.
applets() {
  "$1" --list 2> /dev/null || { need qemu-aarch64-static qemu-user-static >&2; "qemu-$arch-static" "$1" --list; }
}

add_modules() {
  local version from=$work/packages to each
  [ -d "$from/lib/modules" ] || { mkdir -p "$from/lib" && ln -s ../usr/lib/modules "$from/lib/modules"; }
  version=$(ls "$from/lib/modules/")
  [ "$(wc -w <<< "$version")" = 1 ] || fail "no kernel, or more than one: $version"
  step "modules of $version"
  depmod -b "$from" "$version"
  to=$tree/lib/modules/$version
  mkdir -p "$to"
  # A kernel lacks some of them, or has them built in.
  for each in $(grep -v '^#' "$here/modules"); do
    modprobe -d "$from" -S "$version" --show-depends "$each" 2> /dev/null || true
  done | awk '$1 == "insmod" {print $2}' | sort -u > "$work/modules"
  while read -r each; do
    install -D -m 644 "$each" "$tree/lib/modules/${each#*/lib/modules/}"
  done < "$work/modules"
  cp "$from/lib/modules/$version"/modules.{builtin,order} "$to/"
  [ ! -e "$from/lib/modules/$version/modules.builtin.modinfo" ] || cp "$from/lib/modules/$version/modules.builtin.modinfo" "$to/"
  depmod -b "$tree" "$version"
  rm -f "$to"/*.bin  # busybox reads the others
  install -m 644 "$from/boot/vmlinuz-$version" "$out/vmlinuz"
}

make_initrd() {
  step "initrd"
  find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  (cd "$tree" && find . -print0 | sort -z | cpio -0 -o -H newc --quiet --reproducible -R 0:0) > "$work/initrd.cpio"
  zstd -q -T0 "-$level" -c < "$work/initrd.cpio" > "$out/initrd"
}
