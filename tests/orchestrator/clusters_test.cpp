// Patterns that were planted are found; noise is not taken for one.
#include "orchestrator/report/clusters.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

namespace cupel::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

/// Two models, three versions of BMC firmware, two of BIOS, racks of sixteen.
struct Site {
  std::map<std::string, Traits, std::less<>> traits{};
  std::vector<std::string> names{};

  explicit Site(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto name = fmt::format("n{:03}", i);
      names.push_back(name);
      traits[name] = {{"model", i % 3 == 0 ? "XE9680" : "DGXH100"},
                      {"bmc", fmt::format("1.{}", i / 4 % 3)},
                      {"bios", fmt::format("2.{}", i / 2 % 2)},
                      {"rack", fmt::format("a{:02}", i / 16 + 1)},
                      {"unit", fmt::format("{}", i % 16 * 2 + 1)},
                      {"profile", i % 3 == 0 ? "xe9680" : "dgx-h100"}};
    }
  }
};

template <class Fails>
std::vector<Trial> trials(const Site& site, const std::string& step, Fails fails) {
  std::vector<Trial> all;
  for (const auto& name : site.names) {
    Trial trial{name, step};
    if (fails(site.traits.at(name))) trial.causes = {{"HTTP #: refused"}};
    all.push_back(std::move(trial));
  }
  return all;
}

/// Worked by hand: of 52 nodes 12 fail, all with the trait: 1 / C(52, 12).
TEST(FisherExact, IsTheChanceOfTheTable) {
  EXPECT_NEAR(fisher_exact({12, 12}, {0, 40}), 1 / 206379406870.0, 1e-15);
  EXPECT_NEAR(fisher_exact({3, 4}, {1, 4}), 17.0 / 70, 1e-12);  // Fisher's tea
  EXPECT_DOUBLE_EQ(fisher_exact({0, 4}, {0, 4}), 1);
}

TEST(Clusters, NameTheModelAndTheFirmwareThatFailTogether) {
  const Site site{96};
  const auto bad = [](const Traits& traits) {
    return traits.at("model") == "XE9680" && traits.at("bmc") == "1.1";
  };

  const auto groups = group_failures(trials(site, "boot-once", bad), site.traits);

  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].clusters.size(), 1u);
  const auto& cluster = groups[0].clusters[0];
  EXPECT_EQ(cluster.traits.at("model"), "XE9680");
  EXPECT_EQ(cluster.traits.at("bmc"), "1.1");
  EXPECT_EQ(cluster.with.failed, cluster.with.all);
  EXPECT_EQ(cluster.others.failed, 0u);
  EXPECT_THAT(to_text(groups[0], cluster), HasSubstr("fail at boot-once; 0 of"));
}

TEST(Clusters, NameTheRackThatFailsAmongOthersThatFailNowAndThen) {
  const Site site{96};
  int others = 0;
  const auto bad = [&](const Traits& traits) {
    return traits.at("rack") == "a02" || ++others % 25 == 0;
  };

  const auto groups = group_failures(trials(site, "ssh-wait", bad), site.traits);

  ASSERT_FALSE(groups.empty());
  ASSERT_FALSE(groups[0].clusters.empty());
  EXPECT_EQ(groups[0].clusters[0].traits, (Traits{{"rack", "a02"}}));
  EXPECT_EQ(groups[0].clusters[0].with, (Share{16, 16}));
}

TEST(Clusters, KeepCausesOfOneStepApart) {
  const Site site{48};
  std::vector<Trial> all;
  for (const auto& name : site.names) {
    Trial trial{name, "power-on"};
    if (site.traits.at(name).at("rack") == "a01") trial.causes = {{"no answer"}};
    if (site.traits.at(name).at("rack") == "a03") trial.causes = {{"HTTP #"}};
    all.push_back(std::move(trial));
  }

  const auto groups = group_failures(all, site.traits);

  ASSERT_EQ(groups.size(), 2u);
  for (const auto& group : groups) {
    ASSERT_EQ(group.clusters.size(), 1u) << group.cause;
    EXPECT_EQ(group.clusters[0].traits.at("rack"), group.cause == "HTTP #" ? "a03" : "a01");
  }
}

