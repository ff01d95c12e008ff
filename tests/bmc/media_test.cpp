// Virtual media as BMCs have them: each test is one way in which one of them differs.
#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr const char* kSlot = "/redfish/v1/Managers/1/VirtualMedia/CD";
constexpr const char* kUrl = "https://10.0.0.1/rescue.iso";

class Media : public Acting {
 protected:
  void SetUp() override {
    Acting::SetUp();
    manage({{"VirtualMedia", link("/redfish/v1/Managers/1/VirtualMedia")}});
    server.set("/redfish/v1/Managers/1/VirtualMedia", collection({kSlot}));
    server.set(kSlot, slot({}));
  }
  /// A slot as DSP0268 has it, with these properties instead.
  static json::value slot(const json::object& but, const std::string& uri = kSlot) {
    json::object body{
        {"Id", "CD"},
        {"MediaTypes", {"CD", "DVD"}},
        {"Image", nullptr},
        {"Inserted", false},
        {"ConnectedVia", "NotConnected"},
        {"Actions",
         {{"#VirtualMedia.InsertMedia", {{"target", uri + "/Actions/VirtualMedia.InsertMedia"}}},
          {"#VirtualMedia.EjectMedia", {{"target", uri + "/Actions/VirtualMedia.EjectMedia"}}}}}};
    for (const auto& entry : but) body[entry.key()] = entry.value();
    return body;
  }
  Result<Protocol> insert(const std::string& url = kUrl) {
    const auto bmc = open();
    auto done = run(bmc->media.insert(url, soon()));
    run(bmc->log_out());
    return done;
  }
  Result<Protocol> eject() {
    const auto bmc = open();
    auto done = run(bmc->media.eject(soon()));
    run(bmc->log_out());
    return done;
  }
  std::vector<MediaSlot> slots() {
    const auto bmc = open();
    auto reported = run(bmc->media.slots(soon()));
    run(bmc->log_out());
    return reported ? *reported : std::vector<MediaSlot>{};
  }
  void refuse(const std::string& id, const std::string& text, int times = 1) {
    server.misbehave({.method = "POST",
                      .path = kSlot,
                      .times = times,
                      .status = 400,
                      .body = test::refusal(id, text)});
  }
};

TEST_F(Media, SendsTheLeastThatTheStandardWants) {
  const auto done = insert();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.actions,
              ElementsAre(R"(VirtualMedia.InsertMedia {"Image":"https://10.0.0.1/rescue.iso"})"));
  EXPECT_THAT(
      slots(),
      ElementsAre(MediaSlot{
          .id = "CD", .types = {"CD", "DVD"}, .image = kUrl, .inserted = true, .source = kSlot}));
}

TEST_F(Media, DoesNothingWhereTheImageIsInAlready) {
  ASSERT_TRUE(insert());
  ASSERT_TRUE(insert());
  EXPECT_EQ(machine.actions.size(), 1u);
}

TEST_F(Media, TakesOutWhatElseWasIn) {
  ASSERT_TRUE(insert("https://10.0.0.1/old.iso"));

  const auto done = insert();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.actions[1], HasSubstr("EjectMedia"));
  EXPECT_EQ(slots().front().image, kUrl);
}

TEST_F(Media, AddsTheTransferProtocolForABmcThatWantsIt) {
  refuse("Base.1.5.ActionParameterMissing", "TransferProtocolType is missing.");

  const auto done = insert();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.actions.back(), HasSubstr(R"("TransferProtocolType":"HTTPS")"));
}

TEST_F(Media, AddsTheTransferMethodTooForABmcThatWantsBoth) {
  refuse("Base.1.5.ActionParameterMissing", "TransferProtocolType is missing.");
  refuse("Base.1.5.ActionParameterMissing", "TransferMethod is missing.");

  const auto done = insert();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.actions.back(), HasSubstr(R"("TransferMethod":"Stream")"));
}

TEST_F(Media, GivesUpWhereTheRefusalNamesNothingThatCouldBeAdded) {
  refuse("Base.1.5.GeneralError", "No.", 9);

  const auto done = insert();

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_EQ(count("POST /redfish/v1/Managers"), 1);
}

