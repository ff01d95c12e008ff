#include "burnin/node/dimms.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "burnin/script.h"
#include "inventory/identity.h"

namespace cupel::burnin {
namespace {

using inventory::Part;
using inventory::PartKind;

constexpr std::string_view kSource = "dmidecode -t 17";
constexpr std::size_t kMostDimms = 1024;

using Block = std::map<std::string, std::string, std::less<>>;

/// "Key: value" lines below "Memory Device", up to the next handle.
std::vector<Block> memory_devices(std::string_view text) {
  std::vector<Block> blocks;
  bool inside = false;
  for (const auto line : lines(text)) {
    const auto word = trimmed(line);
    if (word == "Memory Device") {
      inside = blocks.size() < kMostDimms;
      if (inside) blocks.emplace_back();
      continue;
    }
    if (word.empty() || word.starts_with("Handle ")) inside = false;
    const auto colon = word.find(':');
    if (!inside || colon == word.npos) continue;
    blocks.back().emplace(script::clean(word.substr(0, colon)),
                          script::clean(word.substr(colon + 1)));
  }
  return blocks;
}

/// What vendors write where nothing is known stays empty.
std::string reported(const Block& block, std::string_view key) {
  constexpr std::array<std::string_view, 8> kNothing{
      "not specified", "unknown",      "none",        "no dimm",
      "n/a",           "not provided", "<bad index>", "<out of spec>"};
  const auto found = block.find(key);
  if (found == block.end()) return {};
  const bool nothing = std::ranges::find(kNothing, lower_case(found->second)) != kNothing.end();
  return nothing ? std::string{} : found->second;
}

/// "64 GB", "65536 MB": dmidecode's units are binary.
std::optional<double> size_of(const Block& block) {
  const auto text = reported(block, "Size");
  const auto cells = words(text);
  if (cells.size() != 2) return std::nullopt;
  const auto amount = script::finite(cells[0]);
  constexpr std::array<std::string_view, 5> kUnits{"bytes", "kB", "MB", "GB", "TB"};
  const auto unit = std::ranges::find(kUnits, cells[1]);
  if (!amount || *amount <= 0 || unit == kUnits.end()) return std::nullopt;
  double factor = 1;
  for (auto step = kUnits.begin(); step != unit; ++step) factor *= 1024;
  return *amount * factor;
}

void add_speed(const Block& block, const std::string& name, Findings& findings) {
  auto speed = reported(block, "Configured Memory Speed");
  if (speed.empty()) speed = reported(block, "Configured Clock Speed");
  const auto cells = words(speed);
  const auto value = cells.size() == 2 ? script::finite(cells[0]) : std::nullopt;
  if (value && (cells[1] == "MT/s" || cells[1] == "MHz"))
    findings.measurements.push_back({"dimm.speed", name, *value, "MT/s"});
}

void add_dimm(const Block& block, const std::string& slot, Findings& findings) {
  if (block.contains("Size") && reported(block, "Size").starts_with("No Module")) return;
  Part dimm;
  dimm.kind = PartKind::dimm;
  dimm.slot = slot;
  dimm.name = dimm_name(dimm.slot);
  dimm.manufacturer = reported(block, "Manufacturer");
  dimm.serial = inventory::reported_serial(reported(block, "Serial Number"));
  dimm.part_number = reported(block, "Part Number");
  dimm.model = reported(block, "Type");
  dimm.size_bytes = size_of(block);
  dimm.source = kSource;
  if (dimm.slot.empty() || !dimm.size_bytes) {
    inventory::add_partial(findings.partial, {PartKind::dimm, std::string{kSource},
                                              "a DIMM is listed without a size", false});
    findings.unknown.push_back({dimm.slot.empty() ? "a DIMM" : "size of " + dimm.name,
                                std::string{kSource}, "not reported"});
    return;
  }
  add_speed(block, dimm.name, findings);
  findings.parts.push_back(std::move(dimm));
}

/// A table that nobody can read, as in a virtual machine without one, is no noise on stderr: what
/// dmidecode said last is why.
std::string why_no_dimms(std::string_view text) {
  constexpr std::string_view kMark = "cupel-dimms: ";
  std::string_view last;
  for (const auto line : lines(text)) {
    if (!line.starts_with(kMark)) {
      if (!trimmed(line).empty()) last = line;
      continue;
    }
    const auto why = script::clean(line.substr(kMark.size()));
    const bool reported = why == "not readable" && !last.empty();
    return reported ? why + ": " + script::clean(last) : why;
  }
  return "dmidecode lists none";
}

}  // namespace

std::vector<std::string> dimm_slots(std::span<const DimmPlace> places) {
  std::map<std::string, int, std::less<>> of_locator, of_slot;
  for (const auto& place : places) ++of_locator[place.locator];
  std::vector<std::string> slots;
  for (const auto& [locator, bank] : places) {
    const bool shared = !locator.empty() && !bank.empty() && of_locator[locator] > 1;
    slots.push_back(shared ? bank + " " + locator : locator);
    const int same = ++of_slot[slots.back()];
    if (same > 1 && !locator.empty()) slots.back() += " #" + std::to_string(same);
  }
  return slots;
}

std::string dimm_name(std::string locator) {
  if (lower_case(locator).starts_with("dimm ")) locator.erase(0, 5);
  return "dimm " + locator;
}

void add_dimms(std::string_view text, Findings& findings) {
  const auto blocks = memory_devices(text);
  std::vector<DimmPlace> places;
  for (const auto& block : blocks)
    places.push_back({reported(block, "Locator"), reported(block, "Bank Locator")});
  const auto slots = dimm_slots(places);
  if (blocks.empty())
    findings.unknown.push_back({"DIMMs", std::string{kSource}, why_no_dimms(text)});
  for (std::size_t i = 0; i < blocks.size(); ++i) add_dimm(blocks[i], slots[i], findings);
}

void compare_dimm_speeds(Findings& findings) {
  double fastest = 0;
  std::vector<Measurement> speeds;
  for (const auto& each : findings.measurements)
    if (each.name == "dimm.speed" && !each.part.empty() && each.value > 0) speeds.push_back(each);
  for (const auto& each : speeds) fastest = std::max(fastest, each.value);
  for (const auto& each : speeds)
    findings.measurements.push_back(
        {"dimm.speed.below_fastest", each.part, 100 * (1 - each.value / fastest), "%"});
}

}  // namespace cupel::burnin
