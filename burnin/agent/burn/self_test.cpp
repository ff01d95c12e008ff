#include "burnin/agent/burn/self_test.h"

namespace cupel::burn {

Outcome<> tell_self_test(Report& report, const Stop& stop, std::string_view planted,
                         std::uint64_t found, int tried, int asked, std::string_view detail) {
  if (tried > 0) report.self_test(planted, found, static_cast<std::uint64_t>(tried), detail);
  if (tried == asked || stop.by_signal() || stop.given_up()) return done();
  return Failure{.code = "refused",
                 .message = "self-test " + std::string{planted} + ": the time was over after " +
                            std::to_string(tried) + " of " + std::to_string(asked) +
                            ": give it more --seconds"};
}

}  // namespace cupel::burn
