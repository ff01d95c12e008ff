#pragma once
// The script that iPXE boots a kernel by. Every value in it is checked against what it may consist
// of: a script takes no free text. Pure. Source: https://ipxe.org/scripting
#include <string>

#include "base/result.h"

namespace cupel::netboot {

struct IpxeBoot {
  std::string base_url{};          // of the ticket, with a slash at its end
  std::string kernel_arguments{};  // words of letters, digits and "._,:=/@+-"
};

/// Errors: kInvalid, with the character that must not be there.
Result<std::string> ipxe_script(const IpxeBoot& boot);

/// The same check for whoever renders kernel arguments elsewhere.
Result<void> check_kernel_arguments(std::string_view arguments);

}  // namespace cupel::netboot
