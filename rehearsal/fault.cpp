#include "rehearsal/fault.h"

#include <algorithm>
#include <cmath>

namespace cupel::rehearsal {

std::string_view to_string(Needs needs) {
  switch (needs) {
    case Needs::nothing:
      return "";
    case Needs::burn_in:
      return "burn-in";
    case Needs::fabric:
      return "fabric";
    case Needs::firmware:
      return "firmware";
    case Needs::os:
      return "os";
    case Needs::sanitize:
      return "sanitize";
  }
  __builtin_unreachable();
}

bool Timing::at(VirtualTime now) const {
  if (now < after) return false;
  if (!lasts) return true;
  const auto since = (now - after).count();
  const auto within = every ? std::fmod(since, every->count()) : since;
  return within < lasts->count();
}

int Timing::begun(VirtualTime now) const {
  if (now < after) return 0;
  if (!every) return 1;
  return 1 + static_cast<int>((now - after) / *every);
}

std::optional<VirtualTime> Timing::next(VirtualTime now) const {
  if (now < after) return after;
  if (!lasts) return std::nullopt;
  if (!every) return at(now) ? std::optional{after + *lasts} : std::nullopt;
  const auto turn = after + (begun(now) - 1) * *every;
  return at(now) ? turn + *lasts : turn + *every;
}

const FaultRow& row_of(FaultKind kind) {
  return *std::ranges::find(fault_table(), kind, &FaultRow::kind);
}

const FaultRow* fault_row(std::string_view name) {
  const auto table = fault_table();
  const auto row = std::ranges::find(table, name, &FaultRow::name);
  return row == table.end() ? nullptr : &*row;
}

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const auto& row : fault_table()) names.emplace_back(row.name);
  return names;
}

const Fault* find_fault(std::span<const Fault> faults, FaultKind kind, std::string_view part) {
  for (const auto& fault : faults)
    if (fault.kind == kind && (part.empty() || fault.part == part)) return &fault;
  return nullptr;
}

}  // namespace cupel::rehearsal