TEST(Clusters, AreNoneWhereEveryNodeFailsOrTooFewDo) {
  const Site site{48};
  int left = 2;

  const auto every =
      group_failures(trials(site, "power-on", [](const Traits&) { return true; }), site.traits);
  const auto two = group_failures(
      trials(site, "power-on", [&](const Traits&) { return left-- > 0; }), site.traits);

  ASSERT_EQ(every.size(), 1u);
  EXPECT_THAT(every[0].clusters, IsEmpty());
  EXPECT_EQ(to_text(every[0]), "power-on: 48 of 48 nodes, for example n000: HTTP #: refused");
  ASSERT_EQ(two.size(), 1u);
  EXPECT_THAT(two[0].clusters, IsEmpty());
}

/// One in a thousand looks may be wrong: of a thousand seeds at most four (the chance of five or
/// more, at a rate of one in a thousand, is 0.004; the seeds are fixed, so this never flickers).
TEST(Clusters, TakeNoiseForAPatternNoMoreOftenThanTheyMay) {
  const Site site{64};
  int alarms = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random{seed};
    std::bernoulli_distribution fails{0.02 + 0.3 * (seed % 10) / 10.0};
    std::vector<Trial> all;
    for (const auto* step : {"boot-once", "gpu-facts"})
      for (auto& trial : trials(site, step, [&](const Traits&) { return fails(random); }))
        all.push_back(std::move(trial));
    for (const auto& group : group_failures(all, site.traits))
      alarms += group.clusters.empty() ? 0 : 1;
  }
  RecordProperty("false_alarms", alarms);
  EXPECT_LE(alarms, 4);
}

TEST(Causes, AreTheSameWhereOnlyTheNodeAndNumbersDiffer) {
  EXPECT_EQ(cause_of("a01-n07: HTTP 503 after 12 s", "a01-n07"),
            cause_of("a01-n12: HTTP 503 after 7 s", "a01-n12"));
  EXPECT_NE(cause_of("a01-n07: no answer", "a01-n07"), cause_of("a01-n07: refused", "a01-n07"));
  EXPECT_LE(cause_of(std::string(10'000, 'x'), "n").size(), 100u);
  EXPECT_EQ(cause_of("D: no answer of D", "D"), "NODE: no answer of NODE");
}

/// What people read is what one of the nodes said, with its numbers and its name.
TEST(Clusters, SayWhatTheFirstNodeSaidAndKeepTheTemplateAsTheKey) {
  std::vector<Trial> all;
  for (const std::string name : {"n1", "n2", "n3"}) {
    const auto message =
        fmt::format("{}: SSH: connect to 10.0.0.{}:22: timed out", name, name.back());
    all.push_back({name, "ssh-wait", {}});
    if (name != "n1")
      all.back().causes = {{cause_of(message, name), words_of_cause(message, name)}};
  }

  const auto groups = group_failures(all, {});

  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].cause, "NODE: SSH: connect to #.#.#.#:#: timed out");
  EXPECT_EQ(to_text(groups[0]),
            "ssh-wait: 2 of 3 nodes, for example n2: SSH: connect to 10.0.0.2:22: timed out");
  const auto reported = to_json(groups);
  EXPECT_EQ(reported.at(0).at("cause"), "NODE: SSH: connect to #.#.#.#:#: timed out");
  EXPECT_EQ(reported.at(0).at("text"), "SSH: connect to 10.0.0.2:22: timed out");
}

/// A key may end anywhere, and words for people may not.
TEST(Causes, AreNotCutInsideAWordForPeople) {
  const std::string detail =
      "the BMC took the order to switch on, answered \"On\" to twelve questions, and said then: "
      "The host was powered off";
  std::string longer = detail;
  while (longer.size() < 1000) longer += " and once more";

  EXPECT_FALSE(cause_of(detail, "n").ends_with("off"));
  EXPECT_EQ(words_of_cause(detail, "n"), detail);
  EXPECT_LE(words_of_cause(longer, "n").size(), 400u);
  EXPECT_THAT(words_of_cause(longer, "n"), MatchesRegex(".* (and|once|more)\\.\\.\\."));
}

}  // namespace
}  // namespace cupel::report
