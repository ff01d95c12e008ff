// Updates that go wrong, each as a fault of the table plants it, on every vendor's BMC where that
// is possible.
#include "tests/rehearsal/update_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

Fault fault(FaultKind kind, const std::string& component = {}) {
  return {.kind = kind, .component = component};
}

Fault after_bytes(FaultKind kind, double bytes) { return {.kind = kind, .bytes = bytes}; }

class BrokenUpdateOf : public ::testing::TestWithParam<std::string> {
 protected:
  /// Begins an update of a power supply, which every vendor writes at once.
  static HttpResponse begin(Updating& bmc) { return bmc.update("PSU_1", "9.9"); }
};
INSTANTIATE_TEST_SUITE_P(Vendor, BrokenUpdateOf, ::testing::ValuesIn(vendors()), test_name);

TEST_P(BrokenUpdateOf, ATaskAt100PerCentNeverEndsThoughTheImageIsWritten) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_full)}};

  ASSERT_LT(bmc.update("HostBMC_0", "99.1").status, 300);
  bmc.run_until([&] { return bmc.last().stage == Update::Stage::flushing; });
  bmc.pass(VirtualTime{7200});
  const auto percent = bmc.service.state().updates.percent(bmc.last(), bmc.view().now());
  EXPECT_FALSE(bmc.last().is_over());
  bmc.insist("POST", bmc.view().manager() + "/Actions/Manager.Reset", "{}");

  EXPECT_EQ(percent, 100);
  EXPECT_TRUE(bmc.runs("HostBMC_0", "99.1"));
}

TEST_P(BrokenUpdateOf, ATaskThatVanishesLeavesAnUpdateThatGoesOn) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_task_lost)}, 500};

  ASSERT_LT(begin(bmc).status, 300);
  bmc.run_until([&] { return bmc.last().stage == Update::Stage::writing; });

  EXPECT_EQ(bmc.insist("GET", bmc.task()).status, 404);
  EXPECT_TRUE(bmc.runs("PSU_1", "9.9"));
}

TEST_P(BrokenUpdateOf, ABmcThatRestartsWhileItVerifiesHasWrittenNothing) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_unverified)}};
  int restarts = 0;
  bmc.service.on_restart = [&] { ++restarts; };

  ASSERT_LT(begin(bmc).status, 300);
  ASSERT_TRUE(bmc.run_until([&] { return restarts > 0; }));
  bmc.pass(VirtualTime{600});

  EXPECT_NE(bmc.version("PSU_1"), "9.9");
  EXPECT_EQ(bmc.service.state().updates.running(), nullptr);
}

TEST_P(BrokenUpdateOf, AnImageThatIsDamagedOrForAnotherModelIsRefused) {
  const auto refused = [&](const std::string& image) {
    Updating bmc{GetParam()};
    if (bmc.behavior().multipart.empty()) return true;
    const auto taken = bmc.upload(image, kAtOnce);
    if (taken.status == 400) return true;
    EXPECT_TRUE(bmc.ends());
    return bmc.last().message_id == "Update.1.0.VerificationFailed";
  };
  const auto good = Updating::image({{"PSU_1", "9.9"}}, "", 5000);
  auto damaged = good;
  damaged[4000] = static_cast<char>(damaged[4000] ^ 1);

  EXPECT_TRUE(refused(damaged));
  EXPECT_TRUE(refused(good.substr(0, 4999)));
  EXPECT_TRUE(refused(Updating::image({{"PSU_1", "9.9"}}, "Toaster 3000")));
}

TEST_P(BrokenUpdateOf, ABadSignatureIsFoundByTheCheck) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_bad_signature)}};

  ASSERT_LT(begin(bmc).status, 300);
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.last().message_id, "Update.1.0.VerificationFailed");
  EXPECT_NE(bmc.version("PSU_1"), "9.9");
}

TEST_P(BrokenUpdateOf, ABrickedBmcDoesNotComeBack) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_bricks, "HostBMC_0")}};

  ASSERT_LT(bmc.update("HostBMC_0", "99.1").status, 300);
  bmc.run_until([&] { return bmc.service.state().updates.running() == nullptr; });
  if (bmc.behavior().bmc == Activation::bmc_restart)
    bmc.insist("POST", bmc.view().manager() + "/Actions/Manager.Reset", "{}");

  EXPECT_TRUE(bmc.run_until([&] { return bmc_is_dead(bmc.machine.faults()); }));
}

TEST_P(BrokenUpdateOf, ABrickedBiosDoesNotBoot) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_bricks, "HostBIOS_0")}};

  ASSERT_LT(bmc.update("HostBIOS_0", "99.1").status, 300);
  bmc.boot_for_job();
  ASSERT_TRUE(bmc.ends());
  bmc.machine.press(Reset::power_cycle);

  EXPECT_TRUE(bmc.run_until(
      [&] { return find_fault(bmc.machine.faults(), FaultKind::boot_hangs) != nullptr; }));
}

TEST_P(BrokenUpdateOf, OnlyAnAcCycleActivatesWhatNeedsOne) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_needs_ac)}};

  ASSERT_LT(begin(bmc).status, 300);
  ASSERT_TRUE(bmc.ends());
  bmc.insist("POST", bmc.view().manager() + "/Actions/Manager.Reset", "{}");
  bmc.machine.press(Reset::power_cycle);
  bmc.boot();
  EXPECT_NE(bmc.version("PSU_1"), "9.9");
  bmc.machine.set_mains(false);
  bmc.machine.set_mains(true);

  EXPECT_TRUE(bmc.runs("PSU_1", "9.9"));
}

