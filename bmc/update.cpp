#include "bmc/update.h"

namespace cupel::bmc {

std::string_view to_string(UpdateProgress::State state) {
  using enum UpdateProgress::State;
  switch (state) {
    case running:
      return "running";
    case verified:
      return "verified";
    case needs_reset:
      return "needs reset";
    case done:
      return "done";
    case failed:
      return "failed";
    case gone:
      return "gone";
  }
  __builtin_unreachable();
}

}  // namespace cupel::bmc
