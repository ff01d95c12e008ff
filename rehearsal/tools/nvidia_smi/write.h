#pragma once
// The same rows, written as nvidia-smi writes them: text, XML, a table of all GPUs.
#include <span>
#include <string>

#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/nvidia_smi/rows.h"

namespace cupel::rehearsal {

/// "Tue Jul 14 08:12:53 2026"
std::string asctime_of(double seconds);
/// "2026/07/03 22:11:09.763"
std::string csv_time_of(double seconds);

/// `-q`; `sections`: what `-d` named, empty for all.
std::string listing(const DriverView& driver, std::span<const GpuView* const> gpus,
                    std::span<const Section> sections);
/// `-q -x`
std::string listing_xml(const DriverView& driver, std::span<const GpuView* const> gpus);
/// Without any option.
std::string summary(const DriverView& driver, std::span<const GpuView* const> gpus);

}  // namespace cupel::rehearsal