TEST_F(Media, NeverSendsWhatAnX11RefusesUnlessItIsAsked) {
  ASSERT_TRUE(insert());
  EXPECT_THAT(machine.actions.front(), Not(HasSubstr("Inserted")));
  EXPECT_THAT(machine.actions.front(), Not(HasSubstr("WriteProtected")));
}

TEST_F(Media, SaysWhichCharactersASupermicroMayNotTakeInAnUrl) {
  become("Supermicro", "SYS-120");
  refuse("Base.1.4.PropertyValueFormatError", "The format of Image is wrong.", 9);

  const auto done = insert("http://10.0.0.1/get?image=rescue.iso");

  EXPECT_THAT(done.error().what, HasSubstr("take no URL with one of ?="));
}

TEST_F(Media, UsesTheSlotsOfTheSystemWhereAnIdracHasMovedThem) {
  const std::string moved = "/redfish/v1/Systems/1/VirtualMedia/1";
  auto system = test_system();
  system.as_object()["VirtualMedia"] = link("/redfish/v1/Systems/1/VirtualMedia");
  server.set(kSystem, system);
  server.set("/redfish/v1/Systems/1/VirtualMedia", collection({moved}));
  server.set(moved, slot({{"Id", "1"}}, moved));

  ASSERT_TRUE(insert());
  EXPECT_EQ(slots().front().source, moved);
}

TEST_F(Media, ChecksMoreThanInsertedAfterTheEjection) {
  ASSERT_TRUE(insert());
  auto stale = slot({{"Inserted", true}, {"Image", ""}});
  server.misbehave({.method = "POST", .path = kSlot, .status = 204});
  server.set(kSlot, slot({{"Inserted", true}, {"Image", kUrl}, {"ConnectedVia", "URI"}}));
  server.misbehave(page(
      200, serialize(slot({{"Inserted", true}, {"Image", kUrl}, {"ConnectedVia", "URI"}})), kSlot));
  server.misbehave(page(200, serialize(stale), kSlot));

  const auto done = eject();

  EXPECT_TRUE(done) << done.error().what;
}

TEST_F(Media, EjectsWithAnEmptyObjectAsAnIloWantsIt) {
  ASSERT_TRUE(insert());
  ASSERT_TRUE(eject());
  EXPECT_EQ(machine.actions.back(), "VirtualMedia.EjectMedia {}");
}

TEST_F(Media, EjectsNothingWhereNothingIsIn) {
  ASSERT_TRUE(eject());
  EXPECT_THAT(machine.actions, ElementsAre());
}

TEST_F(Media, EjectsWhereTheActionIsNotShown) {
  server.set(kSlot,
             slot({{"Actions",
                    {{"#VirtualMedia.InsertMedia",
                      {{"target", std::string{kSlot} + "/Actions/VirtualMedia.InsertMedia"}}}}}}));
  ASSERT_TRUE(insert());

  const auto done = eject();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(machine.actions.back(), "VirtualMedia.EjectMedia {}");
  EXPECT_FALSE(slots().front().inserted);
}

TEST_F(Media, PatchesTheImageOfASlotWithoutAnAction) {
  server.set(kSlot, slot({{"Actions", json::object{}}, {"WriteProtected", true}}));

  const auto in = insert();
  const auto then = slots();
  const auto out = eject();

  ASSERT_TRUE(in) << in.error().what;
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr(R"({"Image":"https://10.0.0.1/rescue.iso","Inserted":true,)"
                        R"("WriteProtected":true})"));
  EXPECT_TRUE(then.front().inserted);
  ASSERT_TRUE(out) << out.error().what;
  EXPECT_FALSE(slots().front().inserted);
}

TEST_F(Media, FailsWhereTheImageWasAcceptedAndIsNotThere) {
  server.misbehave({.method = "POST", .path = kSlot, .status = 204});

  const auto done = insert();

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_THAT(done.error().what, HasSubstr("still has nothing in the slot"));
}

