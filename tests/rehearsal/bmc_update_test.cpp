// New firmware, as each vendor's BMC takes it: by URI, by form, by a plain body; how far it is, how
// it ends, and what has to happen before it runs.
#include "tests/rehearsal/update_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UpdateOf : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Vendor, UpdateOf, ::testing::ValuesIn(vendors()), test_name);

TEST_P(UpdateOf, ABiosRunsAfterTheHostsNextBootAndNotBefore) {
  Updating bmc{GetParam()};

  ASSERT_LT(bmc.update("HostBIOS_0", "02.00.00").status, 300);
  bmc.boot_for_job();
  ASSERT_TRUE(bmc.ends());
  const bool by_job = bmc.behavior().bios_waits;
  if (!by_job) EXPECT_EQ(bmc.version("HostBIOS_0"), "01.01.03");
  if (!by_job) bmc.boot();

  EXPECT_TRUE(bmc.runs("HostBIOS_0", "02.00.00"));
  EXPECT_EQ(bmc.last().stage, Update::Stage::done);
}

TEST_P(UpdateOf, TheBmcsOwnRunsAfterItsRestart) {
  Updating bmc{GetParam()};
  int restarts = 0;
  bmc.service.on_restart = [&] { ++restarts; };

  ASSERT_LT(bmc.update("HostBMC_0", "99.1").status, 300);
  ASSERT_TRUE(bmc.run_until([&] {
    return !bmc.service.state().updates.writes_bmc() &&
           bmc.service.state().updates.running() == nullptr;
  }));
  const bool by_itself = bmc.behavior().bmc == Activation::own_restart;
  EXPECT_EQ(restarts, by_itself ? 1 : 0);
  if (!by_itself) {
    EXPECT_NE(bmc.version("HostBMC_0"), "99.1");
    const auto reset = bmc.view().manager() + "/Actions/Manager.Reset";
    EXPECT_EQ(bmc.ask("POST", reset, "{}").status, 204);
  }

  EXPECT_TRUE(bmc.runs("HostBMC_0", "99.1"));
}

TEST_P(UpdateOf, AnImageForNothingHereIsFoundOutByTheCheck) {
  Updating bmc{GetParam()};

  const auto taken = bmc.update("Toaster", "7");
  if (bmc.behavior().checks_at_once) {
    EXPECT_EQ(taken.status, 400);
    return;
  }
  ASSERT_LT(taken.status, 300);

  ASSERT_TRUE(bmc.ends());
  EXPECT_EQ(bmc.last().stage, Update::Stage::failed);
  EXPECT_EQ(bmc.last().message_id, "Update.1.0.VerificationFailed");
}

TEST_P(UpdateOf, ASecondUpdateHasToWaitForTheFirst) {
  Updating bmc{GetParam(), {}, 500};

  ASSERT_LT(bmc.update("HostBIOS_0", "02.00.00").status, 300);

  const auto refused = bmc.update("CPLDMB_0", "9");
  constexpr std::array kStatus{400, 503, 405};  // by BusyReply
  EXPECT_EQ(refused.status, kStatus.at(static_cast<std::size_t>(bmc.behavior().busy)));
}

