// An image given to BMCs that differ: what each is sent, in which order, and what refusals mean.
#include "tests/bmc/updating.h"

namespace cupel::bmc {
namespace {

TEST_F(Updating, SendsNoParametersThatTheOrderDoesNotHave) {
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload);

  const auto ticket = push(image.order());

  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_EQ(*ticket, (UpdateTicket{"multipart", kTask}));
  EXPECT_THAT(body(0), HasSubstr(field("UpdateParameters", "application/json", "{}")));
  EXPECT_THAT(body(0), HasSubstr("name=\"UpdateFile\"; filename=\"image.bin\"\r\n"));
  EXPECT_THAT(body(0), HasSubstr("\r\n\r\nan image\r\n--"));
}

TEST_F(Updating, SendsTargetsApplyTimeAndForceAsOrdered) {
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload);
  auto order = image.order();
  order.targets = {"/redfish/v1/UpdateService/FirmwareInventory/HGX_0"};
  order.apply = ApplyTime::on_reset;
  order.force = true;

  ASSERT_TRUE(push(order));

  EXPECT_THAT(body(0),
              HasSubstr(R"({"Targets":["/redfish/v1/UpdateService/FirmwareInventory/HGX_0"],)"
                        R"("@Redfish.OperationApplyTime":"OnReset","ForceUpdate":true})"));
}

TEST_F(Updating, VerifiesFirstOnASupermicroAndStartsIt) {
  become("Supermicro", "SYS-821GE-TNHR");
  offer({{"MultipartHttpPushUri", kUpload},
         {"Actions", {{"#UpdateService.StartUpdate", {{"target", "/redfish/v1/Start"}}}}}});
  answer(
      kUpload, 202,
      R"({"Accepted":{"@Message.ExtendedInfo":[{"MessageArgs":["/redfish/v1/TaskService/Tasks/1"]}]}})",
      {});
  answer("/redfish/v1/Start", 202, "", {{"Location", kTask}});

  const auto ticket = push(image.order());
  ASSERT_TRUE(ticket) << ticket.error().what;
  const auto next = with_bmc([&](Bmc& bmc) { return bmc.update.go_on(*ticket, soon()); });

  EXPECT_EQ(*ticket, (UpdateTicket{"verify", "/redfish/v1/TaskService/Tasks/1"}));
  ASSERT_TRUE(next) << next.error().what;
  EXPECT_EQ(*next, (UpdateTicket{"start", kTask}));
  EXPECT_THAT(body(0), HasSubstr(R"({"Targets":["/redfish/v1/Systems/1/Bios"],)"
                                 R"("@Redfish.OperationApplyTime":"OnStartUpdateRequest","Oem":)"
                                 R"({"Supermicro":{"BIOS":{"PreserveME":false)"));
  EXPECT_THAT(lines(),
              ElementsAre("POST /redfish/v1/UpdateService/upload", "POST /redfish/v1/Start"));
}

/// Else the machine would be reset in the middle of the installation.
TEST_F(Updating, AnInstallationWhoseAnswerFailedMayHaveBegun) {
  become("Supermicro", "SYS-821GE-TNHR");
  offer({{"MultipartHttpPushUri", kUpload},
         {"Actions", {{"#UpdateService.StartUpdate", {{"target", "/redfish/v1/Start"}}}}}});
  for (const int status : {500, 502, 504}) {
    answer("/redfish/v1/Start", status, "", {});

    const auto next =
        with_bmc([](Bmc& bmc) { return bmc.update.go_on({"verify", kTask}, soon()); });

    ASSERT_FALSE(next) << status;
    EXPECT_EQ(next.error().code, Code::kUnreachable) << next.error().what;
  }
}

TEST_F(Updating, NamesTheImagesKindToAMegaRac) {
  become("GIGABYTE", "G593");
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload);

  ASSERT_TRUE(push(image.order("bmc")));

  EXPECT_THAT(body(0),
              HasSubstr(field("OemParameters", "application/json", R"({"ImageType":"BMC"})")));
}

