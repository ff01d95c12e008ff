#include "rehearsal/bmc_faults.h"

namespace cupel::rehearsal {

bool bmc_is_dead(std::span<const Fault> faults) {
  return find_fault(faults, FaultKind::bmc_dead) != nullptr;
}

bool bmc_is_hung(std::span<const Fault> faults) {
  return find_fault(faults, FaultKind::bmc_hung) != nullptr;
}

double bmc_clock_error(std::span<const Fault> faults) {
  constexpr double kYear = 365.25 * 86400;
  constexpr double kUsual = -20;  // years: the clock stands at the day on which the BMC was made
  const auto* fault = find_fault(faults, FaultKind::bmc_clock_wrong);
  return fault ? fault->amount.value_or(kUsual) * kYear : 0;
}

}  // namespace cupel::rehearsal