TEST_F(Media, IsUnsupportedWhereNoSlotTakesDiscs) {
  server.set(kSlot, slot({{"Id", "Floppy"}, {"MediaTypes", {"Floppy", "USBStick"}}}));
  EXPECT_EQ(insert().error().code, Code::kUnsupported);
}

TEST_F(Media, IsUnsupportedWhereThereAreNoSlots) {
  server.set("/redfish/v1/Managers/1/VirtualMedia", collection({}));
  become("NVIDIA", "DGXH100");

  const auto done = insert();

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().what, HasSubstr("once remote media are enabled"));
}

TEST_F(Media, KeepsTheUrlsPasswordToItself) {
  refuse("Base.1.5.GeneralError", "No such image: https://bob:hunter2@10.0.0.1/a.iso", 9);

  const auto done = insert("https://bob:hunter2@10.0.0.1/a.iso");

  EXPECT_THAT(done.error().what, Not(HasSubstr("hunter2")));
}

class MediaByTask : public Media {
 protected:
  static constexpr const char* kTask = "/redfish/v1/TaskService/Tasks/5";
  /// Accepts the image, with a task.
  void accept() {
    server.misbehave({.method = "POST",
                      .path = kSlot,
                      .status = 202,
                      .body = R"({"TaskState": "Running"})",
                      .headers = {{"Location", std::string{kTask} + "/Monitor"}}});
  }
  void task(const std::string& state, const std::string& message) {
    server.set(std::string{kTask} + "/Monitor",
               json::value{{"Id", "5"},
                           {"TaskState", state},
                           {"Messages", {{{"Message", message}, {"Severity", "Critical"}}}}});
  }
};

TEST_F(MediaByTask, IsInsertedOnceTheTaskIsOverAndTheSlotShowsIt) {
  accept();
  server.misbehave({.method = "GET",
                    .path = kTask,
                    .status = 200,
                    .body = R"({"Id": "5", "TaskState": "Running", "PercentComplete": 10})"});
  server.set(std::string{kTask} + "/Monitor", json::value{{"Id", "5"}, {"TaskState", "Completed"}});
  // Before, and for some seconds after: more often than a change is read back.
  server.misbehave(
      {.method = "GET", .path = kSlot, .times = 6, .status = 200, .body = serialize(slot({}))});
  server.set(kSlot, slot({{"Image", kUrl}, {"Inserted", true}, {"ConnectedVia", "URI"}}));

  const auto done = insert();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(count("POST /redfish/v1/Managers"), 1);
}

TEST_F(MediaByTask, IsNotWaitedForOnceTheTaskHasFailed) {
  for (const auto* end : {"Exception", "Cancelled", "Killed"}) {
    accept();
    task(end, "The image could not be fetched: 404.");

    const auto done = insert();

    EXPECT_EQ(done.error().code, Code::kFailed) << end;
    EXPECT_THAT(done.error().what, HasSubstr("The image could not be fetched: 404."));
    EXPECT_THAT(done.error().what, HasSubstr(end));
  }
}

TEST_F(MediaByTask, IsLookedForWhereTheBmcForgetsTheTask) {
  accept();
  server.misbehave({.method = "GET", .path = kSlot, .status = 200, .body = serialize(slot({}))});
  server.set(kSlot, slot({{"Image", kUrl}, {"Inserted", true}, {"ConnectedVia", "URI"}}));

  const auto done = insert();

  EXPECT_TRUE(done) << done.error().what;
}

TEST_F(MediaByTask, ThatStillRunsAtTheDeadlineMayStillBeDone) {
  accept();
  task("Running", "");
  const auto bmc = open();

  const auto done = run(bmc->media.insert(kUrl, Deadline::in(3s)));
  run(bmc->log_out());

  EXPECT_EQ(done.error().code, Code::kTimeout);
  EXPECT_THAT(done.error().what, HasSubstr("is still Running: it may still be done"));
}

