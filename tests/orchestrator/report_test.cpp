// From events to what people and programs read of a run.
#include <fmt/format.h>

#include "orchestrator/report/document.h"
#include "orchestrator/report/html.h"
#include "orchestrator/report/html_links.h"
#include "tests/orchestrator/report_fixture.h"

namespace cupel::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Report, GivesEachNodeWhatWasFoundOnItWhereSeveralMeasuredTogether) {
  const auto hash = store->keep_evidence(
      R"({"a01-n01":{"measurements":[{"name":"busbw","value":370}],"evidence":"e1"},
          "a01-n02":{"measurements":[{"name":"busbw","value":90}],"evidence":"e2"}})");
  ASSERT_TRUE(hash);
  for (const auto* node : {"a01-n01", "a01-n02"})
    end(node, "gpu-facts", {{"together", true}, {"evidence", *hash}});

  const auto nodes = summary().nodes;

  EXPECT_EQ(nodes[0].record.findings.at("gpu-facts").measurements[0].value, 370);
  EXPECT_EQ(nodes[1].record.findings.at("gpu-facts").measurements[0].value, 90);
  EXPECT_EQ(nodes[1].record.evidence.at("gpu-facts"), "e2");
}

TEST_F(Report, TakesAStepForFailedWhoseCommonResultsCannotBeReadAnyMore) {
  const auto gone = std::string(64, 'c');
  end("a01-n01", "gpu-facts", {{"together", true}, {"evidence", gone}});

  const auto step = summary().nodes[0].record.steps[0];

  EXPECT_EQ(step.outcome, "failed");
  EXPECT_THAT(step.detail, HasSubstr(gone));
}

TEST(SpanText, SaysWhatAPersonWouldSayAndNeverLessThanNothing) {
  using namespace std::chrono_literals;

  EXPECT_EQ(span_text(41s), "41 s");
  EXPECT_EQ(span_text(9h + 40min), "9 h 40 min");
  EXPECT_EQ(span_text(-3h), "0 s") << "the clock was set back";
}

TEST_F(Report, KeepsWhyAStepWasSkippedAndWhoWantedIt) {
  const auto skip = [&](boost::json::object data) {
    add({EventKind::step_skipped, "a01-n01", "gpu-facts", std::move(data)});
    return summary().nodes[0].record.steps[0];
  };

  const auto condition = skip({{"why", "gpu.count is 0"}, {"because", "condition"}});
  const auto person =
      skip({{"why", "on order"}, {"by", "kim"}, {"command", 7}, {"because", "person"}});
  const auto old = skip({{"why", "gpu.count is 0"}});

  EXPECT_EQ(condition.skipped, record::Skipped::condition);
  EXPECT_EQ(condition.detail, "gpu.count is 0");
  EXPECT_EQ(person.skipped, record::Skipped::person);
  EXPECT_EQ(person.detail, "skipped by kim: on order");
  EXPECT_EQ(old.skipped, record::Skipped::unknown);
}

TEST_F(Report, TellsEachNodesVerdictWithItsCauseAndHandOff) {
  end("a01-n01", "verdict", record::to_json(good()));
  end("a01-n01", "hand-off", {{"slurm", "resumed"}});
  end("a01-n02", "verdict", record::to_json(bad()));
  end("a01-n02", "hand-off", {{"slurm", "drained"}, {"reason", "cupel: fail: gpu3"}});

  const auto reported = boost::json::serialize(to_json(summary()));

  EXPECT_THAT(reported,
              HasSubstr(R"("node":"a01-n01","verdict":"pass","causes":[],"hand_off":"resumed")"));
  EXPECT_THAT(reported, HasSubstr(R"("part":"gpu3","criterion":"gpu.ecc.uncorrected")"));
  EXPECT_THAT(reported, HasSubstr(R"("measured":"2 errors","expected":"at most 0 errors")"));
  EXPECT_THAT(reported, HasSubstr(std::string(64, 'a')));
  EXPECT_THAT(reported, HasSubstr(R"("hand_off":"drained","reason":"cupel: fail: gpu3")"));
}

TEST_F(Report, CallsANodeWithoutAVerdictInconclusiveAndSaysWhichStepFailed) {
  end("a01-n01", "gpu-facts", {{"detail", "no nvidia-smi"}}, "failed");

  const auto reported = summary();

  EXPECT_EQ(reported.nodes[0].decision, Decision::inconclusive);
  EXPECT_THAT(to_text(reported), HasSubstr("step gpu-facts no nvidia-smi"));
}

TEST_F(Report, CallsAGoodNodeThatSlurmRefusedInconclusive) {
  end("a01-n01", "verdict", record::to_json(good()));
  end("a01-n01", "hand-off", {{"detail", "slurmctld does not answer"}}, "failed");

  EXPECT_EQ(summary().nodes[0].decision, Decision::inconclusive);
}

