// A repaired node through the API: a look, what it makes void, and the run that renews it.
#include <array>
#include <latch>
#include <thread>

#include "orchestrator/controller/run_options.h"
#include "orchestrator/engine/clock.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/requalify/selection.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using engine::EventKind;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kRequalifySite = R"(site: here
racks:
  - {name: a01, units: 48}
  - {name: a02, units: 48}
defaults:
  profile: dgx-h100
  bmc: {user: admin, password: "file:secret", tls: {trust: first-use}}
  ssh: {user: root}
nodes:
  - {name: a01-n01, rack: a01, unit: 1, bmc: {address: 127.64.99.1}, ssh: {address: 127.64.98.1}}
)";

constexpr const char* kQualifyText = R"(playbook: qualify
steps:
  - step: bmc-facts
  - step: ssh-wait
  - stage: gpu-facts
  - {stage: cpu, with: {duration: 5m}, on_failure: continue}
  - {stage: gemm, with: {duration: 5m}, on_failure: continue}
  - step: verdict
)";

/// The machine's clock, two days ago.
struct TwoDaysAgo final : engine::Clock {
  Time now() const override { return real.now(); }
  engine::WallTime wall() const override { return real.wall() - std::chrono::hours{48}; }
  Task<Result<void>> pause_until(Time when) override { return real.pause_until(when); }
  engine::RealClock real{};
};

class ApiRequalify : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    write("secret", "not-in-any-answer\n");
    write("site.yaml", kRequalifySite);
    for (const auto* name : {"cupel-node", "cupel-burn"}) write(name, "a program\n");
    finish(run_of(kQualifyText), "G-OLD", {"cpu", "gemm"}, burnin::Decision::pass);
  }
  void serve_site(const std::string& settings = {}) {
    write("service.yaml", "inventory: site.yaml\n" + settings);
    auto options = usual();
    options.settings = file("service.yaml");
    options.programs = file("");
    serve(options);
  }

  engine::RunId run_of(const std::string& playbook) {
    store::Run run;
    run.playbook = "qualify";
    run.playbook_file = "qualify.yaml";
    run.playbook_text = playbook;
    run.nodes = {"a01-n01"};
    return store().begin_run(run).value();
  }
  /// As a controller writes it down: a GPU with this serial number, stages, a verdict.
  void finish(engine::RunId run, const std::string& serial, const std::vector<std::string>& stages,
              std::optional<burnin::Decision> verdict) {
    append(run, EventKind::run_started, "", "",
           R"({"site":"here","nodes":[{"name":"a01-n01","profile":"dgx-h100","rack":"a01"}]})");
    burnin::Findings findings;
    findings.parts.push_back(
        {.kind = inventory::PartKind::gpu, .name = "gpu3", .model = "H100", .serial = serial});
    end(run, "gpu-facts", record::to_json(findings));
    for (const auto& stage : stages) end(run, stage, record::to_json(burnin::Findings{}));
    if (verdict) end(run, "verdict", record::to_json(burnin::Verdict{*verdict, {}, {}}));
    append(run, EventKind::run_ended, "", "", "{}");
  }
  void end(engine::RunId run, const std::string& step, json::object data) {
    append(run, EventKind::step_began, "a01-n01", step, "{}");
    data["outcome"] = "done";
    append(run, EventKind::step_ended, "a01-n01", step, json::serialize(data));
  }

  Heard ask_node(const std::string& what, const std::string& body, const std::string& key) {
    return post("/api/v1/nodes/a01-n01/" + what, body, key);
  }
  /// A look through the API that found this GPU.
  engine::RunId looked(const std::string& serial, const std::string& key) {
    const auto heard = ask_node("look", "{}", key);
    EXPECT_EQ(heard.status, 201) << heard.body;
    const auto run = heard.json().at("run").as_int64();
    finish(run, serial, {}, std::nullopt);
    return run;
  }
  std::int64_t runs() { return static_cast<std::int64_t>(store().runs_of("a01-n01", 99)->size()); }
};

