#include "tests/bmc/fixture.h"

namespace cupel::bmc {
namespace {

class Session : public OverHttps {};

TEST_F(Session, LogsInOnceAndLogsOut) {
  const auto bmc = open();

  const auto first = run(bmc->power.state(soon()));
  const auto second = run(bmc->power.state(soon()));
  run(bmc->log_out());
  run(bmc->log_out());

  ASSERT_TRUE(first && second);
  EXPECT_EQ(server.asked().logins, 1);
  EXPECT_EQ(server.asked().open_sessions, 0);
  EXPECT_EQ(server.asked().lines.back(), "DELETE /redfish/v1/SessionService/Sessions/1");
}

TEST_F(Session, SendsOneWrongPasswordOnceHoweverManyCallersThereAre) {
  password = "wrong";
  const auto one = open(), other = open();
  std::vector<Bmc*> callers{one.get(), one.get(), one.get(), other.get(), other.get()};

  const auto ask = [](Bmc* bmc) { return bmc->power.state(Deadline::in(60s)); };
  auto answers = run(for_each_of<PowerState>(callers, 5, ask));
  const auto later = run(one->power.state(soon()));

  for (const auto& answer : answers) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::kRefused) << answer.error().what;
    EXPECT_THAT(answer.error().what, Not(HasSubstr("wrong")));
  }
  EXPECT_EQ(later.error().code, Code::kRefused);
  EXPECT_EQ(server.asked().logins, 1);
}

TEST_F(Session, IsSharedByAllClientsOfOneProcess) {
  const auto one = open(), other = open();
  ASSERT_TRUE(run(one->power.state(soon())));
  ASSERT_TRUE(run(other->power.state(soon())));

  run(one->log_out());
  const auto still = run(other->power.state(soon()));
  run(other->log_out());

  EXPECT_TRUE(still);
  EXPECT_EQ(server.asked().logins, 1);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, IsNotSharedUnderAnotherPassword) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  server.change([](auto& options) { options.password = "new one"; });
  password = "new one";

  const auto renewed = open();
  const auto state = run(renewed->power.state(soon()));
  run(renewed->log_out());
  run(bmc->log_out());

  EXPECT_TRUE(state);
  EXPECT_EQ(server.asked().logins, 2);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, IsLeftToTheNextClientByOneThatForgotToLogOut) {
  ASSERT_TRUE(run(open()->power.state(soon())));

  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  run(bmc->log_out());

  EXPECT_EQ(server.asked().logins, 1);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, SendsNoPasswordThatAnotherProcessSawRefused) {
  InMemoryBmcState memory;
  password = "wrong";
  const auto ask = [&] {
    redfish::Transport process{io.get_executor(), {}, &memory};
    const auto bmc = redfish::open(process, "a01-n01", access(), password_from(password), keys);
    return run(bmc->power.state(soon()));
  };
  ASSERT_FALSE(ask());

  const auto later = ask();
  password = "open sesame";
  const auto changed = ask();

  EXPECT_EQ(later.error().code, Code::kRefused);
  EXPECT_THAT(later.error().what, HasSubstr("until they change"));
  EXPECT_TRUE(changed);
  EXPECT_EQ(server.asked().refused, 1);
  EXPECT_EQ(memory.refusal("a01-n01", "admin"), std::nullopt);
}

class Ilo : public Session {
 protected:
  Ilo() {
    server.set("/redfish/v1",
               {{"Vendor", "HPE"},
                {"Systems", {{"@odata.id", "/redfish/v1/Systems"}}},
                {"Managers", {{"@odata.id", "/redfish/v1/Managers"}}},
                {"Links", {{"Sessions", {{"@odata.id", "/redfish/v1/SessionService/Sessions"}}}}},
                {"Oem", {{"Hpe", {{"Manager", json::array{{{"ManagerType", "iLO 5"}}}}}}}}});
  }
  /// As by a process of its own, so that its pause need not be waited for.
  Result<Sourced<PowerState>> ask() {
    redfish::Transport process{io.get_executor(), {}, &memory};
    const auto bmc = redfish::open(process, "a01-n01", access(), password_from(password), keys);
    auto state = run(bmc->power.state(soon()));
    run(bmc->log_out());
    return state;
  }
  InMemoryBmcState memory;
};

