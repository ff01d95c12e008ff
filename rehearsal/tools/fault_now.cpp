#include "rehearsal/tools/fault_now.h"

namespace cupel::rehearsal {

const Fault* fault_now(const Machine& machine, FaultKind kind, std::string_view part) {
  for (const auto& fault : machine.faults()) {
    const bool this_one = fault.kind == kind && (part.empty() || fault.part == part);
    if (this_one && fault.timing.under.empty()) return &fault;
  }
  return nullptr;
}

const Fault* fault_begun(const Machine& machine, FaultKind kind, std::string_view part) {
  const auto now = machine.clock().elapsed();
  for (const auto& fault : machine.planted()) {
    const bool this_one = fault.kind == kind && (part.empty() || fault.part == part);
    if (this_one && fault.timing.under.empty() && fault.timing.begun(now) > 0) return &fault;
  }
  return nullptr;
}

}  // namespace cupel::rehearsal
