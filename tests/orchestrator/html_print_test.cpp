// The HTML report in a real browser: whether its tables can be seen, and whether they are on paper.
#include "orchestrator/report/html.h"
#include "tests/orchestrator/report_fixture.h"
#include "tests/support/chromium.h"
#include "tests/support/real_part.h"

namespace cupel::report {
namespace {

using cupel::testing::Chromium;
using ::testing::HasSubstr;

/// All columns that are out of the window or of the box that they scroll in, by title. Folded
/// tables are opened first.
constexpr const char* kOutside = R"js(
  for (const box of page.querySelectorAll('input[type=checkbox]')) box.checked = true;
  const width = page.documentElement.clientWidth, lost = [];
  for (const title of page.querySelectorAll('th')) {
    const at = title.getBoundingClientRect(), fold = title.closest('.fold>div');
    const end = Math.min(width, fold ? fold.getBoundingClientRect().right : width);
    if (at.right > end + 1 || at.width < 20) lost.push(title.textContent);
  }
  if (page.documentElement.scrollWidth > width) lost.push('the page itself');
  return lost.join(', ');
)js";

/// A node of eight GPUs as they all are: 28 pairs, whose names part by commas alone.
class HtmlInBrowser : public Report {
 protected:
  HtmlInBrowser() {
    burnin::Verdict verdict{Decision::fail,
                            {{Decision::fail,
                              "gpu3",
                              "gpu.ecc.uncorrected",
                              "2 errors",
                              "at most 0 errors",
                              std::string(64, 'a'),
                              "replace gpu3",
                              {"hbm"}}},
                            {}};
    for (int i = 0; i < 8; ++i)
      for (int j = i + 1; j < 8; ++j)
        verdict.checked.push_back({"p2p",
                                   "gpu" + std::to_string(i) + "-gpu" + std::to_string(j),
                                   "p2p.pair.below_best",
                                   {100.25 + i * 8 + j, {}, 10, "%"},
                                   burnin::Met::failed,
                                   "measured on eight machines"});
    for (int i = 0; i < 60; ++i)
      verdict.checked.push_back({"gemm",
                                 "gpu0",
                                 "gemm.rate.round" + std::to_string(i),
                                 {7000.5 + i, 600, {}, "TFLOPS"},
                                 burnin::Met::met,
                                 "the data sheet of the H100"});
    boost::json::array parts;
    for (int i = 0; i < 8; ++i)
      parts.push_back({{"kind", "gpu"},
                       {"name", "gpu" + std::to_string(i)},
                       {"serial", "SERIAL-" + std::to_string(1652922000000 + i)}});
    end("a01-n01", "bmc-facts", {{"bmc_parts", parts}, {"system_serial", "CHASSIS-0001"}});
    end("a01-n01", "verdict", record::to_json(verdict));
  }
  std::string page() { return to_html(summary()); }

  Chromium browser;
};

TEST_F(HtmlInBrowser, ShowsEveryColumnAt1400And1000Pixels) {
  CUPEL_NEEDS_REAL_PART(Chromium::installed(), "chromium or poppler-utils is not installed");

  for (const auto width : {1400, 1000}) EXPECT_EQ(browser.measured(page(), width, kOutside), "");
}

TEST_F(HtmlInBrowser, PrintsEveryNumberAndRepeatsTheHeadOfATable) {
  CUPEL_NEEDS_REAL_PART(Chromium::installed(), "chromium or poppler-utils is not installed");

  const auto paper = browser.printed(page());

  for (int i = 0; i < 60; ++i) EXPECT_THAT(paper, HasSubstr(std::to_string(7000 + i) + ".5"));
  for (int i = 0; i < 7; ++i)
    EXPECT_THAT(paper, HasSubstr(std::to_string(100 + i * 8 + 7) + ".25"));
  EXPECT_THAT(paper, HasSubstr("CHASSIS-0001"));
  EXPECT_THAT(paper, HasSubstr("For the customer"));
  std::size_t heads = 0;
  for (auto at = paper.find("Source of the"); at != paper.npos;
       at = paper.find("Source of the", at + 1))
    ++heads;
  EXPECT_GE(heads, 2u) << "the table goes over several sheets";
}

TEST_F(HtmlInBrowser, MarksEverySheetOfARehearsal) {
  CUPEL_NEEDS_REAL_PART(Chromium::installed(), "chromium or poppler-utils is not installed");
  auto reported = summary();
  reported.rehearsal = true;

  const auto paper = browser.printed(to_html(reported));

  std::size_t sheets = 0, from = 0;
  for (auto end = paper.find('\f'); end != paper.npos; end = paper.find('\f', from)) {
    ++sheets;
    EXPECT_THAT(paper.substr(from, end - from), HasSubstr("REHEARSAL")) << "sheet " << sheets;
    from = end + 1;
  }
  EXPECT_GE(sheets, 2u);
}

}  // namespace
}  // namespace cupel::report
