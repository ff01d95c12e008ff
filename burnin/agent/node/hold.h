#pragma once
// One block device for one command alone, while that command runs.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {

/// hold --device PATH --serial S [--root DIR] -- COMMAND [ARGUMENT...]
/// Opens the block device exclusively (O_EXCL: it fails where a file system, an array, a mapping or
/// another holder has it, and until it is closed none of these can take it), compares the serial
/// number that the kernel reports of the device that was opened, and becomes the command, which
/// inherits the open device. 2: the device is in use, is none, or has another serial number; the
/// command was not run. Source: open(2), O_EXCL of block devices.
int hold_device(Arguments arguments);

}  // namespace cupel::agent
