// cupel firmware show, continue and forget, on a state folder in which a run left an update open.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/wall_clock.h"
#include "orchestrator/firmware/update_handle.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/firmware_state.h"
#include "orchestrator/store/power_hold.h"
#include "tests/e2e/forked_cupel.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using End = store::FirmwareState::End;
using Phase = firmware::UpdateHandle::Phase;
using engine::EventKind;

class FirmwareRecovery : public ::testing::Test {
 protected:
  FirmwareRecovery() {
    std::string made = (fs::temp_directory_path() / "cupel-recovery-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    std::error_code ignored;
    fs::create_directory(folder_ / "profiles", ignored);
    std::ofstream{folder_ / "profiles/mine.yaml"} << "profile: mine\n"
                                                     "power: {idle: 1, loaded: 2}\n";
    std::ofstream{folder_ / "inventory.yaml"}
        << "site: lab\ndefaults: {profile: mine, bmc: {user: a, password: \"cmd:echo x\"}}\n"
           "nodes:\n"
           "  - {name: n1, bmc: {address: \"127.0.0.1:9\"}, ssh: {address: \"127.0.0.1:9\"}}\n";
  }
  ~FirmwareRecovery() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  /// A run of one step on n1, up to these events behind its begin.
  engine::RunId run_with(const std::vector<engine::Event>& events) {
    const auto store = open();
    store::Run run;
    run.playbook = "firmware";
    run.nodes = {"n1"};
    const auto id = store->begin_run(run).value();
    engine::Event started;
    started.kind = EventKind::run_started;
    started.data = {{"nodes", {{{"name", "n1"}, {"rack", "a01"}, {"unit", 1}}}},
                    {"steps", json::array{"firmware"}}};
    EXPECT_TRUE(store->append(id, started));
    for (auto event : events) EXPECT_TRUE(store->append(id, event));
    return id;
  }
  static engine::Event of_step(EventKind kind, json::object data = {}) {
    engine::Event event;
    event.kind = kind;
    event.node = "n1";
    event.step = "firmware";
    event.data = std::move(data);
    return event;
  }
  static engine::Event run_ended() {
    engine::Event event;
    event.kind = EventKind::run_ended;
    return event;
  }

  void leave(engine::RunId run, End end, Phase phase, bool again = false) {
    const auto store = open();
    const firmware::UpdateHandle handle{
        .phase = phase, .component = "bios", .version = "2.4", .targets = 1, .again = again};
    ASSERT_TRUE(store::keep_firmware_state(*store, "firmware", "n1",
                                           {.end = end,
                                            .written_by = run,
                                            .run = run,
                                            .step = "firmware",
                                            .handle = to_text(handle),
                                            .held = "n1",
                                            .since = seconds_now(),
                                            .words = "it waits for the cord"}));
    ASSERT_TRUE(
        hold_power(*store, "n1", {.what = "bios 2.4", .until = seconds_now() + 1h, .node = "n1"}));
  }
  /// By a run that is over.
  void leave_staged() {
    leave(run_with({of_step(EventKind::step_began),
                    of_step(EventKind::step_ended, {{"outcome", "needs operator"}}), run_ended()}),
          End::staged, Phase::resetting);
  }

  void want_a_bios() const {
    std::ofstream{folder_ / "profiles/mine.yaml"}
        << "profile: mine\npower: {idle: 1, loaded: 2}\nfirmware:\n"
           "  - {component: bios, version: \"2.4\", follow: [host-restart], takes: 20m, image: "
           "{file: ../bios.bin, sha256: "
        << std::string(64, 'a') << "}}\n";
  }

  std::unique_ptr<store::Store> open() const {
    return store::Store::open(folder_ / "state").value();
  }
  store::FirmwareState state() const {
    return store::firmware_state(*open(), "firmware", "n1").value().value();
  }
  Ran cupel(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--state", (folder_ / "state").string(), "firmware"});
    return run_forked_cupel(std::move(words));
  }
  std::string inventory() const { return (folder_ / "inventory.yaml").string(); }

  fs::path folder_;
};

TEST_F(FirmwareRecovery, ShowNamesWhatIsStagedByWhichRunAndTheNextCommand) {
  leave_staged();

  const auto text = cupel({"show", "n1", "-i", inventory()});
  const auto read = cupel({"show", "n1", "-i", inventory(), "--json"});

  EXPECT_EQ(text.status, 1) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("bios 2.4 is staged: written and good"), HasSubstr("(run 1)"),
                    HasSubstr("it waits for the cord"), HasSubstr("firmware continue n1"),
                    HasSubstr("bios 2.4 is being written on n1, until "),
                    HasSubstr("what runs was not read: the profile mine names no")));
  EXPECT_THAT(read.out, AllOf(HasSubstr("\"state\":\"staged\""), HasSubstr("\"run\":1"),
                              HasSubstr("\"next\":\"cupel firmware continue n1\"")));
}