TEST_F(Updating, FlashesALenovoWithTsmByItsOwnUriAndKind) {
  become("Lenovo", "ThinkSystem SR655");
  offer({{"Oem", {{"AMIUpdateService", {{"MultipartHttpPushUri", "/tsm/upload"}}}}}});
  answer("/tsm/upload");

  const auto ticket = push(image.order("bios"));

  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_THAT(body(0), HasSubstr(R"({"Targets":["/redfish/v1/Managers/Self"]})"));
  EXPECT_THAT(body(0), HasSubstr(R"({"FlashType":"UEFIUpdate","UploadSelector":"Default"})"));
}

TEST_F(Updating, SendsABlueFieldItsParametersAsBytes) {
  become("Nvidia", "BlueField-3 DPU");
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload);

  ASSERT_TRUE(push(image.order()));

  EXPECT_THAT(body(0), HasSubstr(field("UpdateParameters", "application/octet-stream", "{}")));
}

TEST_F(Updating, NamesNoTargetToAWholeHgxTray) {
  become("NVIDIA", "GB200 NVL");
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload);

  ASSERT_TRUE(push(image.order()));

  EXPECT_THAT(body(0),
              HasSubstr(field("UpdateParameters", "application/json", R"({"Targets":[]})")));
}

TEST_F(Updating, SendsAnIloItsSessionInTheForm) {
  become("HPE", "ProLiant DL380a Gen11");
  offer({{"HttpPushUri", "/cgi-bin/uploadFile"}, {"Oem", {{"Hpe", {{"State", "Idle"}}}}}});
  answer("/cgi-bin/uploadFile", 200,
         R"({"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.4.Success"}]}})", {});

  const auto ticket = push(image.order());

  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_EQ(*ticket, (UpdateTicket{"form", ""}));
  EXPECT_THAT(body(0), HasSubstr(field("sessionKey", "", "token-1")));
  EXPECT_THAT(body(0), HasSubstr(field("parameters", "",
                                       R"({"UpdateRepository":false,"UpdateTarget":true})")));
  EXPECT_THAT(body(0), HasSubstr("name=\"files[]\"; filename=\"image.bin\""));
}

TEST_F(Updating, ClaimsAnXccForARawPushAndAlwaysReleasesIt) {
  for (const int status : {202, 500}) {
    offer({{"HttpPushUri", "/fwupdate"},
           {"HttpPushUriTargets", json::array{}},
           {"HttpPushUriTargetsBusy", false}});
    answer("/fwupdate", status);
    sent.clear();

    const auto ticket = push(image.order());

    EXPECT_EQ(ticket.has_value(), status == 202);
    if (!ticket) {
      EXPECT_THAT(ticket.error().what, HasSubstr("the BMC may have taken it"));
      EXPECT_EQ(ticket.error().code, Code::kUnreachable) << "it is no refusal";
    }
    EXPECT_THAT(lines(), ElementsAre("PATCH /redfish/v1/UpdateService", "POST /fwupdate",
                                     "PATCH /redfish/v1/UpdateService"));
    EXPECT_EQ(body(0), R"({"HttpPushUriTargetsBusy":true})");
    EXPECT_EQ(body(1), "an image");
    EXPECT_EQ(body(2), R"({"HttpPushUriTargetsBusy":false})");
  }
}

TEST_F(Updating, ReleasesAnXccAndSendsNoImageWhereTheAnswerToTheClaimWasLost) {
  offer({{"HttpPushUri", "/fwupdate"}, {"HttpPushUriTargetsBusy", false}});
  server.misbehave({.method = "PATCH", .kind = test::Habit::Kind::act_and_reset});

  const auto ticket = push(image.order());

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kUnreachable);
  EXPECT_THAT(lines(), ElementsAre("PATCH /redfish/v1/UpdateService"));
  EXPECT_EQ(body(0), R"({"HttpPushUriTargetsBusy":false})");
}

