#pragma once
// Who a machine is and what it is made of, as far as IPMI tells.
#include "bmc/bmc.h"
#include "bmc/ipmi/fru.h"
#include "bmc/ipmi/repository.h"

namespace cupel::bmc::ipmi {

/// Get Device ID. Source: IPMI 2.0, 20.1.
struct DeviceId {
  std::string firmware{};          // "9.08"
  std::uint32_t manufacturer = 0;  // IANA number
  std::uint16_t product = 0;
};
Result<DeviceId> parse_device_id(View reported);

/// "Dell", "Supermicro"; empty: a number that is not in our short list.
std::string vendor_of(std::uint32_t enterprise);

/// As text, in the field order whose version and variant make sense: the standard's own first
/// (least significant byte first, 20.8), then SMBIOS's, then RFC 4122's. Empty where it is none.
std::string guid_text(View sixteen);

/// What was found out, and what not.
struct Found {
  Identity identity{};
  std::optional<Fru> fru{};  // device 0
  std::vector<inventory::Unknown> unknown{};
};

/// Each fact that the BMC does not tell is unknown. Errors: kTimeout, kUnreachable, kCancelled,
/// kRefused, kInvalid, kUnsupported of the first command alone: no machine, no identity.
Task<Result<Found>> identify(Client& client, Deadline deadline);

/// Identity, power, the system, the BMC and every FRU that says what it is.
Task<Result<Observed>> take_stock(Client& client, const Repository& repository, Deadline deadline);

}  // namespace cupel::bmc::ipmi
