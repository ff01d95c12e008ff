#pragma once
// A tool of the users' own that lies in a folder which the site names, and runs as root. Pure text.
#include <string>
#include <string_view>

namespace cupel::burnin {

/// Part of a script behind script::head(): as script::needs(), where the tool may lie in `folder`
/// as well. The script's $tool is it. Ends the script where another user can change the tool, its
/// folder or one above; no other program is taken from there.
std::string needs_site_tool(std::string_view folder, std::string_view tool);

}  // namespace cupel::burnin
