#pragma once
// The files of a ticket, opened below the served folder: the RAM system with the ticket in its
// command line, the script that iPXE boots by, and files as they are.
#include "orchestrator/netboot/open_ticket.h"

namespace cupel::netboot {

/// Descriptors that many tickets share. Used from the loop alone.
class SharedFiles {
 public:
  explicit SharedFiles(std::string folder) : folder_{std::move(folder)} {}

  /// Errors: as images::OpenFile::open_below.
  Result<images::OpenFile::Ptr> open(const std::string& path);

 private:
  std::string folder_;
  std::map<std::string, std::weak_ptr<const images::OpenFile>> open_{};
};

/// Errors: kNotFound, kInvalid, with the file's name.
Result<BootFiles> open_files(SharedFiles& shared, const Ticket& ticket, const BootOrder& order);

/// Whether "ram.efi" has the ticket in it: a signed program is served as it is.
bool carries_ticket(const BootFiles& files);

/// By the name's ending: UEFI decides by it what it does with a download. Source: UEFI 2.10, 24.7.
std::string media_type(std::string_view name);

}  // namespace cupel::netboot
