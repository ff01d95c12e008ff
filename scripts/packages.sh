# Sourced by scripts/package and scripts/release, after setup.sh: Debian packages of what was built, each described in
# cmake/package/NAME.control. The same files and the same SOURCE_DATE_EPOCH give the same bytes: no time, order of a
# folder, owner or mask of this machine is in them.
# shellcheck shell=bash

export LC_ALL=C.UTF-8  # names are sorted by their bytes
cupel_packages=(cupel cupel-node cupel-sim cupel-burn cupel-aarch64)

cupel_version() { sed -n 's/^project(cupel VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt"; }
# The second number counts packages of one version.
package_version() { echo "$(cupel_version)-1"; }

# When what is packed was written, in seconds: the commit's time; without git that of the newest version in CHANGELOG.md.
source_date() {
  if [ "${SOURCE_DATE_EPOCH:-}" ]; then
    echo "$SOURCE_DATE_EPOCH"
  else
    git -C "$root" log -1 --format=%ct 2> /dev/null ||
      date -u -d "$(sed -n 's/^## \[[0-9.]*\] - //p' "$root/CHANGELOG.md" | head -n 1)" +%s
  fi
}

# PRESET STAGE: STAGE/ARCHITECTURE/PACKAGE has the files of each package. What was not built is left out: cupel-burn needs a
# CUDA toolkit, and programs for Arm processors scripts/install --aarch64.
stage_packages() {
  local build=$root/build/$1 stage=$2 arm=$root/build/node-aarch64 native name program
  native=$(dpkg --print-architecture)
  for name in "${cupel_packages[@]}"; do
    DESTDIR=$stage/$native/$name cmake --install "$build" --prefix /usr --component "$name" --strip > "$build/stage.log" ||
      { tail -n 20 "$build/stage.log" >&2; return 1; }
  done
  for program in "$arm/cupel-node" "$arm/burnin/agent/burn/cupel-burn"; do
    name=$(basename "$program")
    [ ! -f "$program" ] || [ "$native" = arm64 ] || install -D "$program" "$stage/arm64/$name/usr/libexec/cupel/$name"
  done
  for program in "$stage"/arm64/*/usr/libexec/cupel/* "$stage/$native"/cupel-aarch64/usr/libexec/cupel/aarch64/*; do
    [ ! -f "$program" ] || llvm-strip-19 --strip-all "$program"
  done
  find "$stage" -depth -type d -empty -delete
}

# STAGE OUT: a package in OUT of each STAGE/ARCHITECTURE/PACKAGE. Changes STAGE.
pack_stage() {
  local folder
  mkdir -p "$2"
  for folder in "$1"/*/*/; do
    folder=${folder%/}
    pack_one "$folder" "$(basename "$folder")" "$(basename "$(dirname "$folder")")" "$2"
  done
}

# FOLDER NAME ARCHITECTURE OUT
pack_one() {
  local folder=$1 name=$2 epoch control=$1/DEBIAN
  epoch=$(source_date)
  add_documents "$folder" "$name" "$epoch"
  mkdir "$control"
  write_control "$folder" "$name" "$3" > "$control/control"
  if [ "$name" = cupel ]; then
    cp "$root"/cmake/package/{postinst,prerm,postrm,conffiles} "$control"
  fi
  (cd "$folder" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) > "$control/md5sums"
  chmod -R u=rwX,go=rX "$folder"
  find "$folder" -exec touch --no-dereference --date="@$epoch" {} +
  SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$folder" "$4" > /dev/null
}

# FOLDER NAME EPOCH: copyright, changelogs, what lintian is to accept; man pages are compressed.
add_documents() {
  local folder=$1 name=$2 documents=$1/usr/share/doc/$2
  mkdir -p "$documents"
  rm -f "$documents/LICENSE"  # Debian has its text in one place, which copyright names
  cp "$root/cmake/package/copyright" "$documents/copyright"
  gzip -9n < "$root/CHANGELOG.md" > "$documents/changelog.gz"
  gzip -9n > "$documents/changelog.Debian.gz" <<CHANGES
$name ($(package_version)) stable; urgency=medium

  * Cupel $(cupel_version): changelog.gz has the changes.

 -- $(maintainer)  $(date -u -R -d "@$3")
CHANGES
  mkdir -p "$folder/usr/share/lintian/overrides"
  grep "^$name: " "$root/cmake/package/lintian-overrides" > "$folder/usr/share/lintian/overrides/$name"
  if [ -d "$folder/usr/share/man" ]; then find "$folder/usr/share/man" -name '*.[1-9]' -exec gzip -9n {} +; fi
}

# Who makes the packages: a site that changes them names itself.
maintainer() { echo "${CUPEL_MAINTAINER:-Cupel <cupel@localhost>}"; }

# FOLDER NAME ARCHITECTURE
write_control() {
  local libraries=
  if grep -q 'shlibs:Depends' "$root/cmake/package/$2.control"; then libraries=$(shared_libraries "$1"); fi
  sed -e "s/\${version}/$(package_version)/g" -e "s/\${shlibs:Depends}/$libraries/" -e '/^Description:/,$d' \
    "$root/cmake/package/$2.control"
  printf '%s\n' "Version: $(package_version)" "Architecture: $3" "Maintainer: $(maintainer)" "Priority: optional" \
    "Installed-Size: $(find "$1" -type f -printf '%s\n' | awk '{kib += int(($1 + 1023) / 1024)} END {print kib + 0}')"
  sed -n '/^Description:/,$p' "$root/cmake/package/$2.control"
}

# FOLDER: the Debian packages whose libraries its programs load, as Depends has them.
shared_libraries() {
  local programs=() file scratch found status=0
  while IFS= read -r -d '' file; do programs+=("$file"); done < <(programs_in "$(realpath "$1")")
  scratch=$(mktemp -d)
  mkdir "$scratch/debian"
  printf 'Source: cupel\n\nPackage: cupel\nArchitecture: any\n' > "$scratch/debian/control"
  found=$(cd "$scratch" && dpkg-shlibdeps -O "${programs[@]}" 2> warnings) || { cat "$scratch/warnings" >&2; status=1; }
  rm -r "$scratch"
  printf '%s\n' "${found#shlibs:Depends=}"
  return "$status"
}

# FOLDER: its ELF files, each with a zero byte behind it.
programs_in() {
  local file
  while IFS= read -r -d '' file; do
    if printf '\177ELF' | cmp -s -n 4 - "$file"; then printf '%s\0' "$file"; fi
  done < <(find "$1" -type f -print0 | sort -z)
}
