// What a stage sampled, and its node's BMC meanwhile, is kept with what the step found.
#include <gmock/gmock.h>

#include "orchestrator/record/series_codec.h"
#include "orchestrator/steps/stage_output.h"
#include "tests/support/captures.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class StageSeries : public ::testing::Test {
 protected:
  StageSeries() {
    node.name = "a01-n01";
    node.profile = "any";
    inventory.profiles["any"].name = "any";
    planned.kind = playbooks::StepKind::stage;
    planned.name = "watch";
    planned.job = burnin::Job{"", 1s, 3860s};
    environment.board = board;
  }

  Result<engine::StepEnd> read(std::string text) {
    const engine::StepRequest request{
        1, node, {}, planned, 1, {}, Deadline::in(1h), stop, {}, [](const std::string&) {}};
    return read_output(environment, request,
                       {.output = {.text = std::move(text), .errors = "", .exit_status = 0}});
  }

  Result<record::KeptSeries> kept_by(const engine::StepEnd& end) const {
    const auto& hash = end.found.at("series").at("evidence").as_string();
    TRY(const auto text, store->evidence(std::string_view{hash}));
    return record::series_from(text);
  }

  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
  inventory::Node node{};
  inventory::Inventory inventory{};
  playbooks::PlannedStep planned{};
  const engine::Stop stop = engine::Stop::no;
  std::shared_ptr<BmcBoard> board = std::make_shared<BmcBoard>();
  StepEnvironment environment{inventory, *store, {}, {}, nullptr};
};

constexpr std::string_view kWatched = R"({"kind":"watch","places":{}}
{"kind":"sample","seconds":0,"parts":{"gpu0":{"power":600}}}
{"kind":"sample","seconds":1,"parts":{"gpu0":{"power":700}}}
{"kind":"summary","complete":true,"values":[],"counters":[],"throttled":[],"messages":[]}
)";

TEST_F(StageSeries, AreKeptWithThoseOfTheBmc) {
  bmc::Sensors sensors;
  sensors.watts = 9000;
  SensorSeries of_bmc{{}};
  of_bmc.take(sensors, SensorSeries::Time{60s});
  board->sensors.insert_or_assign(node.name, of_bmc);

  const auto end = read(std::string{kWatched});

  ASSERT_TRUE(end) << end.error().what;
  EXPECT_EQ(end->outcome, engine::Outcome::done) << end->detail;
  const auto kept = kept_by(*end);
  ASSERT_TRUE(kept) << kept.error().what;
  ASSERT_EQ(kept->series.size(), 2);
  EXPECT_THAT(kept->series.at({"gpu0", "gpu.power", "W"}).spans,
              ElementsAre(burnin::SeriesSpan{0, 600, 650, 700, 2}));
  EXPECT_THAT(kept->series.at({"", "bmc.power", "W"}).spans,
              ElementsAre(burnin::SeriesSpan{60, 9000, 9000, 9000, 1}));
  EXPECT_TRUE(board->sensors.empty());
}

TEST_F(StageSeries, AreKeptOfAStageThatEndedBeforeItsTime) {
  const auto end = read(std::string{kWatched.substr(0, kWatched.find(R"({"kind":"summary")"))});

  ASSERT_TRUE(end) << end.error().what;
  EXPECT_EQ(end->outcome, engine::Outcome::reject);
  EXPECT_EQ(kept_by(*end).value().series.size(), 1);
}

TEST_F(StageSeries, AreNoneWhereNothingWasSampled) {
  EXPECT_FALSE(read("").value().found.contains("series"));
  node.profile = "unknown";
  planned.name = "psu";
  planned.job->script = "x";
  const engine::StepRequest request{
      1, node, {}, planned, 1, {}, Deadline::in(1h), stop, {}, [](const std::string&) {}};
  const auto end =
      keep_output(environment, request, {.output = {.text = "", .errors = "", .exit_status = 124}});
  EXPECT_FALSE(end.value().found.contains("series"));
}

}  // namespace
}  // namespace cupel::steps
