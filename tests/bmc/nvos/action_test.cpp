// Acts that take a while: their jobs, in every form that switches answer with.
#include "bmc/nvos/action.h"

#include "bmc/nvos/changes.h"
#include "tests/bmc/nvos/fake_switch.h"

namespace cupel::bmc {
namespace {

using nvos::ActionKind;
using nvos::ActionState;

json::value parsed(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *std::move(value) : json::value{};
}

TEST(ActionId, IsReadAsTextNumberAndObject) {
  for (const auto* answer : {R"("7")", "7", R"({"7": {"state": "running"}})",
                             R"({"action-id": "7"})", R"({"job-id": 7})", R"({"id": "7"})"}) {
    const auto id = nvos::action_id(parsed(answer));
    ASSERT_TRUE(id) << answer;
    EXPECT_EQ(*id, "7") << answer;
  }
  for (const auto* answer : {R"("../7")", "null", "[]", "{}", R"({"a": 1, "b": 2})"})
    EXPECT_FALSE(nvos::action_id(parsed(answer))) << answer;
}

struct Reading {
  const char* answer;
  ActionKind kind;
  ActionState::Is is;
};

TEST(ActionState, MeansWhatItsKindMakesOfIt) {
  using Is = ActionState::Is;
  using enum ActionKind;
  const Reading readings[] = {
      {R"({"state": "running", "percentage": 40})", plain, Is::under_way},
      {R"({"state": "start"})", plain, Is::under_way},
      {R"({"7": {"state": "action_running"}})", plain, Is::under_way},
      {R"({"state": "action_success"})", plain, Is::succeeded},
      {R"({"state": "action_error"})", plain, Is::failed},
      {R"({"state": "action_failed"})", plain, Is::failed},
      {R"({"state": "never heard of"})", plain, Is::under_way},
      {R"({"state": "action_error", "status": "System will be rebooted"})", plain, Is::failed},
      {R"({"state": "action_error", "status": "System will be rebooted"})", image, Is::succeeded},
      {R"({"state": "action_running", "detail": "Rebooting"})", image, Is::succeeded},
      {R"({"state": "action_error", "status": "no space"})", image, Is::failed},
      {R"({"state": "action_running", "status": "copying"})", image, Is::under_way},
      {R"({"state": "action_error", "percentage": 100})", firmware, Is::succeeded},
      {R"({"state": "action_error", "percent": "100"})", firmware, Is::succeeded},
      {R"({"state": "action_error", "percentage": 90})", firmware, Is::failed},
      {R"({"state": "action_error", "percentage": 100, "status": "reboot needed"})", firmware,
       Is::under_way},
  };
  for (const auto& each : readings)
    EXPECT_EQ(nvos::action_state(parsed(each.answer), "7", each.kind).is, each.is) << each.answer;
}

class Acts : public NvosSwitch {
 protected:
  static constexpr const char* kStart = "POST cluster/apps/nmx-controller";
};

TEST_F(Acts, AreBegunOnceAndFollowedToTheirEnd) {
  on(kStart, "7");
  on("GET action/7", {{200, R"({"state": "running"})"}, {200, R"({"state": "action_success"})"}});

  const auto end = run(nvos::start_app(nvue_, "nmx-controller", {kLook}, soon()));

  ASSERT_TRUE(end) << end.error().what;
  EXPECT_EQ(end->job, "7");
  EXPECT_FALSE(end->reboots);
  EXPECT_THAT(changes(), ElementsAre(std::string{kStart} + R"( {"@start":{"state":"start"}})"));
}

TEST_F(Acts, FailWithTheSwitchesWords) {
  on(kStart, "7");
  on("GET action/7", R"({"state": "action_error", "status": "x", "issue": [{"message": "why"}]})");

  const auto end = run(nvos::start_app(nvue_, "nmx-controller", {kLook}, soon()));

  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::kFailed);
  EXPECT_THAT(end.error().what, HasSubstr("ended as action_error: x: why"));
}

TEST_F(Acts, MayHaveBegunWhereTheirAnswerIsLost) {
  server_.misbehave({.method = "POST", .kind = test::Habit::Kind::act_and_reset});

  const auto end = run(nvos::stop_app(nvue_, "nmx-controller", {kLook}, soon()));

  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().what, HasSubstr("it may have begun"));
  EXPECT_THAT(server_.asked().lines, ElementsAre("POST /nvue_v1/cluster/apps/nmx-controller"))
      << "never twice";
}

TEST_F(Acts, ThatInstallAnImageEndWhereTheSwitchGoesAwayOrForgetsTheJob) {
  for (const int status : {502, 404}) {
    on("POST system/image/files/nvos.bin", R"({"9": {"state": "start"}})");
    on("GET action/9", {{200, R"({"state": "action_running"})"}, {status, "{}"}});

    const auto end = run(nvos::install_image(nvue_, "nvos.bin", true, {kLook}, soon()));

    ASSERT_TRUE(end) << end.error().what;
    EXPECT_TRUE(end->reboots) << "whether it worked shows when it is back";
  }
  EXPECT_THAT(changes().front(), HasSubstr(R"("parameters":{"force":true,"reboot":true})"));
}

TEST_F(Acts, ThatInstallNothingFailWhereTheirJobIsUnknown) {
  on(kStart, "7");

  const auto end = run(nvos::start_app(nvue_, "nmx-controller", {kLook}, soon()));

  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::kNotFound);
}

TEST_F(Acts, OfFirmwareGoOnAfterAnErrorThatTellsOfAReboot) {
  on("POST platform/firmware/BMC/files/f%2Fx.bin", R"("3")");
  on("GET action/3", {{200, R"({"state": "action_error", "status": "reboot", "percentage": 100})"},
                      {200, R"({"state": "action_error", "percentage": 100})"}});

  const auto end = run(nvos::install_firmware(nvue_, "BMC", "f/x.bin", {kLook}, soon()));

  EXPECT_TRUE(end) << end.error().what;
  EXPECT_EQ(asked("GET action/3"), 2);
}

}  // namespace
}  // namespace cupel::bmc
