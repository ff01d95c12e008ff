#pragma once
// Where Cupel's things lie on a node. Each of them, and every folder above, is root's (or the
// login's own) and nobody else's to write to, which is checked on the node: of a job's folder
// before every use, of the programs before each start and once over each connection.
#include <string_view>

namespace cupel::ssh {

/// The programs of ours; burnin's scripts look there first.
inline constexpr std::string_view kProgramFolder = "/opt/cupel/bin";

/// The folders of jobs, closed to everybody but root. A login that is not root and has no sudo
/// has them in `.cupel-node` of its home instead; the node's script knows which.
inline constexpr std::string_view kJobFolder = "/var/lib/cupel-node";

}  // namespace cupel::ssh