TEST_P(UpdateOf, ProgressOnlyGrows) {
  Updating bmc{GetParam(), {}, 2000};

  ASSERT_LT(bmc.update("HostBIOS_0", "02.00.00").status, 300);
  bmc.boot_for_job();
  std::vector<int> percents;
  bmc.run_until([&] {
    const auto& updates = bmc.service.state().updates;
    const auto now = updates.percent(bmc.last(), bmc.view().now());
    if (percents.empty() || now != percents.back()) percents.push_back(now);
    return bmc.last().is_over();
  });

  EXPECT_GT(percents.size(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(percents)) << ::testing::PrintToString(percents);
  EXPECT_EQ(percents.back(), 100);
}

TEST_P(UpdateOf, FaultsDecideHowItEnds) {
  const auto with = [](FaultKind kind) {
    return std::vector<Fault>{{.kind = kind, .component = "HostBIOS_0"}};
  };
  const auto ended = [&](FaultKind kind, const std::string& version) {
    Updating bmc{GetParam(), with(kind)};
    EXPECT_LT(bmc.update("HostBIOS_0", version).status, 300);
    if (bmc.behavior().bios_waits) {
      bmc.run_until([&] { return bmc.service.state().updates.running() == nullptr; });
      if (!bmc.last().is_over()) bmc.boot();
    }
    const bool over = bmc.run_until([&] {
      const auto& all = bmc.service.state().updates.all();
      return all.empty() || all.back().is_over();
    });
    EXPECT_TRUE(over);
    bmc.boot();
    bmc.pass(VirtualTime{310});
    return bmc.version("HostBIOS_0");
  };

  EXPECT_EQ(ended(FaultKind::firmware_unchanged, "02.00.00"), "01.01.03");
  EXPECT_EQ(ended(FaultKind::firmware_not_active, "02.00.00"), "01.01.03");
  EXPECT_EQ(ended(FaultKind::firmware_refused, "01.00.00"), "01.01.03");
  EXPECT_EQ(ended(FaultKind::firmware_refused, "02.00.00"), "02.00.00");
  EXPECT_EQ(ended(FaultKind::firmware_interrupted, "02.00.00"), "01.01.03");
}

TEST_P(UpdateOf, AStuckOneStaysWhereItIsUntilTheBmcRestarts) {
  Updating bmc{GetParam(), {{.kind = FaultKind::firmware_stuck}}};

  ASSERT_LT(bmc.update("HostBIOS_0", "02.00.00").status, 300);
  bmc.boot_for_job();
  bmc.pass(VirtualTime{1000});
  const auto percent = bmc.service.state().updates.percent(bmc.last(), bmc.view().now());
  EXPECT_FALSE(bmc.last().is_over());
  bmc.insist("POST", bmc.view().manager() + "/Actions/Manager.Reset", "{}");

  EXPECT_EQ(percent, 66);
  EXPECT_EQ(bmc.service.state().updates.running(), nullptr);
  EXPECT_EQ(bmc.version("HostBIOS_0"), "01.01.03");
}

TEST(UpdateTest, ADgxTakesAFormWithSeveralComponentsAndPowersTheGpusOffForThem) {
  Updating bmc{"dgx"};

  const auto taken =
      bmc.upload("virtual firmware\nHGX_FW_GPU_SXM_1 97.0\nHGX_FW_GPU_SXM_2 97.0\nToaster 1\n",
                 R"({"Targets":["/redfish/v1/UpdateService/FirmwareInventory/HGX_0"]})");
  EXPECT_EQ(taken.status, 202);
  EXPECT_THAT(taken.headers.at("Location"), HasSubstr("/TaskMonitors/"));
  ASSERT_TRUE(bmc.ends());
  EXPECT_EQ(bmc.seen(bmc.task(), "TaskState"), "Completed");
  bmc.machine.press(Reset::force_restart);
  EXPECT_TRUE(bmc.run_until([&] { return bmc.machine.up(); }));
  EXPECT_NE(bmc.version("HGX_FW_GPU_SXM_1"), "97.0");
  bmc.machine.press(Reset::power_cycle);

  EXPECT_TRUE(bmc.runs("HGX_FW_GPU_SXM_2", "97.0"));
  EXPECT_EQ(bmc.seen(std::string{kInventory} + "HGX_FW_GPU_SXM_1", "Version"), "97.0");
}

TEST(UpdateTest, ADgxsFailedTaskSaysThatItsStatusIsOk) {
  Updating bmc{"dgx"};

  bmc.update("Toaster", "7");
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.seen(bmc.task(), "TaskState"), "Exception");
  EXPECT_EQ(bmc.seen(bmc.task(), "TaskStatus"), "OK");
}

TEST(UpdateTest, ATasksMonitorSays202UntilItIsOver) {
  Updating bmc{"dgx", {}, 600};

  const auto where = bmc.update("HostBIOS_0", "2.0").headers.at("Location");
  EXPECT_EQ(bmc.ask("GET", where).status, 202);
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.ask("GET", where).status, 200);
  EXPECT_EQ(bmc.ask("GET", where).status, 200);
}

TEST(UpdateTest, AnXccForgetsAFinishedTaskWhoseMonitorWasRead) {
  Updating bmc{"lenovo"};

  const auto where = bmc.update("HostBIOS_0", "2.0").headers.at("Location");
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.ask("GET", bmc.task()).status, 200);
  EXPECT_EQ(bmc.ask("GET", where).status, 200);
  EXPECT_EQ(bmc.ask("GET", where).status, 404);
}

