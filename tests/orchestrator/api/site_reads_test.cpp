// What the API tells of the site's files: hooks of notices without their secrets, and the cable
// plan; to each person what is of their racks.
#include "orchestrator/api/notice_book.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SiteReads : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    write("secret", "s3cr3t-0123456789\n");
    write("slack-url", "https://hooks.example.com/services/s3cr3t-0123456789\n");
    site(
        "fabric: {nodes: [a01-n1, a02-n1], hcas: [mlx5_0, mlx5_6], group: 1, spines: 1, uplinks: "
        "1}\n");
    write("service.yaml", R"(inventory: site.yaml
requests_per_second: 1000000
notices:
  - name: ops
    slack: "file:slack-url"
    on: [halt]
    quiet: {from: "22:00", to: "07:00"}
    urgent: [halt]
  - {name: tickets, webhook: "https://tickets.example.com/hook", racks: [a01, a02], group: 24h}
  - {name: others, webhook: "https://a01.example.com/hook", racks: [a01]}
)");
  }
  void site(const std::string& fabric) {
    write("site.yaml",
          "site: here\nracks:\n  - {name: a01, units: 48}\n  - {name: a02, units: 48}\n"
          "defaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"file:" +
              file("secret") +
              "\", tls: {trust: first-use}}\n  ssh: {user: root, key: " + file("secret") + R"(}
nodes:
  - {name: a01-n1, rack: a01, unit: 1, bmc: {address: 127.64.99.1}, ssh: {address: 127.64.98.1}}
  - {name: a02-n1, rack: a02, unit: 1, bmc: {address: 127.64.99.2}, ssh: {address: 127.64.98.2}}
)" + fabric);
  }
  void serve_site() {
    auto options = usual();
    options.settings = file("service.yaml");
    serve(options);
  }
  Heard of_bob(const std::string& target) {
    return ask_tls({.target = target, .token = token("bob", "viewer", {"a02"})});
  }
};

TEST_F(SiteReads, NoRequestSaysWhichProgramsRunOnNodes) {
  serve_site();

  for (const auto* body :
       {R"({"playbook":"burn-in-tools","nodes":"a01-n1","set":{"gpu_burn":"/tmp/evil"}})",
        R"({"playbook":"burn-in-tools","nodes":"a01-n1","set":{"nccl_tests":"/tmp/evil"}})",
        R"({"playbook":"fabric","nodes":"a01-n1","set":{"variables":"NCCL_NET_PLUGIN=/tmp/e.so"}})",
        R"({"playbook":"quick-check","nodes":"a01-n1","set":{"scratch":"/etc"}})"}) {
    const auto refused = post("/api/v1/plans", body, "k");
    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("the site's alone"));
  }
  const auto allowed = post(
      "/api/v1/plans", R"({"playbook":"burn-in-tools","nodes":"a01-n1","set":{"burn":"1m"}})", "k");
  EXPECT_EQ(allowed.status, 200) << allowed.body;
}

TEST_F(SiteReads, RequestsSetWhatTheSiteListsAndOfThatNothingThatRunsOnNodes) {
  const auto answer = [&](const std::string& set) {
    return post("/api/v1/plans",
                R"({"playbook":"burn-in-tools","nodes":"a01-n1","set":)" + set + "}", "k");
  };
  std::ofstream{file("service.yaml"), std::ios::app} << "parameters: [burn, gpu_burn]\n";
  serve_site();

  EXPECT_EQ(answer(R"({"burn":"1m"})").status, 200);
  const auto left_out = answer(R"({"burn":"1m","level":"3"})");
  EXPECT_EQ(left_out.status, 422);
  EXPECT_THAT(left_out.body, HasSubstr("requests may set only burn, gpu_burn here"));
  EXPECT_THAT(left_out.body, HasSubstr("body.set.level"));
  EXPECT_THAT(left_out.body, Not(HasSubstr("body.set.burn")));
  EXPECT_THAT(answer(R"({"gpu_burn":"/tmp/evil"})").body, HasSubstr("the site's alone"));
}

