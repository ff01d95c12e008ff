#pragma once
// How long a kind of machine may take for what every run waits for.
#include <chrono>

namespace cupel::inventory {

struct Patience {
  std::chrono::seconds power_on{120};
  std::chrono::seconds post{900};  // power-on to SSH
  std::chrono::seconds bmc_restart{300};
};

}  // namespace cupel::inventory
