// Healthy machines whose BMC stumbles while it is read: whatever is lost, no part is missing.
#include "bmc/redfish/inventory.h"
#include "inventory/audit.h"
#include "rehearsal/bmc/resources.h"
#include "tests/rehearsal/bmc_bench.h"

namespace cupel::bmc {
namespace {

using inventory::Finding;
using inventory::PartKind;
using rehearsal::BmcBench;

/// A client without sockets. From request `away_from` on the BMC is away for `away_for` requests.
class BenchFetch final : public redfish::Fetch {
 public:
  explicit BenchFetch(BmcBench& bench) : bench_{bench} {}

  Task<Result<json::value>> get(std::string uri, Deadline) override {
    const int request = asked++;
    if (request >= away_from && request < away_from + away_for)
      co_return Error{Code::kUnreachable, "connection refused"};
    const auto response = bench_.ask("GET", uri);
    const auto what = "GET " + uri + ": HTTP " + std::to_string(response.status);
    if (response.status == 404) co_return Error{Code::kNotFound, what};
    if (response.status == 503) co_return Error{Code::kBusy, what};
    if (response.status != 200) co_return Error{Code::kFailed, what};
    co_return parse_json(response.body);
  }

  int asked = 0;
  int away_from = 1 << 20, away_for = 0;

 private:
  BmcBench& bench_;
};

class StumblingBmc : public ::testing::Test {
 protected:
  Result<Observed> read(BenchFetch& fetch) {
    return run_to_end(io_, redfish::read_inventory(fetch, Deadline::in(std::chrono::minutes{1})));
  }

  /// Of the BMC's word alone, as where no stage has read the node.
  std::vector<inventory::AuditFinding> audited(const Observed& seen) const {
    return inventory::audit(profile_, {}, {.by_bmc = seen.parts, .partial_by_bmc = seen.partial});
  }
  void expect_nothing_missing(const Observed& seen, const std::string& why) const {
    for (const auto& each : audited(seen))
      EXPECT_NE(each.finding, Finding::missing)
          << why << ": " << each.part << ", " << each.observed << " of " << each.expected;
  }

  void members_fail(const std::vector<int>& with);
  void restarts_half_way(int step, const std::vector<int>& away_for);

  asio::io_context io_;
  inventory::Profile profile_ = rehearsal::dgx();
  BmcBench bench_{"dgx"};
};

TEST_F(StumblingBmc, MissesNoPartOfAHealthyMachineThatItReadsWhole) {
  bench_.boot();
  BenchFetch fetch{bench_};

  const auto seen = read(fetch);

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(seen->partial, ::testing::IsEmpty());
  expect_nothing_missing(*seen, "healthy");
}

class LongStumblingBmc : public StumblingBmc {};

TEST_F(StumblingBmc, MissesNoPartWhereAMemberOfACollectionFails) { members_fail({500}); }
TEST_F(LongStumblingBmc, MissesNoPartWhereAMemberOfACollectionFails) { members_fail({503, 404}); }

// A step that takes each place of a collection in turn.
TEST_F(StumblingBmc, MissesNoPartWhereItRestartsHalfWay) { restarts_half_way(31, {1, 3, 1 << 20}); }
TEST_F(LongStumblingBmc, MissesNoPartWhereItRestartsHalfWay) {
  restarts_half_way(5, {1, 2, 3, 6, 1 << 20});
}

// The first and the last member of each collection that lists parts, and the collection itself.
void StumblingBmc::members_fail(const std::vector<int>& with) {
  bench_.boot();
  std::map<std::string, std::vector<std::string>> collections;
  for (const auto& [path, whole] : rehearsal::resources(bench_.view())) {
    const auto up = path.substr(0, path.rfind('/'));
    for (const auto* name : {"/Memory", "/Processors", "/PowerSupplies", "/Fans", "/Drives",
                             "/NetworkAdapters", "/Storage", "/Chassis", "/Switches", "/Systems"})
      if (up.ends_with(name)) collections[up].push_back(path);
  }
  ASSERT_GE(collections.size(), 8u);
  std::size_t undecided = 0;
  for (const auto& [collection, members] : collections)
    for (const auto& uri : {members.front(), members.back(), collection})
      for (const int status : with) {
        bench_.service.rules().clear();
        bench_.service.rules().add({.method = "GET",
                                    .path = uri,
                                    .does = rehearsal::Does::status,
                                    .times = 0,
                                    .status = status,
                                    .body = "{}"});
        BenchFetch fetch{bench_};
        const auto seen = read(fetch);
        if (!seen) continue;
        expect_nothing_missing(*seen, uri + " " + std::to_string(status));
        undecided += seen->partial.empty() ? 0 : 1;
      }
  EXPECT_GE(undecided, collections.size() * with.size());
}

/// Away from each `step`th request, for each of so many.
void StumblingBmc::restarts_half_way(int step, const std::vector<int>& away_for) {
  bench_.boot();
  BenchFetch whole{bench_};
  ASSERT_TRUE(read(whole));
  for (int from = 1; from < whole.asked; from += step)
    for (const int requests : away_for) {
      BenchFetch fetch{bench_};
      fetch.away_from = from;
      fetch.away_for = requests;
      const auto seen = read(fetch);
      if (seen)
        expect_nothing_missing(*seen, "away from request " + std::to_string(from) + " for " +
                                          std::to_string(requests));
    }
}

TEST_F(StumblingBmc, StillMissesAPartThatItReadsWholeWithout) {
  BmcBench bench{rehearsal::BmcSpec{.vendor = "dgx"},
                 {{.kind = rehearsal::FaultKind::psu_missing, .part = "psu2"}}};
  bench.boot();
  bench.service.rules().add({.method = "GET",
                             .path = "*/Memory/DevType2_DIMM7",
                             .does = rehearsal::Does::status,
                             .times = 0,
                             .status = 500,
                             .body = "{}"});
  BenchFetch fetch{bench};

  const auto seen = read(fetch);

  ASSERT_TRUE(seen) << seen.error().what;
  std::vector<std::string> missing;
  for (const auto& each : audited(*seen))
    if (each.finding == Finding::missing) missing.push_back(each.part);
  EXPECT_THAT(missing, ::testing::ElementsAre("psu"));
}

}  // namespace
}  // namespace cupel::bmc
