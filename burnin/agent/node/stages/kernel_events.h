#pragma once
// What the kernel's log has of GPUs and NVSwitches. Source: NVIDIA, "XID Errors"; the driver of
// NVSwitches writes "SXid".
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// The latest Xids and SXids of `dmesg`, as evidence of that name, and as text. A log that may not
/// be read has another status than 0, and no text.
Work<std::string> report_kernel_events(Node& node, std::string name, std::chrono::seconds limit);

/// The time of the log's last line, as the kernel writes it: "[   12.500000". Empty where the log
/// may not be read.
Work<std::string> last_kernel_time(Node& node, std::chrono::seconds limit);

}  // namespace cupel::agent
