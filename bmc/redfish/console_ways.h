#pragma once
// The ways to the machine's serial console, as the BMC tells them; opening one is another matter.
// Source: DSP0268, ComputerSystem.SerialConsole, and the older Manager.SerialConsole.
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// None is an answer too: then nothing is reported.
Task<Result<std::vector<ConsoleWay>>> read_console_ways(Client& client, Layout layout,
                                                        Document system, Deadline deadline);

}  // namespace cupel::bmc::redfish
