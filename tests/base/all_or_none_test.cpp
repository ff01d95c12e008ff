#include "base/all_or_none.h"

#include <gmock/gmock.h>

namespace cupel {
namespace {

using namespace std::chrono_literals;

Task<Result<int>> double_of(int number) {
  const auto moment = std::chrono::milliseconds{3 - number % 3};
  CO_TRY(co_await pause_for(moment));
  co_return 2 * number;
}

/// The second fails at once; the others would take an hour.
Task<Result<int>> hour_or_failure(int number) {
  if (number == 2) co_return Error{Code::kFailed, "two"};
  CO_TRY(co_await pause_for(1h));
  co_return number;
}

TEST(AllOrNone, ReturnsAllValuesInTheItemsOrder) {
  asio::io_context io;

  const auto values = run_to_end(io, all_or_none<int>(std::vector{1, 2, 3}, double_of));

  ASSERT_TRUE(values);
  EXPECT_THAT(*values, ::testing::ElementsAre(2, 4, 6));
}

TEST(AllOrNone, EndsTheOthersWithTheFirstFailure) {
  asio::io_context io;

  const auto values = run_to_end(io, all_or_none<int>(std::vector{1, 2, 3}, hour_or_failure));

  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().what, "two");
}

TEST(AllOrNone, OfNothingIsNothing) {
  asio::io_context io;

  const auto values = run_to_end(io, all_or_none<int>(std::vector<int>{}, double_of));

  ASSERT_TRUE(values);
  EXPECT_TRUE(values->empty());
}

TEST(AllOrNone, IsCancelledFromOutside) {
  asio::io_context io;
  auto all = all_or_none<int>(std::vector{1, 3}, hour_or_failure);

  const auto values = run_to_end(io, with_deadline(Deadline::in(5ms), std::move(all)));

  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, Code::kTimeout);
}

}  // namespace
}  // namespace cupel
