// Updates as vendors' tools, public clients and emulators document them, word for word: what a BMC
// is sent, and what its documented answers come to.
#include "tests/bmc/updating.h"

namespace cupel::bmc {
namespace {

using State = UpdateProgress::State;

/// Source: openstack/sushy-tools, templates/update_service.json, task.json and error.json. Its
/// HttpPushUri is left out: that is a collection which takes no POST.
class SushyTools : public Updating {
 protected:
  void SetUp() override {
    Updating::SetUp();
    offer({{"@odata.type", "#UpdateService.v1_11_0.UpdateService"},
           {"MaxImageSizeBytes", nullptr},
           {"Actions",
            {{"#UpdateService.SimpleUpdate",
              {{"TransferProtocol@Redfish.AllowableValues", {"HTTP", "HTTPS"}},
               {"target", kSimple}}}}}});
  }
  static UpdateOrder order(const std::string& target) {
    UpdateOrder order{.component = "bios", .targets = {target}};
    order.pull_uri = "http://10.6.48.48:8080/ilo5278.bin";
    return order;
  }
  static constexpr const char* kSimple =
      "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate";
};

TEST_F(SushyTools, FetchesABiosAndNamesItsTaskIn204) {
  const std::string task = "/redfish/v1/TaskService/Tasks/42";
  answer(kSimple, 204, "", {{"Location", task}});
  server.set(task, json::object{{"@odata.type", "#Task.v1_4_3.Task"},
                                {"Id", "42"},
                                {"Name", "Task 42"},
                                {"Description", "Task description"},
                                {"TaskMonitor", "/taskmon/42"},
                                {"TaskState", "Completed"},
                                {"TaskStatus", "OK"},
                                {"PercentComplete", 100},
                                {"@odata.id", task}});

  const auto ticket = push(order("/redfish/v1/Systems/zzzz-yyyy-xxxx"));
  ASSERT_TRUE(ticket) << ticket.error().what;
  const auto seen = with_bmc([&](Bmc& bmc) { return bmc.update.progress(*ticket, soon()); });

  EXPECT_EQ(*ticket, (UpdateTicket{"simple", task}));
  EXPECT_EQ(body(0), R"({"Targets":["/redfish/v1/Systems/zzzz-yyyy-xxxx"],)"
                     R"("ImageURI":"http://10.6.48.48:8080/ilo5278.bin",)"
                     R"("TransferProtocol":"HTTP"})");
  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->state, State::done);
  EXPECT_EQ(seen->percent, 100);
}

TEST_F(SushyTools, RefusesAManager) {
  answer(kSimple, 400,
         R"({"error":{"code":"Base.1.0.GeneralError","message":"Manager is not currently a )"
         R"(supported Target.","@Message.ExtendedInfo":[{"@odata.type":)"
         R"("/redfish/v1/$metadata#Message.1.0.0.Message","MessageId":"Base.1.0.GeneralError"}]}})",
         {});

  const auto ticket = push(order("/redfish/v1/Managers/zzzz-yyyy-xxxx"));

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kFailed) << ticket.error().what;
  EXPECT_THAT(ticket.error().what, HasSubstr("Manager is not currently a supported Target."));
  EXPECT_THAT(lines(), ElementsAre(std::string{"POST "} + kSimple));
}

/// Source: NVIDIA/infra-controller, crates/bmc-mock: every task is Task 0, and it is completed.
TEST_F(SushyTools, ATaskThatIsCompletedFromItsBeginningIsDoneAsTheBmcSays) {
  const std::string task = "/redfish/v1/TaskService/Tasks/0";
  answer(kSimple, 202, "", {{"Location", task}});
  server.set(task, json::object{{"@odata.id", task},
                                {"@odata.type", "#Task.v1_4_3.Task"},
                                {"Id", "0"},
                                {"TaskState", "Completed"},
                                {"PercentComplete", 100}});

  const auto ticket = push(order("/redfish/v1/Systems/1"));
  ASSERT_TRUE(ticket) << ticket.error().what;
  const auto seen = with_bmc([&](Bmc& bmc) { return bmc.update.progress(*ticket, soon()); });

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->state, State::done) << "its versions decide";
}

class DocumentedUpdates : public Updating {};