TEST_F(Ilo, IsAskedAgainAfterARefusalThatMayBeAMood) {
  server.misbehave({.method = "POST", .times = 4, .status = 401});

  std::vector<Code> codes;
  for (int i = 0; i < 4; ++i) codes.push_back(ask().error().code);
  const auto fifth = ask();

  EXPECT_THAT(codes, ::testing::Each(Code::kBusy));
  EXPECT_TRUE(fifth);
  EXPECT_EQ(memory.refusal("a01-n01", "admin"), std::nullopt);
}

TEST_F(Ilo, TreatsTheFifth401AsAWrongPassword) {
  password = "wrong";
  for (int i = 0; i < 4; ++i) ASSERT_EQ(ask().error().code, Code::kBusy);

  const auto fifth = ask();
  const auto sixth = ask();

  EXPECT_EQ(fifth.error().code, Code::kRefused);
  EXPECT_EQ(sixth.error().code, Code::kRefused);
  EXPECT_EQ(server.asked().logins, 5);
}

TEST_F(Ilo, GetsThreeSecondsBetweenCredentials) {
  password = "wrong";
  const auto bmc = open();

  const auto first = run(bmc->power.state(soon()));
  const auto second = run(bmc->power.state(soon()));

  EXPECT_EQ(first.error().retry_after, 3s);
  EXPECT_EQ(second.error().code, Code::kBusy);
  EXPECT_GT(second.error().retry_after, 1s);
  EXPECT_EQ(server.asked().logins, 1);
}

TEST_F(Ilo, IsNotLeftWithConnectionsThatItWouldBreak) {
  ASSERT_TRUE(ask());
  const auto asked = server.asked();

  EXPECT_EQ(asked.connections, asked.requests - 1);  // the root is read on a kept one, at first
}

/// A service that takes HTTP Basic alone, as those of sushy-emulator and of HPE's emulator: its
/// sessions answer 401 to whoever has not logged in before.
class BasicOnly : public Session {
 protected:
  BasicOnly() { wants_basic({{"WWW-Authenticate", "Basic realm=\"Baremetal API\""}}); }
  void wants_basic(std::map<std::string, std::string> headers) {
    server.misbehave({.method = "POST",
                      .path = "/redfish/v1/SessionService/Sessions",
                      .times = 1000,
                      .status = 401,
                      .headers = std::move(headers)});
  }
  int logins() const {
    const auto asked = server.asked();
    return static_cast<int>(std::ranges::count_if(
        asked.lines, [](const std::string& line) { return line.starts_with("POST"); }));
  }
};

TEST_F(BasicOnly, IsLoggedInToByBasic) {
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  const auto again = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state && again) << state.error().what;
  EXPECT_EQ(logins(), 1);
  EXPECT_EQ(server.asked().refused, 0);
}

TEST_F(BasicOnly, IsTriedByBasicOnceWithAWrongPassword) {
  password = "wrong";
  InMemoryBmcState memory;
  for (int process = 0; process < 3; ++process) {
    redfish::Transport own{io.get_executor(), {}, &memory};
    const auto bmc = redfish::open(own, "a01-n01", access(), password_from(password), keys);

    const auto first = run(bmc->power.state(soon()));
    const auto second = run(bmc->power.state(soon()));
    run(bmc->log_out());

    EXPECT_EQ(first.error().code, Code::kRefused);
    EXPECT_EQ(second.error().code, Code::kRefused);
    if (process == 0) EXPECT_THAT(first.error().what, HasSubstr("HTTP 401"));
  }
  EXPECT_EQ(logins(), 1);
  EXPECT_EQ(server.asked().refused, 1);
}

