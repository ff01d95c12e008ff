#include "orchestrator/report/nearest.h"

#include <gmock/gmock.h>

namespace cupel::report {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

burnin::Checked memory_of(const std::string& gpu, double gib) {
  return {.stage = "gpu-facts",
          .part = gpu,
          .measure = "gpu.memory.total",
          .quantity = {.value = gib, .at_least = 79, .unit = "GiB"},
          .met = burnin::Met::met};
}

TEST(Nearest, NamesPartsThatSayTheSameInOneRow) {
  const std::vector<burnin::Checked> checked{memory_of("gpu0", 79.6), memory_of("gpu1", 79.5),
                                             memory_of("gpu2", 79.6), memory_of("gpu3", 95)};

  EXPECT_THAT(nearest(checked, {}),
              ElementsAre(Field(&Nearest::part, "gpu1"), Field(&Nearest::part, "gpu[0,2]")));
}

TEST(Nearest, CountsRowsAndNotParts) {
  const std::vector<burnin::Checked> checked{memory_of("gpu0", 79.4), memory_of("gpu1", 79.4),
                                             memory_of("gpu2", 79.5), memory_of("gpu3", 79.6)};

  EXPECT_THAT(nearest(checked, {}, 2),
              ElementsAre(Field(&Nearest::part, "gpu[0-1]"), Field(&Nearest::part, "gpu2")));
}

TEST(Nearest, LeavesOutWhatIsSetToItsLimitOrIsNotMet) {
  auto failed = memory_of("gpu0", 78);
  failed.met = burnin::Met::failed;

  EXPECT_THAT(nearest(std::vector{failed, memory_of("gpu1", 79)}, {}), IsEmpty());
}

}  // namespace
}  // namespace cupel::report
