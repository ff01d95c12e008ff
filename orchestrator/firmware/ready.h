#pragma once
// Whether a machine may be written at all, asked right before the first push.
#include "orchestrator/firmware/updater.h"

namespace cupel::firmware {

/// Nothing where its BMC is idle, and the image not larger than it takes.
std::optional<UpdateEnd> why_not_this(const bmc::UpdateService& service,
                                      const bmc::UpdateOrder& order);

/// Nothing where the BMC's clock is right (images and certificates have dates), and neither it nor
/// a power supply is sick, and supplies are as redundant as they should be. May take minutes.
/// Errors: of a BMC that cannot be asked.
Task<Result<std::optional<UpdateEnd>>> why_not_now(bmc::Bmc& bmc,
                                                   std::chrono::seconds clock_may_be_off,
                                                   Deadline deadline);

}  // namespace cupel::firmware
