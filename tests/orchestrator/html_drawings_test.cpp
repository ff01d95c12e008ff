// The drawings of the HTML report, its search, and the report as Markdown.
#include <fmt/format.h>

#include "orchestrator/report/fold_equal.h"
#include "orchestrator/report/html.h"
#include "orchestrator/report/html_distributions.h"
#include "orchestrator/report/html_heat.h"
#include "orchestrator/report/html_power.h"
#include "orchestrator/report/html_rack.h"
#include "orchestrator/report/html_timeline.h"
#include "orchestrator/report/markdown.h"
#include "orchestrator/report/part_telemetry.h"
#include "tests/orchestrator/report_fixture.h"
#include "tests/support/chromium.h"
#include "tests/support/real_part.h"

namespace cupel::report {
namespace {

using cupel::testing::Chromium;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

burnin::Checked copy_rate(int gpu, double rate) {
  burnin::Checked checked{"hbm", fmt::format("gpu{}", gpu), "hbm.copy", {rate, 2700, {}, "GB/s"}};
  checked.met = rate < 2700 ? burnin::Met::failed : burnin::Met::met;
  checked.source = "measured on eight machines";
  return checked;
}

class ReportDrawings : public Report {
 protected:
  /// With a stage of ten minutes, an hour after the run began.
  RunSummary with_stage(std::vector<burnin::Measurement> measurements) {
    auto reported = summary();
    const engine::WallTime began{std::chrono::hours{24 * 365 * 50}};
    for (auto& node : reported.nodes) {
      record::StepRecord step{.name = "gemm", .outcome = "done"};
      step.began = began;
      step.ended = began + minutes{10};
      node.record.steps = {step};
      node.record.findings["gemm"].measurements = measurements;
    }
    return reported;
  }
  RunSummary with_rates(const std::vector<std::vector<double>>& rates) {
    auto reported = summary();
    for (std::size_t i = 0; i < rates.size(); ++i) {
      burnin::Verdict verdict{Decision::pass, {}, {}};
      for (std::size_t gpu = 0; gpu < rates[i].size(); ++gpu)
        verdict.checked.push_back(copy_rate(static_cast<int>(gpu), rates[i][gpu]));
      reported.nodes[i].record.verdict = verdict;
    }
    return reported;
  }
};

TEST_F(ReportDrawings, HaveABarForEachStepWithItsOutcomeAndItsTime) {
  auto reported = with_stage({});
  auto& steps = reported.nodes[1].record.steps;
  steps.push_back(steps[0]);
  steps[1].name = "hbm<";
  steps[1].outcome = "failed";
  steps[1].began = steps[0].ended;
  steps[1].ended = steps[1].began + seconds{30};

  const auto drawn = time_line_html(reported);

  EXPECT_THAT(drawn, AllOf(HasSubstr("<title>gemm: done, 10 min 00 s</title>"),
                           HasSubstr("<rect class=fail"),
                           HasSubstr("<title>hbm&lt;: failed, 30 s</title>")));
  EXPECT_EQ(time_line_html(summary()), "") << "nothing has a time";
}

/// A name that its bar would cut is not written; its title has it.
TEST_F(ReportDrawings, NameAStepOnItsBarOnlyWhereItFits) {
  auto reported = with_stage({});
  auto& steps = reported.nodes[1].record.steps;
  steps.push_back(steps[0]);
  steps[1].name = "verdict";
  steps[1].began = steps[0].ended;
  steps[1].ended = steps[1].began + seconds{10};

  const auto drawn = time_line_html(reported);

  EXPECT_THAT(drawn, HasSubstr(">gemm</text>"));
  EXPECT_THAT(drawn, HasSubstr("<title>verdict: done, 10 s</title>"));
  EXPECT_THAT(drawn, Not(HasSubstr(">verdict</text>")));
}

/// Of 90 nodes the first axis is far above the last row, and on another sheet of paper.
TEST_F(ReportDrawings, HaveTheirTimesAboveEveryFortyNodes) {
  auto reported = with_stage({});
  reported.nodes.assign(90, reported.nodes[0]);

  const auto drawn = time_line_html(reported);

  std::vector<std::size_t> rows;
  for (auto at = drawn.find("<svg class=time"); at != drawn.npos;) {
    const auto end = drawn.find("<svg class=time", at + 1);
    const auto piece = drawn.substr(at, end - at);
    EXPECT_THAT(piece, HasSubstr("text-anchor=middle")) << "an axis";
    std::size_t count = 0;
    for (auto bar = piece.find("<rect"); bar != piece.npos; bar = piece.find("<rect", bar + 1))
      ++count;
    rows.push_back(count);
    at = end;
  }
  EXPECT_THAT(rows, ElementsAre(40, 40, 10));
}

/// One or two racks leave room beside them for why; many fill the page by themselves.
TEST_F(ReportDrawings, SayBesideARackWhyItsNodesDidNotPass) {
  auto reported = summary();
  reported.nodes[0].decision = Decision::fail;
  reported.nodes[0].causes = bad().causes;
  const auto wide = racks_html(reported);
  reported.nodes[0].position.height = 1;
  const auto beside_one_unit = racks_html(reported);
  for (int rack = 2; rack <= 8; ++rack) {
    reported.racks.push_back({fmt::format("a{:02}", rack), 48});
    reported.nodes.push_back(reported.nodes[1]);
    reported.nodes.back().position.rack = reported.racks.back().name;
  }

  EXPECT_THAT(wide, HasSubstr("<text class=why"));
  EXPECT_THAT(beside_one_unit, HasSubstr("<text class=\"why low\"")) << "not over the next box";
  EXPECT_THAT(wide, HasSubstr("gpu3: gpu.ecc.uncorrected 2 errors, expected at most 0 errors"));
  EXPECT_THAT(racks_html(reported), Not(HasSubstr("<text class=why")));
}

TEST_F(ReportDrawings, HaveRoundTimesOnTheirAxis) {
  const engine::WallTime from{std::chrono::hours{24} + minutes{7}};

  const auto times = axis_times(from, from + minutes{60}, 10);

  ASSERT_EQ(times.size(), 6u);
  EXPECT_EQ(axis_time(times[0], from), "00:10");
  EXPECT_EQ(axis_time(times[5] + std::chrono::hours{24}, from), "Jan 03 01:00");
}

TEST_F(ReportDrawings, AddUpWhatTheGpusDrew) {
  const auto reported = with_stage({{"gpu.power", "gpu0", 400, "W"},
                                    {"gpu.power", "gpu1", 600, "W"},
                                    {"gpu.power.limit", "gpu0", 700, "W"},
                                    {"gpu.power.limit", "gpu1", 700, "W"}});

  EXPECT_THAT(power_html(reported),
              AllOf(HasSubstr("Peak 2 kW"), HasSubstr("<title>limit 2.8 kW")));
  EXPECT_EQ(power_html(with_stage({})), "") << "no step measured power";
}

TEST_F(ReportDrawings, PlaceEveryNodeAtItsWorstPart) {
  const auto drawn = distributions_html(with_rates({{2900, 2950}, {2930, 2600}}));

  EXPECT_THAT(drawn, AllOf(HasSubstr("<title>a01-n01 gpu0: 2900 GB/s</title>"),
                           HasSubstr("<title>a01-n02 gpu1: 2600 GB/s</title>"),
                           HasSubstr(">a01-n02</text>"), HasSubstr("2600 to 2950")));
  EXPECT_THAT(drawn, Not(HasSubstr(">a01-n01</text>"))) << "only who failed is named";
  EXPECT_EQ(distributions_html(with_rates({{2900}, {2900}})), "") << "all are the same";
}

TEST_F(ReportDrawings, SayWhatTheMarksOfADistributionStandFor) {
  const auto drawn = distributions_html(with_rates({{2900}, {2600}}));

  const auto legend = drawn.substr(drawn.find("<ul class=legend>"));
  EXPECT_THAT(legend.substr(0, legend.find("</ul>")),
              AllOf(HasSubstr("<circle class=pass"), HasSubstr("<circle class=fail"),
                    HasSubstr("<path class=fleet"), HasSubstr("<path class=limit")));
}

/// Two names over each other are none.
TEST_F(ReportDrawings, NameNodesAtOnePlaceBesideEachOther) {
  auto reported = with_rates({{2600}, {2600}});
  reported.nodes.push_back(reported.nodes[0]);
  reported.nodes.back().record.node = "a01-n03";
  reported.nodes.back().record.verdict->checked = {copy_rate(0, 2900)};

  EXPECT_THAT(distributions_html(reported), HasSubstr(">a01-n01, a01-n02</text>"));
}

burnin::Checked missing(const std::string& part, const std::string& measure) {
  burnin::Checked checked{"gpu-facts", part, measure, {std::nullopt, 1, {}, ""}};
  checked.source = "a datasheet";
  return checked;
}

/// Of a GPU that is not there, every number is missing: one line, and not one for each of them.
TEST_F(ReportDrawings, TellAPartWithoutAnyNumberInOneLine) {
  std::vector<burnin::Checked> checked;
  for (int i = 0; i < 40; ++i) checked.push_back(missing("gpu5", fmt::format("gpu.measure{}", i)));
  for (const auto* pair : {"gpu4-gpu5", "gpu5-gpu6"})
    checked.push_back(missing(pair, "p2p.pair.bandwidth"));
  checked.push_back(missing("gpu6", "gpu.mig"));  // gpu6 is there
  checked.push_back(copy_rate(6, 2900));

  const auto heard = without_silent(checked);

  ASSERT_EQ(heard.silent.size(), 1u);
  EXPECT_EQ(heard.silent[0].parts, "gpu5");
  EXPECT_EQ(heard.silent[0].criteria, 42u);
  EXPECT_EQ(heard.silent[0].measures.size(), 41u);
  ASSERT_EQ(heard.others.size(), 2u);
  EXPECT_EQ(heard.others[0].part, "gpu6");

  auto reported = summary();
  reported.nodes[0].record.verdict = burnin::Verdict{Decision::fail, {}, checked};
  const auto page = to_html(reported);
  EXPECT_THAT(page, HasSubstr("<td>gpu5<td>41 measures: gpu.measure0, gpu.measure1, gpu.measure2, "
                              "gpu.measure3 and 37 more<td class=fail>nothing<td>42 numbers"));
  EXPECT_THAT(page, Not(HasSubstr("<td>gpu.measure7<td")));
}

TEST_F(ReportDrawings, TellWhatFollowsFromOneCauseInOneRowWhereItIsMuch) {
  auto reported = summary();
  reported.nodes[0].causes = {{Decision::fail, "gpu5", "audit: missing", "7", "8 gpus"}};
  for (int i = 0; i < 12; ++i) {
    reported.nodes[0].causes.push_back(
        {Decision::fail, "", fmt::format("follows.{}", i), "0", "1"});
    reported.nodes[0].causes.back().consequence_of = "gpu5: audit: missing";
  }

  const auto page = to_html(reported);

  EXPECT_THAT(page, HasSubstr("12 more findings follow from gpu5: audit: missing: follows.0,"));
  EXPECT_THAT(page, HasSubstr("follows.11</tr>"));
  EXPECT_THAT(page, Not(HasSubstr("<td class=fail>follows.")));
}

TEST_F(ReportDrawings, MarkAPairThatIsFarBelowTheBest) {
  record::NodeRecord record;
  record.findings["p2p"].measurements = {{"p2p.pair.bandwidth", "gpu0-gpu1", 400, "GB/s"},
                                         {"p2p.pair.bandwidth", "gpu0-gpu10", 390, "GB/s"},
                                         {"p2p.pair.bandwidth", "gpu1-gpu10", 200, "GB/s"}};

  const auto drawn = pairs_html(record);

  EXPECT_THAT(drawn, HasSubstr("<th>gpu0<th>gpu1<th>gpu10"));
  EXPECT_THAT(drawn, AllOf(HasSubstr("<td class=low>&#9662;200"), HasSubstr("<td class=h4>400")));
}

/// Of three GPUs for 40 s; gpu5 falls behind at 20 s.
record::KeptSeries sampled() {
  burnin::SeriesRecorder recorder;
  for (int second = 0; second <= 40; ++second)
    for (const int gpu : {4, 5, 6}) {
      const auto part = fmt::format("gpu{}", gpu);
      const bool slow = gpu == 5 && second >= 20;
      if (slow && second == 20) recorder.fault(second, "gpu5: xid 94");
      recorder.add({part, "gpu.power", "W"}, second, slow ? 420 : 690 + gpu);
      recorder.add({part, "gpu.temperature", "C"}, second, 60 + gpu);
      recorder.add({part, "gpu.clock.sm", "MHz"}, second, slow ? 990 : 1710);
    }
  recorder.add({"fan5", "bmc.fan", "RPM"}, 40, 9000);
  return {.faults = recorder.faults(), .series = recorder.all()};
}

TEST_F(ReportDrawings, ShowThePartBesideTheOthersOfItsKind) {
  const auto found = telemetry_of(sampled(), "gpu5");

  ASSERT_EQ(found.curves.size(), 3u);
  EXPECT_EQ(found.curves[0].name, "gpu.power");
  EXPECT_EQ(found.curves[1].name, "gpu.temperature");
  EXPECT_EQ(found.curves[0].own.front().value, 695);
  EXPECT_EQ(found.curves[0].own.back().value, 420);
  EXPECT_EQ(found.curves[0].least.back().value, 694);
  EXPECT_EQ(found.curves[0].most.back().value, 696);
  EXPECT_THAT(found.faults, ElementsAre(burnin::SeriesFault{20, "gpu5: xid 94"}));
  EXPECT_THAT(telemetry_of(sampled(), "gpu4").faults, IsEmpty());
  EXPECT_THAT(telemetry_of(sampled(), "gpu7").curves, IsEmpty()) << "no such GPU";
  EXPECT_THAT(telemetry_of(sampled(), "fan5").curves, IsEmpty()) << "one sample is no curve";
}

TEST_F(ReportDrawings, TakeTheTelemetryOfAFailedGpuFromTheSeriesOfItsStage) {
  auto series = sampled();
  series.faults[0].what = "gpu3: <xid> 94";
  const auto own = series.series.at({"gpu5", "gpu.power", "W"});
  series.series[{"gpu3", "gpu.power", "W"}] = own;
  const auto hash = store->keep_evidence(record::to_text(series)).value();
  end("a01-n02", "gemm",
      {{"evidence", hash},
       {"series", {{"evidence", hash}}},
       {"measurements", boost::json::array{}}});
  end("a01-n02", "verdict", record::to_json(bad()));
  auto reported = summary();

  add_telemetry(*store, reported);

  ASSERT_EQ(reported.nodes[1].telemetry.size(), 1u);
  EXPECT_EQ(reported.nodes[1].telemetry[0].stage, "gemm");
  EXPECT_THAT(to_html(reported),
              AllOf(HasSubstr("gpu3 during gemm"), HasSubstr("gpu.power: at most 695 W"),
                    HasSubstr("<title>gpu3: &lt;xid&gt; 94</title>"), Not(HasSubstr("<xid>"))));
}

TEST_F(ReportDrawings, StayUnderThreeMegabytesFor72Nodes) {
  auto reported = with_rates({{2900, 2950}, {2930, 2600}});
  auto node = reported.nodes[0];
  for (int stage = 0; stage < 17; ++stage)
    for (int measure = 0; measure < 9; ++measure)
      for (int gpu = 0; gpu < 2; ++gpu) {
        auto each = copy_rate(gpu, 2900 + stage + measure + gpu);
        each.stage = fmt::format("a-stage-{}", stage);
        each.measure = fmt::format("some.measure.number{}", measure + (stage % 3) * 100);
        node.record.verdict->checked.push_back(std::move(each));
      }
  for (int i = 0; i < 140; ++i)
    node.record.bmc_parts.push_back({.kind = inventory::PartKind::dimm,
                                     .name = fmt::format("dimm A{}", i),
                                     .model = "DDR5",
                                     .serial = fmt::format("EECAED{:02}", i)});
  for (int i = 0; i < 30; ++i) {
    record::StepRecord step{.name = fmt::format("step-{}", i), .outcome = "done"};
    step.began = engine::WallTime{seconds{1000 + i * 100}};
    step.ended = step.began + seconds{90};
    node.record.steps.push_back(step);
    node.record.evidence[step.name] = std::string(64, 'a');
    node.record.evidence["kernel-log@" + step.name] = std::string(64, 'b');
  }
  reported.nodes.assign(72, node);
  for (int i = 0; i < 72; ++i) reported.nodes[i].record.node = fmt::format("a01-n{:02}", i);

  EXPECT_LT(to_html(reported).size(), 3'000'000u);
}

/// An image is one thing to a screen reader: what is in it cannot be reached.
TEST_F(ReportDrawings, HaveNoLinkInAnImageAndKeyboardStopsWhereALimitIsNotMet) {
  auto reported = with_rates({{2900, 2950}, {2930, 2600}});
  for (auto& node : reported.nodes) node.record.steps = with_stage({}).nodes[0].record.steps;

  const auto page = to_html(reported);

  std::size_t drawings = 0;
  for (auto at = page.find("<svg"); at != page.npos; at = page.find("<svg", at + 1)) {
    const auto drawn = page.substr(at, page.find("</svg>", at) - at);
    ++drawings;
    if (drawn.contains("role=img"))
      EXPECT_THAT(drawn, Not(HasSubstr("<a "))) << drawn.substr(0, 99);
  }
  EXPECT_GE(drawings, 3u) << "racks, time line, distributions";
  EXPECT_THAT(page, HasSubstr("<a href=\"#a01-n01\" tabindex=-1><circle class=pass"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#a01-n02\"><circle class=fail"));
}

TEST_F(ReportDrawings, AreInTheContents) {
  end("a01-n01", "verdict", record::to_json(good()));

  const auto page = to_html(with_rates({{2900, 2950}, {2930, 2600}}));

  for (const auto* chapter :
       {"nodes", "racks", "distributions", "untested", "run", "decisions", "acceptance", "sources"})
    EXPECT_THAT(page, AllOf(HasSubstr(fmt::format("<a href=\"#{}\">", chapter)),
                            HasSubstr(fmt::format("<section id={}>", chapter))));
}

TEST_F(ReportDrawings, AreSearchedInABrowser) {
  CUPEL_NEEDS_REAL_PART(Chromium::installed(), "chromium or poppler-utils is not installed");
  const auto page = to_html(with_rates({{2900, 2950}, {2930, 2600}}));
  constexpr const char* kSearch = R"js(
    const box = page.getElementById('search');
    box.value = '2600';
    box.dispatchEvent(new Event('change'));
    return [...page.querySelectorAll('section.node:not(.hidden)')].map(s => s.id).join(',') + ' ' +
      page.querySelectorAll('section.node:not(.hidden) .fold>input:checked').length;
  )js";

  Chromium browser;
  EXPECT_EQ(browser.measured(page, 1200, kSearch), "a01-n02 1");
}

TEST_F(Report, AsMarkdownSaysWhatFailedAndMakesNoMarkupOfWhatMachinesSay) {
  auto verdict = bad();
  verdict.causes[0].measured = "[click](http://evil.example) | <b>";
  end("a01-n01", "verdict", record::to_json(verdict));
  end("a01-n02", "verdict", record::to_json(good()));

  const auto text = to_markdown(summary());

  EXPECT_THAT(text, AllOf(HasSubstr("# Run 1: new-rack\n"), HasSubstr("### a01-n01: fail\n"),
                          HasSubstr("**gpu3** gpu.ecc.uncorrected"),
                          HasSubstr("| a01-n02 | a01 | 9 |"), HasSubstr("What was not tested")));
  EXPECT_THAT(text, AllOf(HasSubstr("\\[click\\]\\(http:"), HasSubstr("\\| \\<b\\>"),
                          Not(HasSubstr("http://"))));
}

}  // namespace
}  // namespace cupel::report
