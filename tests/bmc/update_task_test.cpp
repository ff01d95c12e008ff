// What tasks, jobs and services say of an update, and what it means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bmc/redfish/update.h"

namespace cupel::bmc::redfish {
namespace {

using State = UpdateProgress::State;
using ::testing::HasSubstr;
using ::testing::Not;

json::value parsed(const char* text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : json::value{};
}
UpdateProgress of(const char* body, std::string_view way = "multipart") {
  return progress_of({.status = 200, .body = parsed(body)}, way);
}
UpdateProgress in(const char* service) { return progress_in(parsed(service)); }

struct Case {
  const char* what;
  const char* body;
  State state;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.what; }

class TaskStates : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    OfTheStandard, TaskStates,
    ::testing::Values(
        Case{"New", R"({"TaskState":"New"})", State::running},
        Case{"Starting", R"({"TaskState":"Starting"})", State::running},
        Case{"Running", R"({"TaskState":"Running"})", State::running},
        Case{"Suspended", R"({"TaskState":"Suspended"})", State::running},
        Case{"Interrupted", R"({"TaskState":"Interrupted"})", State::running},
        Case{"Pending", R"({"TaskState":"Pending"})", State::running},
        Case{"Stopping", R"({"TaskState":"Stopping"})", State::running},
        Case{"Service", R"({"TaskState":"Service"})", State::running},
        Case{"Cancelling", R"({"TaskState":"Cancelling"})", State::running},
        Case{"Completed", R"({"TaskState":"Completed","TaskStatus":"OK"})", State::done},
        Case{"CompletedWarning", R"({"TaskState":"Completed","TaskStatus":"Warning"})",
             State::done},
        Case{"CompletedCritical", R"({"TaskState":"Completed","TaskStatus":"Critical"})",
             State::failed},
        Case{"CompletedWithCriticalMessage",
             R"({"TaskState":"Completed","TaskStatus":"OK","Messages":[{"Severity":"Critical"}]})",
             State::failed},
        Case{"Killed", R"({"TaskState":"Killed"})", State::failed},
        Case{"Cancelled", R"({"TaskState":"Cancelled"})", State::failed},
        Case{"ExceptionThatIsOK", R"({"TaskState":"Exception","TaskStatus":"OK"})", State::failed},
        Case{"OfNoStandard", R"({"TaskState":"foobared"})", State::running},
        Case{"StateThatIsNoText", R"({"TaskState":7,"TaskStatus":["OK"],"Messages":"none"})",
             State::running},
        Case{"MessagesOfNoForm",
             R"({"TaskState":"Completed","Messages":[7,null,[],{"Message":{}}]})", State::done},
        Case{"RunningAtHundred", R"({"TaskState":"Running","PercentComplete":100})",
             State::running},
        Case{"ResetRequired",
             R"({"TaskState":"Completed","Messages":[{"MessageId":"Base.1.10.ResetRequired"}]})",
             State::needs_reset},
        Case{"OpenBmcStaged",
             R"({"TaskState":"Stopping","Messages":[{"MessageId":"TaskEvent.1.0.TaskStarted"},
                 {"MessageId":"TaskEvent.1.0.TaskPaused"}]})",
             State::needs_reset},
        Case{"OpenBmcStagedAndOnItsWay",
             R"({"TaskState":"Stopping","Messages":[{"MessageId":"TaskEvent.1.0.TaskPaused"},
                 {"MessageId":"TaskEvent.1.0.TaskResumed"}]})",
             State::running},
        Case{"StagedAsPending",
             R"({"TaskState":"Pending","PercentComplete":100,
                 "Messages":[{"MessageId":"Base.1.13.ResetRequired"}]})",
             State::needs_reset},
        Case{"StagedAsSuspended",
             R"({"TaskState":"Suspended","PercentComplete":100,
                 "Messages":[{"MessageId":"Update.1.0.AwaitToActivate"}]})",
             State::needs_reset},
        Case{"PendingAndNotYetStaged",
             R"({"TaskState":"Pending","PercentComplete":40,
                 "Messages":[{"MessageId":"Base.1.13.ResetRequired"}]})",
             State::running},
        Case{"PendingAtHundredThatWaitsForNothing",
             R"({"TaskState":"Pending","PercentComplete":100})", State::running}),
    [](const auto& one) { return std::string{one.param.what}; });
