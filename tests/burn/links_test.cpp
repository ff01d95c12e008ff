#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "burnin/agent/burn/links/host_words.h"
#include "burnin/agent/burn/links/pairs.h"
#include "burnin/agent/burn/links/pattern.h"
#include "burnin/agent/burn/links/route.h"
#include "burnin/agent/burn/links/rows.h"
#include "burnin/agent/burn/options.h"

namespace cupel::burn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// ---- data

TEST(LinkPattern, NoTwoTransfersAgree) {
  const auto one = transfer_seed(1, 2, 3);

  std::size_t alike = 0;
  for (std::uint64_t i = 0; i < 10000; ++i)
    for (const auto other :
         {transfer_seed(1, 2, 4), transfer_seed(1, 3, 3), transfer_seed(2, 2, 3)})
      alike += pattern_word(one, i) == pattern_word(other, i);

  EXPECT_EQ(alike, 0);
}

TEST(LinkPattern, EveryBitIsHalfTheTimeOne) {
  std::array<int, 64> ones{};
  for (std::uint64_t i = 0; i < 10000; ++i)
    for (int bit = 0; bit < 64; ++bit) ones[bit] += (pattern_word(7, i) >> bit) & 1;

  for (const int count : ones) EXPECT_NEAR(count, 5000, 300);
}

TEST(LinkPattern, SumsAreExactInAnyOrder) {
  for (const int ranks : {1, 2, 3, 8, 16})
    for (const auto scalar : {Scalar::kFloat32, Scalar::kBfloat16}) {
      const auto exact = scalar == Scalar::kFloat32 ? std::int64_t{1} << 24 : std::int64_t{1} << 8;
      for (std::uint64_t i = 0; i < 2000; ++i) {
        std::int64_t magnitudes = 0;  // the largest that a partial sum in whatever order can be
        for (int rank = 0; rank < ranks; ++rank)
          magnitudes += std::abs(number_of(scalar, 5, rank, ranks, i));
        EXPECT_LE(magnitudes, exact) << ranks;
      }
    }
}

TEST(LinkPattern, TheSumOfFloatsIsWhatFloatsAddUpTo) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    float up = 0;
    float down = 0;
    for (int rank = 0; rank < 8; ++rank) {
      up += static_cast<float>(number_of(Scalar::kFloat32, 3, rank, 8, i));
      down += static_cast<float>(number_of(Scalar::kFloat32, 3, 7 - rank, 8, i));
    }
    EXPECT_EQ(std::bit_cast<std::uint32_t>(up), sum_bits(Scalar::kFloat32, 3, 8, i));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(down), sum_bits(Scalar::kFloat32, 3, 8, i));
  }
}

TEST(LinkPattern, WhatMayBeSummedIsUsedToTheFull) {
  std::int64_t most = 0;
  for (std::uint64_t i = 0; i < 5000; ++i)
    most = std::max(most, number_of(Scalar::kBfloat16, 3, 0, 8, i));

  EXPECT_EQ(most, 32);
}

TEST(HostWords, FindsEverySingleBit) {
  std::vector<std::uint64_t> words(4096);
  fill_on_host(words, 11);
  ASSERT_EQ(check_on_host(words, 11).count, 0);

  for (std::uint64_t time = 0; time < 1000; ++time) {
    const auto word = mixed(time) % words.size();
    const auto bit = std::uint64_t{1} << (mixed(time + 5) % 64);
    words[word] ^= bit;
    const auto found = check_on_host(words, 11);
    words[word] ^= bit;

    ASSERT_EQ(found.count, 1);
    ASSERT_EQ(found.index[0], word);
    ASSERT_EQ(found.got[0] ^ found.want[0], bit);
  }
}

TEST(HostWords, WhatAnEarlierTransferLeftIsWrong) {
  std::vector<std::uint64_t> words(1024);
  fill_on_host(words, 11);

  EXPECT_EQ(check_on_host(words, 12).count, 1024);
}

TEST(Mismatch, IsReportedWithItsPlaceAndBit) {
  Mismatches found{.count = 2, .index = {40, 17}, .got = {0, 0x11}, .want = {7, 0x01}};

  EXPECT_EQ(words_of(found, 1024),
            "2 of 1024 words are wrong; word 17 is 0x11, should be 0x1 (bit 4)");
  EXPECT_EQ(words_of(Mismatches{}, 8), "none of 8 words are wrong");
}

// ---- operations

TEST(Operations, BusBandwidthHasTheFactorsOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kAllReduce, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kAllToAll, 16), 0.9375);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kBroadcast, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kSendRecv, 8), 1);
}

