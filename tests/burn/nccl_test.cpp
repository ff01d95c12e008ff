#include "burnin/agent/burn/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "burnin/agent/burn/links/collective_call.h"
#include "burnin/agent/burn/nccl_meeting.h"

namespace cupel::burn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A variable of the environment for as long as its scope.
class Sourced {
 public:
  Sourced(const char* name, const char* value) : name_{name} { ::setenv(name, value, 1); }
  ~Sourced() { ::unsetenv(name_); }
  Sourced(const Sourced&) = delete;
  Sourced& operator=(const Sourced&) = delete;

 private:
  const char* name_;
};

Outcome<nccl::Library> load(std::vector<std::string> paths) { return nccl::Library::load(paths); }

TEST(Nccl, LoadsALibraryAndTellsItsVersion) {
  const auto library = load({FAKE_NCCL});

  ASSERT_TRUE(library);
  EXPECT_EQ(library->version_name(), "2.27.5");
  EXPECT_EQ(library->path(), FAKE_NCCL);
}

TEST(Nccl, ReadsBothWaysInWhichVersionsAreCounted) {
  EXPECT_EQ(nccl::version_text(22809), "2.28.9");
  EXPECT_EQ(nccl::version_text(21400), "2.14.0");
  EXPECT_EQ(nccl::version_text(2708), "2.7.8");
}

TEST(Nccl, NamesEveryPlaceAndWhatWasWrongThere) {
  const auto library = load({"/nowhere/libnccl.so.2", FAKE_NCCL_SHORT, "/etc/hostname"});

  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, "no-library");
  EXPECT_THAT(library.error().message,
              AllOf(HasSubstr("/nowhere/libnccl.so.2"), HasSubstr("lacks ncclRecv"),
                    HasSubstr("/etc/hostname"), HasSubstr("install NCCL")));
}

TEST(Nccl, PassesOverALibraryThatLacksAFunction) {
  const auto library = load({FAKE_NCCL_SHORT, FAKE_NCCL});

  ASSERT_TRUE(library);
  EXPECT_EQ(library->path(), FAKE_NCCL);
}

TEST(Nccl, RefusesVersionsThatItDoesNotKnow) {
  for (const auto* version : {"21212", "2708", "30100", "0"}) {
    const Sourced reported{"FAKE_NCCL_VERSION", version};

    const auto library = load({FAKE_NCCL});

    ASSERT_FALSE(library) << version;
    EXPECT_THAT(library.error().message,
                AllOf(HasSubstr(nccl::version_text(std::atoi(version))), HasSubstr("2.14")));
  }
}

TEST(Nccl, ALibraryThatDoesNotTellItsVersionIsNotUsed) {
  const Sourced reported{"FAKE_NCCL_FAILS", "ncclGetVersion"};

  const auto library = load({FAKE_NCCL});

  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, HasSubstr("does not report its version"));
}

TEST(Nccl, LooksForTheNodesOwnLibraryFirst) {
  const auto places = nccl::usual_places("/opt/cupel/bin");

  ASSERT_GE(places.size(), 2);
  EXPECT_EQ(places[0], "libnccl.so.2");
  EXPECT_EQ(places[1], "/opt/cupel/bin/lib/libnccl.so.2");
}

TEST(Nccl, ReportsAFailedCallInTheLibrarysWords) {
  const auto library = load({FAKE_NCCL});
  ASSERT_TRUE(library);

  const auto checked = library->check(nccl::kInternalError, "ncclAllReduce");

  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, "nccl");
  EXPECT_EQ(checked.error().message, "ncclAllReduce: internal error (the fake was told to fail)");
}

TEST(Nccl, TheRealLibraryGivesUniqueIdsWithoutAGpu) {
  const std::string toolkit{"/usr/local/cuda/lib64/libnccl.so.2"};
  const auto library = load({"libnccl.so.2", toolkit, "/usr/local/cuda/lib/libnccl.so.2"});
  if (!library) GTEST_SKIP() << "NCCL comes with CUDA: " << library.error().message;
  const auto& real = *library;
  const Sourced reported{"NCCL_SOCKET_IFNAME", "lo"};
  nccl::UniqueId one;
  nccl::UniqueId other;

  const auto first = real.check(real->ncclGetUniqueId(&one), "ncclGetUniqueId");
  const auto second = real.check(real->ncclGetUniqueId(&other), "ncclGetUniqueId");

  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_NE(one.bytes, other.bytes);
}

