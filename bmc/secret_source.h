#pragma once
// Where a BMC's password comes from. Not where it is kept: that is the inventory's.
#include <functional>
#include <string>

#include "base/task.h"

namespace cupel::bmc {

/// Asked each time that it is needed: it is not kept longer than that.
using SecretSource = std::function<Task<Result<std::string>>()>;

}  // namespace cupel::bmc
