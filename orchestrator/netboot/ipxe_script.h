#pragma once
// The script that iPXE boots a kernel by. Every value in it is checked against what it may consist
// of: a script takes no free text. Pure. Source: https://ipxe.org/scripting
#include <string>

#include "base/result.h"

namespace cupel::netboot {

struct IpxeBoot {
  std::string base_url{};          // of the ticket, with a slash at its end
  std::string kernel_arguments{};  // words of letters, digits and "._,:=/@+-"
  std::string ticket_arguments{};  // such words, and "[]": what the ticket adds
};

/// Errors: kInvalid, with the character that must not be there.
Result<std::string> ipxe_script(const IpxeBoot& boot);

/// The same checks for whoever puts arguments into an EFI program.
Result<void> check_kernel_arguments(std::string_view arguments);
Result<void> check_ticket_arguments(std::string_view arguments);

}  // namespace cupel::netboot