TEST_F(SiteReads, TellOfEachHookWhatItTakesAndNoSecret) {
  serve_site();

  const auto heard = get("/api/v1/notices");

  ASSERT_EQ(heard.status, 200) << heard.body;
  const auto body = heard.json();
  const auto& hooks = body.at("items").as_array();
  ASSERT_EQ(hooks.size(), 3u);
  EXPECT_EQ(hooks[0], (json::object{{"name", "ops"},
                                    {"kind", "slack"},
                                    {"on", json::array{"halt"}},
                                    {"group_s", 30},
                                    {"quiet", "22:00 to 07:00"},
                                    {"urgent", json::array{"halt"}},
                                    {"sent", 0},
                                    {"lost", 0},
                                    {"waiting", 0},
                                    {"tries", 0}}));
  EXPECT_EQ(hooks[1].at("host"), "tickets.example.com");
  EXPECT_EQ(hooks[1].at("racks"), (json::array{"a01", "a02"}));
  EXPECT_THAT(heard.body, AllOf(Not(HasSubstr("s3cr3t")), Not(HasSubstr("hooks.example.com")),
                                Not(HasSubstr("slack-url"))));
}

TEST_F(SiteReads, TellWhatBecameOfNotices) {
  const auto now = report::wall_now();
  api::NoticeBook book;
  book.tallies["tickets"] = {.sent = 7,
                             .lost = 2,
                             .sent_at = now - std::chrono::hours{2},
                             .failed_at = now - std::chrono::hours{1},
                             .why = "HTTP 503\x1b"};
  book.queues["tickets"].add({"halt", now, {{"text", "run 1: halted"}}});  // due in a day
  ASSERT_TRUE(api::write_notice_book(state(), api::to_text(book)));
  serve_site();

  const auto body = get("/api/v1/notices").json();
  const auto bounded = of_bob("/api/v1/notices");

  const auto& hook = body.at("items").at(1);
  EXPECT_EQ(hook.at("sent"), 7);
  EXPECT_EQ(hook.at("lost"), 2);
  EXPECT_EQ(hook.at("waiting"), 1);
  EXPECT_EQ(hook.at("why"), "HTTP 503");
  for (const auto* time : {"last_sent", "last_failed", "next"})
    EXPECT_TRUE(hook.as_object().contains(time)) << time;
  EXPECT_THAT(bounded.body, AllOf(HasSubstr("\"racks\":[\"a02\"]"), Not(HasSubstr("a01")),
                                  Not(HasSubstr("example.com")), Not(HasSubstr("HTTP 503"))));
}

TEST_F(SiteReads, TellWhichLeafEachRailIsPluggedInto) {
  serve_site();

  const auto heard = get("/api/v1/cables");
  const auto page = get("/api/v1/cables?limit=1").json();
  const auto bounded = of_bob("/api/v1/cables");

  ASSERT_EQ(heard.status, 200) << heard.body;
  const auto body = heard.json();
  const auto& cables = body.at("items").as_array();
  ASSERT_EQ(cables.size(), 8u) << heard.body;  // two rails of two nodes, one uplink of four leaves
  EXPECT_EQ(cables[0], (json::object{{"node", "a01-n1"},
                                     {"hca", "mlx5_0"},
                                     {"group", 1},
                                     {"rail", 1},
                                     {"switch", "leaf1-r1"},
                                     {"port", "1"}}));
  EXPECT_THAT(heard.body, HasSubstr(R"({"below":"leaf1-r1","below_port":"2","switch":"spine1")"));
  EXPECT_EQ(page.at("items").as_array().size(), 1u);
  EXPECT_EQ(page.at("next"), "1");
  EXPECT_THAT(bounded.body,
              AllOf(HasSubstr("a02-n1"), Not(HasSubstr("a01")), Not(HasSubstr("spine1"))));
}

TEST_F(SiteReads, AnInventoryWithoutACablePlanHasNoCables) {
  serve();
  EXPECT_EQ(get("/api/v1/cables").status, 404) << "no inventory";
  site("");
  serve_site();

  EXPECT_EQ(get("/api/v1/cables").body, "{\"items\":[]}");
}

