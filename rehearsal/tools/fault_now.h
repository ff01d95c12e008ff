#pragma once
// Which of a machine's faults are there at this moment.
#include "rehearsal/machine.h"

namespace cupel::rehearsal {

/// The first fault of that kind, and of that part, that is there now; nullptr if there is none. One
/// that comes only under a load counts as absent: who runs that load asks for it (gpu_work.h).
const Fault* fault_now(const Machine& machine, FaultKind kind, std::string_view part = {});

/// One that has begun, whether or not it is still there: what it broke stays broken.
const Fault* fault_begun(const Machine& machine, FaultKind kind, std::string_view part = {});

}  // namespace cupel::rehearsal
