// The NVLink domains of nodes, as the newest runs of a store have read them.
#include "orchestrator/cli/seen_domains.h"

#include <gmock/gmock.h>

#include "tests/orchestrator/report_fixture.h"

namespace cupel::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr auto kOld = "0a1b2c3d-0000-4000-8000-000000000001.32766";
constexpr auto kNew = "0a1b2c3d-0000-4000-8000-000000000002.32766";

class SeenDomains : public report::Report {
 protected:
  void read(const std::string& node, const std::string& fact, const std::string& value) {
    boost::json::object facts;
    facts[fact] = value;
    end(node, "gpu-facts", {{"facts", facts}});
  }
  void begin_next_run() {
    add({engine::EventKind::run_ended});
    store::Run run;
    run.playbook = "new-rack";
    run.nodes = {"a01-n01", "a01-n02"};
    id = *store->begin_run(run);
  }
  std::map<std::string, std::string> seen(const std::set<std::string, std::less<>>& nodes = {
                                              "a01-n01", "a01-n02"}) {
    std::map<std::string, std::string> all;
    for (const auto& [node, domain] : seen_domains(*store, nodes).value())
      all.emplace(node, domain.text());
    return all;
  }
};

TEST_F(SeenDomains, AreThoseOfTheNewestRunAndOfAnOlderOneWhereTheTrayIsOut) {
  read("a01-n01", "nvlink.domain", kOld);
  read("a01-n02", "nvlink.domain", kOld);
  begin_next_run();
  read("a01-n01", "nvlink.domain", kNew);
  read("a01-n02", "node.hostname", "a01-n02");

  EXPECT_THAT(seen(), ElementsAre(Pair("a01-n01", kNew), Pair("a01-n02", kOld)));
  EXPECT_THAT(seen({"a01-n02"}), ElementsAre(Pair("a01-n02", kOld)));
}

TEST_F(SeenDomains, AreNoneOfANodeWhoseGpusReportedSeveralSince) {
  read("a01-n01", "nvlink.domain", kOld);
  begin_next_run();
  read("a01-n01", "nvlink.domains", std::string{kOld} + ": gpu0; " + kNew + ": gpu1");

  EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(SeenDomains, AreNoneOfWhatIsNoDomain) {
  read("a01-n01", "nvlink.domain", "N/A");

  EXPECT_THAT(seen(), IsEmpty());
}

}  // namespace
}  // namespace cupel::cli