TEST_F(Ilo, IsTriedByBasicOnceThoughItsRefusalsMayBeMoods) {
  server.misbehave({.method = "POST",
                    .times = 1000,
                    .status = 401,
                    .headers = {{"WWW-Authenticate", "Basic realm=\"iLO\""}}});
  password = "wrong";

  for (int process = 0; process < 6; ++process) EXPECT_FALSE(ask());

  EXPECT_EQ(server.asked().refused, 1);
}

TEST_F(Ilo, IsLoggedInToByBasicWhereItTakesThatAlone) {
  server.misbehave({.method = "POST",
                    .times = 1000,
                    .status = 401,
                    .headers = {{"WWW-Authenticate", "Basic realm=\"iLO\""}}});

  const auto state = ask();

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(memory.refusal("a01-n01", "admin"), std::nullopt);
}

TEST_F(Session, IsDoneWithoutWhereTheRootNamesNoneAndTheLoginIsRefused) {
  auto root = test::small_machine("/redfish/v1");
  root.as_object().erase("Links");
  server.set("/redfish/v1", root);
  server.misbehave({.method = "POST", .times = 1000, .status = 401});
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  EXPECT_TRUE(state) << state.error().what;
}

// A service that has sessions and asks for no other way has judged the password: a second try
// would be one nearer to a locked account.
TEST_F(Session, IsNotTriedByBasicWhereTheBmcRefusedThePasswordItself) {
  password = "wrong";
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));

  EXPECT_EQ(state.error().code, Code::kRefused);
  EXPECT_EQ(server.asked().refused, 1);
}

// A BMC whose session table is full, or whose service starts, answers a right password alike: the
// login is not tried again, since that could lock the account, and the error says what else it is.
TEST_F(Session, NamesWhatElseARefusalWithoutAChallengeMayMean) {
  server.misbehave({.method = "POST", .times = 1000, .status = 401});
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  const auto again = run(bmc->power.state(soon()));

  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, Code::kRefused);
  EXPECT_THAT(state.error().what, HasSubstr("while their session table is full"));
  EXPECT_THAT(state.error().what, HasSubstr("run: cupel bmc a01-n01 retry-login"));
  EXPECT_FALSE(again);
  const auto asked = server.asked();
  EXPECT_EQ(std::ranges::count_if(asked.lines,
                                  [](const std::string& line) { return line.starts_with("POST"); }),
            1);
}

TEST_F(Session, ReapsItsOldOneWhereTheBmcKeptThatAndRefusesItsToken) {
  server.change([](auto& options) { options.session_prefix = "a8f3kq02z"; });
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  const std::string old = "/redfish/v1/SessionService/Sessions/a8f3kq02z1";
  server.set(old, {{"@odata.id", old}, {"UserName", "admin"}});
  server.change([](auto& options) { options.refuses_tokens_once = true; });

  ASSERT_TRUE(run(bmc->power.state(soon())));

  EXPECT_EQ(server.asked().open_sessions, 1);
  run(bmc->log_out());
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, DoesNotDeleteAnOldSessionWhoseIdMayBeReused) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  server.change([](auto& options) { options.refuses_tokens_once = true; });

  ASSERT_TRUE(run(bmc->power.state(soon())));
  run(bmc->log_out());

  EXPECT_EQ(server.asked().open_sessions, 1);
}

TEST_F(Session, TriesAgainOnceThePasswordHasChanged) {
  password = "wrong";
  const auto bmc = open();
  const auto refused = run(bmc->power.state(soon()));

  password = "open sesame";
  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(refused.error().code, Code::kRefused);
  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(server.asked().logins, 2);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, LogsInAgainOnceWhenTheSessionHasEnded) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));

  server.expire_sessions();
  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(server.asked().logins, 2);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, BacksOffOnceAndThenUsesBasicWhereTheBmcHasNoSessionLeft) {
  server.change([](auto& options) { options.sessions_exhausted = true; });
  const auto bmc = open();
  const auto begun = std::chrono::steady_clock::now();

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(*state, PowerState::on);
  EXPECT_EQ(server.asked().logins, 2);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1s);
}

