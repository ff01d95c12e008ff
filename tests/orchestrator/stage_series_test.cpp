// What a stage sampled, and its node's BMC meanwhile, is kept with what the step found.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/series_codec.h"
#include "orchestrator/steps/stage_output.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
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

/// As many numbers as a hostile node can send: 500 GPUs whose values all differ.
std::string watched_without_end() {
  std::string text = "{\"kind\":\"watch\",\"places\":{}}\n";
  for (int second = 0; second < 1000; second += 10) {
    text += fmt::format("{{\"kind\":\"sample\",\"seconds\":{},\"parts\":{{", second);
    for (int gpu = 0; gpu < 500; ++gpu)
      text += fmt::format("{}\"gpu{}\":{{\"power\":{}.{:03}}}", gpu == 0 ? "" : ",", gpu,
                          100 + (gpu * 37 + second * 7) % 900, (gpu * 13 + second * 11) % 1000);
    text += "}}\n";
  }
  return text;
}

TEST_F(StageSeries, OfAllStagesOfANodeHaveOneLimit) {
  const auto text = watched_without_end();
  std::size_t bytes = 0, smallest = record::kMostSeriesBytes;
  for (int stage = 0; stage < 30; ++stage) {
    const auto end = read(text);
    ASSERT_TRUE(end) << end.error().what;
    const auto& hash = end->found.at("series").at("evidence").as_string();
    const auto kept = store->evidence(std::string_view{hash});
    ASSERT_TRUE(kept);
    bytes += kept->size();
    smallest = std::min(smallest, kept->size());
    EXPECT_TRUE(record::series_from(*kept)) << *kept;
  }
  EXPECT_GT(bytes, 1'000'000u);
  EXPECT_LT(bytes, 2'000'000u);
  EXPECT_LT(smallest, 1000u);

  node.name = "a01-n02";  // has its own
  const auto other = read(text);
  ASSERT_TRUE(other);
  EXPECT_GT(kept_by(*other).value().series.size(), 100u);
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
