#include "burnin/gpu/burn_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "burnin/gpu/gpu_places.h"
#include "burnin/script.h"
#include "inventory/pci_address.h"

namespace cupel::burnin {
namespace {

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (const auto cell : split(line, ',')) cells.push_back(script::clean(cell));
  return cells;
}

bool is_address(std::string_view text) {
  return text.size() >= 7 && text.size() <= 16 && text.contains(':') && text.contains('.') &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos;
}

}  // namespace

GpuNames::GpuNames(std::span<const std::string> places, std::vector<std::string> addresses)
    : places_{places} {
  const bool placed = std::ranges::any_of(
      addresses, [&](const auto& at) { return gpu_at(at, places).has_value(); });
  if (placed) return;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    numbered_.emplace_back(addresses[i], fmt::format("gpu{}", i));
}

std::string GpuNames::name_at(std::string_view address) const {
  for (const auto& [at, name] : numbered_)
    if (inventory::same_pci(address, at)) return name;
  return gpu_at(address, places_).value_or(fmt::format("gpu at {}", address));
}

std::vector<std::vector<std::string>> rows_of(const BurnOutput& burn, std::string_view section,
                                              std::size_t columns) {
  constexpr std::size_t kMostRows = 200000;
  std::vector<std::vector<std::string>> rows;
  for (const auto line : burn.lines_of(section)) {
    auto cells = cells_of(line);
    if (cells.size() >= columns && is_address(cells[0]) && rows.size() < kMostRows)
      rows.push_back(std::move(cells));
  }
  return rows;
}

GpuNames names_of(const inventory::Profile& profile, const BurnOutput& burn,
                  const BurnReport& run) {
  std::vector<std::string> addresses;
  for (auto& row : rows_of(burn, "gpus", 2)) addresses.push_back(row[0]);
  if (addresses.empty())
    for (const auto& gpu : run.gpus) addresses.push_back(gpu.pci);
  return {gpu_places(profile), std::move(addresses)};
}

std::optional<std::uint64_t> bits_of(std::string_view text) {
  if (!text.starts_with("0x") || text.size() < 3 || text.size() > 18) return std::nullopt;
  std::uint64_t bits = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + 2, end, bits, 16);
  return read.ec == std::errc{} && read.ptr == end ? std::optional{bits} : std::nullopt;
}

}  // namespace cupel::burnin
