#pragma once
// Who may log in, and what the BMC serves on the LAN.
#include "bmc/bmc.h"
#include "bmc/ipmi/client.h"

namespace cupel::bmc::ipmi {

/// The slots that have a name or may send IPMI messages. Source: IPMI 2.0, 22.27, 22.29.
Task<Result<std::vector<Account>>> read_accounts(Client& client, Deadline deadline);

/// In the 16-byte form where it fits, which every BMC has, else in that of 20. Errors besides
/// Client::ask's: kNotFound (no such user); kInvalid (longer than the BMC takes, or refused by its
/// policy). Source: 22.30.
Task<Result<void>> write_password(Client& client, std::string user, std::string password,
                                  Deadline deadline);

/// IPMI itself and SOL, as far as the parameters tell. Source: 22.23, 23.2, 26.3.
Task<Result<std::vector<NetworkService>>> read_services(Client& client, Deadline deadline);

/// Whether Serial-over-LAN is enabled.
Task<Result<bool>> sol_enabled(Client& client, Deadline deadline);

/// Switches "SOL" and reads it back; what is so already is not written. "IPMI" is on while it is
/// asked, and is not switched off by itself. Errors: as Client::ask; kFailed (accepted, and not so
/// afterwards); kUnsupported; kNotFound (no such service here). Source: IPMI 2.0, 26.2, table 26-5.
Task<Result<void>> write_service(Client& client, std::string name, bool enabled, Deadline deadline);

/// Of the BMC's LAN port: "aa:bb:cc:00:11:22". Errors: as Client::ask; kMalformed.
Task<Result<std::string>> read_mac(Client& client, Deadline deadline);

}  // namespace cupel::bmc::ipmi
