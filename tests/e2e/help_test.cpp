// What a command says of itself, as wide as the terminal is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "tests/support/child.h"

namespace cupel::testing {
namespace {

using ::testing::HasSubstr;

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const auto line : lines(text)) most = std::max(most, line.size());
  return most;
}

std::string in_one_line(const std::string& text) {
  std::string all;
  for (const auto word : words(text)) all += (all.empty() ? "" : " ") + std::string{word};
  return all;
}

TEST(Help, IsShownWhereNoCommandIsNamed) {
  const auto alone = run({CUPEL_BINARY});

  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("takes GPU racks from"));
  EXPECT_THAT(alone.err, HasSubstr("Subcommands:"));
}

TEST(Help, OfAVerbNamesTheNodesInFrontOfIt) {
  EXPECT_THAT(run({CUPEL_BINARY, "bmc", "power", "--help"}).out,
              HasSubstr("cupel bmc NODES power [OPTIONS]"));
  EXPECT_THAT(run({CUPEL_BINARY, "bmc", "scan", "--help"}).out, HasSubstr("cupel bmc scan ["));
}

TEST(Help, IsAsWideAsTheTerminalAndLosesNoWord) {
  for (const auto* command : {"run", "plan", "show", "rehearse", "requalify"}) {
    const auto narrow = run({"env", "COLUMNS=80", CUPEL_BINARY, command, "--help"});
    const auto whole = run({"env", "-u", "COLUMNS", CUPEL_BINARY, command, "--help"});

    EXPECT_EQ(narrow.status, 0) << command;
    EXPECT_LE(widest(narrow.out), 80u) << command << "\n" << narrow.out;
    EXPECT_GT(widest(whole.out), 80u) << command;
    EXPECT_EQ(in_one_line(narrow.out), in_one_line(whole.out)) << command;
  }
}

}  // namespace
}  // namespace cupel::testing
