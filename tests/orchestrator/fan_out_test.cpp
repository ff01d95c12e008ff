#include "orchestrator/ssh/fan_out.h"

#include "inventory/node_range.h"
#include "orchestrator/ssh/gather.h"
#include "orchestrator/ssh/line_cutter.h"
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
  FanOut options{.width = 3, .patience = 60s};
  options.line = [&](const LinePiece& piece) {
    heard[std::string{piece.node}].push_back((piece.stream == Stream::out ? "out " : "err ") +
                                             std::string{piece.text});
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
  FanOut options{.patience = 60s, .output_limit = 10};

  const auto outcomes =
      run_to_end(io, fan_out(targets(1), "head -c 100 /dev/zero", options, known));

  EXPECT_EQ(outcomes[0].out.size(), 10u);
  EXPECT_TRUE(outcomes[0].cut);
}

TEST_F(FanOutTest, KeepsNoMoreOfAllNodesTogetherThanTheTotalLimit) {
  FanOut options{.width = 3, .patience = 60s, .total_limit = 150};

  const auto outcomes =
      run_to_end(io, fan_out(targets(3), "head -c 100 /dev/zero", options, known));

  std::size_t kept = 0;
  for (const auto& each : outcomes) kept += each.out.size();
  EXPECT_EQ(kept, 150u);
  EXPECT_EQ(std::ranges::count(outcomes, true, &NodeOutcome::cut), 2);
}

TEST_F(FanOutTest, PassesOutputWithoutLineEndOnInPieces) {
  std::size_t bytes = 0, longest = 0, whole_lines = 0;
  FanOut options{.patience = 60s, .output_limit = 0};
  options.line = [&](const LinePiece& piece) {
    bytes += piece.text.size();
    longest = std::max(longest, piece.text.size());
    whole_lines += piece.goes_on ? 0 : 1;
  };

  const auto outcomes =
      run_to_end(io, fan_out(targets(1), "head -c 4000000 /dev/zero | tr '\\0' A", options, known));

  EXPECT_EQ(outcomes[0].outcome.value().exit_status, 0);
  EXPECT_EQ(bytes, 4'000'000u);
  EXPECT_LE(longest, LineCutter::kLongestPiece);
  EXPECT_EQ(whole_lines, 1u);
}

TEST(LineCutter, CutsNoCharacterOfALongLineInTwo) {
  std::string line(LineCutter::kLongestPiece - 1, 'a');
  line += "\u00e9\u2713\U0001F600";
  std::vector<std::string> pieces;
  LineCutter cutter;
  const auto take = [&](std::string_view text, bool) { pieces.emplace_back(text); };

  for (const char byte : line + "\nshort\n") cutter.add({&byte, 1}, take);

  const std::vector<std::string> expected{std::string(LineCutter::kLongestPiece - 1, 'a'),
                                          "\u00e9\u2713\U0001F600", "short"};
  EXPECT_EQ(pieces, expected);
}

TEST(LineCutter, CutsWhatIsNoUtf8AtTheLimit) {
  std::vector<std::size_t> sizes;
  LineCutter cutter;
  const auto take = [&](std::string_view text, bool) { sizes.push_back(text.size()); };

  cutter.add(std::string(LineCutter::kLongestPiece + 7, '\x80'), take);
  cutter.finish(take);

  EXPECT_EQ(sizes, (std::vector<std::size_t>{LineCutter::kLongestPiece, 7}));
}

TEST(Gather, SaysEqualOutputsOnceTheLargestGroupFirst) {
  const std::vector<NodeText> texts{
      {"a01-n01", "5.14\n"}, {"a01-n02", "6.1\n"}, {"a01-n03", "6.1\n"}, {"a01-n04", ""}};

  const auto groups = gather(texts);

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
