#include "tests/bmc/fixture.h"

namespace cupel::bmc {
namespace {

class Session : public OverHttps {};

TEST_F(Session, LogsInOnceAndLogsOut) {
  const auto bmc = open();

  const auto first = run(bmc->power_state(soon()));
  const auto second = run(bmc->power_state(soon()));
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

  const auto ask = [](Bmc* bmc) { return bmc->power_state(Deadline::in(10s)); };
  auto answers = run(for_each_of<PowerState>(callers, 5, ask));
  const auto later = run(one->power_state(soon()));

  for (const auto& answer : answers) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.assume_error().code, Code::kRefused) << answer.assume_error().what;
    EXPECT_THAT(answer.assume_error().what, Not(HasSubstr("wrong")));
  }
  EXPECT_EQ(later.assume_error().code, Code::kRefused);
  EXPECT_EQ(server.asked().logins, 1);
}

TEST_F(Session, TriesAgainOnceThePasswordHasChanged) {
  password = "wrong";
  const auto bmc = open();
  const auto refused = run(bmc->power_state(soon()));

  password = "open sesame";
  const auto state = run(bmc->power_state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(refused.assume_error().code, Code::kRefused);
  ASSERT_TRUE(state) << state.assume_error().what;
  EXPECT_EQ(server.asked().logins, 2);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, LogsInAgainOnceWhenTheSessionHasEnded) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power_state(soon())));

  server.expire_sessions();
  const auto state = run(bmc->power_state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.assume_error().what;
  EXPECT_EQ(server.asked().logins, 2);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, UsesBasicWhereTheBmcHasNoSessionLeft) {
  server.change([](auto& options) { options.sessions_exhausted = true; });
  const auto bmc = open();

  const auto state = run(bmc->power_state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.assume_error().what;
  EXPECT_EQ(state.assume_value(), PowerState::on);
  EXPECT_EQ(server.asked().logins, 1);
}

TEST_F(Session, SendsAWrongPasswordByBasicOnceToo) {
  server.change([](auto& options) { options.sessions_exhausted = true; });
  password = "wrong";
  const auto bmc = open();

  const auto first = run(bmc->power_state(soon()));
  const auto second = run(bmc->power_state(soon()));

  EXPECT_EQ(first.assume_error().code, Code::kRefused);
  EXPECT_EQ(second.assume_error().code, Code::kRefused);
  EXPECT_EQ(server.asked().refused, 1);
}

TEST_F(Session, IsBusyAndNotRefusedWhileTheBmcStarts) {
  server.misbehave({.method = "POST", .status = 503, .headers = {{"Retry-After", "7"}}});
  const auto bmc = open();

  const auto early = run(bmc->power_state(soon()));
  const auto later = run(bmc->power_state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(early.assume_error().code, Code::kBusy);
  EXPECT_EQ(early.assume_error().retry_after, 7s);
  EXPECT_TRUE(later) << later.assume_error().what;
}

TEST_F(Session, EndsAfterAnError) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power_state(soon())));
  server.misbehave(page(500, ""));

  const auto state = run(bmc->power_state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(state.assume_error().code, Code::kFailed);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

Task<Result<PowerState>> ask_and_log_out(Bmc& bmc, Deadline deadline) {
  auto state = co_await bmc.power_state(deadline);
  co_await bmc.log_out();
  co_return state;
}

TEST_F(Session, EndsWhenTheCallerIsCancelledInTheMiddleOfARequest) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power_state(soon())));
  server.misbehave({.method = "GET", .path = kSystem, .kind = test::Habit::Kind::never_answer});

  const auto state = run(with_deadline(Deadline::in(50ms), ask_and_log_out(*bmc, soon())));

  EXPECT_EQ(state.assume_error().code, Code::kTimeout);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Session, IsNotLeakedWhenTheCallerIsCancelledInTheMiddleOfTheLogin) {
  server.change([](auto& options) { options.thinking = 100ms; });
  const auto bmc = open();

  const auto state = run(with_deadline(Deadline::in(150ms), ask_and_log_out(*bmc, soon())));

  EXPECT_EQ(state.assume_error().code, Code::kTimeout);
  EXPECT_THAT(server.asked().lines,
              ElementsAre("GET /redfish/v1", "POST /redfish/v1/SessionService/Sessions",
                          "DELETE /redfish/v1/SessionService/Sessions/1"));
  EXPECT_EQ(server.asked().open_sessions, 0);
}

}  // namespace
}  // namespace cupel::bmc
