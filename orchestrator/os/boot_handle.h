#pragma once
// What the journal keeps of a boot that was begun, so that a controller which comes after a crash
// opens the same URLs again and finds the machine where it is. The ticket itself is a secret, which
// no event has: the handle names it, and the store keeps it apart.
#include <functional>

#include "base/result.h"
#include "orchestrator/netboot/ticket.h"

namespace cupel::os {

struct BootHandle {
  enum class Stage {
    drawn,    // the ticket is known; the machine may not have heard of it
    booting,  // the machine was asked to boot by ways[way], and restarted or about to be
    up,       // the RAM system has its order
    written,  // the image is on the disk; the machine restarts by itself
    home,     // the installed system has reported
  } stage = Stage::drawn;
  netboot::Ticket ticket{};
  std::size_t way = 0;
  std::string digest{};    // of the image that is written; empty: the RAM system stays
  std::string disk{};      // serial of the disk that it was written to
  std::string host_key{};  // fingerprint that the system reported
  std::string tpm{};       // SHA-256 of its TPM's endorsement certificate; empty: none reported
  std::string peer{};      // address that said hello with the ticket; empty: none has
  bool disc = false;       // a virtual disc was inserted
  friend bool operator==(const BootHandle&, const BootHandle&) = default;
};

/// By which the store keeps the ticket: says nothing of it.
std::string ticket_id(const netboot::Ticket& ticket);
std::string to_text(const netboot::Ticket& ticket);

/// Without the ticket, which it names.
std::string to_text(const BootHandle& handle);
/// `ticket`: what to_text() of a ticket was, by its id. A handle of an earlier version has its
/// ticket in it. Errors: kMalformed, of another Cupel's; those of `ticket`.
Result<BootHandle> boot_handle_of(
    std::string_view text, const std::function<Result<std::string>(const std::string& id)>& ticket);

}  // namespace cupel::os
