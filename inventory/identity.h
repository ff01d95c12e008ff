#pragma once
// When two texts name one machine, one address or one part. Pure.
#include <map>
#include <string>
#include <string_view>

#include "inventory/endpoint.h"

namespace cupel::inventory {

/// The same for all ways to write one host: of an IPv6 address the form of RFC 5952, of one that
/// stands for an IPv4 address (::ffff:10.0.0.1, RFC 4291, 2.5.5.2) that one, of a name small
/// letters without the dot of the root (RFC 4343). Anything else as it is, in small letters.
std::string canonical_host(std::string_view host);
std::string canonical(const Endpoint& endpoint);

/// Names of machines are names in DNS: case does not count, and a name without a domain is the one
/// machine of that name that has one.
class MachineNames {
 public:
  /// A machine as it is called here. What is known first keeps its spelling.
  void add(const std::string& name);
  /// The known spelling of the machine that is meant; `name` itself where there is none, or where
  /// several could be meant.
  const std::string& known(const std::string& name) const;

 private:
  std::map<std::string, std::string, std::less<>> by_name_{};       // in small letters
  std::multimap<std::string, std::string, std::less<>> by_host_{};  // up to the first dot
};

/// The same of two serial numbers that are one: blanks and case do not count, nor do zeros at the
/// beginning of one that is all digits, which spreadsheets drop.
std::string serial_key(std::string_view serial);

/// What stands in the place of a serial number that nobody wrote: "NA", "Default string",
/// "To be filled by O.E.M.", "0123456789", "00000000". Empty is one, too.
bool is_no_serial(std::string_view text);

/// A serial number as a machine or a file reports it: without blanks around it, and empty where
/// is_no_serial(). Every reader of serial numbers uses it.
std::string reported_serial(std::string_view text);

}  // namespace cupel::inventory
