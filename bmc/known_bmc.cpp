#include "bmc/known_bmc.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace cupel::bmc {
namespace {

/// "AA-BB-CC-00-11-22" and "aa:bb:cc:00:11:22" are the same port.
std::string plain_mac(std::string_view mac) {
  std::string plain = lower_case(trimmed(mac));
  std::erase_if(plain, [](char c) { return c == ':' || c == '-' || c == '.'; });
  return plain;
}

bool holds_mac(std::span<const std::string> macs, std::string_view wanted) {
  return std::ranges::any_of(macs,
                             [&](const auto& mac) { return plain_mac(mac) == plain_mac(wanted); });
}

bool same_text(std::string_view left, std::string_view right) {
  return lower_case(trimmed(left)) == lower_case(trimmed(right));
}

std::string said_by(const Identity& seen) {
  return described({.serial = seen.serial, .uuid = seen.uuid, .macs = seen.bmc_macs});
}

std::optional<std::uint32_t> ipv4(std::string_view text) {
  const auto pieces = split(text, '.');
  if (pieces.size() != 4) return std::nullopt;
  std::uint32_t address = 0;
  for (const auto piece : pieces) {
    const auto byte = number<std::uint8_t>(piece);
    if (!byte) return std::nullopt;
    address = address << 8 | *byte;
  }
  return address;
}

std::string text_of(std::uint32_t address) {
  std::string text;
  for (const int shift : {24, 16, 8, 0})
    text += (text.empty() ? "" : ".") + std::to_string(address >> shift & 0xff);
  return text;
}

struct Range {
  std::uint32_t first = 0, last = 0;
};

/// Without the network's own address and the broadcast one, where it has these (RFC 3021 leaves
/// them out of a /31).
Result<Range> hosts_of(std::string_view network) {
  const auto slash = network.find('/');
  const auto base = ipv4(network.substr(0, slash));
  const auto bits =
      slash == network.npos ? std::optional{32} : number<int>(network.substr(slash + 1));
  if (!base || !bits || *bits < 8 || *bits > 32)
    return Error{Code::kInvalid, printable(network) + " is no IPv4 network such as 10.0.1.0/24"};
  const auto size = std::uint64_t{1} << (32 - *bits);
  const auto first = static_cast<std::uint32_t>(*base & ~(size - 1));
  const auto last = static_cast<std::uint32_t>(first + size - 1);
  return *bits >= 31 ? Range{first, last} : Range{first + 1, last - 1};
}

}  // namespace

std::optional<std::string> stranger(const KnownBmc& known, const WrittenDown& people,
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
           ", but what answers is " + said_by(seen);
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
  return "known as " + described(known) + ", but what answers is " + said_by(seen);
}

KnownBmc learned(KnownBmc known, const Identity& seen) {
  if (!seen.serial.empty()) known.serial = seen.serial;
  if (!seen.uuid.empty()) known.uuid = seen.uuid;
  if (!seen.bmc_macs.empty()) known.macs = seen.bmc_macs;
  return known;
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
  return text.empty() ? "somebody who does not tell" : text;
}

Result<std::vector<std::string>> addresses_in(std::span<const std::string> networks) {
  std::set<std::uint32_t> all;
  for (const auto& network : networks) {
    TRY(const Range range, hosts_of(network));
    if (all.size() + (range.last - range.first) + 1 > kMostAddresses)
      return Error{Code::kInvalid, "the networks in which to look for BMCs have more than " +
                                       std::to_string(kMostAddresses) + " addresses (a /20)"};
    for (auto i = std::uint64_t{range.first}; i <= range.last; ++i)
      all.insert(static_cast<std::uint32_t>(i));
  }
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const auto address : all) texts.push_back(text_of(address));
  return texts;
}

}  // namespace cupel::bmc