TEST_F(FirmwareRecovery, ForgetIsAuditedFreesThePowerAndSaysWhatIsNotProtectedAnyMore) {
  leave_staged();

  const auto forgot = cupel({"forget", "n1", "--reason", "board replaced"});
  const auto again = cupel({"forget", "n1"});

  EXPECT_EQ(forgot.status, 0) << forgot.err;
  EXPECT_THAT(
      forgot.out,
      AllOf(HasSubstr("n1: forgotten: bios 2.4. On the machine nothing was changed.\n"
                      "no longer protected:\n"
                      "  bios 2.4 is written, and may be written again before it has run\n"
                      "  its power is not held any more: steps and operators may change it\n"),
            HasSubstr("firmware plan n1")));
  EXPECT_EQ(state().end, End::forgotten);
  EXPECT_THAT(state().words, HasSubstr("board replaced"));
  EXPECT_FALSE(store::power_is_held(*open(), std::string{"n1"}, seconds_now()));
  const auto store = open();
  const auto entries =
      store::AuditLog::open(folder_ / "state").value().newest("firmware-forgotten", 10).value();
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_THAT(json::serialize(entries[0].data),
              AllOf(HasSubstr("\"node\":\"n1\""), HasSubstr("board replaced")));
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("no firmware update of n1 waits for anything; bios 2.4 was "
                                   "forgotten by an operator"));
}

TEST_F(FirmwareRecovery, ForgetLeavesThePowerThatAnotherUpdateHolds) {
  leave_staged();
  ASSERT_TRUE(store::hold_power(*open(), "n1", {"bmc 1.2", seconds_now() + 1h}));

  EXPECT_EQ(cupel({"forget", "n1"}).status, 0);

  EXPECT_TRUE(store::power_is_held(*open(), std::string{"n1"}, seconds_now()));
}

TEST_F(FirmwareRecovery, ForgetLeavesThePowerThatTheSameUpdateOfAnotherNodeOfTheBmcHolds) {
  leave_staged();
  ASSERT_TRUE(
      hold_power(*open(), "n1", {.what = "bios 2.4", .until = seconds_now() + 1h, .node = "n2"}));

  const auto forgot = cupel({"forget", "n1"});

  EXPECT_EQ(forgot.status, 0) << forgot.err;
  EXPECT_THAT(forgot.out, ::testing::Not(HasSubstr("its power is not held any more")));
  EXPECT_TRUE(store::power_is_held(*open(), std::string{"n1"}, seconds_now()));
}

TEST_F(FirmwareRecovery,
       ARunThatWasInterruptedInTheUpdateIsResumedAndNeitherContinuedNorForgotten) {
  const auto run = run_with({of_step(EventKind::step_began)});
  leave(run, End::open, Phase::writing);

  for (const auto* verb : {"continue", "forget"}) {
    const auto ran = cupel({verb, "n1"});
    EXPECT_EQ(ran.status, 2) << verb;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("run 1 was interrupted in bios 2.4 of n1: "),
                               HasSubstr("resume 1")))
        << verb;
  }
  EXPECT_EQ(state().end, End::open);
  EXPECT_FALSE(state().go_on);
}