TEST_F(Updating, LeavesAnXccAloneThatAnotherHasClaimed) {
  offer({{"HttpPushUri", "/fwupdate"}, {"HttpPushUriTargetsBusy", true}});

  const auto ticket = push(image.order());

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kBusy);
  EXPECT_GT(ticket.error().retry_after, 0ms);
  EXPECT_THAT(lines(), ElementsAre());
}

TEST_F(Updating, InstallsWhatADellHasStored) {
  become("Dell Inc.", "PowerEdge XE9680");
  const std::string inventory = std::string{kUpdates} + "/FirmwareInventory";
  server.set(inventory, json::object{{"@odata.id", inventory}, {"@odata.etag", "W/\"1\""}});
  offer({{"HttpPushUri", inventory},
         {"FirmwareInventory", link(inventory)},
         {"Actions", {{"#UpdateService.SimpleUpdate", {{"target", "/redfish/v1/Simple"}}}}}});
  answer(inventory, 201, "", {{"Location", inventory + "/Available-159-2.0"}});
  answer("/redfish/v1/Simple", 202, "", {{"Location", "/redfish/v1/TaskService/Tasks/JID_1"}});

  const auto ticket = push(image.order());

  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_EQ(*ticket, (UpdateTicket{"store", "/redfish/v1/TaskService/Tasks/JID_1"}));
  EXPECT_EQ(body(1),
            R"({"ImageURI":"/redfish/v1/UpdateService/FirmwareInventory/Available-159-2.0"})");
}

/// sushy-tools' emulator: an HttpPushUri that can only be read.
TEST_F(Updating, AUriThatTakesNoPostHasTakenNothingAndSimpleUpdateIsAnotherWay) {
  const std::string inventory = std::string{kUpdates} + "/FirmwareInventory";
  server.set(inventory, json::object{{"@odata.id", inventory}});
  offer({{"HttpPushUri", inventory},
         {"FirmwareInventory", link(inventory)},
         {"Actions", {{"#UpdateService.SimpleUpdate", {{"target", "/redfish/v1/Simple"}}}}}});
  answer("/redfish/v1/Simple");
  auto other = image.order();
  other.refused_way = "store";
  other.pull_uri = kPull;

  for (const int status : {404, 405}) {
    answer(inventory, status, "", {});
    const auto refused = push(image.order());
    ASSERT_FALSE(refused) << status;
    EXPECT_TRUE(took_nothing(refused.error())) << refused.error().what;
  }
  const auto ticket = push(other);

  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_EQ(*ticket, (UpdateTicket{"simple", kTask}));
  EXPECT_THAT(lines(),
              ElementsAre("POST " + inventory, "POST " + inventory, "POST /redfish/v1/Simple"));
}

TEST_F(Updating, OtherRefusalsDoNotProveThatNothingWasTaken) {
  const auto busy = test::refusal("SMC.1.0.OemFirmwareAlreadyInUpdateMode", "Not now.");
  for (const auto& [status, text] :
       {std::pair<int, std::string>{400, ""}, {405, busy}, {409, ""}, {500, ""}, {503, ""}}) {
    offer({{"MultipartHttpPushUri", kUpload}});
    answer(kUpload, status, text, {});

    const auto refused = push(image.order());

    ASSERT_FALSE(refused) << status;
    EXPECT_FALSE(took_nothing(refused.error())) << refused.error().what;
  }
}

/// The image is there: what SimpleUpdate answers says nothing of the upload.
TEST_F(Updating, AnImageThatWasStoredAndNotInstalledWasTaken) {
  const std::string inventory = std::string{kUpdates} + "/FirmwareInventory";
  server.set(inventory, json::object{{"@odata.id", inventory}});
  offer({{"HttpPushUri", inventory},
         {"FirmwareInventory", link(inventory)},
         {"Actions", {{"#UpdateService.SimpleUpdate", {{"target", "/redfish/v1/Simple"}}}}}});
  answer(inventory, 201, "", {{"Location", inventory + "/Available-1"}});
  answer("/redfish/v1/Simple", 405, "", {});

  const auto refused = push(image.order());

  ASSERT_FALSE(refused);
  EXPECT_FALSE(took_nothing(refused.error())) << refused.error().what;
}