/// Source: Supermicro's Redfish guide, SimpleUpdate.
TEST_F(DocumentedUpdates, ASupermicroThatFetchesIsGivenTheSystemOrTheManager) {
  become("Supermicro", "SYS-821GE-TNHR");
  offer({{"Actions", {{"#UpdateService.SimpleUpdate", {{"target", "/redfish/v1/Simple"}}}}}});
  answer("/redfish/v1/Simple");
  auto bios = image.order("bios"), bmc = image.order("bmc");
  bios.pull_uri = bmc.pull_uri = kPull;

  ASSERT_TRUE(push(bios));
  answer("/redfish/v1/Simple");
  ASSERT_TRUE(push(bmc));

  EXPECT_THAT(body(0), HasSubstr(R"("Targets":["/redfish/v1/Systems/1"])"));
  EXPECT_THAT(body(1), HasSubstr(R"("Targets":["/redfish/v1/Managers/1"])"));
}

/// Source: fwupd, plugins/redfish: the words of a refusal.
TEST_F(DocumentedUpdates, ASupermicroWithoutItsLicenseRefusesInItsWords) {
  become("Supermicro", "SYS-821GE-TNHR");
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload, 405,
         test::refusal("SMC.v1_0_0.OemLicenseNotPassed", "Not licensed to perform this request."),
         {});

  const auto ticket = push(image.order());

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kUnsupported) << ticket.error().what;
  EXPECT_THAT(ticket.error().what, HasSubstr("Not licensed to perform this request."));
}

/// Source: Lenovo's TSM: 202; 400 while the BMC boots.
TEST_F(DocumentedUpdates, ALenovoWithTsmWritesItsBmcAndRefusesWhileItBoots) {
  become("Lenovo", "ThinkSystem SR655");
  offer({{"Oem",
          {{"AMIUpdateService", {{"MultipartHttpPushUri", "/redfish/v1/UpdateService/upload"}}}}}});
  answer(kUpload);

  const auto taken = push(image.order("bmc"));
  answer(kUpload, 400, "", {});
  const auto boots = push(image.order("bmc"));

  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_EQ(lines().front(), "POST /redfish/v1/UpdateService/upload");
  EXPECT_THAT(body(0), HasSubstr("name=\"UpdateFile\"; filename=\"image.bin\""));
  EXPECT_THAT(body(0), HasSubstr(field("UpdateParameters", "application/json",
                                       R"({"Targets":["/redfish/v1/Managers/Self"]})")));
  EXPECT_THAT(body(0),
              HasSubstr(field("OemParameters", "application/json",
                              R"({"FlashType":"HPMFwUpdate","UploadSelector":"Default"})")));
  ASSERT_FALSE(boots);
  EXPECT_EQ(boots.error().code, Code::kFailed) << "nothing was taken: " << boots.error().what;
}

/// Source: openbmc/bmcweb, update_service.hpp, and DSP0268 for the messages.
TEST_F(DocumentedUpdates, WhatAnOpenBmcHasAgainstAnImageIsARefusalInItsWords) {
  for (const auto* id : {"PropertyValueFormatError", "PropertyMissing", "MissingOrMalformedPart",
                         "ResourceAlreadyExists", "PropertyValueNotInList"}) {
    offer({{"MultipartHttpPushUri", "/redfish/v1/UpdateService/update-multipart"}});
    answer("/redfish/v1/UpdateService/update-multipart", 400,
           test::refusal(std::string{"Base.1.19."} + id, "This is wrong."), {});

    const auto ticket = push(image.order());

    ASSERT_FALSE(ticket) << id;
    EXPECT_FALSE(is_transient(ticket.error().code)) << ticket.error().what;
    EXPECT_NE(ticket.error().code, Code::kUnreachable) << "it is known that nothing was taken";
    EXPECT_THAT(ticket.error().what, HasSubstr(id));
  }
}

TEST_F(DocumentedUpdates, AnOpenBmcAtWorkAsksForPatience) {
  offer({{"MultipartHttpPushUri", "/redfish/v1/UpdateService/update-multipart"}});
  answer("/redfish/v1/UpdateService/update-multipart", 503,
         test::refusal("Base.1.19.ServiceTemporarilyUnavailable",
                       "The service is temporarily unavailable. Retry in 30 seconds."),
         {{"Retry-After", "30"}});

  const auto ticket = push(image.order());

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kBusy);
  EXPECT_GE(ticket.error().retry_after, 30s);
}

/// Source: NVIDIA's nvfwupd for DGX H100: {} is the whole motherboard tray.
TEST_F(DocumentedUpdates, ADgxIsGivenNoParametersForItsWholeMotherboardTray) {
  become("NVIDIA", "DGXH100");
  offer({{"MultipartHttpPushUri", kUpload}});
  answer(kUpload);

  ASSERT_TRUE(push(image.order("bmc")));

  EXPECT_THAT(body(0), HasSubstr(field("UpdateParameters", "application/json", "{}")));
}

}  // namespace
}  // namespace cupel::bmc
