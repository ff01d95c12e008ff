#pragma once
// Finds BMCs on a network, without credentials and without trust: what answers HTTPS with a
// Redfish service root, an IPMI presence ping, or an SSDP search. Keeps nothing and pins nothing.
#include <functional>

#include "bmc/redfish/client.h"
#include "bmc/scan/found.h"

namespace cupel::bmc::scan {

/// The vendor of what speaks IPMI there, as far as that is reported to anybody; empty: not
/// reported. Errors: kTimeout (nobody), kNotFound (no IPMI), kUnreachable, kCancelled.
using Ping = std::function<Task<Result<std::string>>(std::string host, Deadline)>;

/// How a BMC that was found proves who it is before it hears a password; nothing: it cannot.
using Proof = std::function<std::optional<inventory::Trust>(const FoundBmc&)>;

/// Credentials that somebody wants tried on what is found.
struct Login {
  std::string user;
  redfish::SecretSource password;
  Proof proof{};  // empty: whoever answers may hear the password
};

struct Options {
  std::vector<std::string> hosts{};  // at most inventory::kMostAddresses
  unsigned short port = 443;
  unsigned short ipmi_port = 623;
  Ping ping{};                   // empty: IPMI is not asked
  bool ssdp = false;             // ask by multicast too; nobody outside of `hosts` is talked to
  std::optional<Login> login{};  // only where a person asked for it
  std::size_t at_once = 128;
  std::chrono::milliseconds each{3000};  // for each question without a login
  std::chrono::milliseconds login_patience{60'000};
  std::function<void(const FoundBmc&)> found{};  // as they come
};

/// All that answered, in the order of the hosts.
/// Errors: kInvalid (too many hosts); kCancelled.
Task<Result<std::vector<FoundBmc>>> scan(Options options);

}  // namespace cupel::bmc::scan