/// XCC, Cisco C845A: no action, a PATCH that is answered with a task.
TEST_F(MediaByTask, IsFollowedWhereTheSlotTakesAPatch) {
  auto plain = slot({});
  plain.as_object().erase("Actions");
  server.set(kSlot, plain);
  const auto accept_patch = [this] {
    server.misbehave({.method = "PATCH",
                      .path = kSlot,
                      .status = 202,
                      .body = R"({"TaskState": "Running"})",
                      .headers = {{"Location", std::string{kTask} + "/Monitor"}}});
  };
  accept_patch();
  task("Exception", "The image could not be fetched: 404.");
  const auto failed = insert();
  accept_patch();
  server.set(std::string{kTask} + "/Monitor", json::value{{"Id", "5"}, {"TaskState", "Completed"}});
  server.misbehave(
      {.method = "GET", .path = kSlot, .times = 6, .status = 200, .body = serialize(plain)});
  server.set(kSlot, slot({{"Image", kUrl}, {"Inserted", true}, {"ConnectedVia", "URI"}}));
  const auto slow = insert();

  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("The image could not be fetched: 404."));
  EXPECT_TRUE(slow) << slow.error().what;
}

TEST_F(Media, IsInsertedAndEjectedThoughTheAnswersWereLost) {
  const auto lose = [this](test::Habit::Kind how) {
    server.misbehave({.method = "POST", .path = kSlot, .kind = how});
  };

  lose(test::Habit::Kind::act_and_reset);
  const auto in = insert();
  lose(test::Habit::Kind::act_and_reset);
  const auto out = eject();
  lose(test::Habit::Kind::reset_connection);
  const auto not_in = insert();

  EXPECT_TRUE(in) << in.error().what;
  EXPECT_TRUE(out) << out.error().what;
  ASSERT_FALSE(not_in);
  EXPECT_EQ(not_in.error().code, Code::kUnreachable);
  EXPECT_THAT(not_in.error().what, Not(HasSubstr(kUrl)));
}

/// A Supermicro: the image's name stays behind, and everything else says that nothing is in.
TEST_F(Media, IsOutWhereOnlyTheNameOfTheImageStaysBehind) {
  ASSERT_TRUE(insert("https://10.0.0.1/old.iso"));
  server.misbehave({.method = "POST",
                    .path = std::string{kSlot} + "/Actions/VirtualMedia.Eject",
                    .status = 204});
  server.misbehave(
      {.method = "GET",
       .path = kSlot,
       .status = 200,
       .body = serialize(slot(
           {{"Image", "https://10.0.0.1/old.iso"}, {"Inserted", true}, {"ConnectedVia", "URI"}}))});
  server.set(kSlot, slot({{"Image", "https://10.0.0.1/old.iso"}}));

  const auto out = eject();
  const auto in = insert();

  EXPECT_TRUE(out) << out.error().what;
  EXPECT_TRUE(in) << in.error().what;
}

/// The same of a BMC that does not say how a disc is connected, and refuses to eject a name.
TEST_F(Media, IsOutWhereANameStaysBehindAndTheBmcDoesNotSayHowItIsConnected) {
  const std::string old = "https://10.0.0.1/old.iso";
  const auto in_slot = slot({{"Image", old}, {"Inserted", true}, {"ConnectedVia", nullptr}});
  const std::string action = std::string{kSlot} + "/Actions/VirtualMedia.Eject";
  server.set(kSlot, slot({{"Image", old}, {"Inserted", false}, {"ConnectedVia", nullptr}}));
  server.misbehave({.method = "GET", .path = kSlot, .status = 200, .body = serialize(in_slot)});
  server.misbehave({.method = "POST", .path = action, .status = 204});
  server.misbehave({.method = "POST",
                    .path = action,
                    .status = 400,
                    .body = test::refusal("Base.1.5.GeneralError", "Nothing is inserted.")});

  const auto out = eject();
  const auto in = insert();

  EXPECT_TRUE(out) << out.error().what;
  EXPECT_TRUE(in) << in.error().what;
  EXPECT_EQ(slots().front().image, kUrl);
}

}  // namespace
}  // namespace cupel::bmc
