// Exchanges with update services as public clients and servers have them, word for word: what
// fwupd's Redfish plugin sends and reads, what bmcweb answers, what NVIDIA's tools say.
#include "tests/rehearsal/update_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_id(const HttpResponse& response) {
  const auto body = parse_json(response.body);
  boost::system::error_code none;
  const auto* found =
      body ? body->find_pointer("/error/@Message.ExtendedInfo/0/MessageId", none) : nullptr;
  return found && found->is_string() ? std::string{found->as_string()} : response.message_id;
}

/// As libcurl's mime API writes a part.
std::string part(const std::string& name, const std::string& type, const std::string& file,
                 const std::string& content) {
  auto text =
      "--------------------------d74496d66958873e\r\nContent-Disposition: form-data; name=\"" +
      name + "\"";
  if (!file.empty()) text += "; filename=\"" + file + "\"";
  if (!type.empty()) text += "\r\nContent-Type: " + type;
  return text + "\r\n\r\n" + content + "\r\n";
}
const std::string kEnd = "--------------------------d74496d66958873e--\r\n";
const std::string kForm = "multipart/form-data; boundary=------------------------d74496d66958873e";

TEST(Fwupd, GenericMultipartGetsATaskInTheLocationAndFollowsItToItsEnd) {
  Updating bmc{"lenovo", {}, 500};
  const auto body =
      part("UpdateParameters", "application/json", "",
           "{\n  \"Targets\" : [\n    \"/redfish/v1/UpdateService/FirmwareInventory/UEFI\"\n  ],\n"
           "  \"@Redfish.OperationApplyTime\" : \"Immediate\"\n}") +
      part("UpdateFile", "application/octet-stream", "firmware.bin", "virtual firmware\nUEFI 9\n") +
      kEnd;

  const auto taken =
      bmc.ask("POST", std::string{bmc.behavior().multipart}, body, {{"content-type", kForm}});
  EXPECT_EQ(taken.status, 202);
  const auto where = taken.headers.at("Location");
  EXPECT_EQ(where.front(), '/');
  EXPECT_TRUE(parse_json(taken.body)->as_object().contains("@odata.id"));
  EXPECT_EQ(bmc.seen(where, "TaskStatus"), "OK");
  ASSERT_TRUE(bmc.ends());
  const auto reported = bmc.ask("GET", bmc.task()).body;

  EXPECT_THAT(reported, HasSubstr(R"("TaskState":"Completed")"));
  EXPECT_THAT(reported, HasSubstr("ResetRequired"));
}

TEST(Fwupd, SupermicroIsVerifiedByOneTaskAndInstalledByAnother) {
  Updating bmc{"supermicro", {}, 500};
  const auto body =
      part(
          "UpdateParameters", "application/json", "",
          R"({"Targets":["/redfish/v1/Systems/1/Bios"],)"
          R"("@Redfish.OperationApplyTime":"OnStartUpdateRequest","Oem":{"Supermicro":{"BIOS":{)"
          R"("PreserveME":true,"PreserveNVRAM":true,"PreserveSMBIOS":true,"BackupBIOS":false}}}})") +
      part("UpdateFile", "application/octet-stream", "firmware.bin", "virtual firmware\nBIOS 9\n") +
      kEnd;
  const auto task_in = [](const HttpResponse& response) {
    const auto reported = parse_json(response.body);
    EXPECT_EQ(reported->at_pointer("/Accepted/@Message.ExtendedInfo/0/MessageId"),
              json::value("SMC.1.0.OemSimpleupdateAcceptedMessage"));
    const auto& args =
        reported->at_pointer("/Accepted/@Message.ExtendedInfo/0/MessageArgs").as_array();
    EXPECT_EQ(args.size(), 1);
    return std::string{args.at(0).as_string()};
  };

  const auto taken =
      bmc.ask("POST", "/redfish/v1/UpdateService/upload", body, {{"content-type", kForm}});
  EXPECT_EQ(taken.status, 202);
  const auto verify = task_in(taken);
  bmc.run_until([&] { return bmc.last().stage == Update::Stage::verified; });
  EXPECT_EQ(bmc.seen(verify, "TaskState"), "Completed");
  const auto started =
      bmc.ask("POST", "/redfish/v1/UpdateService/Actions/UpdateService.StartUpdate");
  const auto install = task_in(started);
  EXPECT_NE(install, verify);
  const auto again =
      bmc.ask("POST", "/redfish/v1/UpdateService/upload", body, {{"content-type", kForm}});
  ASSERT_TRUE(bmc.ends());

  EXPECT_EQ(again.status, 405);
  EXPECT_EQ(message_id(again), "SMC.1.0.OemFirmwareAlreadyInUpdateMode");
  EXPECT_EQ(bmc.seen(install, "TaskState"), "Completed");
}

