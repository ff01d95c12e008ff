#pragma once
// Whether a machine that says hello is the one that its ticket was issued for. Pure.
#include <span>

#include "base/result.h"
#include "orchestrator/netboot/ticket.h"

namespace cupel::netboot {

/// What a machine says of itself, normalized: lower case, no blanks around, firmware's fillings of
/// fields that nobody filled are empty.
struct Identity {
  std::string arch{}, serial{}, uuid{};
  std::vector<std::string> macs{};
  std::string ticket_from{};  // "cmdline", "media", "efi", "dhcp"; empty: not given

  /// Whether nothing that both say tells them apart.
  bool may_be(const Identity& other) const;
  /// Empty: none.
  std::string shared_mac(const Identity& other) const;
};

/// A stable word for scripts, and a sentence for people. A sentence that has what the inventory
/// knows of the machine is for the site's people alone: who asks could learn from it what to say.
struct Refusal {
  std::string cause{}, text{};
  bool tells_secrets = false;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Errors: kMalformed (a field of another type, too long, or of other letters).
Result<Identity> parse_identity(const boost::json::object& hello);

/// Nothing where it is `expected`. `all` are the inventory's: a machine that is another node of it
/// is named. `by_dhcp`: the ticket went to whoever asked with a MAC address of the machine, which
/// anybody on the network can take; it must know the serial number or UUID, too, where the
/// inventory has one. Causes: wrong-arch, swapped, wrong-serial, wrong-uuid, wrong-mac, unproven.
std::optional<Refusal> mismatch(const Identity& machine, const ExpectedMachine& expected,
                                std::span<const ExpectedMachine> all, bool by_dhcp = false);

/// Whether it says a serial number or MAC address that `expected` has.
bool is_named(const Identity& machine, const ExpectedMachine& expected);

/// "AA-BB-CC-DD-EE-FF" and the like as "aa:bb:cc:dd:ee:ff"; nothing where it is no MAC address.
std::optional<std::string> normalized_mac(std::string_view text);

}  // namespace cupel::netboot
