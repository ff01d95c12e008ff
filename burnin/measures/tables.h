#pragma once
// The rows of measure.h, a table for each subject.
#include <span>

#include "burnin/measures/measure.h"

namespace cupel::burnin {

std::span<const MeasureRow> host_measure_rows();  // CPUs, memory, PCIe, drives, ports
std::span<const MeasureRow>
gpu_measure_rows();  // GPUs and NVLinks as they are, and as they are watched
std::span<const MeasureRow> burn_measure_rows();     // what cupel-burn measures
std::span<const MeasureRow> tool_measure_rows();     // what users' tools measure
std::span<const MeasureRow> log_measure_rows();      // the kernel's log and the BMC's
std::span<const MeasureRow> board_measure_rows();    // heat, power supplies, settings
std::span<const MeasureRow> network_measure_rows();  // between nodes

}  // namespace cupel::burnin