TEST_F(FirmwareRecovery, ContinueRepeatsTheStepOfAnOpenRunFromWhereTheUpdateStands) {
  const auto run =
      run_with({of_step(EventKind::step_began),
                of_step(EventKind::step_ended, {{"outcome", "needs operator"}, {"detail", "x"}})});
  leave(run, End::staged, Phase::resetting);

  const auto ran = cupel({"continue", "n1"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(state().go_on);
  const auto commands = open()->commands(run, 0).value();
  ASSERT_THAT(commands, SizeIs(1));
  EXPECT_EQ(commands[0].kind, engine::Command::Kind::retry);
  EXPECT_EQ(commands[0].node, "n1");
  EXPECT_EQ(commands[0].step, "firmware");
  EXPECT_EQ(commands[0].text, "firmware continue: bios 2.4");
}

TEST_F(FirmwareRecovery, WhatCannotBeReadIsForgottenAndItsTextIsAudited) {
  for (const auto* kept : {"no json", R"({"end":"open","handle":"of another version"})"}) {
    ASSERT_TRUE(open()->repin("firmware-state:firmware:n1", kept));

    const auto went_on = cupel({"continue", "n1"});
    const auto forgot = cupel({"forget", "n1"});

    EXPECT_NE(went_on.status, 0) << kept;
    EXPECT_THAT(went_on.err, HasSubstr("firmware forget n1")) << kept;
    EXPECT_EQ(forgot.status, 0) << forgot.err;
    EXPECT_THAT(forgot.out, HasSubstr("n1: forgotten: what was remembered of the step firmware, "
                                      "and could not be read"));
    EXPECT_FALSE(store::firmware_state(*open(), "firmware", "n1").value());
  }
  const auto store = open();
  const auto entries =
      store::AuditLog::open(folder_ / "state").value().newest("firmware-forgotten", 10).value();
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_THAT(json::serialize(entries[0].data) + json::serialize(entries[1].data),
              AllOf(HasSubstr("no json"), HasSubstr("of another version")));
}

TEST_F(FirmwareRecovery, ContinueMarksNothingWhereNoRunCanBePlanned) {
  leave_staged();

  const auto ran = cupel({"continue", "n1", "-i", (folder_ / "none.yaml").string()});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_FALSE(state().go_on);
}

TEST_F(FirmwareRecovery, ANameThatIsNearlyThatOfANodeWithAnUpdateIsAskedAbout) {
  leave_staged();

  for (const auto* verb : {"continue", "forget"}) {
    const auto ran = cupel({verb, "N1"});
    EXPECT_EQ(ran.status, 2) << verb;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("no firmware update of N1 waits for anything"),
                               HasSubstr("did you mean")))
        << verb;
  }
}

TEST_F(FirmwareRecovery, ShowNamesRewriteForASecondWriteThatFailed) {
  const auto run = run_with({of_step(EventKind::step_began),
                             of_step(EventKind::step_ended, {{"outcome", "failed"}}), run_ended()});
  leave(run, End::failed, Phase::pushing, true);

  const auto shown = cupel({"show", "n1", "-i", inventory()});

  EXPECT_THAT(shown.out, HasSubstr("firmware rewrite n1 --only bios\n")) << shown.err;
}

TEST_F(FirmwareRecovery, RewriteSaysWhatItDoesToTheMachineAndBeginsNothingWithoutYes) {
  want_a_bios();

  const auto shown = cupel({"rewrite", "n1", "--only", "bios", "-i", inventory()});
  const auto read = cupel({"rewrite", "n1", "--only", "bios", "-i", inventory(), "--json"});

  EXPECT_EQ(shown.status, 1) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("n1: bios 2.4 is written again, whatever it runs: up to "
                                         "20 min, then restart of the machine\n"),
                               HasSubstr("Nothing else is written."),
                               HasSubstr("firmware rewrite n1 --only bios --yes\n")));
  EXPECT_EQ(read.status, 1) << read.err;
  EXPECT_THAT(read.out, HasSubstr("\"component\":\"bios\""));
  EXPECT_FALSE(open()->run(1)) << "a run was begun";
}

TEST_F(FirmwareRecovery, NothingIsWrittenAgainWhileAnUpdateWaitsForItsReset) {
  want_a_bios();
  leave_staged();

  const auto ran = cupel({"rewrite", "n1", "--only", "bios", "-i", inventory(), "--yes"});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("nothing is written again while bios 2.4 is staged: "),
                             HasSubstr("firmware continue n1")));
  EXPECT_FALSE(open()->run(2)) << "a run was begun";
}

TEST_F(FirmwareRecovery, RewriteNamesEachComponentThatItDoesNotFind) {
  want_a_bios();

  const auto ran = cupel({"rewrite", "n1", "--only", "boot,bios,bmc", "-i", inventory(), "--yes"});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("rewrite: profile 'mine' has no component 'boot' (one of bios)"),
                    HasSubstr("rewrite: profile 'mine' has no component 'bmc' (one of bios)")));
}

TEST_F(FirmwareRecovery, ANodeWithoutAnUpdateHasNothingToContinueOrForget) {
  for (const auto* verb : {"continue", "forget"}) {
    const auto ran = cupel({verb, "n9"});
    EXPECT_EQ(ran.status, 2) << verb;
    EXPECT_THAT(ran.err, HasSubstr("no firmware update of n9 waits for anything")) << verb;
  }
}

}  // namespace
}  // namespace cupel::testing