TEST(Fwupd, HpesFormSaysItsStateOutsideOfAnyTask) {
  Updating bmc{"hpe", {}, 1000};
  bmc.log_in(bmc.password);
  const auto body =
      part("sessionKey", "", "", bmc.token) +
      part("parameters", "application/json", "",
           R"({"UpdateRepository":false,"UpdateTarget":true,"ETag":"atag"})") +
      part("files[]", "application/octet-stream", "firmware.fwpkg", "virtual firmware\n2 9.0\n") +
      kEnd;
  std::vector<std::string> states{bmc.seen(kService, "Oem/Hpe/State")};

  const auto taken = bmc.insist("POST", bmc.seen(kService, "HttpPushUri"), body,
                                {{"content-type", kForm}, {"cookie", "sessionKey=" + bmc.token}});
  EXPECT_EQ(taken.status, 200);
  bmc.run_until([&] {
    const auto now = bmc.seen(kService, "Oem/Hpe/State");
    if (!now.empty() && now != states.back()) states.push_back(now);
    return bmc.last().is_over() && now == "Complete";
  });

  EXPECT_THAT(states, ElementsAre("Idle", "Verifying", "Writing", "Complete"));
  EXPECT_EQ(bmc.seen(kService, "Oem/Hpe/FlashProgressPercent"), "100");
}

class Bmcweb : public ::testing::Test {
 protected:
  Updating bmc{"openbmc", {}, 500};
  std::string image = "virtual firmware\nUEFI 9.0\n";
};

TEST_F(Bmcweb, TakesOneUpdateAtATime) {
  ASSERT_EQ(bmc.upload(image).status, 202);

  const auto refused = bmc.upload(image);

  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(message_id(refused), HasSubstr("ServiceTemporarilyUnavailable"));
  EXPECT_EQ(refused.headers.at("Retry-After"), "30");
}

TEST_F(Bmcweb, TakesNoTwoTargets) {
  const auto refused =
      bmc.upload(image, R"({"Targets":["/redfish/v1/UpdateService/FirmwareInventory/UEFI",)"
                        R"("/redfish/v1/UpdateService/FirmwareInventory/FW_BMC_0"]})");

  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(message_id(refused), HasSubstr("PropertyValueFormatError"));
}

TEST_F(Bmcweb, SaysAtOnceWhatIsWrongWithAnImage) {
  const auto missing = bmc.ask("POST", std::string{bmc.behavior().multipart},
                               part("UpdateParameters", "application/json", "", "{}") + kEnd,
                               {{"content-type", kForm}});
  const auto malformed = bmc.upload("MZ\x90");
  const auto running = bmc.upload("virtual firmware\nUEFI " + bmc.version("HostBIOS_0") + "\n");
  const auto time = bmc.upload(image, R"({"@Redfish.OperationApplyTime":"Tomorrow"})");

  EXPECT_THAT(message_id(missing), HasSubstr("PropertyMissing"));
  EXPECT_THAT(message_id(malformed), HasSubstr("MissingOrMalformedPart"));
  EXPECT_THAT(message_id(running), HasSubstr("ResourceAlreadyExists"));
  EXPECT_THAT(message_id(time), HasSubstr("PropertyValueNotInList"));
  for (const auto& response : {missing, malformed, running, time}) EXPECT_EQ(response.status, 400);
}

TEST_F(Bmcweb, StagesUntilTheResetAndIsCompletedThen) {
  ASSERT_EQ(bmc.upload(image, R"({"Targets":[]})").status, 202);
  ASSERT_TRUE(bmc.run_until([&] { return bmc.last().stage == Update::Stage::staged; }));
  EXPECT_EQ(bmc.stage_of_task(), "Stopping");
  EXPECT_THAT(bmc.ask("GET", bmc.task()).body, HasSubstr("TaskEvent.1.0.TaskPaused"));
  EXPECT_NE(bmc.version("HostBIOS_0"), "9.0");

  bmc.boot();

  EXPECT_EQ(bmc.version("HostBIOS_0"), "9.0");
  EXPECT_EQ(bmc.stage_of_task(), "Completed");
}

