#pragma once
// A file of certificates that are known before any BMC was asked: who, and which certificate. Pure;
// whose BMC a name is, and where pins are kept, is for others.
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"

namespace cupel::bmc {

/// One line "a01-n07 SHA256:<64 digits>", or a name with a PEM certificate below it.
struct ListedPin {
  std::string name;         // of a node or PDU, or the BMC's address, as it was written
  std::string certificate;  // "SHA256:" and 64 digits in lower case
  inventory::Place where;
  friend bool operator==(const ListedPin&, const ListedPin&) = default;
};

struct PinList {
  std::vector<ListedPin> pins{};
  std::vector<inventory::Problem> problems{};  // all of them
};

/// The largest file that is read.
inline constexpr std::size_t kLongestPinList = 16u << 20;

/// Blank lines, and what stands behind '#', are passed over. A fingerprint may have colons and
/// capitals, as `openssl x509 -noout -fingerprint -sha256` prints it. Of a chain of certificates
/// the first counts: the BMC's own comes first (RFC 8446, 4.4.2).
PinList parse_pin_list(std::string_view text, const std::string& file);

}  // namespace cupel::bmc