class NodesResults : public SiteReads {
 protected:
  engine::RunId run_on(const std::vector<std::string>& nodes) {
    store::Run run;
    run.playbook = "small";
    run.nodes = nodes;
    const auto id = store().begin_run(run).value();
    append(id, engine::EventKind::run_started, "", "",
           R"({"nodes":[{"name":"a01-n1","rack":"a01"},{"name":"a02-n1","rack":"a02"}]})");
    return id;
  }
  void end(engine::RunId run, const std::string& node, const std::string& step,
           const std::string& data) {
    append(run, engine::EventKind::step_began, node, step, "{}");
    append(run, engine::EventKind::step_ended, node, step, data);
  }
  void end(engine::RunId run) { append(run, engine::EventKind::run_ended, "", "", "{}"); }
};

TEST_F(NodesResults, AreThoseOfTheNewestRunOfEachNodeThatIsOver) {
  const auto old = run_on({"a01-n1", "a02-n1"});
  end(old, "a01-n1", "verdict", R"({"outcome":"done","verdict":"pass","causes":[]})");
  for (int i = 0; i < 5; ++i) end(old, "a01-n1", "step-" + std::to_string(i), "{}");
  end(old, "a01-n1", "verdict",
      R"({"outcome":"done","verdict":"fail","causes":[{"decision":"fail","part":"gpu3",
      "criterion":"gemm.bf16.rate","measured":"300 TFLOP/s","expected":"at least 600"}]})");
  for (int i = 5; i < 10; ++i) end(old, "a01-n1", "step-" + std::to_string(i), "{}");
  end(old, "a02-n1", "verdict", R"({"outcome":"done","verdict":"fail","causes":[]})");
  end(old);
  end(run_on({"b01-n1"}));  // the inventory has no such node
  const auto works = run_on({"a02-n1"});
  serve_site();

  const auto before = get("/api/v1/results").json();
  end(works, "a02-n1", "bmc-facts", R"({"outcome":"done"})");
  end(works);
  const auto after = get("/api/v1/results").json();
  const auto first = get("/api/v1/results?limit=1").json();
  const auto second = get("/api/v1/results?limit=1&cursor=a01-n1").json();
  const auto of_bob_alone = of_bob("/api/v1/results").json();

  ASSERT_EQ(before.at("items").as_array().size(), 1u) << "the newest run of a02-n1 works";
  const auto& failed = before.at("items").at(0);
  EXPECT_EQ(failed.at("node"), "a01-n1");
  EXPECT_EQ(failed.at("run"), old);
  EXPECT_EQ(failed.at("state"), "fail");
  EXPECT_THAT(std::string{failed.at("cause").as_string()}, HasSubstr("gpu3"));
  const json::object ended{{"node", "a02-n1"}, {"run", old}, {"state", "fail"}, {"newest", works}};
  EXPECT_EQ(after.at("items"), (json::array{failed, ended}));
  EXPECT_EQ(first.at("next"), "a01-n1");
  EXPECT_EQ(second.at("items"), json::array{ended});
  EXPECT_EQ(of_bob_alone.at("items"), json::array{ended});
  EXPECT_FALSE(after.as_object().contains("incomplete"));
}

TEST_F(NodesResults, ALookHidesNoVerdictAndAFailedOneIsNoPass) {
  const std::string pass = R"({"outcome":"done","verdict":"pass","causes":[]})";
  const std::string fail = R"({"outcome":"done","verdict":"fail","causes":[]})";
  const std::string off = R"({"outcome":"failed","detail":"no answer"})";
  const auto judged = run_on({"a01-n1", "a02-n1"});
  end(judged, "a01-n1", "verdict", pass);
  end(judged, "a02-n1", "verdict", fail);
  end(judged);
  const auto failed = run_on({"a01-n1", "a02-n1"});
  for (const auto* node : {"a01-n1", "a02-n1"}) end(failed, node, "facts", off);
  end(failed);
  serve_site();
  const auto results = [&] { return get("/api/v1/results").json().at("items").as_array(); };

  const auto behind_a_failure = results();
  const auto mended = run_on({"a01-n1", "a02-n1"});
  for (const auto* node : {"a01-n1", "a02-n1"}) {
    end(mended, node, "facts", off);
    end(mended, node, "facts", R"({"outcome":"done"})");  // its second attempt
  }
  end(mended);
  const auto behind_a_look = results();

  const json::object unsure{{"node", "a01-n1"},
                            {"run", failed},
                            {"state", "inconclusive"},
                            {"cause", "facts: no answer"}};
  const json::object bad{
      {"node", "a02-n1"}, {"run", judged}, {"state", "fail"}, {"newest", failed}};
  const json::object good{
      {"node", "a01-n1"}, {"run", judged}, {"state", "pass"}, {"newest", mended}};
  const json::object still_bad{
      {"node", "a02-n1"}, {"run", judged}, {"state", "fail"}, {"newest", mended}};
  EXPECT_EQ(behind_a_failure, (json::array{unsure, bad}));
  EXPECT_EQ(behind_a_look, (json::array{good, still_bad}));
}

