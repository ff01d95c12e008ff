#include "bmc/known_bmc.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::bmc {
namespace {

/// "AA-BB-CC-00-11-22" and "aa:bb:cc:00:11:22" are the same port.
std::string plain_mac(std::string_view mac) {
  std::string plain = lower_case(trimmed(mac));
  std::erase_if(plain, [](char c) { return c == ':' || c == '-' || c == '.'; });
  return plain;
}

bool holds_mac(std::span<const std::string> macs, std::string_view requested) {
  return std::ranges::any_of(
      macs, [&](const auto& mac) { return plain_mac(mac) == plain_mac(requested); });
}

bool same_text(std::string_view left, std::string_view right) {
  return lower_case(trimmed(left)) == lower_case(trimmed(right));
}

std::string described_answer(const Identity& seen) {
  return described({.serial = seen.serial, .uuid = seen.uuid, .macs = seen.bmc_macs});
}

}  // namespace

std::optional<std::string> identity_mismatch(const KnownBmc& known, const ExpectedIdentity& people,
                                             const Identity& seen) {
  const bool other_serial =
      !people.serial.empty() && !seen.serial.empty() && !same_text(people.serial, seen.serial);
  const bool other_mac =
      !people.mac.empty() && !seen.bmc_macs.empty() && !holds_mac(seen.bmc_macs, people.mac);
  if (other_serial || other_mac)
    return "the inventory says " +
           described({.serial = people.serial,
                      .macs = people.mac.empty() ? std::vector<std::string>{}
                                                 : std::vector{people.mac}}) +
           ", but what answers is " + described_answer(seen);
  if (!people.serial.empty() && same_text(people.serial, seen.serial)) return std::nullopt;
  if (!people.mac.empty() && holds_mac(seen.bmc_macs, people.mac)) return std::nullopt;
  bool compared = false;
  const auto same = [&compared](const std::string& left, const std::string& right) {
    if (left.empty() || right.empty()) return false;
    compared = true;
    return same_text(left, right);
  };
  bool agrees = same(known.serial, seen.serial);
  agrees |= same(known.uuid, seen.uuid);
  if (!known.macs.empty() && !seen.bmc_macs.empty()) {
    compared = true;
    agrees |= std::ranges::any_of(known.macs,
                                  [&](const auto& mac) { return holds_mac(seen.bmc_macs, mac); });
  }
  if (agrees || !compared) return std::nullopt;
  return "known as " + described(known) + ", but what answers is " + described_answer(seen);
}

KnownBmc learned(KnownBmc known, const Identity& seen) {
  if (!seen.serial.empty()) known.serial = seen.serial;
  if (!seen.uuid.empty()) known.uuid = seen.uuid;
  if (!seen.bmc_macs.empty()) known.macs = seen.bmc_macs;
  return known;
}

std::optional<inventory::Endpoint> moved_from(const std::optional<KnownBmc>& known,
                                              const inventory::Endpoint& inventory) {
  if (!known || !known->moved_to || *known->moved_to == inventory) return std::nullopt;
  return known->moved_to;
}

std::string described(const KnownBmc& known) {
  std::string text;
  const auto say = [&text](std::string_view what, const std::string& value) {
    if (value.empty()) return;
    text += std::string{text.empty() ? "" : ", "} + std::string{what} + " " + printable(value);
  };
  say("serial", known.serial);
  if (known.serial.empty()) say("UUID", known.uuid);
  for (const auto& mac : known.macs) say("BMC MAC", mac);
  return text.empty() ? "an unknown machine" : text;
}

}  // namespace cupel::bmc