TEST_F(ApiRequalify, RenewsWhatTheLookFoundChangedAndStartsItOnce) {
  serve_site();
  const auto look = looked("G-NEW", "look");
  EXPECT_EQ(store().run(look)->playbook_text, requalify::look_playbook());
  const auto body = json::serialize(json::object{{"looked", look}});

  const auto plan = ask_node("requalify-plan", body, "plan");
  const auto started = ask_node("requalify", body, "start");
  const auto again = ask_node("requalify", body, "start");

  ASSERT_EQ(plan.status, 200) << plan.body;
  const auto planned = plan.json();
  EXPECT_EQ(planned.at("of_run"), 1);
  EXPECT_EQ(planned.at("kept"), json::array{"cpu"});
  ASSERT_EQ(planned.at("again").as_array().size(), 1u);
  EXPECT_EQ(planned.at("again").at(0).at("stage"), "gemm");
  EXPECT_THAT(std::string{planned.at("text").as_string()},
              AllOf(HasSubstr("gpu3 replaced: serial G-OLD is now serial G-NEW"),
                    HasSubstr("1 stage of 3"), HasSubstr("kept: cpu")));
  ASSERT_EQ(started.status, 201) << started.body;
  EXPECT_EQ(started.body, again.body);
  EXPECT_EQ(runs(), 3);
  const auto run = store().run(started.json().at("run").as_int64());
  EXPECT_THAT(run->playbook_text, HasSubstr("gemm"));
  const auto options = controller::run_options_of(run->options);
  ASSERT_TRUE(options.requalifies);
  EXPECT_EQ(options.requalifies->run, 1);
  EXPECT_EQ(options.repair_patience.count(), 0);
  const auto audit = get("/api/v1/audit").body;
  EXPECT_THAT(audit, AllOf(HasSubstr("\"look\""), HasSubstr("\"requalify\""),
                           HasSubstr("\"requalify-done\"")));
}

TEST_F(ApiRequalify, OfClientsThatWantTheSameNodeAtOnceOneGetsIt) {
  serve_site();
  constexpr int kClients = 8;
  std::array<Heard, kClients> heard, repeated;
  const auto at_once = [&](std::array<Heard, kClients>& answers, auto key_of) {
    std::latch all{kClients};
    std::vector<std::jthread> clients;
    for (int i = 0; i < kClients; ++i)
      clients.emplace_back([&, i] {
        all.arrive_and_wait();
        answers[i] = ask_node("look", "{}", key_of(i));
      });
  };

  at_once(heard, [](int i) { return "key-" + std::to_string(i); });
  const auto begun = std::ranges::find(heard, 201, &Heard::status);
  ASSERT_NE(begun, heard.end());
  const auto key = "key-" + std::to_string(begun - heard.begin());
  at_once(repeated, [&](int) { return key; });

  EXPECT_EQ(std::ranges::count(heard, 201, &Heard::status), 1);
  EXPECT_EQ(std::ranges::count(heard, 409, &Heard::status), kClients - 1);
  for (const auto& each : repeated) EXPECT_EQ(each.body, begun->body) << each.status;
  EXPECT_EQ(runs(), 2);
}

TEST_F(ApiRequalify, AsksForALookThatStandsForWhatIsThereNow) {
  serve_site();
  const auto start = [&](engine::RunId look, const std::string& key) {
    return ask_node("requalify", json::serialize(json::object{{"looked", look}}), key);
  };

  EXPECT_EQ(ask_node("requalify", "{}", "1").status, 422);
  EXPECT_EQ(start(1, "2").status, 422) << "a burn-in is no look";
  EXPECT_EQ(start(77, "3").status, 422);
  const auto open = ask_node("look", "{}", "4").json().at("run").as_int64();
  EXPECT_EQ(start(open, "5").status, 409) << "it is not over";
  finish(open, "G-NEW", {}, std::nullopt);
  finish(run_of("playbook: other\n"), "G-NEW", {}, std::nullopt);
  EXPECT_THAT(start(open, "6").body, HasSubstr("another run has worked on a01-n01"));
  const TwoDaysAgo clock;
  store().tell_time_by(clock);
  const auto old = run_of(requalify::look_playbook());
  finish(old, "G-NEW", {}, std::nullopt);
  EXPECT_THAT(start(old, "7").body, HasSubstr("more than a day ago"));
  EXPECT_EQ(runs(), 4) << "nothing else was started";
}

