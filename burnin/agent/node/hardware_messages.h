#pragma once
// What the kernel's log says of CPUs and memory: machine checks, EDAC, pages that were given up,
// and the reports of firmware that has the error first (APEI, GHES). Pure.
#include <optional>
#include <string>
#include <string_view>

#include "burnin/agent/node/kernel_messages.h"

namespace cupel::agent {

std::optional<KernelMessage> mce_of(std::string_view line);
std::optional<KernelMessage> edac_of(std::string_view line);

/// One report of the firmware is many lines, "{3}[Hardware Error]: event severity: fatal" and what
/// follows under the same number: its section, its physical address, its DIMM or PCI device.
/// Source: drivers/firmware/efi/cper.c and drivers/acpi/apei/ghes.c of Linux.
class FirmwareReport {
 public:
  /// Whether the line is one of this report, or the first of a new one where none is open.
  bool take(std::string_view line);
  bool is_open() const { return !severity_.empty(); }
  /// What the lines so far say together; nothing is open afterwards.
  KernelMessage finish();

 private:
  void note(std::string_view message);

  std::string number_{};  // "3"
  std::string severity_{}, section_{}, address_{}, dimm_{}, device_{}, type_{};
};

}  // namespace cupel::agent