TEST_F(Updating, HasTheBmcFetchTheImageWhereItTakesNone) {
  offer({{"Actions",
          {{"#UpdateService.SimpleUpdate",
            {{"target", "/redfish/v1/Simple"},
             {"TransferProtocol@Redfish.AllowableValues", {"HTTP", "HTTPS"}}}}}}});
  answer("/redfish/v1/Simple");
  auto order = image.order();
  order.pull_uri = kPull;
  order.targets = {"/redfish/v1/Managers/1"};

  const auto ticket = push(order);

  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_EQ(*ticket, (UpdateTicket{"simple", kTask}));
  EXPECT_EQ(body(0), R"({"Targets":["/redfish/v1/Managers/1"],"ImageURI":")" + std::string{kPull} +
                         R"(","TransferProtocol":"HTTPS"})");
}

TEST_F(Updating, DoesNotAskForAProtocolThatTheBmcDoesNotHave) {
  offer({{"Actions",
          {{"#UpdateService.SimpleUpdate",
            {{"target", "/redfish/v1/Simple"},
             {"TransferProtocol@Redfish.AllowableValues", json::array{json::array{"SCP"}}}}}}}});
  auto order = image.order();
  order.pull_uri = kPull;

  const auto ticket = push(order);

  EXPECT_EQ(ticket.error().code, Code::kUnsupported);
  EXPECT_THAT(ticket.error().what, HasSubstr("fetches images by SCP, not by HTTPS"));
  EXPECT_THAT(lines(), ElementsAre());
}

TEST_F(Updating, SendsNothingThatCannotBeTaken) {
  auto on_reset = image.order();
  on_reset.apply = ApplyTime::on_reset;
  auto targeted = image.order();
  targeted.targets = {"/redfish/v1/Managers/1"};

  offer({{"MultipartHttpPushUri", kUpload}, {"MaxImageSizeBytes", 3}});
  EXPECT_EQ(push(image.order()).error().code, Code::kFailed);
  offer({{"MultipartHttpPushUri", kUpload}, {"ServiceEnabled", false}});
  EXPECT_EQ(push(image.order()).error().code, Code::kUnsupported);
  offer({{"MultipartHttpPushUri", kUpload},
         {"MultipartHttpPushUri@Redfish.OperationApplyTimeSupport",
          {{"SupportedValues", {"Immediate"}}}}});
  EXPECT_EQ(push(on_reset).error().code, Code::kUnsupported);
  offer({{"HttpPushUri", "/push"}});
  EXPECT_EQ(push(targeted).error().code, Code::kUnsupported);
  offer({{"MultipartHttpPushUri", "//evil.example/x"}});
  EXPECT_EQ(push(image.order()).error().code, Code::kUnsupported);
  EXPECT_THAT(lines(), ElementsAre());
}

TEST_F(Updating, IsBusyInWhateverWordsTheBmcSaysSo) {
  struct Refusal {
    int status;
    const char* id;
    std::map<std::string, std::string> headers{};
  };
  for (const auto& [status, id, headers] :
       {Refusal{405, "SMC.1.0.OemFirmwareAlreadyInUpdateMode"},
        Refusal{400, "Update.1.0.UpdateInProgress"},
        Refusal{503, "Base.1.8.ServiceTemporarilyUnavailable", {{"Retry-After", "30"}}},
        Refusal{400, "IDRAC.2.8.RAC0679"}}) {
    offer({{"MultipartHttpPushUri", kUpload}});
    answer(kUpload, status, test::refusal(id, "Not now."), headers);

    const auto ticket = push(image.order());

    EXPECT_EQ(ticket.error().code, Code::kBusy) << id;
    EXPECT_GE(ticket.error().retry_after, 30s) << id;
  }
}

