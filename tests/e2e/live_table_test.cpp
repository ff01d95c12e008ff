// The table that a run shows on a terminal: its keys, and the terminal when it is over.
#include "orchestrator/cli/table_keys.h"
#include "tests/e2e/pty.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using cli::TableKey;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TableKeys, AreTakenFromWhatTerminalsSend) {
  std::string typed = "\x1b[A\x1bOBjk\x1b[5~\x1b[6~gGsq?";

  EXPECT_THAT(cli::take_keys(typed),
              ElementsAre(TableKey::up, TableKey::down, TableKey::down, TableKey::up,
                          TableKey::page_up, TableKey::page_down, TableKey::top, TableKey::bottom,
                          TableKey::sort, TableKey::help, TableKey::help));
  EXPECT_EQ(typed, "");
}

TEST(TableKeys, WaitForTheEndOfASequenceAndDropWhatMeansNothing) {
  std::string typed = "x\x1b[1;5Q\x1b[";

  EXPECT_THAT(cli::take_keys(typed), IsEmpty());
  EXPECT_EQ(typed, "\x1b[");
  typed += "B";
  EXPECT_THAT(cli::take_keys(typed), ElementsAre(TableKey::down));
  typed = "\x1b[" + std::string(1000, '1');
  EXPECT_THAT(cli::take_keys(typed), IsEmpty());
  EXPECT_EQ(typed, "") << "no terminal sends that";
}

TEST(LiveTableTest, IsScrolledAndSortedAndGivesTheTerminalBack) {
  RackSite site{{.nodes = 5, .network = 99, .ports = "bmc: 0, ssh: 0"}};
  site.write("waiting.yaml",
             "playbook: waiting\nsteps:\n  - step: bmc-facts\n  - step: approval\n    with: "
             "{message: look}\n");
  AtTerminal terminal{site.cupel({"run", "waiting.yaml", "--no-console"})};
  terminal.resize(7, 100);

  ASSERT_TRUE(terminal.shows("of 5, failed first; arrows")) << terminal.shown();
  EXPECT_FALSE(terminal.is_usual()) << "keys would be echoed into the table";
  terminal.type("q");
  EXPECT_TRUE(terminal.shows("interrupts a run that this process drives")) << terminal.shown();
  terminal.type("q");
  terminal.type("s");
  EXPECT_TRUE(terminal.shows("nodes 1 to")) << terminal.shown();
  EXPECT_TRUE(terminal.shows("of 5, by name")) << terminal.shown();
  terminal.type("\x1b[B");
  EXPECT_TRUE(terminal.shows("nodes 2 to")) << terminal.shown();
  ASSERT_TRUE(terminal.shows("wait for approval")) << terminal.shown();
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);

  EXPECT_TRUE(terminal.shows(" report 1 --html run-1.html")) << terminal.shown();
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_TRUE(terminal.is_usual());
}

}  // namespace
}  // namespace cupel::testing
