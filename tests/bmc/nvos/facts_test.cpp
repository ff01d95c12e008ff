// What a switch says of itself, in the forms that its versions answer with.
#include "bmc/nvos/facts.h"

#include "base/file.h"
#include "tests/bmc/nvos/fake_switch.h"
#include "tests/support/real_part.h"

namespace cupel::bmc {
namespace {

using nvos::App;
using nvos::Cluster;

json::value parsed(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *std::move(value) : json::value{};
}

/// A sample of the project's own, where it lies beside the checkout.
std::optional<json::value> sample(const std::string& name) {
  const auto text = read_file(SOURCE_DIR "/../shared/nvl72/samples/" + name, 1u << 20);
  if (!text) return std::nullopt;
  return parsed(*text);
}
#define CUPEL_NEED_SWITCH_SAMPLE(read, name)                                             \
  const auto read##_found = sample(name);                                                \
  CUPEL_NEEDS_REAL_PART(read##_found, "no sample " << (name) << " beside the checkout"); \
  const auto& read = *read##_found

TEST(SwitchCluster, IsReadWithItsConnectionAsAWordAndAsAnObject) {
  for (const auto* name : {"nvue-cluster.json", "nvue-cluster-nested.json"}) {
    CUPEL_NEED_SWITCH_SAMPLE(answer, name);
    const auto cluster = nvos::cluster_of(answer);
    ASSERT_TRUE(cluster);
    EXPECT_EQ(cluster->state, "enabled");
    EXPECT_EQ(cluster->connection, "up") << name;
  }
}

TEST(SwitchApp, IsReadWithBothSpellingsOfItsInformation) {
  for (const auto* key : {"addition-info", "additional-info"}) {
    const auto app = nvos::app_of(
        parsed(std::string{R"({"status": "ok", "reason": "", ")"} + key +
               R"(": "CONTROL_PLANE_STATE_CONFIGURED", "manager": {"state": "enabled"}})"));
    ASSERT_TRUE(app);
    EXPECT_EQ(app->control_plane, "CONTROL_PLANE_STATE_CONFIGURED") << key;
    EXPECT_EQ(app->manager, "enabled");
  }
}

TEST(SwitchPartitions, AreReadWithNumbersAsTexts) {
  CUPEL_NEED_SWITCH_SAMPLE(whole, "nvue-sdn-partition.json");
  CUPEL_NEED_SWITCH_SAMPLE(degraded, "nvue-sdn-partition-degraded.json");

  const auto one = nvos::partitions_of(whole), three = nvos::partitions_of(degraded);

  ASSERT_TRUE(one && three);
  ASSERT_EQ(one->size(), 1);
  EXPECT_EQ(one->front().id, nvos::kDefaultPartition);
  EXPECT_EQ(one->front().gpus, 72);
  EXPECT_EQ(one->front().health, "healthy");
  ASSERT_EQ(three->size(), 3);
  EXPECT_EQ((*three)[1].gpus, 35);
  EXPECT_EQ((*three)[1].health, "degraded");
  EXPECT_EQ((*three)[2].gpus, 0) << "none, which is not the same as not reported";
}

TEST(SwitchPartitions, HaveNoCountOfWhatIsNone) {
  const auto all = nvos::partitions_of(parsed(
      R"({"1": {"num-gpus": "many"}, "2": {"num-gpus": -1}, "3": {"num-gpus": 1.5}, "4": {}})"));

  ASSERT_TRUE(all);
  for (const auto& one : *all) EXPECT_EQ(one.gpus, std::nullopt) << one.id;
}

TEST(SwitchImages, AreReadAsTextsAndAsObjects) {
  CUPEL_NEED_SWITCH_SAMPLE(answer, "nvue-image.json");

  const auto images = nvos::images_of(answer);

  ASSERT_TRUE(images);
  EXPECT_EQ(images->running(), "nvos-25.02.2344");
  EXPECT_EQ(images->partition2, "nvos-25.02.4282");
  EXPECT_EQ(images->next, "partition2");
}

TEST(SwitchFirmware, IsReadByComponent) {
  CUPEL_NEED_SWITCH_SAMPLE(answer, "nvue-firmware.json");

  const auto versions = nvos::firmware_of(answer);

  ASSERT_TRUE(versions);
  EXPECT_EQ(versions->at("ASIC2"), "35.2014.4652");
  EXPECT_EQ(versions->size(), 8);
}

TEST(SwitchHealth, NamesTheLeak) {
  CUPEL_NEED_SWITCH_SAMPLE(good, "nvue-health-ok.json");
  CUPEL_NEED_SWITCH_SAMPLE(leaks, "nvue-health-leak.json");

  const auto well = nvos::health_of(good), wet = nvos::health_of(leaks);

  ASSERT_TRUE(well && wet);
  EXPECT_EQ(well->status, "OK");
  EXPECT_TRUE(well->issues.empty());
  EXPECT_EQ(wet->status, "Not OK");
  EXPECT_EQ(wet->issues.at("LEAKAGE-1"), "detected leakage");
}

TEST(SwitchPlace, IsReadAndEmptyWhereItIsNotKnown) {
  CUPEL_NEED_SWITCH_SAMPLE(answer, "nvue-chassis-location.json");

  const auto place = nvos::place_of(answer);

  EXPECT_EQ(place.chassis_serial, "1800000000001");
  EXPECT_EQ(place.slot, 11);
  EXPECT_EQ(place.tray, 0);
  EXPECT_EQ(place.topology, "GB200 NVL72");
  const auto unknown = nvos::place_of(parsed(
      R"({"chassis-sn": "N/A", "slot-number": "N/A", "tray-index": "N/A", "topology-id": "N/A"})"));
  EXPECT_EQ(unknown.chassis_serial, "");
  EXPECT_EQ(unknown.slot, std::nullopt);
  EXPECT_EQ(unknown.tray, std::nullopt);
  EXPECT_EQ(unknown.topology, "");
}

TEST(SwitchAnswers, OfAnotherShapeAreMalformedAndTooManyRowsToo) {
  for (const auto* answer : {"[]", "null", "7", R"("x")"}) {
    const auto value = parsed(answer);
    EXPECT_FALSE(nvos::cluster_of(value));
    EXPECT_FALSE(nvos::app_of(value));
    EXPECT_FALSE(nvos::partitions_of(value));
    EXPECT_FALSE(nvos::images_of(value));
    EXPECT_FALSE(nvos::firmware_of(value));
    EXPECT_FALSE(nvos::health_of(value));
    EXPECT_FALSE(nvos::leakage_of(value));
  }
  json::object rows;
  for (std::size_t i = 0; i <= nvos::kMostRows; ++i) rows[std::to_string(i)] = json::object{};
  EXPECT_EQ(nvos::partitions_of(rows).error().code, Code::kMalformed);
}

TEST(SwitchAnswers, AreStrippedOfControls) {
  const auto app =
      nvos::app_of(parsed("{\"status\": \"ok\\u001b[2J\", \"reason\": \"a\\u0007b\"}"));

  ASSERT_TRUE(app);
  EXPECT_EQ(app->status.find('\x1b'), std::string::npos);
  EXPECT_EQ(app->reason.find('\x07'), std::string::npos);
}

TEST(Controlling, NeedsClusterConnectionStatusAndConfiguration) {
  const Cluster on{.state = "enabled", .connection = "up"};
  const App good{.status = "ok", .control_plane = "CONTROL_PLANE_STATE_CONFIGURED"};
  const App unconfigured{.status = "ok", .control_plane = "CONTROL_PLANE_STATE_UNCONFIGURED"};
  const App stopped{.status = "not ok", .reason = "stopped by user"};

  EXPECT_THAT(nvos::not_controlling(on, good), ::testing::IsEmpty());
  EXPECT_THAT(nvos::not_controlling(on, unconfigured),
              ElementsAre("its control plane is CONTROL_PLANE_STATE_UNCONFIGURED"));
  EXPECT_THAT(nvos::not_controlling(on, stopped),
              ElementsAre("nmx-controller is not ok: stopped by user",
                          "its control plane is not reported"));
  EXPECT_THAT(
      nvos::not_controlling({}, std::nullopt),
      ElementsAre("the cluster is not reported", "its connection to the controller is not reported",
                  "it knows no nmx-controller"));
}

class SwitchFacts : public NvosSwitch {};

TEST_F(SwitchFacts, AreNoneOfAnAppThatTheSwitchKnowsNoNameOf) {
  const auto app = run(nvos::read_app(nvue_, "nmx-controller", soon()));

  ASSERT_TRUE(app) << app.error().what;
  EXPECT_FALSE(app->has_value());
}

TEST_F(SwitchFacts, AreAnErrorAndNotNoneWhereTheSwitchIsAway) {
  on("GET cluster/apps/nmx-controller", {{502, "{}"}});

  const auto app = run(nvos::read_app(nvue_, "nmx-controller", soon()));

  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().code, Code::kBusy);
}

}  // namespace
}  // namespace cupel::bmc