INSTANTIATE_TEST_SUITE_P(
    OfJobs, TaskStates,
    ::testing::Values(
        Case{"Downloading", R"({"TaskState":"New","Oem":{"Dell":{"JobState":"Downloading"}}})",
             State::running},
        Case{"WaitsForReboot",
             R"({"TaskState":"Starting","Oem":{"Dell":{"JobState":"Scheduled"}}})",
             State::needs_reset},
        Case{"WaitsForTheController",
             R"({"JobState":"Scheduled","MessageId":"RED023",
                 "Message":"Lifecycle Controller in use. This job will start when it is free."})",
             State::running},
        Case{"TwoViewsOfOneFailure",
             R"({"TaskState":"Completed","TaskStatus":"OK","Oem":{"Dell":{"JobState":"Failed"}}})",
             State::failed},
        Case{"WithErrors", R"({"JobState":"CompletedWithErrors"})", State::failed},
        Case{"RebootFailed", R"({"JobState":"RebootFailed"})", State::failed},
        Case{"JobCompleted", R"({"JobState":"Completed","PercentComplete":100})", State::done},
        Case{"JobRunning", R"({"JobState":"Running"})", State::running}),
    [](const auto& one) { return std::string{one.param.what}; });

TEST_P(TaskStates, MeanWhatTheStandardAndTheVendorsSay) {
  EXPECT_EQ(of(GetParam().body).state, GetParam().state);
}

TEST(Progress, OfAVerifiedUploadWaitsToGoOn) {
  const auto* completed = R"({"Name":"BIOS Verify","TaskState":"Completed","TaskStatus":"OK"})";

  EXPECT_EQ(of(completed, kVerifies).state, State::verified);
  EXPECT_EQ(of(completed, "start").state, State::done);
  EXPECT_EQ(of(R"({"TaskState":"Exception"})", kVerifies).state, State::failed);
}

TEST(Progress, OfAMonitorIsItsStatus) {
  EXPECT_EQ(progress_of({.status = 202, .body = nullptr}, "simple").state, State::running);
  EXPECT_EQ(progress_of({.status = 204, .body = nullptr}, "simple").state, State::done);
  EXPECT_EQ(progress_of({.status = 200, .body = json::object{}}, "simple").state, State::done);
}

TEST(Progress, HasPercentsHoweverTheyAreWritten) {
  EXPECT_EQ(of(R"({"TaskState":"Running","PercentComplete":42})").percent, 42);
  EXPECT_EQ(of(R"({"TaskState":"Running","PercentComplete":"42"})").percent, 42);
  EXPECT_EQ(of(R"({"TaskState":"Running","PercentComplete":"42%"})").percent, 42);
  EXPECT_EQ(of(R"({"TaskState":"Running","PercentComplete":4200})").percent, 100);
  EXPECT_EQ(of(R"({"TaskState":"Running","PercentComplete":-1})").percent, 0);
  EXPECT_EQ(of(R"({"TaskState":"Running","PercentComplete":"soon"})").percent, std::nullopt);
  EXPECT_EQ(of(R"({"TaskState":"Running","PercentComplete":null})").percent, std::nullopt);
}

TEST(Progress, TellsTheNewestMessagesFirstAndBoundsThem) {
  std::string body = R"({"TaskState":"Running)" + std::string(500, 'x') + R"(","Messages":[)";
  for (int i = 0; i < 500; ++i)
    body +=
        R"({"Message":"\u001b[2J step )" + std::to_string(i) + R"(","MessageId":"Update.1.0"},)";
  body += "{}]}";

  const auto seen = of(body.c_str());

  EXPECT_THAT(seen.message, ::testing::StartsWith("[2J step 499 (Update.1.0) / "));
  EXPECT_LE(seen.message.size(), 700u);
  EXPECT_LE(seen.reported.size(), 100u);
}

TEST(Progress, OfAServiceIsInItsVendorsWords) {
  const auto ilo = in(R"({"Oem":{"Hpe":{"State":"Writing","FlashProgressPercent":37}}})");
  EXPECT_EQ(ilo.state, State::running);
  EXPECT_EQ(ilo.percent, 37);
  EXPECT_EQ(ilo.reported, "Writing");
  EXPECT_EQ(in(R"({"Oem":{"Hpe":{"State":"Idle"}}})").state, State::gone);
  EXPECT_EQ(in(R"({"Oem":{"Hpe":{"State":"Complete"}}})").state, State::done);
  EXPECT_EQ(in(R"({"Oem":{"Hpe":{"State":"Complete",
                  "Result":{"MessageId":"iLO.2.14.SystemResetRequired"}}}})")
                .state,
            State::needs_reset);
  EXPECT_EQ(in(R"({"Oem":{"Hpe":{"State":"Error"}}})").state, State::failed);
  EXPECT_EQ(in(R"({"Oem":{"Ami":{"UpdateStatus":null,"FlashPercentage":null}}})").state,
            State::gone);
  const auto ami =
      in(R"({"Oem":{"Ami":{"UpdateStatus":"Flashing","FlashPercentage":"12% done"}}})");
  EXPECT_EQ(ami.state, State::running);
  EXPECT_EQ(ami.percent, 12);
  EXPECT_EQ(
      in(R"({"Oem":{"AMIUpdateService":{"UpdateInformation":{"UpdateStatus":"Failed when Flashing Image."}}}})")
          .state,
      State::failed);
  EXPECT_EQ(in("{}").state, State::gone);
}

