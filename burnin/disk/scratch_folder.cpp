#include "burnin/disk/scratch_folder.h"

namespace cupel::burnin {

// Whose files ours are, a file tells: a server of NFS makes root's files somebody else's.
std::string_view scratch_functions() {
  return R"sh(scratch_is_ours() {
  rm -f ./.cupel-probe
  (set -C; : > ./.cupel-probe) 2>/dev/null || return 1
  probe_owner=$(LC_ALL=C stat -c %u ./.cupel-probe)
  rm -f ./.cupel-probe
  case $(LC_ALL=C stat -c '%u %A' .) in
    "$probe_owner drwx--"[-S]---) return 0 ;;
  esac
  return 1
}
enter_scratch() {
  if cd -P "$1" 2>/dev/null && [ "$(pwd -P)" = "$1" ] && [ -z "$(ls -A .)" ] && scratch_is_ours; then return 0; fi
  cd /
  echo "cupel-gave-up: another user changed $1 while it was made: make the folder above it sticky (chmod +t), or writable for its owner alone"
  return 1
}
remove_scratch() {
  (cd -P "$1" 2>/dev/null && [ "$(pwd -P)" = "$1" ] && scratch_is_ours && rm -f ./file ./report)
  rmdir "$1" 2>/dev/null
}
)sh";
}

}  // namespace cupel::burnin
