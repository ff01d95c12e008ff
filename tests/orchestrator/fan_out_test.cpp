#include "orchestrator/ssh/fan_out.h"

#include "inventory/node_range.h"
#include "orchestrator/ssh/gather.h"
#include "tests/orchestrator/node.h"

namespace cupel::ssh {
namespace {

class FanOutTest : public OnANode {
 protected:
  std::vector<Target> targets(int count) {
    std::vector<Target> all;
    for (int i = 1; i <= count; ++i) all.push_back({"n" + std::to_string(i), sshd_->access()});
    return all;
  }
};

TEST_F(FanOutTest, RunsOnAllAndKeepsTheirOrder) {
  auto all = targets(6);
  all[3].access.endpoint.port = 1;
  std::map<std::string, std::vector<std::string>> heard;
  FanOut options{.width = 3, .patience = 20s};
  options.line = [&](std::string_view node, Stream stream, std::string_view line) {
    heard[std::string{node}].push_back((stream == Stream::out ? "out " : "err ") +
                                       std::string{line});
  };

  const auto outcomes =
      run_to_end(io, fan_out(all, "echo a; printf b; echo c >&2; exit 4", options, known));

  ASSERT_EQ(outcomes.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(outcomes[i].node, all[i].node);
  EXPECT_EQ(outcomes[3].outcome.error().code, Code::kUnreachable);
  EXPECT_EQ(outcomes[5].outcome.value().exit_status, 4);
  EXPECT_EQ(outcomes[5].out, "a\nb");
  EXPECT_EQ(outcomes[5].err, "c\n");
  EXPECT_THAT(heard["n6"], ::testing::UnorderedElementsAre("out a", "out b", "err c"));
}

TEST_F(FanOutTest, KeepsNoMoreThanItsLimit) {
  FanOut options{.patience = 20s, .output_limit = 10};

  const auto outcomes =
      run_to_end(io, fan_out(targets(1), "head -c 100 /dev/zero", options, known));

  EXPECT_EQ(outcomes[0].out.size(), 10u);
  EXPECT_TRUE(outcomes[0].cut);
}

TEST(Gather, SaysEqualOutputsOnceTheLargestGroupFirst) {
  const std::vector<NodeText> said{
      {"a01-n01", "5.14\n"}, {"a01-n02", "6.1\n"}, {"a01-n03", "6.1\n"}, {"a01-n04", ""}};

  const auto groups = gather(said);

  const std::vector<Gathered> expected{
      {{"a01-n02", "a01-n03"}, "6.1\n"}, {{"a01-n01"}, "5.14\n"}, {{"a01-n04"}, ""}};
  EXPECT_EQ(groups, expected);
}

TEST(Gather, PrintsAsClushDoes) {
  const std::vector<Gathered> groups{{{"a01-n02", "a01-n03"}, "6.1"}, {{"a01-n01"}, "5.14\n"}};
  const Fold fold = [](std::span<const std::string> names) { return inventory::fold(names); };

  EXPECT_EQ(printed(groups, fold),
            "---------------\na01-n[02-03] (2)\n---------------\n6.1\n"
            "---------------\na01-n01\n---------------\n5.14\n");
}

}  // namespace
}  // namespace cupel::ssh