TEST(Operations, BusBandwidthIsInGigabytesOfTenToTheNinth) {
  // 8 GiB in 31.8 ms over 8 ranks: 270.1 GB/s, times 1.75.
  EXPECT_NEAR(bus_bandwidth(Operation::kAllReduce, 8, 8 * kGiB, 31800), 472.7, 0.1);
  EXPECT_DOUBLE_EQ(bus_bandwidth(Operation::kBroadcast, 8, 1'000'000, 1000), 1);
}

TEST(Operations, SizesAreThoseOfTheWholeArray) {
  const auto gather = shape_of(Operation::kAllGather, 8, Scalar::kInt32, 16 * kGiB);

  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->bytes, 16 * kGiB);
  EXPECT_EQ(gather->count, kGiB / 2);
  EXPECT_EQ(gather->sent, kGiB / 2);
  EXPECT_EQ(gather->received, 4 * kGiB);
}

TEST(Operations, SmallestSizesAreWholeForEveryRankOrLeftOut) {
  EXPECT_EQ(shape_of(Operation::kAllReduce, 8, Scalar::kFloat32, 8)->bytes, 8);
  EXPECT_EQ(shape_of(Operation::kAllGather, 8, Scalar::kInt32, 8), std::nullopt);
  EXPECT_EQ(shape_of(Operation::kAllGather, 8, Scalar::kInt32, 32)->count, 1);
  EXPECT_EQ(shape_of(Operation::kReduceScatter, 3, Scalar::kFloat32, 1000)->bytes, 3 * 320);
  EXPECT_EQ(shape_of(Operation::kAllReduce, 8, Scalar::kFloat32, 3), std::nullopt);
}

TEST(Operations, AreFoundByTheirNames) {
  for (const auto operation : all_operations())
    EXPECT_EQ(operation_of(name_of(operation)), operation);
  EXPECT_EQ(operation_of("reduce"), std::nullopt);
}

