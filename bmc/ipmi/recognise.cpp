#include "bmc/ipmi/recognise.h"

#include "base/text.h"
#include "bmc/ipmi/identity.h"

namespace cupel::bmc::ipmi {
namespace {

bool same_text(std::string_view left, std::string_view right) {
  return !left.empty() && lower_case(trimmed(left)) == lower_case(trimmed(right));
}

/// Only what is not reported yet.
KnownBmc completed(KnownBmc known, const Identity& seen) {
  if (known.serial.empty()) known.serial = seen.serial;
  if (known.uuid.empty()) known.uuid = seen.uuid;
  if (known.macs.empty()) known.macs = seen.bmc_macs;
  return known;
}

}  // namespace

Identity comparable(const Found& found, const std::string& serial) {
  Identity seen = found.identity;
  seen.serial.clear();
  if (!found.fru) return seen;
  const auto& fru = *found.fru;
  if (fru.product) seen.serial = fru.product->serial;
  const bool elsewhere = (fru.chassis && same_text(fru.chassis->serial, serial)) ||
                         (fru.board && same_text(fru.board->serial, serial));
  if (elsewhere) seen.serial = serial;
  return seen;
}

Task<Result<void>> recognise(Client& client, ExpectedIdentity people, Deadline deadline) {
  CO_TRY(const Found found, co_await identify(client, deadline));
  auto& memory = client.transport().memory();
  const KnownBmc before = memory.known_bmc(client.node()).value_or(KnownBmc{});
  const auto seen = comparable(found, people.serial.empty() ? before.serial : people.serial);
  if (auto why = identity_mismatch(before, people, seen))
    co_return Error{
        Code::kUntrusted,
        client.node() + ": identity mismatch: another machine answers IPMI at the BMC's address: " +
            *why + "; if this was meant, run: cupel bmc " + client.node() + " accept-certificate"};
  const KnownBmc now = completed(before, seen);
  if (now != before) memory.keep_known_bmc(client.node(), now);
  co_return ok();
}

}  // namespace cupel::bmc::ipmi