TEST_F(Report, ShowsWhatWasDoneAtItsLinksBeforeItEnded) {
  using burnin::LinkEvent;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto event = [&](std::string node, std::chrono::seconds ago, std::string note) {
    return LinkEvent{.at = now - ago,
                     .here = {std::move(node), "mlx5_3", 1},
                     .there = {"leaf1-r3", "", 7},
                     .by = "kim",
                     .did = burnin::Repair::reseat,
                     .note = std::move(note)};
  };
  auto reported = summary();
  EXPECT_THAT(to_html(reported), Not(HasSubstr("<section id=links>")));

  const std::vector recorded{event("a01-n01", std::chrono::hours{1}, "<b>dust"),
                             event("b07-n01", std::chrono::hours{1}, "of another rack"),
                             event("a01-n02", std::chrono::days{40}, "long ago")};
  add_links(reported, recorded);

  const auto page = to_html(reported);
  EXPECT_THAT(page, HasSubstr("<section id=links>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#links\">Links</a>"));
  EXPECT_THAT(page, HasSubstr("a01-n01 mlx5_3 - leaf1-r3 port 7<td>kim<td>"));
  EXPECT_THAT(page, HasSubstr("(&lt;b&gt;dust)"));
  EXPECT_THAT(page, Not(HasSubstr("of another rack")));
  EXPECT_THAT(page, Not(HasSubstr("long ago")));
  EXPECT_THAT(boost::json::serialize(to_document(reported)), HasSubstr("\"kind\":\"repaired\""));
}