TEST_F(NodesResults, FindAVerdictBehindLargeEndsOfSteps) {
  const auto run = run_on({"a01-n1"});
  end(run, "a01-n1", "verdict", R"({"outcome":"done","verdict":"fail","causes":[]})");
  const auto large = json::serialize(json::object{{"text", std::string(3u << 20, 'x')}});
  for (int i = 0; i < 7; ++i) end(run, "a01-n1", "step-" + std::to_string(i), large);
  end(run);
  serve_site();

  EXPECT_EQ(get("/api/v1/results").json().at("items").at(0).at("state"), "fail");
}

TEST_F(NodesResults, OfAllRunsOfANodeAreItsHistory) {
  const auto failed = run_on({"a01-n1"});
  end(failed, "a01-n1", "verdict",
      R"({"outcome":"done","verdict":"fail","causes":[{"decision":"fail","part":"gpu3",
      "criterion":"gemm.bf16.rate","measured":"300 TFLOP/s","expected":"at least 600"}]})");
  end(failed);
  const auto look = run_on({"a01-n1", "a02-n1"});
  end(look);
  const auto works = run_on({"a01-n1"});
  end(works, "a01-n1", "verdict", R"({"outcome":"done","verdict":"pass","causes":[]})");
  serve_site();

  const auto heard = get("/api/v1/nodes/a01-n1/history");
  const auto newest = get("/api/v1/nodes/a01-n1/history?limit=1").json();

  ASSERT_EQ(heard.status, 200) << heard.body;
  const auto body = heard.json();
  const auto& items = body.at("items").as_array();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].at("run"), works);
  EXPECT_EQ(items[0].at("state"), "running") << "the run may judge it again";
  EXPECT_EQ(items[1].at("run"), look);
  EXPECT_EQ(items[1].at("state"), "ended");
  EXPECT_EQ(items[2].at("run"), failed);
  EXPECT_EQ(items[2].at("playbook"), "small");
  EXPECT_EQ(items[2].at("state"), "fail");
  EXPECT_THAT(std::string{items[2].at("cause").as_string()}, HasSubstr("gpu3"));
  EXPECT_EQ(newest.at("items").as_array().size(), 1u);
  EXPECT_EQ(of_bob("/api/v1/nodes/a01-n1/history").status, 404);
}

TEST_F(SiteReads, AnswersForANodeOfAnotherRackAsForOneThatDoesNotExist) {
  serve_site();
  const auto secret = token("bob", "operator", {"a02"});
  int key = 0;
  const auto plan = [&](const std::string& nodes) {
    return ask_tls({.method = "POST",
                    .target = "/api/v1/plans",
                    .body = R"({"playbook":"audit","nodes":")" + nodes + "\"}",
                    .token = secret,
                    .fields = {"Idempotency-Key: k" + std::to_string(++key)}});
  };
  const auto reported = [&](std::string nodes) {
    auto body = plan(nodes).body;
    for (auto at = body.find(nodes); at != body.npos; at = body.find(nodes))
      body.replace(at, nodes.size(), "NODE");
    return body;
  };

  EXPECT_EQ(reported("a01-n1"), reported("a01-n9"));
  EXPECT_THAT(plan("a01-n1").body, Not(HasSubstr("did you mean 'a01")));
  const auto all = plan("all");
  EXPECT_EQ(all.status, 200) << all.body;
  EXPECT_THAT(all.body, AllOf(HasSubstr("a02-n1"), Not(HasSubstr("a01-n1"))));
}

}  // namespace
}  // namespace cupel::test