TEST_F(Session, BacksOffForNoLongerThanTheVerbHas) {
  server.misbehave({.method = "POST",
                    .times = 2,
                    .status = 503,
                    .body = R"({"error": {"@Message.ExtendedInfo": [
                        {"MessageId": "IDRAC.2.8.RAC0218"}]}})",
                    .headers = {{"Retry-After", "60"}}});
  const auto bmc = open();

  const auto state = run(bmc->power.state(Deadline::in(10s)));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(*state, PowerState::on);
}

TEST_F(Session, IsHadByWaitingWhereTheBmcSaysWhenOneEnds) {
  server.misbehave({.method = "POST",
                    .status = 503,
                    .body = R"({"error": {"@Message.ExtendedInfo": [
                        {"MessageId": "IDRAC.2.8.RAC0218"}]}})",
                    .headers = {{"Retry-After", "1"}}});
  const auto bmc = open();
  const auto begun = std::chrono::steady_clock::now();

  const auto state = run(bmc->power.state(soon()));

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1s);
  EXPECT_EQ(server.asked().open_sessions, 1);
  run(bmc->log_out());
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, SendsAWrongPasswordByBasicOnceToo) {
  server.change([](auto& options) { options.sessions_exhausted = true; });
  password = "wrong";
  const auto bmc = open();

  const auto first = run(bmc->power.state(soon()));
  const auto second = run(bmc->power.state(soon()));

  EXPECT_EQ(first.error().code, Code::kRefused);
  EXPECT_EQ(second.error().code, Code::kRefused);
  EXPECT_EQ(server.asked().refused, 1);
}

TEST_F(Session, NeverOutlivesTheDeadlineOfTheWholeVerb) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  server.misbehave({.method = "GET", .path = kSystem, .kind = test::Habit::Kind::never_answer});

  const auto state = run(bmc->power.state(Deadline::in(50ms)));

  EXPECT_EQ(state.error().code, Code::kTimeout);
  run(bmc->log_out());
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, IsBusyAndNotRefusedWhileTheBmcStarts) {
  server.misbehave({.method = "POST", .status = 503, .headers = {{"Retry-After", "7"}}});
  const auto bmc = open();

  const auto early = run(bmc->power.state(soon()));
  const auto later = run(bmc->power.state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(early.error().code, Code::kBusy);
  EXPECT_EQ(early.error().retry_after, 7s);
  EXPECT_TRUE(later) << later.error().what;
}

TEST_F(Session, EndsAfterAnError) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  server.misbehave(page(500, ""));

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(state.error().code, Code::kFailed);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

Task<Result<PowerState>> ask_and_log_out(Bmc& bmc, Deadline deadline) {
  auto state = co_await bmc.power.state(deadline);
  co_await bmc.log_out();
  co_return state;
}

TEST_F(Session, EndsWhenTheCallerIsCancelledInTheMiddleOfARequest) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  server.misbehave({.method = "GET", .path = kSystem, .kind = test::Habit::Kind::never_answer});

  const int asked = server.asked().requests;
  const auto state = cancelled_at_request(asked + 1, ask_and_log_out(*bmc, soon()));

  EXPECT_EQ(state.error().code, Code::kCancelled);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, IsNotLeakedWhenTheCallerIsCancelledInTheMiddleOfTheLogin) {
  const auto bmc = open();

  const auto state = cancelled_at_request(2, ask_and_log_out(*bmc, soon()));

  EXPECT_EQ(state.error().code, Code::kCancelled);
  EXPECT_THAT(server.asked().lines,
              ElementsAre("GET /redfish/v1", "POST /redfish/v1/SessionService/Sessions",
                          "DELETE /redfish/v1/SessionService/Sessions/1"));
  EXPECT_EQ(server.asked().open_sessions, 0);
}

/// What says that a token is of no use any more may come without its end.
TEST_F(Session, LogsInAgainWhereTheRefusalOfItsTokenIsCutOff) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  server.misbehave(
      {.method = "GET", .path = kSystem, .kind = test::Habit::Kind::cut, .status = 401});

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(server.asked().logins, 2);
}