TEST_F(ApiRequalify, LooksAtNoNodeThatHasNothingToRenew) {
  serve_site();

  const auto never = ask_node("look", R"({"after_swap":true})", "1");
  const auto unknown = ask_node("look", R"({"replaced":["gpu33"]})", "2");
  const auto nowhere = post("/api/v1/nodes/a09-n01/look", "{}", "3");

  EXPECT_EQ(never.status, 404);
  EXPECT_THAT(never.body, HasSubstr("has failed no run by one of its parts"));
  EXPECT_EQ(unknown.status, 422);
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_EQ(runs(), 1);
}

TEST_F(ApiRequalify, SaysWhenNothingIsVoidAndWhatIsNotKnownOfTheNode) {
  serve_site();

  const auto unseen = ask_node("requalify-plan", "{}", "1");
  const auto unknown = ask_node("requalify-plan", R"({"replaced":["gpu33"]})", "2");
  const auto wrong = ask_node("requalify-plan", R"({"replaced":["gpu3",7,""]})", "3");
  const auto both = ask_node("requalify-plan", R"({"after_swap":true,"new_machine":true})", "4");
  const auto named = ask_node("requalify-plan", R"({"replaced":["gpu3"]})", "5");
  const auto look = looked("G-OLD", "6");
  const auto same = ask_node("requalify", json::serialize(json::object{{"looked", look}}), "7");

  EXPECT_EQ(unseen.status, 404);
  EXPECT_THAT(unseen.body, HasSubstr("nothing was seen of a01-n01 since run 1"));
  EXPECT_EQ(unknown.status, 422);
  EXPECT_THAT(unknown.body, HasSubstr("gpu3"));
  EXPECT_EQ(wrong.status, 422);
  EXPECT_THAT(wrong.body, HasSubstr("body.replaced"));
  EXPECT_EQ(both.status, 422);
  EXPECT_EQ(named.json().at("again").at(0).at("stage"), "gemm");
  EXPECT_EQ(same.status, 409);
  EXPECT_THAT(same.body, HasSubstr("no stage is void"));
  EXPECT_EQ(runs(), 2);
}

TEST_F(ApiRequalify, IsForOperatorsOfTheNodesRackAndWaitsForASecondPerson) {
  serve_site("two_person: [start]\n");
  const auto look = looked("G-NEW", "look");
  const auto send = [&](const std::string& secret, const std::string& target,
                        const std::string& body, const std::string& key) {
    return ask_tls({.method = "POST",
                    .target = target,
                    .body = body,
                    .token = secret,
                    .fields = {"Idempotency-Key: " + key}});
  };
  const std::string target = "/api/v1/nodes/a01-n01/requalify";
  const auto body = json::serialize(json::object{{"looked", look}});
  const auto alice = token("alice", "operator", {"a01"}), eve = token("eve", "viewer");
  const auto bob = token("bob", "operator", {"a02"}), carol = token("carol", "operator", {"a01"});

  EXPECT_EQ(send(eve, target, body, "1").status, 403);
  EXPECT_EQ(send(eve, target + "-plan", body, "2").status, 200);
  EXPECT_EQ(send(bob, target + "-plan", body, "3").status, 404);
  const auto asked = send(alice, target, body, "4");
  ASSERT_EQ(asked.status, 202) << asked.body;
  EXPECT_EQ(runs(), 2);
  const auto approval = "/api/v1/approvals/" + std::string{asked.json().at("approval").as_string()};
  EXPECT_EQ(send(bob, approval, R"({"decision":"approve"})", "5").status, 404);
  EXPECT_EQ(send(carol, approval, R"({"decision":"approve"})", "6").status, 201);

  EXPECT_EQ(runs(), 3);
  const auto options = controller::run_options_of(store().run(3)->options);
  EXPECT_THAT(options.begun_by, HasSubstr("alice (approved by carol)"));
}

}  // namespace
}  // namespace cupel::test