TEST(Nccl, TheRealLibrarysIdHoldsAnAddressThatListensForAsLongAsItsProcessLives) {
  const std::string toolkit{"/usr/local/cuda/lib64/libnccl.so.2"};
  const auto library = load({"libnccl.so.2", toolkit, "/usr/local/cuda/lib/libnccl.so.2"});
  if (!library) GTEST_SKIP() << "NCCL comes with CUDA: " << library.error().message;
  const Sourced reported{"NCCL_SOCKET_IFNAME", "lo"};

  const auto meeting = make_id(*library);

  ASSERT_TRUE(meeting) << meeting.error().message;
  EXPECT_EQ(meeting->id.address, "127.0.0.1");
  for (int times = 0; times < 3; ++times) {
    const auto reached = reach(meeting->id, std::chrono::seconds{5}, [] { return false; });
    EXPECT_TRUE(reached) << "it passes over whoever only looks";
  }
}

// ---- operations, run in the host's memory by the fake

struct Ran {
  Outcome<> outcome = done();
  std::uint64_t wrong = 0;
};

std::uint32_t element_at(const std::vector<std::byte>& memory, std::uint64_t at, Scalar scalar) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, memory.data() + at * bytes_of(scalar), bytes_of(scalar));
  return bits;
}

/// As a rank of cupel-burn does it: fill, call, compare each element with what must be there.
Ran run_rank(const nccl::Library& library, nccl::UniqueId id, const Shape& shape, int rank,
             int root, bool in_place) {
  constexpr std::uint64_t kSeed = 99;
  const auto each = bytes_of(shape.scalar);
  nccl::Comm comm = nullptr;
  nccl::Config config;
  const auto begun = library->ncclCommInitRankConfig(&comm, shape.ranks, id, rank, &config);
  Ran ran{library.check(begun, "ncclCommInitRankConfig")};
  if (!ran.outcome) return ran;
  std::vector<std::byte> one(shape.bytes, std::byte{0xff});
  std::vector<std::byte> other(shape.bytes, std::byte{0xff});
  const auto shift = in_place_offset(shape, rank);
  const bool gathers = shape.operation == Operation::kAllGather;
  const auto sent = in_place && gathers ? shift : 0;
  const auto received = in_place && !gathers ? shift : 0;
  for (std::uint64_t i = 0; i < shape.sent; ++i) {
    const auto bits = bits_of(shape.scalar, number_of(shape.scalar, kSeed, rank, shape.ranks, i));
    std::memcpy(one.data() + (sent + i) * each, &bits, each);
  }
  auto& into = in_place ? one : other;
  ran.outcome = enqueue(library, shape, rank, root, one.data() + sent * each,
                        into.data() + received * each, comm, nullptr);
  for (std::uint64_t i = 0; i < shape.received; ++i)
    ran.wrong +=
        element_at(into, received + i, shape.scalar) != expected_bits(shape, kSeed, rank, root, i);
  library->ncclCommDestroy(comm);
  return ran;
}

std::vector<Ran> run_all(const nccl::Library& library, const Shape& shape, int root,
                         bool in_place) {
  nccl::UniqueId id;
  library->ncclGetUniqueId(&id);
  std::vector<Ran> ran(static_cast<std::size_t>(shape.ranks));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < shape.ranks; ++rank)
      threads.emplace_back(
          [&, rank] { ran[rank] = run_rank(library, id, shape, rank, root, in_place); });
  }
  return ran;
}

TEST(Nccl, EveryOperationBringsWhatIsExpectedOfIt) {
  const auto library = load({FAKE_NCCL});
  ASSERT_TRUE(library);
  int checked = 0;
  for (const auto operation : all_operations())
    for (const int ranks : {2, 3, 8})
      for (const auto scalar : {Scalar::kInt32, Scalar::kFloat32, Scalar::kBfloat16})
        for (const bool in_place : {false, true}) {
          if (in_place && !runs_in_place(operation)) continue;
          const auto shape = shape_of(operation, ranks, scalar, 8192);
          ASSERT_TRUE(shape);

          const auto ran = run_all(*library, *shape, ranks - 1, in_place);

          for (const auto& rank : ran) {
            EXPECT_TRUE(rank.outcome) << name_of(operation);
            EXPECT_EQ(rank.wrong, 0) << name_of(operation) << ", " << ranks << " ranks"
                                     << (in_place ? ", in place" : "");
          }
          ++checked;
        }

  EXPECT_EQ(checked, 6 * 9 + 4 * 9);
}

TEST(Nccl, AnOperationThatTheLibraryRefusesIsAFailure) {
  const auto library = load({FAKE_NCCL});
  ASSERT_TRUE(library);
  const Sourced reported{"FAKE_NCCL_FAILS", "ncclAllReduce"};
  const auto shape = shape_of(Operation::kAllReduce, 1, Scalar::kFloat32, 64);

  const auto ran = run_all(*library, *shape, 0, false);

  ASSERT_FALSE(ran[0].outcome);
  EXPECT_EQ(ran[0].outcome.error().code, "nccl");
  EXPECT_GT(ran[0].wrong, 0);
}

}  // namespace
}  // namespace cupel::burn
