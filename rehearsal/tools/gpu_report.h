#pragma once
// The fields of a GPU that the fault gpu-report sets, under their names in `nvidia-smi --query-gpu`
// (of its XML where that has none). They are set in the view of the driver, so that every tool of
// the node reports the same.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/fault.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {

inline constexpr std::string_view kCount = "a number", kNameOfGpu = "the name of a GPU";

struct GpuReportField {
  std::string_view name;
  std::string_view takes;  // kCount, kNameOfGpu, or its words: "Enabled or Disabled"
  void (*set)(GpuView& gpu, const std::string& value);
};

/// nullptr if there is no field of that name.
const GpuReportField* gpu_report_field(std::string_view name);
std::vector<std::string> gpu_report_fields();
/// Whether that field takes this value; of kNameOfGpu the caller knows which GPUs there are.
bool takes(const GpuReportField& field, std::string_view value);

/// Sets in `gpu` what its faults of this kind say; `hardware` is the node's.
void apply_reports(GpuView& gpu, std::span<const Fault> faults, const Hardware& hardware);

}  // namespace cupel::rehearsal
