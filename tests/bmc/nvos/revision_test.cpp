// A change of configuration: its revision, in every form that switches answer with.
#include "bmc/nvos/revision.h"

#include "bmc/nvos/changes.h"
#include "tests/bmc/nvos/fake_switch.h"

namespace cupel::bmc {
namespace {

using nvos::RevisionState;

json::value parsed(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *std::move(value) : json::value{};
}

TEST(RevisionId, IsReadInAllFourForms) {
  for (const auto* answer : {R"("12")", "12", R"({"12": {"state": "pending"}})",
                             R"({"revision-id": "12"})", R"({"revision-id": 12})"}) {
    const auto id = nvos::revision_id(parsed(answer));
    ASSERT_TRUE(id) << answer;
    EXPECT_EQ(*id, "12") << answer;
  }
}

TEST(RevisionId, IsNothingThatCouldLeadToAnotherPath) {
  for (const auto* answer : {R"("../applied")", R"("a/b")", R"("12?x")", R"("")", "null", "[]",
                             R"({"a": {}, "b": {}})", "{}"})
    EXPECT_FALSE(nvos::revision_id(parsed(answer))) << answer;
}

TEST(RevisionState, IsReadWithAndWithoutItsIdAroundIt) {
  using Is = RevisionState::Is;
  const std::pair<const char*, Is> answers[] = {
      {R"({"12": {"state": "applied"}})", Is::applied},
      {R"({"state": "applied"})", Is::applied},
      {R"({"12": {"state": "apply"}})", Is::under_way},
      {R"({"12": {"state": "pending"}})", Is::under_way},
      {R"({"12": {"state": "a word that nobody knows"}})", Is::under_way},
      {R"({"12": {"state": "failed"}})", Is::failed},
      {R"({"12": {"state": "error"}})", Is::failed},
      {R"({"12": {"state": "invalid"}})", Is::failed},
      {R"({"12": {"state": "ays_fail"}})", Is::failed},
      {R"({})", Is::under_way},
  };
  for (const auto& [answer, is] : answers)
    EXPECT_EQ(nvos::revision_state(parsed(answer), "12").is, is) << answer;
}

TEST(RevisionState, IsAppliedWhereNothingDiffersThoughItsStateIsFailed) {
  const auto state = nvos::revision_state(
      parsed(R"({"12": {"state": "failed", "transition": {"issue": {"0": {"message":
                 "config apply executed with no config diff"}}}}})"),
      "12");

  EXPECT_EQ(state.is, RevisionState::Is::applied);
  EXPECT_TRUE(state.no_difference);
}

TEST(RevisionState, TellsItsIssuesOfAListATextAndAnObject) {
  for (const auto* answer :
       {R"({"12": {"state": "failed", "transition": {"issue": {"0": {"message": "bad"}}}}})",
        R"({"12": {"state": "failed", "transition": {"issue": [{"message": "bad"}]}}})",
        R"({"12": {"state": "failed", "issue": ["bad"]}})"})
    EXPECT_EQ(nvos::revision_state(parsed(answer), "12").issue, "bad") << answer;
}

class Changes : public NvosSwitch {};

TEST_F(Changes, AreMadeInARevisionThatIsAppliedWithYesAndSaved) {
  takes_revisions();

  const auto applied = run(nvos::set_cluster(nvue_, true, {kLook}, soon()));

  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_TRUE(applied->changed);
  EXPECT_TRUE(applied->saved);
  EXPECT_THAT(
      changes(),
      ElementsAre("POST revision {}", R"(PATCH cluster?rev=12 {"state":"enabled"})",
                  R"(PATCH revision/12 {"state":"apply","auto-prompt":{"ays":"ays_yes"}})",
                  R"(PATCH revision/applied {"state":"save","auto-prompt":{"ays":"ays_yes"}})"));
}

TEST_F(Changes, WaitUntilTheRevisionHasEndedOverAProxyThatIsAway) {
  takes_revisions();
  on("GET revision/12", {{200, R"({"12": {"state": "apply"}})"},
                         {502, "<html>"},
                         {200, R"({"12": {"state": "applied"}})"}});

  EXPECT_TRUE(run(nvos::set_cluster(nvue_, true, {kLook}, soon())));
  EXPECT_EQ(asked("GET revision/12"), 3);
}

TEST_F(Changes, AreSavedAlsoWhereAllOfItWasSoAlready) {
  takes_revisions();
  on("GET revision/12",
     R"({"12": {"state": "failed", "transition": {"issue": {"0": {"message": "config apply executed with no config diff"}}}}})");

  const auto applied = run(nvos::set_cluster(nvue_, true, {kLook}, soon()));

  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_FALSE(applied->changed);
  EXPECT_TRUE(applied->saved);
}

TEST_F(Changes, FailWithTheSwitchesWordsAndSaveNothing) {
  takes_revisions();
  on("GET revision/12",
     R"({"12": {"state": "failed", "transition": {"issue": {"0": {"message": "simulated"}}}}})");

  const auto applied = run(nvos::set_cluster(nvue_, true, {kLook}, soon()));

  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, Code::kFailed);
  EXPECT_THAT(applied.error().what, HasSubstr("revision 12 ended as failed: simulated"));
  EXPECT_THAT(changes(), Not(::testing::Contains(HasSubstr("save"))));
}

TEST_F(Changes, EndAtTheDeadlineWhereTheRevisionNeverEnds) {
  takes_revisions();
  on("GET revision/12", R"({"12": {"state": "apply"}})");

  const auto applied =
      run(nvos::set_cluster(nvue_, true, {std::chrono::seconds{2}}, Deadline::in(10s)));

  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, Code::kTimeout);
  EXPECT_THAT(applied.error().what, HasSubstr("still being applied"));
}

TEST_F(Changes, AreNotAppliedWhereOneOfThemIsRefused) {
  takes_revisions();
  on("PATCH cluster", {{400, R"({"title": "Bad Request"})"}});

  ASSERT_FALSE(run(nvos::set_cluster(nvue_, true, {kLook}, soon())));
  EXPECT_THAT(changes(), Not(::testing::Contains(HasSubstr("apply"))));
}

TEST_F(Changes, SayThatTheyAreGoneAfterARebootWhereTheyCannotBeSaved) {
  takes_revisions();
  on("PATCH revision/applied", {{500, "{}"}});

  const auto applied = run(nvos::set_cluster(nvue_, true, {kLook}, soon()));

  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().what, HasSubstr("in effect and could not be saved"));
}

TEST_F(Changes, OfAPasswordAreFollowedWithTheNewOne) {
  takes_revisions();
  const std::string fresh = "secret two";
  nvos::Nvue as_new{transport_, peer(), "admin", password_from(fresh)};
  // From the moment on at which it is applied, only the new one counts.
  server_.change([this, fresh](test::HttpsServer::Options& options) {
    options.last_word = [this, fresh, before = options.last_word](test::Exchanged& now) {
      before(now);
      if (now.method == "PATCH" && now.path == "/nvue_v1/revision/12") {
        const std::lock_guard lock{mutex_};
        right_ = fresh;
      }
    };
  });

  const auto applied = run(nvos::set_password(nvue_, as_new, "admin", fresh, {kLook}, soon()));

  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_THAT(changes(), ::testing::Contains(R"(PATCH system/aaa/user/admin?rev=12 {"password":")" +
                                             base64(fresh) + R"("})"));
}

}  // namespace
}  // namespace cupel::bmc
