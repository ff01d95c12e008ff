#include "base/safe_path.h"

namespace cupel {

// One stat(1) looks at all levels; it follows no link. Its %A is "drwxr-xr-x": the sixth and the
// ninth character say who else may write, the tenth is "t" of a sticky folder.
std::string_view safe_path_functions() {
  return R"sh(cupel_me=$(id -u)
cupel_refuse() {
  echo "cupel-refused: $1" >&2
  exit 77
}
cupel_levels() {
  cupel_path=$1
  set --
  while [ -n "$cupel_path" ]; do
    set -- "$cupel_path" "$@"
    cupel_path=${cupel_path%/*}
  done
  LC_ALL=C stat -c '%u %A %n' / "$@" 2>&1
}
cupel_unsafe_levels() {
  cupel_levels "$1" | while read -r cupel_owner cupel_mode cupel_name; do
    case $cupel_owner:$cupel_mode in
      0:d????????[tT] | 0:l????????? | $cupel_me:l?????????) ;;
      0:[d-]????-??-? | $cupel_me:[d-]????-??-?) ;;
      *)
        echo "$cupel_name is $cupel_mode of user $cupel_owner: it must belong to root or to user $cupel_me, and no other user may write to it"
        break
        ;;
    esac
  done
}
cupel_unsafe() {
  if [ -L "$1" ]; then
    echo "$1 is a symbolic link"
    return
  fi
  cupel_why=$(cupel_unsafe_levels "$1")
  cupel_real=$(cd -P "${1%/*}/" 2>/dev/null && pwd -P)
  if [ -z "$cupel_why" ] && [ "${cupel_real%/}" != "${1%/*}" ]; then cupel_why=$(cupel_unsafe_levels "${cupel_real%/}/${1##*/}"); fi
  if [ -n "$cupel_why" ]; then echo "$cupel_why"; fi
}
cupel_private() {
  case $(LC_ALL=C stat -c '%u %A' "$1" 2>&1) in
    "$cupel_me d"???--[-S]---) ;;
    *) echo "$1 is $(LC_ALL=C stat -c '%A of user %u' "$1" 2>&1): it must be a folder of user $cupel_me that is closed to everybody else (0700)" ;;
  esac
}
)sh";
}

}  // namespace cupel
