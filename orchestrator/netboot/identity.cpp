#include "orchestrator/netboot/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/identity.h"

namespace cupel::netboot {
namespace {

constexpr std::size_t kLongestText = 128;
constexpr std::size_t kMostMacs = 256;

std::string normalized(std::string_view text) {
  return inventory::is_no_serial(text) ? std::string{} : lower_case(trimmed(text));
}

Result<std::string> text_of(const boost::json::object& hello, std::string_view key) {
  const auto* value = hello.if_contains(key);
  if (value == nullptr || value->is_null()) return std::string{};
  if (!value->is_string() || value->get_string().size() > kLongestText)
    return Error{Code::kMalformed,
                 fmt::format("hello: \"{}\" is no text of at most {} bytes", key, kLongestText)};
  return printable(std::string_view{value->get_string()});
}

Result<std::vector<std::string>> macs_of(const boost::json::object& hello) {
  std::vector<std::string> macs;
  const auto* value = hello.if_contains("macs");
  if (value == nullptr || value->is_null()) return macs;
  const Error malformed{Code::kMalformed, "hello: \"macs\" is no list of MAC addresses"};
  if (!value->is_array() || value->get_array().size() > kMostMacs) return malformed;
  for (const auto& entry : value->get_array()) {
    if (!entry.is_string()) return malformed;
    auto mac = normalized_mac(std::string_view{entry.get_string()});
    if (!mac) return malformed;
    macs.push_back(*std::move(mac));
  }
  std::ranges::sort(macs);
  return macs;
}

/// The first three fields' bytes in the other order: SMBIOS has them little-endian since 2.6, and
/// not every firmware and BMC does.
std::string other_order(const std::string& uuid) {
  if (uuid.size() != 36) return uuid;
  const auto reversed = [&](std::size_t at, std::size_t bytes) {
    std::string turned;
    for (auto i = bytes; i-- > 0;) turned += uuid.substr(at + 2 * i, 2);
    return turned;
  };
  return reversed(0, 4) + "-" + reversed(9, 2) + "-" + reversed(14, 2) + uuid.substr(18);
}

bool has_mac_of(const Identity& machine, const ExpectedMachine& expected) {
  return std::ranges::any_of(expected.macs, [&](const std::string& mac) {
    const auto known = normalized_mac(mac);
    return known && std::ranges::find(machine.macs, *known) != machine.macs.end();
  });
}

/// Another node of the inventory: by its serial; where that says nothing, by its MAC addresses.
const ExpectedMachine* other_node(const Identity& machine, const ExpectedMachine& expected,
                                  std::span<const ExpectedMachine> all) {
  const ExpectedMachine* by_mac = nullptr;
  for (const auto& one : all) {
    if (one.node == expected.node) continue;
    const auto serial = normalized(one.serial);
    if (!serial.empty() && serial == machine.serial) return &one;
    if (has_mac_of(machine, one)) by_mac = &one;
  }
  return by_mac;
}

std::string macs_text(const Identity& machine) {
  return machine.macs.empty() ? "none" : fmt::format("{}", fmt::join(machine.macs, ", "));
}

std::optional<Refusal> difference(const Identity& machine, const ExpectedMachine& expected) {
  const auto serial = normalized(expected.serial), uuid = normalized(expected.uuid);
  if (!serial.empty() && !machine.serial.empty() && serial != machine.serial)
    return Refusal{"wrong-serial",
                   fmt::format("its serial number is {}, the inventory's is {}", machine.serial,
                               expected.serial),
                   true};
  if (!uuid.empty() && !machine.uuid.empty() && uuid != machine.uuid &&
      other_order(uuid) != machine.uuid)
    return Refusal{
        "wrong-uuid",
        fmt::format("its UUID is {}, the inventory's is {}", machine.uuid, expected.uuid), true};
  if (!expected.macs.empty() && !has_mac_of(machine, expected))
    return Refusal{"wrong-mac",
                   fmt::format("its MAC addresses are {}, the inventory's are {}",
                               macs_text(machine), fmt::join(expected.macs, ", ")),
                   true};
  return {};
}

/// What has no token of its own needs more than an address that anybody can take. That what it says
/// does not differ was seen before.
bool is_proven(const Identity& machine, const ExpectedMachine& expected, bool by_dhcp) {
  const auto serial = normalized(expected.serial), uuid = normalized(expected.uuid);
  if (by_dhcp || machine.ticket_from == "dhcp") {
    const bool is_known = !serial.empty() || !uuid.empty();
    const bool says_it =
        (!serial.empty() && !machine.serial.empty()) || (!uuid.empty() && !machine.uuid.empty());
    return has_mac_of(machine, expected) && (says_it || !is_known);
  }
  return serial.empty() || !machine.serial.empty() || has_mac_of(machine, expected);
}

}  // namespace

bool is_named(const Identity& machine, const ExpectedMachine& expected) {
  const auto serial = normalized(expected.serial);
  return (!serial.empty() && serial == machine.serial) || has_mac_of(machine, expected);
}

std::optional<std::string> normalized_mac(std::string_view text) {
  constexpr std::size_t kLength = 17;
  if (text.size() != kLength) return {};
  std::string mac = lower_case(text);
  for (std::size_t i = 0; i < kLength; ++i) {
    const char c = mac[i];
    if (i % 3 == 2) {
      if (c != ':' && c != '-') return {};
      mac[i] = ':';
    } else if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
      return {};
    }
  }
  return mac;
}

bool Identity::may_be(const Identity& other) const {
  if (!serial.empty() && !other.serial.empty()) return serial == other.serial;
  if (!uuid.empty() && !other.uuid.empty())
    return uuid == other.uuid || other_order(uuid) == other.uuid;
  return macs.empty() || other.macs.empty() || !shared_mac(other).empty();
}

std::string Identity::shared_mac(const Identity& other) const {
  const auto found = std::ranges::find_first_of(macs, other.macs);
  return found == macs.end() ? std::string{} : *found;
}

Result<Identity> parse_identity(const boost::json::object& hello) {
  Identity identity;
  TRY(identity.arch, text_of(hello, "arch"));
  TRY(const auto serial, text_of(hello, "serial"));
  TRY(const auto uuid, text_of(hello, "uuid"));
  identity.serial = normalized(serial);
  identity.uuid = normalized(uuid);
  TRY(identity.macs, macs_of(hello));
  TRY(identity.ticket_from, text_of(hello, "ticket_from"));
  return identity;
}

std::optional<Refusal> mismatch(const Identity& machine, const ExpectedMachine& expected,
                                std::span<const ExpectedMachine> all, bool by_dhcp) {
  if (!expected.arch.empty() && !machine.arch.empty() && machine.arch != expected.arch)
    return Refusal{"wrong-arch", fmt::format("{}: the machine is {}, the order is for {}",
                                             expected.node, machine.arch, expected.arch)};
  auto refusal = difference(machine, expected);
  if (!refusal && !is_proven(machine, expected, by_dhcp))
    refusal = Refusal{"unproven", by_dhcp ? "its ticket came by DHCP, and it does not report the "
                                            "serial number or UUID that the inventory has"
                                          : "it reports neither a serial number nor a MAC address "
                                            "that the inventory has"};
  if (!refusal) return {};
  if (const auto* other = other_node(machine, expected, all))
    return Refusal{"swapped",
                   fmt::format("{}: the machine that booted is {} ({}). The two are swapped: check "
                               "their slots, their BMCs' cables and the inventory",
                               expected.node, other->node, refusal->text),
                   true};
  refusal->text = expected.node + ": " + refusal->text;
  return refusal;
}

}  // namespace cupel::netboot