TEST_F(Session, AsksAgainWhenTheBmcSaysSo) {
  for (const auto kind : {test::Habit::Kind::answer, test::Habit::Kind::cut})
    server.misbehave({.method = "GET",
                      .path = kSystem,
                      .kind = kind,
                      .status = 503,
                      .headers = {{"Retry-After", "1"}}});
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(state->value, PowerState::on);
}

TEST_F(Session, AsksNotForEverWhereTheBmcPutsItOffAgainAndAgain) {
  server.misbehave({.method = "GET",
                    .path = kSystem,
                    .times = 1000,
                    .status = 503,
                    .headers = {{"Retry-After", "1"}}});
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(state.error().code, Code::kBusy);
  EXPECT_EQ(state.error().retry_after, 1s);
  const auto is_of_it = [](const std::string& line) {
    return line.starts_with("GET " + std::string{kSystem});
  };
  EXPECT_EQ(std::ranges::count_if(server.asked().lines, is_of_it), 7);  // and six times more
}

TEST_F(Session, NeverRepeatsAnActionThatTheBmcPutsOff) {
  server.misbehave({.method = "POST",
                    .path = kSystem,
                    .times = 2,
                    .status = 503,
                    .headers = {{"Retry-After", "1"}}});
  const auto bmc = open();

  const auto done = run(bmc->power.reset(ResetType::force_restart, soon()));
  run(bmc->log_out());

  EXPECT_EQ(done.error().code, Code::kBusy);
  EXPECT_THAT(server.asked().resets, ElementsAre());
}

/// A BMC that is at work with one request and refuses a second one.
TEST_F(Session, AsksOneThingAtATimeOfABmcThatRefusesTwo) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  server.misbehave(
      {.method = "GET", .path = kSystem, .status = 503, .headers = {{"Retry-After", "1"}}});
  auto& at_once = transport.bmc_limits("a01-n01").at_once;
  EXPECT_EQ(at_once.width(), 2);

  // The first is refused while the second is at work, and the second answered after that.
  const int before = server.asked().requests;
  answer_first(before);
  std::vector<int> callers{0, 1, 2, 3};
  const auto ask = [&](int caller) -> Task<Result<bool>> {
    if (caller > 0) {
      const auto state = co_await bmc->power.state(soon());
      co_return state.has_value();
    }
    co_await arrived(before + 2);
    answer_first(before + 1);
    const auto end = soon();
    while (at_once.width() > 1 && !end.passed()) {
      CO_TRY(co_await pause_for(1ms));
    }
    answer_first({});
    co_return true;
  };
  const auto answers = run(for_each_of<bool>(callers, 4, ask));
  run(bmc->log_out());

  for (const auto& answer : answers) EXPECT_TRUE(answer && *answer);
  EXPECT_EQ(at_once.width(), 1);
}

TEST_F(Session, IsDoneWithoutWhereTheBmcSaysThatTheAccountMayHaveNone) {
  server.misbehave({.method = "POST",
                    .path = "/redfish/v1/SessionService/Sessions",
                    .times = 9,
                    .status = 401,
                    .body = test::refusal("Base.1.0.InsufficientPrivilege",
                                          "There are insufficient privileges for the account.")});
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(server.asked().refused, 0);
}

TEST(ASemaphore, ThatIsNarrowedLetsThoseInsideFinish) {
  asio::io_context io;
  Semaphore gate{2};
  auto first = run_to_end(io, gate.enter(Deadline::in(60s)));
  auto second = run_to_end(io, gate.enter(Deadline::in(60s)));
  ASSERT_TRUE(first && second);
  gate.narrow_to(1);

  {
    const auto leaves = *std::move(first);
  }
  const auto early = run_to_end(io, gate.enter(Deadline::in(1ms)));
  {
    const auto leaves = *std::move(second);
  }
  const auto later = run_to_end(io, gate.enter(Deadline::in(1ms)));

  EXPECT_EQ(early.error().code, Code::kTimeout) << "one is inside still";
  EXPECT_TRUE(later);
  EXPECT_EQ(gate.inside(), 1);
}

}  // namespace
}  // namespace cupel::bmc
