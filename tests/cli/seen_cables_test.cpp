// How the newest runs of a store saw the cables of nodes.
#include "orchestrator/cli/seen_cables.h"

#include <gmock/gmock.h>

#include "tests/orchestrator/report_fixture.h"

namespace cupel::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SeenCables : public report::Report {
 protected:
  void compared(const std::string& node, std::vector<burnin::Measurement> numbers,
                std::vector<inventory::Unknown> unknown = {}) {
    burnin::Findings found{.measurements = std::move(numbers)};
    found.unknown = std::move(unknown);
    end(node, "fabric-cables", record::to_json(found));
  }
  void begin_next_run() {
    add({engine::EventKind::run_ended});
    store::Run run;
    run.playbook = "fabric";
    run.nodes = {"a01-n01", "a01-n02"};
    id = *store->begin_run(run);
  }
  /// "mlx5_0 planned", "mlx5_1 it is elsewhere".
  std::vector<std::string> seen(const std::string& node) {
    std::vector<std::string> all;
    const auto known = seen_cables(*store, {"a01-n01", "a01-n02"}).value();
    const auto found = known.find(node);
    if (found == known.end()) return all;
    for (const auto& [port, cable] : found->second)
      all.push_back(port + " " + (cable.as_planned ? "planned" : cable.words));
    return all;
  }
};

burnin::Measurement wrong(const std::string& hca, double value, const std::string& words = "") {
  return {"fabric.cable.wrong", hca, value, "count", words};
}

TEST_F(SeenCables, AreThoseOfTheNewestRunThatComparedThem) {
  compared("a01-n01", {wrong("mlx5_0", 1, "it is elsewhere"), wrong("mlx5_1", 0)});
  compared("a01-n02", {wrong("mlx5_0", 0)});
  begin_next_run();
  compared("a01-n01", {wrong("mlx5_0", 0), wrong("mlx5_1", 1, "it is elsewhere")});

  EXPECT_THAT(seen("a01-n01"), ElementsAre("mlx5_0 planned", "mlx5_1 it is elsewhere"));
  EXPECT_THAT(seen("a01-n02"), ElementsAre("mlx5_0 planned"));
}

TEST_F(SeenCables, AreNoneOfWhatCouldNotBeDecided) {
  compared("a01-n01",
           {wrong("mlx5_0", 0), wrong("mlx5_1", 0), {"fabric.undecided", "mlx5_1", 1, "count"}});
  compared("a01-n02", {wrong("mlx5_0", 0)}, {{"fabric.cable.wrong", "ibnetdiscover", "cut"}});

  EXPECT_THAT(seen("a01-n01"), ElementsAre("mlx5_0 planned"));
  EXPECT_THAT(seen("a01-n02"), IsEmpty());
}

TEST_F(SeenCables, AreNoneWhereNoRunHasLooked) {
  end("a01-n01", "gpu-facts", {});

  EXPECT_THAT(seen("a01-n01"), IsEmpty());
}

}  // namespace
}  // namespace cupel::cli