TEST(UpdateTest, AnXccTakesARawImageOnlyFromWhoClaimedIt) {
  Updating bmc{"lenovo"};
  const std::string image = "virtual firmware\nUEFI 3.0\n";
  EXPECT_EQ(bmc.ask("POST", "/fwupdate", image).status, 400);

  const auto claim =
      json::object{{"HttpPushUriTargetsBusy", true},
                   {"HttpPushUriTargets", json::array{std::string{kInventory} + "UEFI"}}};
  bmc.ask("PATCH", kService, json::serialize(claim));
  bmc.ask("PATCH", kService, json::serialize(claim));
  EXPECT_EQ(bmc.seen(kService, "HttpPushUriTargetsBusy"), "true");
  EXPECT_EQ(bmc.ask("POST", "/fwupdate", image).status, 202);
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.last().stage, Update::Stage::done);
  EXPECT_EQ(bmc.seen(kService, "HttpPushUriTargetsBusy"), "true");  // until it is released
}

TEST(UpdateTest, AnIdracsBiosIsWrittenByAJobThatWaitsForABoot) {
  Updating bmc{"dell"};

  const auto taken = bmc.update("HostBIOS_0", "2.0");
  EXPECT_EQ(parse_json(taken.body)->at("TaskState"), json::value("New"));
  bmc.run_until([&] { return bmc.last().stage == Update::Stage::scheduled; });
  const auto job = bmc.view().manager() + "/Jobs/" + bmc.last().id;
  EXPECT_EQ(bmc.seen(job, "JobState"), "Scheduled");
  EXPECT_EQ(bmc.seen(bmc.task(), "TaskState"), "Starting");
  bmc.boot();
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.seen(job, "JobState"), "Completed");
  EXPECT_EQ(bmc.seen(std::string{kInventory} + "Installed-159-2.0__BIOS.Setup.1-1", "Version"),
            "2.0");
}

TEST(UpdateTest, AnIdracKeepsAPushedImageUntilSimpleUpdateNamesIt) {
  Updating bmc{"dell"};
  const std::string collection = "/redfish/v1/UpdateService/FirmwareInventory";
  const std::string image = "virtual firmware\nHostBIOS_0 2.0\n";
  EXPECT_EQ(bmc.ask("POST", collection, image).status, 412);

  const auto pushed = bmc.ask("POST", collection, image, {{"if-match", "abc"}});
  EXPECT_EQ(pushed.status, 201);
  EXPECT_EQ(pushed.headers.at("Location"), collection + "/Available-159-2.0__BIOS.Setup.1-1");
  const json::object order{{"ImageURI", pushed.headers.at("Location")}};
  const auto target = std::string{bmc.behavior().simple};
  EXPECT_EQ(bmc.ask("POST", target, json::serialize(order), {{"if-match", "*"}}).status, 412);

  EXPECT_EQ(bmc.ask("POST", target, json::serialize(order)).status, 202);
}

TEST(UpdateTest, AnIdracsTasksAreGoneAfterItsRestart) {
  Updating bmc{"dell"};

  bmc.update("PSU_1", "9");
  ASSERT_TRUE(bmc.ends());
  const auto task = bmc.task();
  bmc.ask("POST", bmc.view().manager() + "/Actions/Manager.Reset", "{}");
  bmc.pass(VirtualTime{120});
  bmc.token.clear();

  EXPECT_EQ(bmc.ask("GET", task).status, 404);
  EXPECT_EQ(bmc.version("PSU_1"), "9");
}

TEST(UpdateTest, AnIdracRefusesAnUploadWithoutItsLength) {
  Updating bmc{"dell"};

  const auto refused = bmc.ask("POST", std::string{bmc.behavior().multipart}, "x",
                               {{"transfer-encoding", "chunked"}});

  EXPECT_EQ(refused.status, 411);
}

TEST(UpdateTest, AnIloTellsInItsOwnWordsAndTakesAFormWithACookie) {
  Updating bmc{"hpe", {}, 1000};
  bmc.log_in(bmc.password);
  const std::string body = "--b\r\nContent-Disposition: form-data; name=\"sessionKey\"\r\n\r\n" +
                           bmc.token +
                           "\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; "
                           "filename=\"U32_2.0.bin\"\r\n\r\nvirtual firmware\n2 2.0\n\r\n--b--\r\n";

  const auto taken = bmc.service.handle({"POST",
                                         "/cgi-bin/uploadFile",
                                         {{"cookie", "sessionUrl=x; sessionKey=" + bmc.token},
                                          {"content-type", "multipart/form-data; boundary=b"}},
                                         body});
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(bmc.seen(kService, "Oem/Hpe/State"), "Verifying");
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.seen(kService, "Oem/Hpe/State"), "Complete");
  EXPECT_EQ(bmc.seen(kService, "Oem/Hpe/FlashProgressPercent"), "100");
  EXPECT_EQ(bmc.ask("GET", bmc.task()).status, 404);
}

