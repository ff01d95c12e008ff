#include "orchestrator/cli/login_name.h"

#include <pwd.h>
#include <unistd.h>

namespace cupel::cli {

std::string login_name() {
  const auto id = ::getuid();
  const auto* known = ::getpwuid(id);
  return known != nullptr && known->pw_name != nullptr ? known->pw_name : std::to_string(id);
}

}  // namespace cupel::cli
