#include "orchestrator/ssh/job_place.h"

#include "base/safe_path.h"
#include "base/text.h"
#include "orchestrator/ssh/node_folders.h"

namespace cupel::ssh::job_place {
namespace {

constexpr std::string_view kCheck = R"sh(cupel_check() {
  cupel_wrong=$(cupel_private "$1")
  if [ -z "$cupel_wrong" ]; then cupel_wrong=$(cupel_unsafe "$1"); fi
  if [ -n "$cupel_wrong" ]; then cupel_refuse "$cupel_wrong. Find out who made it so, set it right or remove it, and run this again."; fi
}
d=/dev/null/none
)sh";

constexpr std::string_view kMakeParent = R"sh(
if [ ! -e "$parent" ] && [ ! -L "$parent" ]; then mkdir -p -m 700 "$parent" || exit 73; fi
)sh";

constexpr std::string_view kFindParent = R"sh(
if [ -e "$parent" ] || [ -L "$parent" ]; then
  cupel_check "$parent"
  parent=$(cd -P "$parent" && pwd -P) || exit 73
  d=$parent/$name
)sh";

constexpr std::string_view kMakeFolder = R"sh(
  if [ ! -e "$d" ] && [ ! -L "$d" ]; then mkdir -m 700 "$d" || [ -d "$d" ] || exit 73; fi
)sh";

constexpr std::string_view kCheckFolder = R"sh(
  if [ -e "$d" ] || [ -L "$d" ]; then cupel_check "$d"; fi
fi
)sh";

std::string placed(std::string_view folder, bool make) {
  const auto slash = folder.rfind('/');
  const auto parent = folder.substr(0, slash), name = folder.substr(slash + 1);
  std::string script{safe_path_functions()};
  script += kCheck;
  script += "name=" + shell_quoted(name) + "\nparent=" + shell_quoted(parent) + "\n";
  // A login that cannot have root's folder has its own.
  if (parent == kJobFolder)
    script += "parent=" + std::string{kJobFolder} +
              "\nif [ \"$cupel_me\" != 0 ]; then parent=$HOME/.cupel-node; fi\n";
  if (make) script += kMakeParent;
  script += kFindParent;
  if (make) script += kMakeFolder;
  script += kCheckFolder;
  return script;
}

}  // namespace

std::string made(std::string_view folder) { return placed(folder, true); }
std::string found(std::string_view folder) { return placed(folder, false); }

}  // namespace cupel::ssh::job_place
