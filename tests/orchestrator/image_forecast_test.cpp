// How long it takes until the last of many machines has fetched its image: the forecast, and what
// the boot server's shares of bandwidth come to, in virtual time.
#include "orchestrator/os/image_forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "orchestrator/images/pace.h"

namespace cupel::os {
namespace {

using std::chrono::seconds;

TEST(ImageForecast, IsWhatTheUplinkTakesForAll) {
  EXPECT_EQ(least_time_of({.bytes_of_rack = {{"a", 1'000'000'000'000}}, .uplink = 1.25e9}),
            seconds{800});
}

TEST(ImageForecast, IsWhatTheFullestRackTakesWhereThatIsLonger) {
  EXPECT_EQ(
      least_time_of(
          {.bytes_of_rack = {{"a", 9'000}, {"b", 1'000}}, .uplink = 1'000, .rack_uplink = 500}),
      seconds{18});
}

TEST(ImageForecast, CountsARackWithAMirrorOnce) {
  ImageTraffic traffic{.uplink = 100};
  for (int i = 0; i < 8; ++i) {
    add_machine(traffic, "a", 1'000, true);
    add_machine(traffic, "b", 1'000, false);
  }

  EXPECT_EQ(least_time_of(traffic), seconds{90});
}

TEST(ImageForecast, IsNothingWithoutALimit) {
  EXPECT_EQ(least_time_of({.bytes_of_rack = {{"a", 9'000}}}), seconds{0});
}

/// Machines that fetch an image at once, as the boot server sends it: piece by piece, each when its
/// rack and then the uplink have room for it.
class Deployment {
 public:
  Deployment(std::vector<int> machines_of_rack, std::uint64_t image, double uplink, double rack)
      : image_{image}, uplink_{static_cast<std::uint64_t>(uplink)} {
    traffic_ = {.uplink = uplink, .rack_uplink = rack};
    for (std::size_t number = 0; number < machines_of_rack.size(); ++number) {
      racks_.push_back(std::make_unique<images::Pace>(static_cast<std::uint64_t>(rack)));
      for (int i = 0; i < machines_of_rack[number]; ++i) {
        fetches_.push_back({.rack = number, .left = image});
        add_machine(traffic_, std::to_string(number), image, false);
      }
    }
  }

  void run() {
    for (std::size_t i = 0; i < fetches_.size(); ++i) next_.push({kBegin, i, Stage::rack});
    while (!next_.empty()) {
      const auto now = next_.top();
      next_.pop();
      step(now);
    }
  }

  seconds forecast() const { return least_time_of(traffic_); }
  double last_after() const {
    return seconds_after(std::ranges::max(fetches_, {}, &Fetch::end).end);
  }
  double first_after() const {
    return seconds_after(std::ranges::min(fetches_, {}, &Fetch::end).end);
  }
  std::uint64_t bytes() const { return image_ * fetches_.size(); }
  /// The most that left in one second, in all and by one rack.
  std::uint64_t most_in_a_second() const { return std::ranges::max(sent_); }
  std::uint64_t most_of_a_rack_in_a_second() const {
    std::uint64_t most = 0;
    for (const auto& rack : sent_of_rack_) most = std::max(most, std::ranges::max(rack));
    return most;
  }

  static constexpr std::uint64_t kPiece = 256u << 10;

 private:
  using Clock = images::Pace::Clock;
  enum class Stage { rack, uplink, send };
  struct Fetch {
    std::size_t rack = 0;
    std::uint64_t left = 0;
    Clock::time_point end{};
  };
  struct Turn {
    Clock::time_point at{};
    std::size_t fetch = 0;
    Stage stage{};
    bool operator>(const Turn& other) const { return at > other.at; }
  };

  static double seconds_after(Clock::time_point at) {
    return std::chrono::duration<double>(at - kBegin).count();
  }

  void step(const Turn& turn) {
    auto& fetch = fetches_[turn.fetch];
    const auto piece = std::min(kPiece, fetch.left);
    if (turn.stage == Stage::rack) {
      const auto when = racks_[fetch.rack]->reserve(piece, turn.at);
      next_.push({when, turn.fetch, Stage::uplink});
      return;
    }
    if (turn.stage == Stage::uplink) {
      next_.push({uplink_.reserve(piece, turn.at), turn.fetch, Stage::send});
      return;
    }
    const auto second = static_cast<std::size_t>(seconds_after(turn.at));
    sent_.resize(std::max(sent_.size(), second + 1));
    sent_of_rack_.resize(racks_.size());
    auto& of_rack = sent_of_rack_[fetch.rack];
    of_rack.resize(std::max(of_rack.size(), second + 1));
    sent_[second] += piece;
    of_rack[second] += piece;
    fetch.left -= piece;
    fetch.end = turn.at;
    if (fetch.left > 0) next_.push({turn.at, turn.fetch, Stage::rack});
  }

  static constexpr Clock::time_point kBegin{std::chrono::hours{1}};
  std::uint64_t image_;
  images::Pace uplink_;
  std::vector<std::unique_ptr<images::Pace>> racks_{};
  ImageTraffic traffic_{};
  std::vector<Fetch> fetches_{};
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> next_{};
  std::vector<std::uint64_t> sent_{};
  std::vector<std::vector<std::uint64_t>> sent_of_rack_{};
};

constexpr double kGigabit = 125e6;
constexpr std::uint64_t kImage = 1'500'000'000;

/// A rate's bytes of one second, with what may go ahead of it and one piece that began before.
std::uint64_t budget(double rate) {
  const std::chrono::duration<double> burst = images::Pace::kBurst;
  return static_cast<std::uint64_t>(rate * (1 + burst.count())) + Deployment::kPiece;
}

/// Of what the forecast says: it is a lower bound, and the sharing costs less than this.
constexpr double kMargin = 0.02;

void expect_as_forecast(const Deployment& deployment) {
  const auto forecast = static_cast<double>(deployment.forecast().count());
  EXPECT_GE(deployment.last_after(), (forecast - 1) * (1 - kMargin));  // it is rounded up
  EXPECT_LE(deployment.last_after(), forecast * (1 + kMargin));
}

TEST(ImageDeployment, OfManyRacksTakesAsLongAsForecastByTheUplink) {
  Deployment deployment{std::vector(8, 8), kImage, 25 * kGigabit, 10 * kGigabit};

  deployment.run();

  EXPECT_EQ(deployment.forecast(), seconds{31});  // 96 GB at 3.125 GB/s
  expect_as_forecast(deployment);
  EXPECT_LE(deployment.most_in_a_second(), budget(25 * kGigabit));
  EXPECT_LE(deployment.most_of_a_rack_in_a_second(), budget(10 * kGigabit));
  EXPECT_GE(deployment.first_after(), deployment.last_after() * (1 - kMargin))
      << "all share alike: none is served long before the others";
}

TEST(ImageDeployment, OfOneFullRackTakesAsLongAsForecastByItsOwnUplink) {
  Deployment deployment{{32, 4}, kImage, 25 * kGigabit, 10 * kGigabit};

  deployment.run();

  EXPECT_EQ(deployment.forecast(), seconds{39});  // 48 GB at 1.25 GB/s
  expect_as_forecast(deployment);
  EXPECT_LE(deployment.most_of_a_rack_in_a_second(), budget(10 * kGigabit));
  EXPECT_LE(deployment.first_after(), deployment.last_after() / 4)
      << "the rack with few machines does not wait for the full one";
}

}  // namespace
}  // namespace cupel::os