TEST_F(Report, IsOneFileInWhichNothingFromOutsideIsMarkup) {
  end("a01-n02", "verdict", record::to_json(bad()));

  const auto page = to_html(summary());

  EXPECT_THAT(page, HasSubstr("lab &lt;&amp;&gt;"));
  EXPECT_THAT(page, HasSubstr("replace &lt;it&gt;"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  for (const auto* outside : {"http://", "https://", "src=", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  EXPECT_EQ(page.find("<script"), page.rfind("<script")) << "one, and its hash is in the policy";
  EXPECT_THAT(page,
              HasSubstr("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"));
}

TEST_F(Report, TellsALinkAndAPowerFeedAsTheSubjectsOfCauses) {
  const std::string link = "link:a01-n01/mlx5_0/1<->leaf3/swp7";
  auto slow = bad();
  slow.causes[0].part = link;
  slow.causes.push_back({Decision::fail, "feed:pdu2/B", "feed.current", "0 A", "at least 1 A"});
  slow.checked = {{"links", link, "link.rate", {90, 95, {}, "GB/s"}, burnin::Met::failed}};
  end("a01-n01", "links",
      {{"measurements", {{{"name", "link.rate"}, {"part", link}, {"value", 90.0}}}}});
  end("a01-n01", "verdict", record::to_json(slow));

  const auto text = to_text(summary()), page = to_html(summary());
  const auto node = to_document(summary()).at("summary").at("nodes").at(0);

  const boost::json::value ends = {
      {"kind", "link"},
      {"ends",
       {{{"name", "a01-n01"}, {"part", "mlx5_0/1"}}, {{"name", "leaf3"}, {"part", "swp7"}}}}};
  const boost::json::value feed = {{"kind", "power-feed"}, {"name", "pdu2"}, {"part", "B"}};
  EXPECT_EQ(node.at("causes").at(0).at("subject"), ends);
  EXPECT_EQ(node.at("causes").at(0).at("part"), link.c_str());
  EXPECT_EQ(node.at("causes").at(1).at("subject"), feed);
  EXPECT_EQ(node.at("checked").at(0).at("subject"), ends);
  EXPECT_EQ(node.at("measurements").at(0).at("subject"), ends);
  EXPECT_THAT(text, HasSubstr(link + ": gpu.ecc.uncorrected 2 errors"));
  EXPECT_THAT(text, HasSubstr("feed:pdu2/B: feed.current 0 A, expected at least 1 A"));
  EXPECT_THAT(page, HasSubstr("link:a01-n01/mlx5_0/1&lt;-&gt;leaf3/swp7"));
}

TEST_F(Report, AddsNoSubjectToAPartOfTheNode) {
  end("a01-n01", "verdict", record::to_json(bad()));

  const auto cause = to_document(summary()).at("summary").at("nodes").at(0).at("causes").at(0);

  EXPECT_EQ(cause.at("part"), "gpu3");
  EXPECT_FALSE(cause.as_object().contains("subject"));
}

TEST_F(Report, SaysInOneLineWhatEqualPartsHaveInCommon) {
  const burnin::Cause slow{Decision::fail, "gpu0", "hbm.below_best", "12 %",
                           "at most 10 %", "a1",   "cool it",        {"hbm", "hbm@night"}};
  auto other = slow, worse = slow;
  other.part = "gpu2";
  worse.part = "gpu3";
  worse.measured = "30 %";
  auto bad = burnin::Verdict{Decision::fail, {slow, other, worse}, {}};
  for (const auto* part : {"gpu0", "gpu1", "gpu2"})
    bad.checked.push_back({"hbm",
                           part,
                           "hbm.copy",
                           {part == std::string{"gpu1"} ? 2004.5 : 1999, 1905, {}, "GB/s"},
                           burnin::Met::met,
                           "the data sheet"});
  bad.checked.push_back(
      {"hbm", "gpu3", "hbm.copy", {12, 1905, {}, "GB/s"}, burnin::Met::failed, "the data sheet"});
  end("a01-n01", "verdict", record::to_json(bad));

  const auto text = to_text(summary()), page = to_html(summary());

  EXPECT_THAT(text,
              HasSubstr("gpu[0,2]: hbm.below_best 12 %, expected at most 10 %  (hbm, hbm@night)"));
  EXPECT_THAT(text, HasSubstr("gpu3: hbm.below_best 30 %"));
  EXPECT_THAT(page, HasSubstr("<td>gpu[0-2]<td>hbm.copy<td class=pass>1999 to 2004.5 GB/s"));
  EXPECT_THAT(page, HasSubstr("<td>gpu3<td>hbm.copy<td class=fail>12 GB/s"));
}

TEST_F(Report, TellsWhatFollowsFromACauseUnderItAndLosesNothing) {
  auto verdict = bad();
  for (const auto* part : {"gpu0", "gpu1"}) {
    verdict.causes.push_back({Decision::fail, part, "p2p.pairs", "12", "at least 14"});
    verdict.causes.back().consequence_of = "gpu3: gpu.ecc.uncorrected";
  }
  end("a01-n02", "verdict", record::to_json(verdict));

  const auto text = to_text(summary()), page = to_html(summary());
  const auto reported = boost::json::serialize(to_json(summary()));

  EXPECT_THAT(text, HasSubstr("gpu3: gpu.ecc.uncorrected 2 errors"));
  EXPECT_THAT(text, HasSubstr("explains p2p.pairs of gpu[0-1]\n"));
  EXPECT_THAT(text, Not(HasSubstr("p2p.pairs 12")));
  EXPECT_THAT(page, HasSubstr("<td>gpu[0-1]<td class=fail>p2p.pairs<td>12<td>at least 14"));
  EXPECT_THAT(page, HasSubstr("follows from gpu3: gpu.ecc.uncorrected"));
  EXPECT_THAT(reported, HasSubstr(R"("consequence_of":"gpu3: gpu.ecc.uncorrected")"));
}

TEST_F(Report, SaysOnceWhatIsToBeSaidOfSeveralNodesAndTheCommonFirst) {
  for (const auto* node : {"a01-n01", "a01-n02"})
    end(node, "gpu-facts",
        {{"detail", std::string{node} + " at 10.0.0." + node[6] + ": Connection refused"}},
        "needs operator");
  add({EventKind::run_ended});

  const auto text = to_text(summary());

  EXPECT_THAT(text, HasSubstr("  inconclusive  a01-n[01-02] (2 nodes, of a01-n01:)\n"
                              "                  step gpu-facts a01-n01 at 10.0.0.1: Connection"));
  EXPECT_EQ(text.find("10.0.0.2"), text.npos);
  EXPECT_LT(text.find("alike"), text.find("inconclusive  a01"));
}

TEST_F(Report, CallsANodeInWorkNoInconclusiveOne) {
  end("a01-n01", "verdict", record::to_json(good()));
  end("a01-n01", "hand-off", {{"slurm", "resumed"}});
  add({EventKind::step_began, "a01-n02", "gpu-facts"});

  const auto text = to_text(summary());

  EXPECT_THAT(text, HasSubstr(": 1 pass, 0 fail, 0 inconclusive, 1 in work\n"));
  EXPECT_THAT(text, HasSubstr("  in work       a01-n02\n"));
  EXPECT_THAT(text, Not(HasSubstr("not finished")));
}

TEST(Summary, OfManyFailuresIsBoundedUnlessAllIsWanted) {
  RunSummary run;
  run.run.phase = engine::RunPhase::ended;
  run.run.id = 12;
  for (int i = 0; i < 300; ++i) {
    NodeSummary node;
    node.record.node = fmt::format("v{:02}-n{}", i / 4 + 1, i % 4 + 1);
    node.causes = {{Decision::inconclusive, "", "step ssh-wait",
                    std::string(static_cast<std::size_t>(i % 30) + 1, 'x')}};
    run.nodes.push_back(std::move(node));
  }
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };

  EXPECT_LT(lines(to_text(run)), 60);
  EXPECT_THAT(to_text(run), HasSubstr("and 100 more nodes: cupel report 12 --all"));
  EXPECT_THAT(to_text(run, true), Not(HasSubstr("more nodes")));
}

TEST_F(Report, ReadsBackWhatItWrote) {
  auto verdict = bad();
  verdict.causes[0].quantity = {2, std::nullopt, 0, "errors"};
  verdict.causes[0].consequence_of = "gpu5: audit: missing";
  const burnin::Findings findings{{{"gpu.count", "", 8, "GPUs"}, {"gpu.power", "gpu0", 68.5, "W"}},
                                  {{inventory::PartKind::gpu, "gpu0", "H100", "NVIDIA", "S1"}},
                                  {{"ECC of gpu1", "nvidia-smi", "N/A"}}};

  EXPECT_EQ(record::verdict_from(record::to_json(verdict)).causes, verdict.causes);
  EXPECT_EQ(record::findings_from(record::to_json(findings)), findings);
}

}  // namespace
}  // namespace cupel::report
