#include "orchestrator/netboot/ipxe_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::netboot {
namespace {

constexpr std::size_t kLongest = 2048;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Result<void> check(std::string_view what, std::string_view value, std::string_view also) {
  if (value.size() > kLongest)
    return Error{Code::kInvalid, fmt::format("{} is longer than {} bytes", what, kLongest)};
  const auto wrong = std::ranges::find_if(
      value, [&](char c) { return !is_letter_or_digit(c) && !also.contains(c); });
  if (wrong == value.end()) return ok();
  return Error{
      Code::kInvalid,
      fmt::format("{}: character {} (0x{:02x}) is not allowed in a boot script: letters, "
                  "digits and \"{}\" are",
                  what, wrong - value.begin() + 1, static_cast<unsigned char>(*wrong), also)};
}

}  // namespace

Result<void> check_kernel_arguments(std::string_view arguments) {
  return check("the kernel's arguments", arguments, " ._,:=/@+-");
}

Result<void> check_ticket_arguments(std::string_view arguments) {
  return check("the ticket's arguments", arguments, " ._,:=/@+-[]");
}

Result<std::string> ipxe_script(const IpxeBoot& boot) {
  TRY(check("the boot URL", boot.base_url, ".:/-[]"));
  TRY(check_kernel_arguments(boot.kernel_arguments));
  TRY(check_ticket_arguments(boot.ticket_arguments));
  const auto words = std::string{trimmed(boot.kernel_arguments)};
  // netX is the interface that the script came by.
  return fmt::format(
      "#!ipxe\n"
      "kernel {0}vmlinuz initrd=initrd {1}{2}{3} BOOTIF=01-${{netX/mac:hexhyp}} || "
      "goto failed\n"
      "initrd {0}initrd || goto failed\n"
      "boot || goto failed\n"
      ":failed\n"
      "echo Cupel: boot failed\n"
      "sleep 10\n"
      "exit 1\n",
      boot.base_url, words, words.empty() ? "" : " ", boot.ticket_arguments);
}

}  // namespace cupel::netboot