TEST_P(BrokenUpdateOf, SomebodyElsesUpdateIsSeenAndKeepsOthersOut) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_busy)}};

  const auto refused = begin(bmc);

  EXPECT_GE(refused.status, 400);
  if (bmc.behavior().has_task)
    EXPECT_EQ(bmc.seen("/redfish/v1/TaskService/Tasks/900", "TaskState"), "Running");
  else
    EXPECT_EQ(bmc.seen(kService, "Oem/Hpe/State"), "Updating");
}

TEST_P(BrokenUpdateOf, AFullStagingAreaTakesNoImage) {
  Updating bmc{GetParam(), {fault(FaultKind::firmware_no_space)}};

  EXPECT_EQ(begin(bmc).status, 507);
}

TEST_P(BrokenUpdateOf, AnUploadIsCutAtItsByte) {
  Updating bmc{GetParam(), {after_bytes(FaultKind::upload_cut, 200)}};
  if (bmc.behavior().multipart.empty()) GTEST_SKIP() << "it takes no form";

  const auto cut = bmc.upload(Updating::image({{"PSU_1", "9.9"}}, "", 5000));

  EXPECT_TRUE(cut.cut);
  EXPECT_TRUE(bmc.service.state().updates.all().empty());
}

TEST_P(BrokenUpdateOf, ASessionThatDiesInMidUploadIs401AndNothingIsWritten) {
  Updating bmc{GetParam(), {after_bytes(FaultKind::session_dies, 200)}};
  if (bmc.behavior().multipart.empty()) GTEST_SKIP() << "it takes no form";
  bmc.log_in(bmc.password);
  const HttpRequest head{
      "POST", std::string{bmc.behavior().multipart}, {{"x-auth-token", bmc.token}}};

  const auto sink = bmc.service.sink_of(head);
  ASSERT_TRUE(sink);
  EXPECT_TRUE(sink->take(std::string(100, 'x')));
  EXPECT_EQ(bmc.ask("GET", bmc.view().system()).status, 200);
  EXPECT_TRUE(sink->take(std::string(100, 'x')));

  EXPECT_EQ(bmc.ask("GET", bmc.view().system()).status, 401);
}

TEST_P(BrokenUpdateOf, ABmcThatRestartsInMidUploadCutsIt) {
  Updating bmc{GetParam(), {after_bytes(FaultKind::upload_restarts_bmc, 200)}};
  if (bmc.behavior().multipart.empty()) GTEST_SKIP() << "it takes no form";
  int restarts = 0;
  bmc.service.on_restart = [&] { ++restarts; };

  const auto cut = bmc.upload(Updating::image({{"PSU_1", "9.9"}}, "", 5000));

  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(restarts, 1);
  EXPECT_TRUE(bmc.service.state().updates.all().empty());
}

TEST(BrokenUpdate, OneTargetOfNineKeepsItsVersionAndTheTaskSaysSo) {
  Updating bmc{"dgx", {fault(FaultKind::firmware_part_fails, "HGX_FW_GPU_SXM_4")}};
  std::vector<Flash> nine;
  for (int i = 1; i <= 8; ++i) nine.push_back({"HGX_FW_GPU_SXM_" + std::to_string(i), "97.0"});
  nine.push_back({"HGX_FW_FPGA_0", "3.0"});

  bmc.upload(Updating::image(nine), R"({"Targets":[")" + std::string{kInventory} + R"(HGX_0"]})");
  ASSERT_TRUE(bmc.ends());
  EXPECT_EQ(bmc.seen(bmc.task(), "TaskState"), "Exception");
  EXPECT_THAT(bmc.ask("GET", bmc.task()).body, HasSubstr("HGX_FW_GPU_SXM_4"));
  bmc.machine.press(Reset::power_cycle);

  EXPECT_TRUE(bmc.runs("HGX_FW_FPGA_0", "3.0"));
  EXPECT_EQ(bmc.version("HGX_FW_GPU_SXM_3"), "97.0");
  EXPECT_NE(bmc.version("HGX_FW_GPU_SXM_4"), "97.0");
}

TEST(BrokenUpdate, AnImageForAnotherModelIsTakenWhereNobodyLooksAndBricks) {
  Updating bmc{"lenovo", {fault(FaultKind::firmware_any_model)}};

  bmc.upload(Updating::image({{"HostBMC_0", "99"}}, "Toaster 3000"));
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(bmc.last().stage, Update::Stage::done);
  EXPECT_TRUE(bmc.run_until([&] { return bmc_is_dead(bmc.machine.faults()); }));
}

TEST(BrokenUpdate, AnIdracsJobWaitsWhileTheLifecycleControllerIsInUse) {
  Updating bmc{"dell", {{.kind = FaultKind::lifecycle_busy, .span = VirtualTime{300}}}, 500};

  ASSERT_EQ(bmc.update("PSU_1", "9.9").status, 202);
  EXPECT_EQ(bmc.last().stage, Update::Stage::queued);
  EXPECT_THAT(bmc.ask("GET", bmc.task()).body, HasSubstr("Lifecycle Controller in use."));
  const auto job = bmc.view().manager() + "/Jobs/" + bmc.last().id;
  EXPECT_EQ(bmc.seen(job, "JobState"), "New");

  EXPECT_TRUE(bmc.runs("PSU_1", "9.9"));
}

TEST(BrokenUpdate, MainsThatComeBackActivateWhatNeedsThem) {
  Updating bmc{"dgx"};
  bmc.update("CPLDMB_0", "9.0");
  ASSERT_TRUE(bmc.ends());
  ASSERT_NE(bmc.version("CPLDMB_0"), "9.0");

  bmc.machine.set_mains(false);
  EXPECT_NE(bmc.version("CPLDMB_0"), "9.0");
  bmc.machine.set_mains(true);

  EXPECT_EQ(bmc.version("CPLDMB_0"), "9.0");
}

}  // namespace
}  // namespace cupel::rehearsal