TEST(UpdateTest, ASupermicroVerifiesFirstAndInstallsWhenTold) {
  Updating bmc{"supermicro", {}, 500};
  const auto later = R"({"@Redfish.OperationApplyTime":"OnStartUpdateRequest"})";

  EXPECT_EQ(bmc.upload("virtual firmware\nBIOS 3.0\n", later).status, 202);
  bmc.run_until([&] { return bmc.last().stage == Update::Stage::verified; });
  EXPECT_EQ(bmc.seen(bmc.task(), "Name"), "BIOS Verify");
  EXPECT_EQ(bmc.seen(bmc.task(), "TaskState"), "Completed");
  const std::string start = "/redfish/v1/UpdateService/Actions/UpdateService.StartUpdate";
  EXPECT_EQ(bmc.ask("POST", start).status, 202);
  EXPECT_EQ(bmc.ask("POST", start).status, 405);
  EXPECT_EQ(bmc.seen(bmc.task(), "Name"), "BIOS Update");
  bmc.run_until([&] { return bmc.last().stage == Update::Stage::flushing; });
  EXPECT_EQ(bmc.seen(bmc.task(), "PercentComplete"), "100");
  EXPECT_EQ(bmc.seen(bmc.task(), "TaskState"), "Running");
  ASSERT_TRUE(bmc.ends());
  bmc.boot();

  EXPECT_EQ(bmc.version("HostBIOS_0"), "01.01.03");  // it is reported late
  EXPECT_TRUE(bmc.runs("HostBIOS_0", "3.0"));
}

TEST(UpdateTest, AMegaracWantsToKnowTheKindOfImageAndKnowsNobodyWhileItFlashesItself) {
  Updating bmc{"ami", {}, 800};
  const std::string image = "virtual firmware\nBMC 13.0\n";
  EXPECT_EQ(bmc.upload(image, "{}", "{}").status, 400);

  EXPECT_EQ(bmc.upload(image, "{}", R"({"ImageType":"HPM"})").status, 202);
  bmc.run_until([&] { return bmc.service.state().updates.writes_bmc(); });

  EXPECT_EQ(bmc.ask("GET", bmc.view().system()).status, 401);
  EXPECT_EQ(bmc.log_in(bmc.password).status, 401);
  EXPECT_EQ(bmc.ask("GET", "/redfish/v1").status, 200);
  EXPECT_TRUE(bmc.runs("HostBMC_0", "13.0"));
}

TEST(UpdateTest, AnOpenbmcsGpusWaitForTheCord) {
  Updating bmc{"openbmc"};

  EXPECT_EQ(
      bmc.ask("POST", "/redfish/v1/UpdateService/update", "virtual firmware\nHGX_FW_GPU_0 97.0\n")
          .status,
      202);
  ASSERT_TRUE(bmc.ends());
  bmc.machine.press(Reset::power_cycle);
  bmc.boot();
  EXPECT_NE(bmc.version("HGX_FW_GPU_SXM_1"), "97.0");
  const auto cord = "/redfish/v1/" + std::string{bmc.service.behavior().power.ac.action};
  EXPECT_EQ(bmc.ask("POST", cord, R"({"ResetType":"AuxPowerCycle"})").status, 204);

  EXPECT_EQ(bmc.version("HGX_FW_GPU_SXM_1"), "97.0");
}

TEST(UpdateTest, AHostThatLosesItsPowerWhileItIsWrittenIsNotUpdated) {
  Updating bmc{"dgx", {}, 200};

  bmc.update("HostBIOS_0", "2.0");
  bmc.run_until([&] { return bmc.last().stage == Update::Stage::writing; });
  bmc.machine.press(Reset::force_off);
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.last().message_id, "Update.1.0.ApplyFailed");
}

TEST(UpdateTest, WhatIsAskedWronglyIsRefusedAtOnce) {
  Updating bmc{"dgx"};
  const auto target = std::string{bmc.behavior().simple};

  EXPECT_EQ(bmc.ask("POST", target, "{}").status, 400);
  EXPECT_EQ(bmc.ask("POST", target, R"({"ImageURI":"https://x/y_1.bin"})").status, 400);
  EXPECT_EQ(
      bmc.ask("POST", target, R"({"ImageURI":"https://x/y_1.bin","TransferProtocol":"GOPHER"})")
          .status,
      400);
  EXPECT_EQ(bmc.ask("POST", std::string{bmc.behavior().multipart}, "no form").status, 400);
  EXPECT_THAT(bmc.service.state().updates.all(), IsEmpty());
}

}  // namespace
}  // namespace cupel::rehearsal