TEST(Operations, ALadderHasItsEnds) {
  EXPECT_THAT(size_ladder(8, 64, 2), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(size_ladder(8, 100, 4), ElementsAre(8, 32, 100));
  EXPECT_THAT(size_ladder(8, 8, 2), ElementsAre(8));
  EXPECT_THAT(size_ladder(16, 8, 2), IsEmpty());
  EXPECT_THAT(size_ladder(0, 8, 2), IsEmpty());
  EXPECT_EQ(size_ladder(8, 16 * kGiB, 2).size(), 32);
  EXPECT_EQ(size_ladder(1, ~std::uint64_t{0}, 2).back(), ~std::uint64_t{0});
}

TEST(Operations, WhatAVerdictRestsOnComesFirst) {
  const std::array operations{Operation::kAllReduce, Operation::kAllToAll};
  const auto sizes = size_ladder(8, 1024, 2);

  const auto rows = plan_rows(operations, 2, sizes);

  std::vector<std::uint64_t> musts;
  for (const auto& row : rows) {
    if (!row.must) continue;
    EXPECT_FALSE(row.in_place);
    musts.push_back(row.shape.bytes);
  }
  EXPECT_THAT(musts, ElementsAre(1024, 8, 1024, 8));
  EXPECT_TRUE(rows[3].must);
  EXPECT_FALSE(rows[4].must);
  EXPECT_EQ(rows.size(), 8 + 8 + 8);  // all-to-all has no form in place
}

TEST(Operations, TwoBuffersFitBesideWhatNcclTakes) {
  EXPECT_EQ(largest_fitting(16 * kGiB, 79 * kGiB), 16 * kGiB);
  EXPECT_EQ(largest_fitting(16 * kGiB, 30 * kGiB), 8 * kGiB);
  EXPECT_EQ(largest_fitting(16 * kGiB, 2 * kGiB), 0);
}

TEST(Operations, HugeMessagesAreCheckedAsTheyAreTimed) {
  const auto small = shape_of(Operation::kAllReduce, 8, Scalar::kFloat32, kGiB);
  const auto huge = shape_of(Operation::kAllReduce, 8, Scalar::kFloat32, 2 * kGiB);

  EXPECT_EQ(checked_scalars(*small).size(), 3);
  EXPECT_THAT(checked_scalars(*huge), ElementsAre(Scalar::kFloat32));
  EXPECT_THAT(checked_scalars(*shape_of(Operation::kBroadcast, 8, Scalar::kInt32, 64)),
              ElementsAre(Scalar::kInt32));
}

TEST(Operations, ASampleIsLongEnoughAndItsSumsStayFinite) {
  EXPECT_EQ(operations_per_sample(10), 20);
  EXPECT_EQ(operations_per_sample(5000), 4);
  EXPECT_EQ(operations_per_sample(1e6), 1);
  EXPECT_EQ(operations_per_sample(0), 20);
  EXPECT_LT(std::pow(16.0, 20) * (1 << 24), 3.4e38);
}

// ---- pairs

TEST(Pairs, EachOrderedPairComesExactlyOnceAndNoGpuTwiceInARound) {
  for (int count = 2; count <= 17; ++count) {
    std::multiset<std::pair<int, int>> met;
    for (const auto& round : one_way_rounds(count)) {
      std::set<int> busy;
      for (const auto pair : round) {
        EXPECT_TRUE(busy.insert(pair.from).second) << count;
        EXPECT_TRUE(busy.insert(pair.to).second) << count;
        met.emplace(pair.from, pair.to);
      }
      EXPECT_EQ(round.size(), count / 2);
    }
    EXPECT_EQ(met.size(), count * (count - 1));
    EXPECT_EQ((std::set<std::pair<int, int>>{met.begin(), met.end()}.size()), met.size());
    EXPECT_EQ(paired_rounds(count).size(), count % 2 == 0 ? count - 1 : count);
  }
}

TEST(Pairs, OneGpuHasNoPairs) {
  EXPECT_THAT(paired_rounds(1), IsEmpty());
  EXPECT_THAT(one_way_rounds(0), IsEmpty());
  EXPECT_THAT(ordered_pairs(1), IsEmpty());
  EXPECT_EQ(part_of({.from = 0, .to = 13}), "gpu0-gpu13");
}

TEST(Pairs, TheMatrixHasNothingWhereNothingWasFound) {
  Matrix matrix{3};
  matrix.set({0, 1}, 1);
  matrix.set({1, 0}, 0);
  matrix.set({2, 0}, 396.40049);

  EXPECT_EQ(matrix.rows(), "[[null,1,null],[0,null,null],[396.4,null,null]]");
  EXPECT_EQ(matrix.at({1, 2}), std::nullopt);
}

// ---- ways through NCCL

TEST(Routes, AreThoseThatWereAskedFor) {
  const Route on{.nvls = true};
  const Route off{};
  const Route hca{.hca = true};

  EXPECT_THAT(routes_of("both", "both"), ElementsAre(on, off, hca));
  EXPECT_THAT(routes_of("on", "nvlink"), ElementsAre(on));
  EXPECT_THAT(routes_of("off", "nvlink"), ElementsAre(off));
  EXPECT_THAT(routes_of("on", "hca"), ElementsAre(hca));
}

TEST(Routes, TheHcasAreLeftAsTheOnlyWay) {
  const auto variables = variables_of({.hca = true}, "/tmp/log");

  EXPECT_THAT(variables, AllOf(::testing::Contains(Pair("NCCL_P2P_DISABLE", "1")),
                               ::testing::Contains(Pair("NCCL_SHM_DISABLE", "1")),
                               ::testing::Contains(Pair("NCCL_NET", "IB")),
                               ::testing::Contains(Pair("NCCL_NVLS_ENABLE", "0"))));
  EXPECT_FALSE(variables_of({.nvls = true}, "").contains("NCCL_P2P_DISABLE"));
}

TEST(Routes, TheEnvironmentIsRecorded) {
  const std::array<const char*, 4> environment{"PATH=/bin", "NCCL_ALGO=Ring", "NCCL_X=\"", nullptr};

  const auto variables = nccl_variables(environment.data());

  EXPECT_THAT(variables, ElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("NCCL_X", "\"")));
  EXPECT_EQ(json_of(variables), R"({"NCCL_ALGO":"Ring","NCCL_X":"\""})");
}

TEST(Routes, NcclConfIsReadWithoutItsComments) {
  EXPECT_THAT(parse_conf("# a\n NCCL_DEBUG = WARN\n\n#NCCL_X=1\nbroken\nNCCL_IB_HCA=mlx5_0\n"),
              ElementsAre(Pair("NCCL_DEBUG", "WARN"), Pair("NCCL_IB_HCA", "mlx5_0")));
}

// The lines have the forms in which libnccl 2.28.9 holds them.
constexpr std::string_view kHead = "node7:4711:4720 [0] NCCL INFO ";

std::string log_of(std::initializer_list<std::string_view> lines) {
  std::string log;
  for (const auto line : lines) log += std::string{kHead} + std::string{line} + "\n";
  return log;
}

