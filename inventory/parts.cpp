#include "inventory/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::array<std::pair<PartKind, std::string_view>, 15> kWords{{
    {PartKind::gpu, "gpu"},
    {PartKind::cpu, "cpu"},
    {PartKind::dimm, "dimm"},
    {PartKind::nvme, "nvme"},
    {PartKind::drive, "drive"},
    {PartKind::psu, "psu"},
    {PartKind::fan, "fan"},
    {PartKind::hca, "hca"},
    {PartKind::nic, "nic"},
    {PartKind::dpu, "dpu"},
    {PartKind::switch_chip, "switch"},
    {PartKind::pcie, "pcie"},
    {PartKind::firmware, "firmware"},
    {PartKind::bmc, "bmc"},
    {PartKind::system, "system"},
}};

/// Domain, and the rest.
std::pair<std::string_view, std::string_view> parted(std::string_view address) {
  const auto bus = address.rfind(':');
  const auto domain = bus == address.npos || bus == 0 ? bus : address.rfind(':', bus - 1);
  if (bus == address.npos || domain == address.npos) return {{}, address};
  auto number = address.substr(0, domain);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return {number.empty() ? "0" : number, address.substr(domain + 1)};
}

}  // namespace

std::string_view to_string(PartKind kind) {
  for (const auto& [known, word] : kWords)
    if (known == kind) return word;
  __builtin_unreachable();
}

std::optional<PartKind> part_kind(std::string_view word) {
  for (const auto& [kind, known] : kWords)
    if (known == word) return kind;
  return std::nullopt;
}

bool same_pci(std::string_view left, std::string_view right) {
  const auto one = lower_case(trimmed(left)), other = lower_case(trimmed(right));
  const auto [one_domain, one_rest] = parted(one);
  const auto [other_domain, other_rest] = parted(other);
  const bool open = one_domain.empty() || other_domain.empty();
  return one_rest == other_rest && (open || one_domain == other_domain);
}

std::optional<std::string> written_pci(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef", kRest = "00:00.0";
  constexpr std::size_t kDomain = 4, kLongest = 8;
  const auto address = lower_case(trimmed(text));
  const auto [domain, rest] = parted(address);
  if (domain.empty() || domain.size() > kLongest || rest.size() != kRest.size())
    return std::nullopt;
  if (domain.find_first_not_of(kHex) != domain.npos) return std::nullopt;
  for (std::size_t i = 0; i < kRest.size(); ++i) {
    const bool digit = kHex.find(rest[i]) != kHex.npos;
    if (kRest[i] == '0' ? !digit : rest[i] != kRest[i]) return std::nullopt;
  }
  return fmt::format("{:0>{}}:{}", domain, kDomain, rest);
}

bool is_about(std::string_view name, std::string_view part) {
  if (part.empty() || name == part) return true;
  for (auto at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const auto end = at + part.size();
    const bool begins = at == 0 || name[at - 1] == '-';
    const bool ends = end == name.size() || name[end] == '-' || name[end] == '/';
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace cupel::inventory