/// Source: fwupd, plugins/redfish, the states of an iLO's UpdateService.
TEST(Progress, OfAnIloIsOneOfSixStates) {
  const auto of_state = [](const std::string& word) {
    return in((R"({"Oem":{"Hpe":{"State":")" + word + R"("}}})").c_str()).state;
  };

  EXPECT_EQ(of_state("Idle"), State::gone);
  EXPECT_EQ(of_state("Uploading"), State::running);
  EXPECT_EQ(of_state("Verifying"), State::running);
  EXPECT_EQ(of_state("Updating"), State::running);
  EXPECT_EQ(of_state("Complete"), State::done);
  EXPECT_EQ(of_state("Error"), State::failed);
}

TEST(Ticket, IsTheTaskRatherThanItsMonitor) {
  const auto body = parsed(R"({"@odata.type":"#Task.v1_4_3.Task",
                                    "@odata.id":"/redfish/v1/TaskService/Tasks/7"})");

  EXPECT_EQ(
      ticket_of({.status = 202, .body = body, .location = "/redfish/v1/TaskMonitor/x"}, "push"),
      (UpdateTicket{"push", "/redfish/v1/TaskService/Tasks/7"}));
  EXPECT_EQ(ticket_of({.status = 202, .body = nullptr, .location = "https://10.0.0.1/taskmon/546"},
                      "push"),
            (UpdateTicket{"push", "/taskmon/546"}));
}

TEST(Ticket, StandsInAMessageWhereNothingElseNamesIt) {
  const auto body = parsed(
      R"({"Accepted":{"code":"Base.v1_10_3.Accepted","@Message.ExtendedInfo":[
          {"MessageId":"SMC.1.0.OemSimpleupdateAcceptedMessage",
           "MessageArgs":["/redfish/v1/TaskService/Tasks/1234"]}]}})");
  const auto without =
      parsed(R"({"Accepted":{"@Message.ExtendedInfo":[{"MessageId":"SMC.1.0.Accepted"}]}})");

  EXPECT_EQ(ticket_of({.status = 202, .body = body}, kVerifies).task,
            "/redfish/v1/TaskService/Tasks/1234");
  EXPECT_EQ(ticket_of({.status = 202, .body = without}, kVerifies).task, "");
}

TEST(Ticket, NeverLeadsOffTheBmc) {
  for (const auto* hostile : {"//evil.example/x", "https://evil.example", "../../x", "/a b", ""})
    EXPECT_EQ(ticket_of({.status = 202, .body = nullptr, .location = hostile}, "push").task, "")
        << hostile;
}

TEST(Ticket, NeverLeadsOffTheBmcByAMessageOrATaskEither) {
  for (const auto* hostile :
       {"//evil.example/x", "https://evil.example/x", "../../x", "/a b", ""}) {
    const json::object task{{"@odata.type", "#Task.v1_4_3.Task"}, {"@odata.id", hostile}};
    const json::object accepted{
        {"Accepted",
         json::object{{"@Message.ExtendedInfo",
                       json::array{json::object{{"MessageArgs", json::array{hostile}}}}}}}};

    EXPECT_EQ(ticket_of({.status = 202, .body = task}, "push").task, "") << hostile;
    EXPECT_EQ(ticket_of({.status = 202, .body = accepted}, kVerifies).task, "") << hostile;
  }
}

TEST(Ticket, OfAnAnswerWithoutFormIsNone) {
  for (const auto* odd :
       {R"([])", R"("task")", R"({"Accepted":7})", R"({"Accepted":{"@Message.ExtendedInfo":{}}})",
        R"({"Accepted":{"@Message.ExtendedInfo":["/redfish/v1/TaskService/Tasks/1"]}})",
        R"({"@odata.type":"#Task.v1_4_3.Task","@odata.id":["/redfish/v1/TaskService/Tasks/1"]})"})
    EXPECT_EQ(ticket_of({.status = 202, .body = parsed(odd)}, kVerifies).task, "") << odd;
}

}  // namespace
}  // namespace cupel::bmc::redfish