TEST(BmcwebTimer, GivesAStagedTaskUpAfterFiveHours) {
  Updating bmc{"openbmc", {}, 10'000};
  ASSERT_EQ(bmc.upload("virtual firmware\nUEFI 9.0\n").status, 202);
  ASSERT_TRUE(bmc.run_until([&] { return bmc.last().stage == Update::Stage::staged; }));

  bmc.pass(VirtualTime{3.5 * 3600});
  EXPECT_EQ(bmc.stage_of_task(), "Stopping");
  bmc.pass(VirtualTime{2.0 * 3600});

  EXPECT_EQ(bmc.stage_of_task(), "Cancelled");
}

TEST_F(Bmcweb, ForgetsTheTaskOfItsOwnUpdateAndRunsIt) {
  ASSERT_EQ(bmc.upload("virtual firmware\nFW_BMC_0 99\n", kAtOnce).status, 202);
  const auto task = bmc.task();

  ASSERT_TRUE(bmc.runs("HostBMC_0", "99"));
  bmc.pass(VirtualTime{120});
  bmc.token.clear();

  EXPECT_EQ(bmc.ask("GET", task).status, 404);
}

TEST(Nvidia, TheWholeMotherboardTrayLeavesTheGpuTrayAlone) {
  Updating bmc{"dgx"};
  const auto image = Updating::image({{"CPLDMID_0", "1.0"}, {"HGX_FW_FPGA_0", "3.0"}});

  EXPECT_EQ(bmc.upload(image, R"({"Targets":[]})").status, 202);
  ASSERT_TRUE(bmc.ends());

  EXPECT_THAT(bmc.last().images, ElementsAre(Flash{"CPLDMID_0", "1.0"}));
}

TEST(Nvidia, Hgx0IsTheWholeGpuTrayAndNothingElse) {
  Updating bmc{"dgx"};
  const auto image = Updating::image({{"CPLDMID_0", "1.0"}, {"HGX_FW_NVSwitch_2", "97.0"}});
  int parts = 0;
  for (const auto& one : components_of(bmc.view()))
    parts += one.name.starts_with("HGX_FW_") ? 1 : 0;

  bmc.upload(image, R"({"Targets":[")" + std::string{kInventory} + R"(HGX_0"]})");
  ASSERT_TRUE(bmc.ends());

  EXPECT_THAT(bmc.last().images, ElementsAre(Flash{"HGX_FW_NVSwitch_2", "97.0"}));
  EXPECT_EQ(parts, 38);
  EXPECT_EQ(bmc.seen(std::string{kInventory} + "HGX_FW_ERoT_GPU_SXM_8", "Version"),
            "00.02.0150.0000_n00");
}

TEST(Nvidia, OneTargetTakesOnlyItsOwnOfAPackage) {
  Updating bmc{"dgx"};
  const auto image = Updating::image({{"HGX_FW_FPGA_0", "3.0"}, {"HGX_FW_BMC_0", "24.01"}});

  bmc.upload(image, R"({"Targets":[")" + std::string{kInventory} + R"(HGX_FW_FPGA_0"]})");
  ASSERT_TRUE(bmc.ends());

  EXPECT_THAT(bmc.last().images, ElementsAre(Flash{"HGX_FW_FPGA_0", "3.0"}));
}

TEST(Nvidia, ADowngradeWantsForceUpdate) {
  const auto ended = [](const std::string& parameters, bool beforehand) {
    Updating bmc{"dgx"};
    if (beforehand) bmc.ask("PATCH", kService, R"({"HttpPushUriOptions":{"ForceUpdate":true}})");
    bmc.upload("virtual firmware\nHostBIOS_0 00.09\n", parameters);
    EXPECT_TRUE(bmc.ends());
    return bmc.last().stage;
  };

  EXPECT_EQ(ended("{}", false), Update::Stage::failed);
  EXPECT_EQ(ended(R"({"ForceUpdate":true})", false), Update::Stage::done);
  EXPECT_EQ(ended("{}", true), Update::Stage::done);
}

/// A BMC whose update service is another one than its vendor's.
class UpdatingAs : public Updating {
 public:
  UpdatingAs(const std::string& vendor, const std::string& updates)
      : Updating{BmcSpec{.vendor = vendor, .updates = updates}} {}
};

TEST(LenovoTsm, WantsItsOemParameters) {
  UpdatingAs bmc{"ami", "lenovo-tsm"};
  const auto targets = R"({"Targets":["/redfish/v1/Managers/Self"]})";
  const auto image = Updating::image({{"BMC", "13.0"}});

  EXPECT_EQ(bmc.upload(image, targets, R"({"FlashType":"HPMFwUpdate"})").status, 400);
  const auto taken =
      bmc.upload(image, targets, R"({"FlashType":"HPMFwUpdate","UploadSelector":"Default"})");

  EXPECT_EQ(taken.status, 202);
  EXPECT_TRUE(bmc.runs("HostBMC_0", "13.0"));
}

TEST(LenovoTsm, Says400ToAnUploadWhileItBoots) {
  UpdatingAs bmc{"ami", "lenovo-tsm"};
  bmc.log_in(bmc.password);
  bmc.machine.set_faults({{.kind = FaultKind::bmc_busy, .span = VirtualTime{1e6}}});

  EXPECT_EQ(bmc.upload("virtual firmware\nBMC 13.0\n").status, 400);
  EXPECT_EQ(bmc.ask("GET", bmc.view().system()).status, 503);
}

TEST(Bluefield, NeedsAnAcCycleOfTheBoard) {
  UpdatingAs bmc{"openbmc", "bluefield"};
  EXPECT_EQ(bmc.seen(std::string{kInventory} + "Bluefield_FW_ERoT", "Version"),
            "00.02.0182.0000_n02");

  EXPECT_EQ(bmc.upload(Updating::image({{"BMC_Firmware", "BF-25.01-3"}}), kAtOnce).status, 202);
  ASSERT_TRUE(bmc.ends());
  bmc.ask("POST", bmc.view().manager() + "/Actions/Manager.Reset", "{}");
  EXPECT_NE(bmc.version("HostBMC_0"), "BF-25.01-3");
  bmc.pass(VirtualTime{120});
  bmc.token.clear();
  EXPECT_TRUE(bmc.cycle_ac());

  EXPECT_TRUE(bmc.runs("HostBMC_0", "BF-25.01-3"));
}

}  // namespace
}  // namespace cupel::rehearsal
