#include "burnin/tools/site_tool.h"

#include <fmt/format.h>

#include "base/safe_path.h"
#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {

std::string needs_site_tool(std::string_view folder, std::string_view tool) {
  const auto quoted = shell_quoted(folder);
  return fmt::format("PATH=$PATH:{}\n", quoted) + script::needs(tool) +
         std::string{safe_path_functions()} +
         fmt::format(
             "tool=$(command -v {0})\n"
             "case $tool in\n"
             "  {1}/*)\n"
             "    why=$(cupel_unsafe \"$tool\")\n"
             "    if [ -n \"$why\" ]; then\n"
             "      echo \"cupel-gave-up: $why\"\n"
             "      exit 77\n"
             "    fi ;;\n"
             "esac\n"
             "PATH=${{PATH%:*}}\n",
             tool, quoted);
}

}  // namespace cupel::burnin