TEST_F(Updating, ASessionThatEndsMeanwhileIsNoWrongPasswordAndSendsNothingTwice) {
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload, 401, test::refusal("Base.1.8.NoValidSession", "There is no valid session."), {});

  const auto bmc = open();
  const auto ticket = run(bmc->update.push(image.order(), soon()));
  const auto after = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kUnreachable) << ticket.error().what;
  EXPECT_THAT(ticket.error().what, HasSubstr("the session ended during the upload"));
  EXPECT_THAT(ticket.error().what, HasSubstr("the BMC may have taken it"));
  EXPECT_THAT(lines(), ElementsAre("POST /redfish/v1/UpdateService/upload"));
  EXPECT_TRUE(after) << after.error().what;
}

TEST_F(Updating, FindsAJobWhoseTaskIsGone) {
  server.set("/redfish/v1/JobService/Jobs/JID_7",
             json::object{{"JobState", "Completed"}, {"PercentComplete", 100}});

  const auto seen = with_bmc([](Bmc& bmc) {
    return bmc.update.progress({"simple", "/redfish/v1/TaskService/Tasks/JID_7"}, soon());
  });

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->state, UpdateProgress::State::done);
}

TEST_F(Updating, FollowsATaskThatBecameAJob) {
  server.set(kTask, json::object{
                        {"TaskState", "Completed"},
                        {"Messages", json::array{json::object{
                                         {"MessageId", "TaskEvent.1.0.OperationTransitionedToJob"},
                                         {"MessageArgs", {"/redfish/v1/JobService/Jobs/9"}}}}}});
  server.set("/redfish/v1/JobService/Jobs/9",
             json::object{{"JobState", "Running"}, {"PercentComplete", 12}});

  const auto seen =
      with_bmc([](Bmc& bmc) { return bmc.update.progress({"simple", kTask}, soon()); });

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->state, UpdateProgress::State::running);
  EXPECT_EQ(seen->percent, 12);
}

/// Its task is Completed: a reset would come into the middle of the write.
TEST_F(Updating, AJobThatTheBmcDoesNotNameOnItselfIsNotDone) {
  const json::array nowhere[] = {{},          {7}, {""}, {"//evil.example/x"}, {"../../Jobs/9"},
                                 {"/cgi-bin"}};
  for (const auto& arguments : nowhere) {
    server.set(kTask, json::object{{"TaskState", "Completed"},
                                   {"Messages",
                                    json::array{json::object{
                                        {"MessageId", "TaskEvent.1.0.OperationTransitionedToJob"},
                                        {"MessageArgs", arguments}}}}});

    const auto seen =
        with_bmc([](Bmc& bmc) { return bmc.update.progress({"simple", kTask}, soon()); });

    ASSERT_TRUE(seen) << seen.error().what;
    EXPECT_EQ(seen->state, UpdateProgress::State::gone) << serialize(arguments);
    EXPECT_THAT(seen->message, HasSubstr("does not say under which URI"));
  }
}

TEST_F(Updating, WhatWaitsForARestartIsAtWorkAndACompletedTaskThatAskedForOneIsOver) {
  offer({{"MultipartHttpPushUri", kUpload}});
  const std::string tasks = "/redfish/v1/TaskService/Tasks";
  const auto say = [](const char* id) { return json::array{json::object{{"MessageId", id}}}; };
  server.set(tasks, collection({tasks + "/1", tasks + "/2", tasks + "/3"}));
  server.set(tasks + "/1", json::object{{"Name", "Firmware Update"},
                                        {"TaskState", "Completed"},
                                        {"Messages", say("Update.1.0.AwaitToActivate")}});
  server.set(tasks + "/2", json::object{{"Name", "Firmware Update"},
                                        {"TaskState", "Stopping"},
                                        {"Messages", say("TaskEvent.1.0.TaskPaused")}});
  server.set(tasks + "/3", json::object{{"Name", "Firmware Update"},
                                        {"TaskState", "Running"},
                                        {"Oem", {{"Dell", {{"JobState", "Scheduled"}}}}}});

  const auto seen = with_bmc([](Bmc& bmc) { return bmc.update.service(soon()); });

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(seen->busy, ElementsAre(tasks + "/2", tasks + "/3"));
}

