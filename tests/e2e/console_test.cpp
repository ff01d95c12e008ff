// `cupel bmc NODE console` at a real terminal, and the consoles that a run records.
#include <sys/stat.h>

#include "base/file.h"
#include "tests/e2e/pty.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ConsoleTest : public ::testing::Test {
 protected:
  /// Turned on while somebody watches, so that nothing of the boot is missed.
  void boot() {
    EXPECT_TRUE(site.rack().post(
        "v01-n01", [](rehearsal::Machine& machine) { machine.press(rehearsal::Reset::on); }));
  }

  RackSite site{{.nodes = 1, .network = 76, .speed = 200}};
};

TEST_F(ConsoleTest, ShowsTheBootEchoesWhatIsTypedAndEndsWithTheEscape) {
  AtTerminal terminal{site.cupel({"bmc", "v01-n01", "console"})};
  ASSERT_TRUE(terminal.shows("ends, ~? helps")) << terminal.shown();
  const bool raw = !terminal.is_usual();
  boot();

  const bool booted = terminal.shows("GNU GRUB") && terminal.shows("login: ");
  terminal.type("operator\r");
  const bool echoed = terminal.shows("operator") && terminal.shows("Password: ");
  terminal.type("\r~.");

  EXPECT_TRUE(raw);
  EXPECT_TRUE(booted) << terminal.shown();
  EXPECT_TRUE(echoed) << terminal.shown();
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_TRUE(terminal.is_usual());
}

TEST_F(ConsoleTest, LeavesTheTerminalAsItWasWhenItIsEndedBySignal) {
  AtTerminal terminal{site.cupel({"bmc", "v01-n01", "console"})};
  ASSERT_TRUE(terminal.shows("ends, ~? helps")) << terminal.shown();

  terminal.signal(SIGTERM);

  EXPECT_EQ(terminal.wait(), 3);
  EXPECT_TRUE(terminal.is_usual());
}

TEST_F(ConsoleTest, IsRecordedOnRequest) {
  AtTerminal terminal{site.cupel({"bmc", "v01-n01", "console", "--record", "boot.log"})};
  ASSERT_TRUE(terminal.shows("ends, ~? helps")) << terminal.shown();
  boot();
  ASSERT_TRUE(terminal.shows("login: "));

  terminal.type("~.");

  EXPECT_EQ(terminal.wait(), 0);
  const auto recorded = read_file(site.file("boot.log"), 1u << 20);
  ASSERT_TRUE(recorded);
  EXPECT_THAT(*recorded, AllOf(HasSubstr("GNU GRUB"), HasSubstr("login: ")));
}

constexpr const char* kPowerOn =
    "playbook: power\ndescription: on, with the consoles recorded\nmax_parallel: 8\nsteps:\n"
    "  - step: power-on\n  - step: ssh-wait\n";

TEST_F(ConsoleTest, OfARunIsInTheNodesEvidenceAndInEveryReport) {
  site.write("power.yaml", kPowerOn);

  const auto ran = site.run({"run", "power.yaml", "--json"});
  const auto shown = site.run({"show", "v01-n01", "--json"});
  const auto text = site.run({"report"});
  const auto json = site.run({"report", "--json"});
  site.run({"report", "--html", "run.html"});

  ASSERT_THAT(json_lines(shown.out), SizeIs(1)) << ran.out << ran.err;
  const auto files = json_lines(shown.out)[0].at("console").as_array();
  ASSERT_THAT(files, Not(IsEmpty()));
  const std::string file{files[0].at("file").as_string()};
  const auto lines = read_file(file, 1u << 20);
  ASSERT_TRUE(lines) << file;
  EXPECT_THAT(*lines, HasSubstr("GNU GRUB"));
  EXPECT_THAT(text.out, AllOf(HasSubstr("console"), HasSubstr(file), HasSubstr("bytes")));
  EXPECT_THAT(json.out, HasSubstr(file));
  EXPECT_THAT(*read_file(site.file("run.html"), 1u << 20), HasSubstr("href=\"file://" + file));
}

class FactoryTest : public ::testing::Test {
 protected:
  FactoryTest() {
    const auto now = site.file("rack/bmc-password");
    site.write("new-password", "Fresh-Crucible-77\n");
    site.change_inventory("password: \"file:" + now + "\"",
                          "password: \"file:" + site.file("new-password") +
                              "\", factory: {user: admin, password: \"file:" + now + "\"}");
    site.write("power.yaml", kWithPassword);
  }
  static constexpr const char* kWithPassword =
      "playbook: power\ndescription: from the factory\nmax_parallel: 8\nsteps:\n"
      "  - step: bmc-password\n  - step: power-on\n  - step: ssh-wait\n";

  RackSite site{
      {.nodes = 2, .bmcs = "vendor: dgx, factory_password: true", .network = 77, .speed = 20}};
};

TEST_F(FactoryTest, ARunChangesThePasswordFirstAndRecordsTheConsoleWithTheNewOne) {
  const auto ran = site.run({"run", "power.yaml", "--json"});

  EXPECT_EQ(site.run({"bmc", "all", "power", "--group"}).out,
            "---------------\nv01-n[01-02] (2)\n---------------\non\n")
      << ran.out << ran.err;
  const auto report = site.run({"report"});
  EXPECT_THAT(report.out, AllOf(HasSubstr("console       v01-n01"), HasSubstr("v01-n02.1.log")));
}

TEST_F(FactoryTest, ARunThatIsKilledInTheMidstOfItGoesOn) {
  {
    Child child{site.cupel({"run", "power.yaml", "--json"})};
    ASSERT_TRUE(child.wait_for("bmc-password"));
    child.signal(SIGKILL);
    child.wait();
  }

  const auto resumed = site.run({"resume", "1", "--json"});
  const auto again = site.ask({"bmc", "all", "password", "rotate"});

  EXPECT_THAT(resumed.out, HasSubstr("\"summary\"")) << resumed.err;
  for (const auto& each : again) EXPECT_FALSE(each.at("changed").as_bool());
  EXPECT_EQ(site.run({"bmc", "all", "power", "--group"}).out,
            "---------------\nv01-n[01-02] (2)\n---------------\non\n")
      << resumed.out << resumed.err;
}

TEST_F(FactoryTest, APersonMayChangeItByHand) {
  const auto first = site.ask({"bmc", "all", "password", "rotate"});
  const auto second = site.ask({"bmc", "all", "password", "rotate"});

  ASSERT_THAT(first, SizeIs(2));
  for (const auto& each : first) EXPECT_TRUE(each.at("changed").as_bool());
  for (const auto& each : second) EXPECT_FALSE(each.at("changed").as_bool());
}

}  // namespace
}  // namespace cupel::testing