TEST(Routes, WhatNcclTookIsReadFromItsLog) {
  const auto taken = parse_log(log_of({
      "Using network IB",
      "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 24)",
      "NVLS multicast support is available on dev 1 (NVLS_NCHANNELS 24)",
      "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM",
      "Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM",
      "Channel 00/0 : 3[3] -> 4[4] [send] via NET/IB/3/GDRDMA",
      "AllReduce: 8589934592 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}",
  }));

  EXPECT_TRUE(taken.nvls);
  EXPECT_EQ(taken.network, "IB");
  EXPECT_THAT(taken.channels, ElementsAre(Pair("NET/IB/3/GDRDMA", 1), Pair("P2P/CUMEM", 2)));
  EXPECT_THAT(taken.choices, ElementsAre(Pair("AllReduce 8589934592", "NVLS SIMPLE")));
}

TEST(Routes, TheLinksOfHcasAreReadFromItsLog) {
  const auto single =
      parse_log(log_of({"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_3:1/RoCE [2]mlx5_4:1/IB/SHARP [RO]; "
                        "OOB e:1.2.3.4<0>"}));
  const auto merged = parse_log(
      log_of({"NET/IB : Using [0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB} ; OOB e:1.2.3.4<0>"}));

  EXPECT_THAT(single.ports, ElementsAre(Pair("mlx5_0:1", "IB"), Pair("mlx5_3:1", "RoCE"),
                                        Pair("mlx5_4:1", "IB")));
  EXPECT_THAT(merged.ports, ElementsAre(Pair("mlx5_0:1", "IB"), Pair("mlx5_1:1", "IB")));
  EXPECT_THAT(parse_log(log_of({"NET/IB : No device found."})).ports, ::testing::IsEmpty());
  EXPECT_EQ(transport_line(single).object_text(),
            R"({"kind":"transport","channels":{},"ports":{"mlx5_0:1":"IB","mlx5_3:1":"RoCE",)"
            R"("mlx5_4:1":"IB"}})");
}

TEST(Routes, OneGpuWithoutMulticastMeansNoNvls) {
  const auto taken = parse_log(log_of({
      "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 24)",
      "NVLS multicast support is not available on dev 1 (NVLS_NCHANNELS 0)",
      "NVLS multicast support is available on dev 2 (NVLS_NCHANNELS 24)",
  }));

  EXPECT_FALSE(taken.nvls);
  EXPECT_THAT(objection_to(taken, {.nvls = true}), HasSubstr("fabric manager"));
  EXPECT_EQ(objection_to(taken, {}), "");
}

TEST(Routes, ALogThatSaysNothingProvesNoRoute) {
  EXPECT_NE(objection_to(parse_log(""), {.nvls = true}), "");
  EXPECT_NE(objection_to(parse_log(""), {.hca = true}), "");
  EXPECT_NE(objection_to(parse_log("\n::: via \xff\n -> Algo "), {.hca = true}), "");
}

TEST(Routes, AWayAroundTheHcasIsNotTheirs) {
  const auto mixed_ways = parse_log(log_of({"Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0",
                                            "Channel 00/0 : 1[1] -> 2[2] via SHM/direct/direct"}));
  const auto sockets = parse_log(log_of({"Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0"}));
  const auto hcas = parse_log(log_of({"Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDRDMA"}));

  EXPECT_THAT(objection_to(mixed_ways, {.hca = true}), HasSubstr("1 channels by another way"));
  EXPECT_THAT(objection_to(sockets, {.hca = true}), HasSubstr("no channel over an HCA"));
  EXPECT_EQ(objection_to(hcas, {.hca = true}), "");
}

TEST(LinkOptions, SizesAreCountedByTheThousandAndTwentyFour) {
  constexpr std::array kOwn{Choice{
      .name = "--max", .kind = Choice::Kind::kSize, .fallback = "16G", .low = 4, .high = 1e12}};
  const auto parse = [&](std::string_view value) {
    const std::array<std::string_view, 2> words{"--max", value};
    return Options::parse("collective", kOwn, words, 1);
  };

  EXPECT_EQ(Options::parse("collective", kOwn, {}, 1)->number("--max"), 17179869184.0);
  EXPECT_EQ(parse("8")->number("--max"), 8);
  EXPECT_EQ(parse("512K")->number("--max"), 524288);
  for (const auto* broken : {"", "G", "2", "1.5G", "16 G", "-8", "99999999999999999999", "2T"})
    EXPECT_FALSE(parse(broken)) << broken;
}

}  // namespace
}  // namespace cupel::burn