/// Else it would be pushed a second time over a first one whose answer was lost.
TEST_F(Updating, FindsTheNewestOfAHundredTasksInWhateverOrderTheyAreListed) {
  offer({{"MultipartHttpPushUri", kUpload}});
  const std::string tasks = "/redfish/v1/TaskService/Tasks";
  std::vector<std::string> ascending;
  for (int i = 50; i < 150; ++i) {
    ascending.push_back(tasks + "/" + std::to_string(i));
    server.set(ascending.back(), json::object{{"Name", "Firmware Update"},
                                              {"TaskState", i < 149 ? "Completed" : "Running"}});
  }
  auto descending = ascending, by_text = ascending;
  std::ranges::reverse(descending);
  std::ranges::sort(by_text);
  for (const auto& order : {ascending, descending, by_text}) {
    server.set(tasks, collection(order));

    const auto seen = with_bmc([](Bmc& bmc) { return bmc.update.service(soon()); });

    ASSERT_TRUE(seen) << seen.error().what;
    EXPECT_THAT(seen->busy, ElementsAre(tasks + "/149")) << order.front();
  }
}

TEST_F(Updating, SaysByWhatTheBmcFetchesImagesWhereverItTells) {
  const auto words_with = [&](const json::object& reported) {
    json::object action{{"target", "/redfish/v1/Simple"}};
    for (const auto& entry : reported) action[entry.key()] = entry.value();
    offer({{"Actions", {{"#UpdateService.SimpleUpdate", action}}}});
    const auto seen = with_bmc([](Bmc& bmc) { return bmc.update.service(soon()); });
    EXPECT_TRUE(seen) << seen.error().what;
    return seen ? seen->fetches_by : std::vector<std::string>{"an error"};
  };
  constexpr auto kInfo = "/redfish/v1/UpdateService/SimpleUpdateActionInfo";
  server.set(kInfo, json::object{
                        {"Parameters",
                         {{{"Name", "ImageURI"}},
                          {{"Name", "TransferProtocol"}, {"AllowableValues", {"HTTP", "FTP"}}}}}});

  EXPECT_THAT(words_with({{"TransferProtocol@Redfish.AllowableValues", {"HTTPS", "NFS"}}}),
              ElementsAre("HTTPS", "NFS"));
  EXPECT_THAT(words_with({{"@Redfish.ActionInfo", kInfo}}), ElementsAre("HTTP", "FTP"));
  EXPECT_THAT(words_with({}), ElementsAre());
}

TEST_F(Updating, ListsTasksOfFirmwareThatAreAtWork) {
  offer({{"MultipartHttpPushUri", kUpload}, {"MaxImageSizeBytes", 1000}});
  const std::string tasks = "/redfish/v1/TaskService/Tasks";
  server.set(tasks, collection({tasks + "/1", tasks + "/2", tasks + "/3"}));
  server.set(tasks + "/1", json::object{{"Name", "BIOS Update"}, {"TaskState", "Completed"}});
  server.set(tasks + "/2", json::object{{"Name", "Computer Reset"}, {"TaskState", "Running"}});
  server.set(tasks + "/3", json::object{{"Name", "BIOS Verify"}, {"TaskState", "Running"}});

  const auto seen = with_bmc([](Bmc& bmc) { return bmc.update.service(soon()); });

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(seen->busy, ElementsAre(tasks + "/3"));
  EXPECT_THAT(seen->ways, ElementsAre("multipart"));
  EXPECT_EQ(seen->most_bytes, 1000u);
}

}  // namespace
}  // namespace cupel::bmc
