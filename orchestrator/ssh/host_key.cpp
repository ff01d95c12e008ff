#include "orchestrator/ssh/host_key.h"

namespace cupel::ssh {
namespace {

using inventory::Trust;

Error changed(std::string_view node, std::string_view pinned, std::string_view fingerprint) {
  const std::string name{node};
  return Error{Code::kUntrusted, "the host key of " + name + " is " + std::string{fingerprint} +
                                     ", pinned is " + std::string{pinned} +
                                     ". If this was meant, run: cupel exec --accept-host-key " +
                                     name};
}

Error not_as_written(std::string_view node, const Trust& trust, std::string_view fingerprint) {
  return Error{Code::kUntrusted, "the host key of " + std::string{node} + " is " +
                                     std::string{fingerprint} + ", the inventory says " +
                                     trust.what +
                                     ". If this was meant, write the new one into the inventory"};
}

}  // namespace

Result<void> check_host_key(std::string_view node, const Trust& trust, inventory::KnownKeys& known,
                            std::string_view fingerprint) {
  switch (trust.kind) {
    case Trust::Kind::pinned:
      if (trust.what != fingerprint) return not_as_written(node, trust, fingerprint);
      return ok();
    case Trust::Kind::first_use: {
      const auto name = "ssh:" + std::string{node};
      const auto pinned = known.pinned(name);
      if (!pinned) known.pin(name, fingerprint);
      if (pinned && *pinned != fingerprint) return changed(node, *pinned, fingerprint);
      return ok();
    }
    case Trust::Kind::ca:
      return Error{Code::kInvalid, "SSH trust is 'first_use' or 'pinned', not 'ca'"};
  }
  __builtin_unreachable();
}

}  // namespace cupel::ssh
